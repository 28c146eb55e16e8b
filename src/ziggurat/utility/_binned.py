"""Columns cut into cells: categories as they are, numbers between quantiles of the original."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.data.coded import CodedColumn
from ziggurat.utility._judgement import Codes, Reals
from ziggurat.utility._sheets import SheetField, Sheets

DENSE = 4
"""A table is counted cell by cell while it has at most so many cells for each row."""


@dataclass(frozen=True, eq=False)
class Binned:
    """A column of all tables in cells.

    Attributes
    ----------
    field
        The column.
    cuts
        Where numbers are cut; a cut belongs to the cell above it. Empty for categories.
    codes
        The cell of every row: of the original, then of each copy.
    size
        How many cells there are; after those of numbers comes one for each way to be missing.
    """

    field: SheetField
    cuts: Reals
    codes: tuple[Codes, ...]
    size: int

    def counts(self) -> list[Codes]:
        """Return how many rows each cell holds: of the original, then of each copy."""
        return [np.bincount(each, minlength=self.size) for each in self.codes]


def cut_column(sheets: Sheets, field: SheetField, bins: int) -> Binned:
    """Cut a column: numbers with at most `bins` different values at each of them, others at the original's quantiles.

    Synthetic numbers outside the original's range fall into the first or the last cell.
    """
    cells = [sheet.cells[field.name] for sheet in sheets.all]
    if not field.numeric:
        return Binned(field, np.empty(0), tuple(each.codes for each in cells), len(field.labels))
    at = find_cuts(cells[0].numbers, bins)
    codes = tuple(_places(each, at) for each in cells)
    return Binned(field, at, codes, at.size + 1 + len(field.labels))


def find_cuts(values: Reals, bins: int) -> Reals:
    """Return at most `bins` - 1 places to cut numbers, so that cells hold about as many of them."""
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    if distinct.size <= bins:
        return np.asarray(distinct[1:], dtype=np.float64)
    inner = np.quantile(known, np.arange(1, bins) / bins, method="higher")
    found: Reals = np.unique(inner[inner > distinct[0]])
    return found


def count_cells(keys: Codes, cells: int) -> tuple[Codes, Codes]:
    """Return which of so many cells are not empty, and how many rows each of them holds."""
    if cells > DENSE * max(1, keys.size):
        found, counts = np.unique(keys, return_counts=True)
        return found, counts.astype(np.int64)
    every = np.bincount(keys, minlength=cells)
    held = np.flatnonzero(every)
    return held, every[held]


def _places(cells: CodedColumn, at: Reals) -> Codes:
    places = np.searchsorted(at, cells.numbers, side="right").astype(np.int64)
    return np.where(cells.codes == 0, places, at.size + cells.codes)
