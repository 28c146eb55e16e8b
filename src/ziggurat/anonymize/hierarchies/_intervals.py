"""Hierarchies of numbers: intervals that are merged with their neighbours from level to level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.hierarchies._values import (
    TOP,
    Integers,
    Values,
    assemble,
    count_values,
    label_codes,
    require_whole,
)
from ziggurat.data import Hierarchy, Kind
from ziggurat.errors import ParameterError

_FINEST = 2.0**50  # up to here the place of a double among the intervals is found to the nearest neighbour
_EXACT = 2**60  # beyond, differences of whole numbers may leave 64 bits


@dataclass(frozen=True)
class Intervals:
    """Intervals of equal width, `factor` of which are merged from level to level, then "*".

    Whole numbers become "20-24" (both ends included), reals "[20, 25)". Nothing but the parameters decides where
    an interval begins, so the labels give away no more about the data than which intervals are inhabited.

    Parameters
    ----------
    width
        Of the intervals of the first level; whole for whole numbers.
    levels
        How many levels of intervals there are below "*".
    factor
        How many neighbouring intervals become one at the next level.
    lower, upper
        Both included, like the bounds of a column. Intervals are counted from `lower`, or else from zero, and the last
        one ends at `upper`. Numbers outside share the labels "<18" and ">90" up to the top (bottom and top coding).

    Examples
    --------
    >>> Intervals(5, levels=2).build([34, 36]).levels
    {34: ('30-34', '30-39', '*'), 36: ('35-39', '30-39', '*')}
    """

    width: int | float
    levels: int = 3
    factor: int = 2
    lower: int | float | None = None
    upper: int | float | None = None

    def __post_init__(self) -> None:
        require_whole(self.levels, "The number of levels", 1)
        require_whole(self.factor, "The factor", 2)
        for number in (self.width, self.lower, self.upper):
            if number is not None and not _is_number(number):
                raise ParameterError("The width and the ends of intervals must be finite numbers.")
        if self.width <= 0:
            raise ParameterError("The width of intervals must be above zero.")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise ParameterError("The lower end is above the upper end; swap them.")
        if math.log2(self.width) + self.levels * math.log2(self.factor) > 1000:
            raise ParameterError("The intervals of the highest level are too wide; use fewer levels or a lower factor.")

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these numbers, all whole or all real."""
        sort, counts = count_values(values, Kind.INTEGER, Kind.REAL)
        grid = _IntervalGrid.of(self, whole=sort is Kind.INTEGER)
        numbers: npt.NDArray[Any] = np.array(list(counts), dtype=_storage(list(counts), sort))
        places = grid.places(numbers)
        below = np.zeros(len(numbers), bool) if self.lower is None else numbers < self.lower
        above = np.zeros(len(numbers), bool) if self.upper is None else numbers > self.upper
        levels = [_code(grid.labels(places, self.factor**step), below, above, self) for step in range(self.levels)]
        return assemble(counts, [*levels, [TOP] * len(numbers)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        widths = ", then ".join(f"{self.width * self.factor**step:g}" for step in range(self.levels))
        ends = {"below": self.lower, "above": self.upper}
        coded = "".join(f"; one label for all {side} {end}" for side, end in ends.items() if end is not None)
        return f"Intervals {widths} wide, then {TOP}{coded}."


def _code(labels: list[str], below: Any, above: Any, intervals: Intervals) -> list[str]:
    if not (below.any() or above.any()):
        return labels
    words = np.where(below, f"<{intervals.lower}", np.where(above, f">{intervals.upper}", np.array(labels, object)))
    return words.tolist()  # type: ignore[no-any-return]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _storage(values: list[Any], sort: Kind) -> type:
    if sort is Kind.REAL:
        return float
    return np.int64 if max(map(abs, values)) < _EXACT else object


@dataclass(frozen=True)
class _IntervalGrid:
    """Equal intervals with decimal ends, in whole multiples of `unit`, so that 0.1 * 3 is 0.3.

    A double equals a decimal end if it is the double nearest to it: what people write as 0.3 is not below 0.3.
    """

    whole: bool
    decimals: int
    width: int
    origin: int
    last: int | None  # the place of the interval that `upper` closes
    upper: int | None

    @classmethod
    def of(cls, intervals: Intervals, *, whole: bool) -> _IntervalGrid:
        given = (intervals.width, intervals.lower or 0, intervals.upper or 0)
        if whole and any(number != int(number) for number in given):
            raise ParameterError("The width and the ends of intervals of whole numbers must be whole.")
        exact = [Decimal(repr(number)) for number in given]
        decimals = 0 if whole else max(0, *(-int(number.normalize().as_tuple().exponent) for number in exact))
        width, origin, upper = (int(number.scaleb(decimals)) if number else 0 for number in exact)
        last = (upper - origin) // width if whole else -((origin - upper) // width) - 1
        if intervals.upper is None:
            return cls(whole, decimals, width, origin, None, None)
        return cls(whole, decimals, width, origin, last if intervals.lower is None else max(last, 0), upper)

    def places(self, numbers: npt.NDArray[Any]) -> Integers:
        """Which interval each number is in; those outside of the ends are put into the nearest."""
        places = (numbers - self.origin) // self.width if self.whole else self._real_places(numbers)
        return places if self.last is None else np.minimum(places, self.last)

    def labels(self, places: Integers, merged: int) -> list[str]:
        """The labels of the intervals into which each `merged` neighbours are put together."""
        return label_codes(places // merged, lambda place: self._label(place, merged))

    def _real_places(self, numbers: npt.NDArray[np.float64]) -> Integers:
        width, origin = _double(self.width, self.decimals), _double(self.origin, self.decimals)
        with np.errstate(over="ignore"):
            guess = np.floor((numbers - origin) / width)
            if not max(np.abs(numbers).max(), abs(origin)) / width < _FINEST:
                raise ParameterError("The intervals are too narrow for numbers as large as these; choose a wider one.")
        places = guess.astype(np.int64)
        places -= numbers < self._starts(places)
        places += numbers >= self._starts(places + 1)
        return places

    def _starts(self, places: Integers) -> npt.NDArray[np.float64]:
        distinct, where = np.unique(places, return_inverse=True)
        starts = [_double(self.origin + place * self.width, self.decimals) for place in distinct.tolist()]
        return np.array(starts)[where]

    def _label(self, place: int, merged: int) -> str:
        width = self.width * merged
        start, end = self.origin + place * width, self.origin + (place + 1) * width
        closed = self.last is not None and place == self.last // merged
        if closed and self.upper is not None:
            end = self.upper + 1 if self.whole else self.upper
        if self.whole:
            return whole_label(start, end - 1)
        return f"[{_decimal(start, self.decimals)}, {_decimal(end, self.decimals)}{']' if closed else ')'}"


def whole_label(first: int, last: int) -> str:
    """Return how an interval of whole numbers is written, both ends included."""
    if first == last:
        return str(first)
    return f"{first}-{last}" if first >= 0 else f"{first} to {last}"


def _double(number: int, decimals: int) -> float:
    try:
        return float(number / 10**decimals)  # Python rounds the quotient of two integers correctly
    except OverflowError:
        return math.copysign(math.inf, number)


def _decimal(number: int, decimals: int) -> str:
    if decimals == 0:
        return str(number)
    digits = str(abs(number)).rjust(decimals + 1, "0")
    whole, fraction = digits[:-decimals], digits[-decimals:].rstrip("0")
    return f"{'-' if number < 0 else ''}{whole}{'.' if fraction else ''}{fraction}"


@dataclass(frozen=True)
class QuantileIntervals:
    """Intervals that hold about equally many rows each, `factor` of which are merged from level to level, then "*".

    This reads the data: every end of an interval is a value that somebody has, and says how many have less. The
    outermost intervals are open ("<23", ">=61"), so that the smallest and the largest value are not shown.

    Parameters
    ----------
    groups
        How many intervals the first level has, or fewer if a value is so frequent that it fills several.
    factor
        How many neighbouring intervals become one at the next level.

    Examples
    --------
    >>> QuantileIntervals(groups=2).build([20, 30, 40, 50]).levels[30]
    ('<40', '*')
    """

    groups: int = 8
    factor: int = 2

    def __post_init__(self) -> None:
        require_whole(self.groups, "The number of groups", 2)
        require_whole(self.factor, "The factor", 2)

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these numbers; a number that occurs more often weighs more."""
        sort, counts = count_values(values, Kind.INTEGER, Kind.REAL)
        numbers, rows = list(counts), np.array(list(counts.values()), dtype=object)
        before = np.cumsum(rows) - rows
        places = (before * self.groups // max(sum(rows), 1)).astype(np.int64)
        _, firsts, dense = np.unique(places, return_index=True, return_inverse=True)
        starts = [numbers[first] for first in firsts.tolist()]
        levels, merged = [], 1
        while merged < self.groups:
            levels.append(_between(dense // merged, starts[::merged], whole=sort is Kind.INTEGER))
            merged *= self.factor
        return assemble(counts, [*levels, [TOP] * len(numbers)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        return (
            f"About {self.groups} intervals with equally many rows each, {self.factor} merged at every level, "
            f"then {TOP}; their ends are read off the data."
        )


def _between(places: Integers, starts: list[Any], *, whole: bool) -> list[str]:
    def label(place: int) -> str:
        if len(starts) == 1:
            return TOP
        if place == 0:
            return f"<{starts[1]}"
        if place == len(starts) - 1:
            return f">={starts[-1]}"
        start, end = starts[place], starts[place + 1]
        return whole_label(start, end - 1) if whole else f"[{start}, {end})"

    return label_codes(places, label)
