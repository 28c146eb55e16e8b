"""Aggregates that are chosen from a public list: quantiles, the most frequent value, the most frequent few.

What they need is how many rows of a group fall on each candidate. A unit is in at most `groups` groups, so every
group may spend a `groups`-th of the budget.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.mechanisms import Selection, TopK
from ziggurat.privacy import Neighbours
from ziggurat.queries._answer import Estimate
from ziggurat.queries._question import Aggregate
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.answering._additive import power_of_two_above, where
from ziggurat.queries.answering._contribution import Contribution
from ziggurat.queries.answering._grid import quantize_range, quantize_value
from ziggurat.randomness import Source

Integers = npt.NDArray[np.int64]

MOST_CANDIDATES = 2**16
_FINEST_SHARE = 10**6
_FEW_ROWS = 10_000


class CountedCandidates:
    """How many rows of each group fall on each candidate, from an answer with a row for every pair that occurs.

    Parameters
    ----------
    found
        The keys, the candidate and the count, which come last.
    keys
        The names of the keys.
    candidates
        What may be chosen, in order; anything else that was found does not count.
    """

    def __init__(self, found: pa.Table, keys: Sequence[str], candidates: tuple[Constant, ...] | range) -> None:
        self._size = len(candidates)
        *_, cells, counts = found.columns
        places = _find_places(cells, candidates)
        there = places >= 0
        groups, self._groups = _find_groups(found.select(list(keys)))
        order = np.argsort(groups[there], kind="stable")
        self._places = places[there][order]
        self._counts = np.asarray(counts.to_numpy(), dtype=np.int64)[there][order]
        self._ends = np.searchsorted(groups[there][order], np.arange(len(self._groups) + 1))

    def of(self, group: tuple[Constant, ...]) -> Integers:
        """The counts of all candidates in a group."""
        dense = np.zeros(self._size, dtype=np.int64)
        number = self._groups.get(group)
        if number is not None:
            here = slice(self._ends[number], self._ends[number + 1])
            dense[self._places[here]] = self._counts[here]
        return dense


def _find_places(cells: pa.ChunkedArray, candidates: tuple[Constant, ...] | range) -> Integers:
    """Where each cell stands among the candidates, -1 if it does not."""
    if isinstance(candidates, range) and cells.type == pa.int64() and (not cells.null_count or len(cells) > _FEW_ROWS):
        beyond = candidates.start - 1
        found = (cells.fill_null(beyond) if cells.null_count else cells).to_numpy()
        # Subtracted only where it is in range, so that nothing overflows.
        return np.where((found >= candidates.start) & (found < candidates.stop), found, beyond) - candidates.start
    places = {candidate: place for place, candidate in enumerate(candidates)}
    return np.array([places.get(cell, -1) for cell in cells.to_pylist()], dtype=np.int64)


def _find_groups(keys: pa.Table) -> tuple[Integers, dict[tuple[Constant, ...], int]]:
    """Number the groups, and say which number each row has."""
    coded = [_number_cells(column) for column in keys.columns]
    if not coded:
        return np.zeros(keys.num_rows, dtype=np.int64), {(): 0}
    pairs = np.stack([numbers for numbers, _ in coded])
    together, groups = np.unique(pairs, axis=1, return_inverse=True) if len(coded) > 1 else (pairs, pairs[0])
    if len(coded) == 1:
        together = np.arange(len(coded[0][1]))[None, :]
    named = [tuple(cells[place] for place, (_, cells) in zip(each, coded, strict=True)) for each in together.T]
    return groups.reshape(-1), {group: number for number, group in enumerate(named)}


def _number_cells(column: pa.ChunkedArray) -> tuple[Integers, list[Any]]:
    """Number the different cells of a column, and list them; few of them without Arrow's functions, which load late."""
    if len(column) > _FEW_ROWS:
        whole = column.combine_chunks().dictionary_encode()
        return np.asarray(whole.indices.to_numpy(), dtype=np.int64), whole.dictionary.to_pylist()
    known: dict[Any, int] = {}
    numbers = [known.setdefault(cell, len(known)) for cell in column.to_pylist()]
    return np.array(numbers, dtype=np.int64), list(known)


