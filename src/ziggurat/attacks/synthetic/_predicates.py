"""Predicates that single out one row: made from a synthetic table, tried on others."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks._finding import Share
from ziggurat.attacks.synthetic._alike import ComparedRows, Floats

Draw = np.random.Generator
Truths = npt.NDArray[np.bool_]

_TRIES = 10  # drawn predicates for each that is wanted, before giving up
_SWAPS = 799  # 20 in 800 are one in forty
_MOST_HOLDERS = 40  # a predicate of more rows hardly ever comes to hold for exactly one by swapping


@dataclass(frozen=True)
class Term:
    """One comparison of a column: "=", "<=" or ">=" with a value; what is missing equals what is missing."""

    column: int
    sign: str
    value: float

    def holds(self, cells: Floats) -> Truths:
        """Return for each row whether the comparison holds."""
        column = cells[:, self.column]
        if self.sign == "=":
            return np.isnan(column) if np.isnan(self.value) else column == self.value
        return column <= self.value if self.sign == "<=" else column >= self.value


Predicate = tuple[Term, ...]


def holders(predicate: Predicate, rows: ComparedRows) -> npt.NDArray[np.intp]:
    """Return the rows for which all terms hold."""
    found = predicate[0].holds(rows.cells)
    for term in predicate[1:]:
        found &= term.holds(rows.cells)
    return np.flatnonzero(found)


def isolates(predicate: Predicate, rows: ComparedRows) -> bool:
    """Return whether all terms hold for exactly one row."""
    return holders(predicate, rows).size == 1


def count_isolating(predicates: Iterable[Predicate], rows: ComparedRows) -> Share:
    """Return how many of the predicates hold for exactly one row."""
    found = [isolates(predicate, rows) for predicate in predicates]
    return Share(sum(found), len(found))


def chance_if_swapped(predicates: Sequence[Predicate], ours: ComparedRows, theirs: ComparedRows, draw: Draw) -> float:
    """Return how often as many more predicates single out in `ours` than in `theirs` if rows of both change places.

    Row i of either changes places with row i of the other, or not, by a coin. If nobody knows which table is which, the
    tables as they are are one such outcome among all, and as likely as each; so it is among the rarest 1 in 40 at most
    once in 40 times (Barnard 1963), whatever depends on whatever. Which predicates are counted is decided by both
    tables together, which swapping does not change.
    """
    both = [(holders(each, ours), holders(each, theirs)) for each in predicates]
    kept = [pair for pair in both if 0 < pair[0].size + pair[1].size <= _MOST_HOLDERS]
    if not kept:
        return 1.0
    move = _moves(kept)
    first, second = (np.array([pair[side].size for pair in kept])[:, None] for side in (0, 1))
    coins = draw.random((move.shape[1], _SWAPS)) < 0.5
    moved = move @ coins.astype(np.float64)
    seen = _more(first, second)[0]
    return float((1 + (_more(first - moved, second + moved) >= seen).sum()) / (_SWAPS + 1))


def _moves(kept: Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]) -> Any:
    """What each predicate loses on our side if a pair changes places: 1 if it held for ours, less 1 if for theirs."""
    from scipy import sparse

    lines = [np.full(pair[side].size, place) for place, pair in enumerate(kept) for side in (0, 1)]
    signs = [np.full(pair[side].size, 1.0 - 2 * side) for pair in kept for side in (0, 1)]
    places = np.concatenate([pair[side] for pair in kept for side in (0, 1)])
    used, columns = np.unique(places, return_inverse=True)
    entries = np.concatenate(signs), (np.concatenate(lines), columns)
    return sparse.csr_matrix(entries, shape=(len(kept), used.size))


def _more(ours: Floats, theirs: Floats) -> Floats:
    return np.asarray(((ours == 1).sum(axis=0) - (theirs == 1).sum(axis=0)), dtype=np.float64)


def of_one_column(rows: ComparedRows, wanted: int, draw: Draw) -> list[Predicate]:
    """Draw predicates about a single column that hold for exactly one of the rows.

    They are: to equal a value that occurs once, and to be at most the smallest or at least the largest number.
    """
    found: list[Predicate] = []
    for place, number in enumerate(rows.numeric):
        cells = rows.cells[:, place]
        values, times = np.unique(cells, return_counts=True)
        once = values[times == 1]
        found += [(Term(place, "=", float(value)),) for value in once]
        present = values[~np.isnan(values)]
        for sign, end in (("<=", present[:1]), (">=", present[-1:])) if number else ():
            found += [(Term(place, sign, float(value)),) for value in end if value in once]
    return [found[k] for k in draw.permutation(len(found))[:wanted]]


def of_several_columns(rows: ComparedRows, wanted: int, width: int, draw: Draw) -> list[Predicate]:
    """Draw predicates about several columns that hold for exactly one of the rows.

    Each follows a row drawn at random: categories equal the row's, numbers lie as far out as the row's or further.
    """
    present = [cells[~np.isnan(cells)] for cells in rows.cells.T]
    middles = [float(np.median(cells)) if cells.size else np.nan for cells in present]

    def made() -> Predicate:
        row = rows.cells[draw.integers(len(rows))]
        return tuple(_like(rows, place, float(row[place]), middles[place]) for place in _some(rows, width, draw))

    return _distinct(made, wanted, lambda predicate: isolates(predicate, rows))


def naive(rows: ComparedRows, wanted: int, width: int, draw: Draw) -> list[Predicate]:
    """Draw predicates from the values of single columns alone, whether they hold for any row or not."""
    values = [np.unique(cells) for cells in rows.cells.T]

    def made() -> Predicate:
        return tuple(_random(rows, place, values[place], draw) for place in _some(rows, width, draw))

    return _distinct(made, wanted, lambda _: True)


def _some(rows: ComparedRows, width: int, draw: Draw) -> list[int]:
    size = len(rows.names)
    return sorted(int(place) for place in draw.choice(size, min(width, size), replace=False))


def _like(rows: ComparedRows, place: int, value: float, middle: float) -> Term:
    if not rows.numeric[place] or np.isnan(value):
        return Term(place, "=", _same(value))
    return Term(place, ">=" if value >= middle else "<=", value)


def _same(value: float) -> float:
    """The value; for every missing one the same object, so that predicates about it are equal."""
    return math.nan if np.isnan(value) else float(value)


def _random(rows: ComparedRows, place: int, values: Floats, draw: Draw) -> Term:
    present = values[~np.isnan(values)]
    sign = str(draw.choice(["=", "<=", ">="])) if rows.numeric[place] and present.size else "="
    if sign == "=":
        return Term(place, sign, _same(draw.choice(values)))
    return Term(place, sign, float(draw.uniform(present[0], present[-1])))


def _distinct(made: Callable[[], Predicate], wanted: int, fits: Callable[[Predicate], bool]) -> list[Predicate]:
    """As many different predicates as are wanted, or as come up in a limited number of tries."""
    found: dict[Predicate, bool] = {}
    good = 0
    for _ in range(_TRIES * wanted):
        predicate = made()
        if predicate not in found:
            found[predicate] = fits(predicate)
            good += found[predicate]
        if good == wanted:
            break
    return [predicate for predicate, kept in found.items() if kept]
