"""Hierarchies of dates and of text that is written from the general to the particular, such as postcodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

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

_MOST_MASKS = 7

# Months since the year 0 in one part, and how the part is written.
_PARTS: dict[str, tuple[int, Callable[[int], str]]] = {
    "month": (1, lambda month: f"{month // 12:04d}-{month % 12 + 1:02d}"),
    "quarter": (3, lambda quarter: f"{quarter // 4:04d}-Q{quarter % 4 + 1}"),
    "year": (12, lambda year: f"{year:04d}"),
    "decade": (120, lambda decade: f"{decade * 10:04d}-{decade * 10 + 9:04d}"),
}


@dataclass(frozen=True)
class CalendarParts:
    """Dates by month, quarter, year and decade, then "*".

    The calendar decides, not the data: the labels give away no more than which parts are inhabited.

    Parameters
    ----------
    parts
        Some of "month", "quarter", "year" and "decade", in this order.

    Examples
    --------
    >>> from datetime import date
    >>> CalendarParts().build([date(2024, 3, 31)]).levels[date(2024, 3, 31)]
    ('2024-03', '2024-Q1', '2024', '2020-2029', '*')
    """

    parts: tuple[str, ...] = ("month", "quarter", "year", "decade")

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts or list(self.parts) != [part for part in _PARTS if part in self.parts]:
            raise ParameterError(
                "The parts of dates must be some of 'month', 'quarter', 'year' and 'decade', in order."
            )

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these dates."""
        _, counts = count_values(values, Kind.DATE)
        days = np.array(list(counts), dtype="datetime64[D]")
        months: Integers = days.astype("datetime64[M]").astype(np.int64) + 1970 * 12
        levels = [label_codes(months // _PARTS[part][0], _PARTS[part][1]) for part in self.parts]
        return assemble(counts, [*levels, [TOP] * len(counts)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        return f"Dates by {', then by '.join(self.parts)}, then {TOP}."


@dataclass(frozen=True)
class MaskedEnds:
    """Text of which less and less is kept, such as "CV12", "CV1*", "CV*", then "*".

    Values that are shorter than the longest are thought to be padded, so that what is kept is always the same part.
    Nothing but the text of a value decides its labels; only the length of the longest value is read off the data, and
    not even that if `length` is given.

    Parameters
    ----------
    kept
        How many characters each level keeps, ever fewer; by default one fewer at every level, or for long text as much
        fewer as makes 7 levels.
    side
        Which end is masked: "right" keeps the beginning, "left" the end.
    length
        How long values are at most; by default as long as the longest.
    fill
        Whether each masked character becomes a star ("CV1**") instead of one for all ("CV1*").

    Examples
    --------
    >>> MaskedEnds(kept=(3, 2)).build(["CV12", "CV4"]).levels
    {'CV12': ('CV1*', 'CV*', '*'), 'CV4': ('CV4*', 'CV*', '*')}
    """

    kept: tuple[int, ...] | None = None
    side: Literal["right", "left"] = "right"
    length: int | None = None
    fill: bool = False

    def __post_init__(self) -> None:
        if self.side not in ("right", "left"):
            raise ParameterError("The side that is masked must be 'right' or 'left'.")
        if self.length is not None:
            require_whole(self.length, "The length of values", 1)
        if self.kept is None:
            return
        object.__setattr__(self, "kept", tuple(self.kept))
        for count in self.kept:
            require_whole(count, "The number of characters kept", 1)
        if not self.kept or any(more <= fewer for more, fewer in zip(self.kept, self.kept[1:], strict=False)):
            raise ParameterError("Every level must keep fewer characters than the one below it.")

    def build(self, values: Values) -> Hierarchy:
        """Return the hierarchy of these texts; whole numbers are padded with zeros, as postcodes are."""
        sort, counts = count_values(values, Kind.TEXT, Kind.INTEGER)
        texts = [str(value) for value in counts]
        longest = max(map(len, texts))
        length = longest if self.length is None else self.length
        if longest > length:
            raise ParameterError(f"There are values of more than {length} characters; raise the length.")
        pad = "0" if sort is Kind.INTEGER else " "
        padded = [text.ljust(length, pad) if self._pads_right(sort) else text.rjust(length, pad) for text in texts]
        levels = [self._mask(padded, count, length) for count in self.characters_kept(length)]
        top = TOP * length if self.fill else TOP
        return assemble(counts, [*levels, [top] * len(texts)])

    def describe(self) -> str:
        """Return a sentence on the levels."""
        end = "first" if self.side == "right" else "last"
        if self.kept is None:
            return f"The {end} characters, fewer at every level, then {TOP}."
        return f"The {end} {', then '.join(map(str, self.kept))} characters, then {TOP}."

    def characters_kept(self, length: int) -> list[int]:
        """Return how many characters each level keeps of values of this length."""
        if self.kept is not None:
            return [min(count, length) for count in self.kept]
        masks = min(length - 1, _MOST_MASKS)
        return [length - (length * mask) // (masks + 1) for mask in range(1, masks + 1)]

    def _pads_right(self, sort: Kind) -> bool:
        return sort is Kind.TEXT and self.side == "right"

    def _mask(self, padded: list[str], count: int, length: int) -> list[str]:
        mask = TOP * (length - count) if self.fill else TOP
        if self.side == "right":
            return [text[:count].rstrip(" ") + mask for text in padded]
        return [mask + text[length - count :].lstrip(" ") for text in padded]