class Chooser(ABC):
    """How one aggregate is chosen from candidates by their counts."""

    def __init__(self, aggregate: Aggregate, value: Value) -> None:
        self.aggregate, self.value = aggregate, value

    @property
    @abstractmethod
    def cell(self) -> exp.Expr:
        """What the engine groups by: something that tells candidates apart, NULL for rows that do not count."""

    @property
    @abstractmethod
    def candidates(self) -> tuple[Constant, ...] | range:
        """What `cell` can be, in order."""

    @abstractmethod
    def choose(self, counts: Integers, confidence: Fraction, source: Source) -> Estimate:
        """Choose for one group, from the counts of its candidates."""


class Ranked(Chooser):
    """QUANTILE by permute-and-flip over a public grid, with an interval from two further choices.

    With n values of which `below` lie under a candidate and `upto` up to it, and the share q = a/b, a candidate is
    right if b below < a n <= b upto; its score is minus the distance from that, which one row moves by at most
    max(a, b - a). The interval's ends aim past the quantile by the shortfall that a choice has with the confidence
    left to it, so that they miss it only if a choice falls even shorter.
    """

    def __init__(
        self, aggregate: Aggregate, value: Value, epsilon: Fraction, shared: Contribution, neighbours: Neighbours
    ) -> None:
        super().__init__(aggregate, value)
        share = Fraction(1, 2) if aggregate.parameter is None else aggregate.parameter
        if not 0 < share < 1:
            raise QuestionError(
                "The least and the largest value are one person's, which no noise can hide; ask a quantile in between, "
                "such as 0.01 or 0.99."
            )
        if share.denominator > _FINEST_SHARE:
            raise QuestionError("A quantile's share may have at most six decimals; round it.")
        self.share = share
        self.grid = _bin_width(value)
        # Refuses bounds that no grid spans, before anything is paid for.
        self.ends = quantize_range(value, self.grid) if value.is_number else (0, 0)
        moved = max(share.numerator, share.denominator - share.numerator) * shared.rows
        each = epsilon / shared.groups
        self.point = Selection(each / 3, moved, neighbours=neighbours)
        self.end = Selection(each / 3, moved, neighbours=neighbours)

    @property
    def cell(self) -> exp.Expr:
        """The index on the grid, or the date."""
        if self.value.kind is Kind.DATE:
            return where(self.value.sql, self.aggregate.where)
        return where(quantize_value(self.value, self.grid), self.aggregate.where)

    @property
    def candidates(self) -> tuple[Constant, ...] | range:
        """Every point of the grid between the bounds."""
        if self.value.kind is Kind.DATE:
            return self.value.domain(MOST_CANDIDATES) or ()
        return range(self.ends[0], self.ends[1] + 1)

    def choose(self, counts: Integers, confidence: Fraction, source: Source) -> Estimate:
        """The quantile of one group, and an interval at this confidence."""
        upto = np.concatenate([[0], np.cumsum(counts)])
        reach = upto * self.share.denominator - int(upto[-1]) * self.share.numerator
        place = self.point.release(-np.maximum(0, np.maximum(reach[:-1], -reach[1:])), source).value
        fall = self._fall(counts.size, confidence)
        low = self._end(reach, -fall - 1, source)
        high = self._end(reach, fall, source)
        return Estimate(self._show(place), self._edge(min(low, place), -1), self._edge(max(high, place), 1))

    def reach(self, candidates: int, confidence: Fraction) -> Fraction:
        """How many ranks off the quantile the interval reaches, and the value lies, at most, with this confidence.

        An end aims `fall` + 1 past the quantile in the scores' steps, of which `denominator` make a rank, and falls
        short of that aim by more than `fall` with half of the misses. The value misses by more than `fall` with less
        than that, and by twice as much hardly ever. Nothing of it depends on how many values there are.
        """
        return Fraction(2 * self._fall(candidates, confidence) + 1, self.share.denominator)

    def _fall(self, candidates: int, confidence: Fraction) -> int:
        return math.ceil(self.end.shortfall(candidates + 2, 1 - (1 - confidence) / 2))

    def _end(self, reach: Integers, aim: int, source: Source) -> int:
        """Choose the candidate whose rank is `aim` off the quantile; beyond both ends lies one more."""
        off = reach - aim
        scores = np.empty(reach.size + 1, dtype=np.int64)
        scores[0], scores[-1] = min(0, int(off[0])), min(0, -int(off[-1]))
        inside = scores[1:-1]
        np.minimum(np.negative(off[:-1], out=inside), off[1:], out=inside)
        np.minimum(inside, 0, out=inside)
        return min(max(self.end.release(scores, source).value - 1, 0), reach.size - 2)

    def _edge(self, place: int, side: int) -> int | float | date:
        """The end of what lies on a point of the grid: half a step beyond it, within the bounds."""
        shown = self._show(place)
        if isinstance(shown, date) or (self.value.kind is Kind.INTEGER and self.grid == 1):
            return shown
        lower, upper = Fraction(self.value.lower), Fraction(self.value.upper)  # type: ignore[arg-type]
        edge = min(max(Fraction(shown) + side * self.grid / 2, lower), upper)
        if self.value.kind is Kind.INTEGER:
            return math.floor(edge) if side < 0 else math.ceil(edge)
        return float(edge)

    def _show(self, place: int) -> int | float | date:
        candidate = self.candidates[place]
        if isinstance(candidate, date):
            return candidate
        exact = Fraction(candidate) * self.grid
        return int(exact) if self.value.kind is Kind.INTEGER else float(exact)


