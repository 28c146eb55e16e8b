"""Hierarchies and tables in whole numbers, as the search reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data import Hierarchy
from ziggurat.data.schema import write_value
from ziggurat.errors import DataError
from ziggurat.wording import count_noun

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """A column's hierarchy in codes: every value has a code, and at every level a group.

    Parameters
    ----------
    column
        The name of the column.
    values
        Its values, in the order of their codes; None where a cell may be missing.
    groups
        For each level, the group of every code; at level 0 the code itself.
    labels
        For each level, what every group is called; None for a group that holds missing cells only.
    """

    column: str
    values: tuple[object, ...]
    groups: tuple[Codes, ...]
    labels: tuple[tuple[object, ...], ...]

    @property
    def height(self) -> int:
        """How many levels there are, that of the values themselves included."""
        return len(self.groups)

    @property
    def size(self) -> int:
        """How many values the hierarchy has."""
        return len(self.values)

    def leaves(self, level: int) -> Counts:
        """Return for each group of a level how many values stand under it."""
        return np.bincount(self.groups[level], minlength=len(self.labels[level])).astype(np.int64)

    def step(self, was: int, now: int) -> Codes:
        """Return for each group of one level its group at a higher one."""
        steps = np.zeros(len(self.labels[was]), np.int32)
        steps[self.groups[was]] = self.groups[now]
        return steps


def code_hierarchy(column: str, hierarchy: Hierarchy, *, missing: bool = False) -> Ladder:
    """Return a hierarchy in codes.

    Parameters
    ----------
    column
        The name of the column.
    hierarchy
        Its hierarchy.
    missing
        Whether cells may be missing. They then are a value of their own, up to the top, where they join the others.
    """
    values: list[object] = list(hierarchy.levels)
    columns: list[list[object]] = [values, *(list(level) for level in zip(*hierarchy.levels.values(), strict=True))]
    if missing:
        top = columns[-1][0] if len(set(columns[-1])) == 1 else None
        columns = [[*level, None] for level in columns[:-1]] + [[*columns[-1], top]]
    return code_levels(column, columns)


def code_levels(column: str, levels: Sequence[Sequence[object]]) -> Ladder:
    """Return what stands at every level over each value, the values themselves first, in codes."""
    coded = [_number_labels(level) for level in levels]
    return Ladder(column, tuple(levels[0]), tuple(codes for codes, _ in coded), tuple(names for _, names in coded))


def _number_labels(level: Sequence[object]) -> tuple[Codes, tuple[object, ...]]:
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in level]
    return np.array(codes, np.int32), tuple(numbers)


def find_codes(ladder: Ladder, cells: Sequence[Any]) -> Codes:
    """Return the codes of distinct cells; DataError names the column if a value is not in its hierarchy."""
    places: dict[object, int] = {value: code for code, value in enumerate(ladder.values)}
    texts = {write_value(value): code for code, value in enumerate(ladder.values) if value is not None}  # type: ignore[arg-type]
    codes = [places.get(cell, -1 if cell is None else texts.get(write_value(cell), -1)) for cell in cells]
    absent = codes.count(-1)
    if any(isinstance(cell, float) and cell != cell for cell in cells):
        raise DataError(f"Column {ladder.column!r} holds NaN, which is no number; make these cells missing first.")
    if absent:
        raise DataError(
            f"{count_noun(absent, 'value')} of column {ladder.column!r} {'is' if absent == 1 else 'are'} not in its "
            f"hierarchy; add {'it' if absent == 1 else 'them'} there, or see 'ziggurat hierarchy check'."
        )
    return np.array(codes, np.int32)


@dataclass(frozen=True)
class Combinations:
    """A table as the search sees it: every distinct combination of codes, and how many rows have it.

    Parameters
    ----------
    ladders
        The quasi-identifiers.
    codes
        [i, j]: the code of column j in the i-th combination.
    counts
        How many rows of the table have it.
    people
        How many rows of the population have it; empty without a population.
    sensitive
        [i, s]: the code of the s-th sensitive column, for models about these; zero columns without.
    values
        The values of each sensitive column, in the order of their codes.
    """

    ladders: tuple[Ladder, ...]
    codes: Codes
    counts: Counts
    people: Counts
    sensitive: Codes
    values: tuple[tuple[object, ...], ...]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.counts.sum())
