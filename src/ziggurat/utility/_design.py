"""Columns as numbers for models that predict: one matrix, coded alike for every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ziggurat.utility._judgement import Codes, Reals
from ziggurat.utility._sheets import Sheet, SheetField

MOST_CATEGORIES = 20
"""So many categories of a column have a place of their own, the most common ones; the others share one."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers: standardised, 0 where it is missing, and a mark for each way to be missing."""

    name: str
    centre: float
    scale: float
    marks: int

    def matrix(self, sheet: Sheet) -> Reals:
        """Return the columns of the matrix."""
        cells = sheet.cells[self.name]
        filled = np.where(cells.codes == 0, (cells.numbers - self.centre) / self.scale, 0.0)
        marks = [cells.codes == code for code in range(1, self.marks + 1)]
        return np.stack([filled, *(each.astype(np.float64) for each in marks)], axis=1)


@dataclass(frozen=True, eq=False)
class CategoryMarks:
    """A column of categories: a mark for each common one."""

    name: str
    common: Codes

    def matrix(self, sheet: Sheet) -> Reals:
        """Return the columns of the matrix."""
        marks: Reals = (sheet.cells[self.name].codes[:, None] == self.common[None, :]).astype(np.float64)
        return marks


@dataclass(frozen=True, eq=False)
class Ranks:
    """A column for trees: numbers as they are and below them what is missing; categories by how common they are."""

    name: str
    least: float
    places: Reals

    def matrix(self, sheet: Sheet) -> Reals:
        """Return the column of the matrix."""
        cells = sheet.cells[self.name]
        if cells.values is None:
            return self.places.take(cells.codes)[:, None]
        below = self.least - cells.codes * (1 + abs(self.least))
        return np.where(cells.codes == 0, cells.values, below)[:, None]


Coder = Numbers | CategoryMarks | Ranks


def learn_codes(fields: Sequence[SheetField], sheet: Sheet) -> list[Coder]:
    """Learn from one table how columns are coded for linear models."""
    return [_numbers(field, sheet) if field.numeric else _categories(field, sheet) for field in fields]


def learn_ranks(fields: Sequence[SheetField], sheets: Sequence[Sheet]) -> list[Coder]:
    """Learn how columns are coded for trees: how common categories are from the first table, what is below numbers
    from all.
    """
    return [_ranks(field, sheets) for field in fields]


def matrix(coding: Sequence[Coder], sheet: Sheet) -> Reals:
    """Return a table as one matrix."""
    return np.concatenate([np.empty((sheet.rows, 0)), *(each.matrix(sheet) for each in coding)], axis=1)


def _numbers(field: SheetField, sheet: Sheet) -> Numbers:
    values = sheet.cells[field.name].numbers
    known = values[~np.isnan(values)]
    centre, scale = (float(known.mean()), float(known.std())) if known.size else (0.0, 0.0)
    return Numbers(field.name, centre, scale or 1.0, len(field.labels))


def _categories(field: SheetField, sheet: Sheet) -> CategoryMarks:
    return CategoryMarks(field.name, _by_count(field, sheet)[:MOST_CATEGORIES])


def _ranks(field: SheetField, sheets: Sequence[Sheet]) -> Ranks:
    if field.numeric:
        values = [sheet.cells[field.name].numbers for sheet in sheets]
        least = min(float(np.min(each, initial=0.0, where=~np.isnan(each))) for each in values)
        return Ranks(field.name, least, np.empty(0))
    places = np.empty(len(field.labels))
    places[_by_count(field, sheets[0])] = np.arange(len(field.labels))
    return Ranks(field.name, 0.0, places)


def _by_count(field: SheetField, sheet: Sheet) -> Codes:
    counts = np.bincount(sheet.cells[field.name].codes, minlength=len(field.labels))
    return np.argsort(-counts, kind="stable")