class Frequent(Chooser):
    """MODE and TOP_K over the declared values: counts rise together when a unit comes, so no factor 2 is needed."""

    def __init__(
        self, aggregate: Aggregate, value: Value, epsilon: Fraction, shared: Contribution, neighbours: Neighbours
    ) -> None:
        super().__init__(aggregate, value)
        found = value.domain(MOST_CANDIDATES)
        if found is None:
            raise QuestionError(
                f"The most frequent value of {aggregate.name!r} is chosen from a public list, and there is none; "
                "declare the categories of the column, or group by it and order by the count."
            )
        self._candidates = found
        many = 1 if aggregate.parameter is None else int(aggregate.parameter)
        if not 1 <= many <= len(found):
            raise QuestionError(f"There are {len(found)} values to choose from; ask for at least 1 and at most that.")
        self.many = None if aggregate.parameter is None else many
        each = epsilon / shared.groups
        self.mechanism = TopK(many, each, shared.rows, monotone=True, neighbours=neighbours)

    @property
    def cell(self) -> exp.Expr:
        """The value itself."""
        return where(self.value.sql, self.aggregate.where)

    @property
    def candidates(self) -> tuple[Constant, ...] | range:
        """The declared values."""
        return self._candidates

    def choose(self, counts: Integers, confidence: Fraction, source: Source) -> Estimate:  # noqa: ARG002
        """The most frequent value or values of one group."""
        chosen = [self._candidates[place] for place in self.mechanism.release(counts, source).value]
        return Estimate(chosen[0] if self.many is None else list(chosen))

    def shortfall(self, confidence: Fraction) -> int:
        """How many rows fewer than the truly most frequent a chosen value may have, with this confidence."""
        return math.ceil(self.mechanism.shortfall(len(self._candidates), confidence))


def _bin_width(value: Value) -> Fraction:
    if value.kind is Kind.DATE:
        if value.domain(MOST_CANDIDATES) is None:
            raise QuestionError("A quantile of dates needs public bounds less than 65,536 days apart; declare them.")
        return Fraction(1)
    spread = Fraction(value.upper) - Fraction(value.lower)  # type: ignore[arg-type]
    if value.kind is Kind.INTEGER and spread < MOST_CANDIDATES:
        return Fraction(1)
    largest = max(abs(Fraction(value.lower)), abs(Fraction(value.upper)))  # type: ignore[arg-type]
    return power_of_two_above(max(spread / (MOST_CANDIDATES - 2), largest / 2**50)) if spread else Fraction(1)
