"""Formulas such as "income ~ age + sex", and the design that they describe."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError, ParameterError
from ziggurat.utility._fits import dependent
from ziggurat.utility._judgement import Codes, Reals, counted
from ziggurat.utility._sheets import Sheet, SheetField, Sheets

INTERCEPT = "intercept"
_TERM = re.compile(r"`([^`]+)`|([^`~+]+)")


@dataclass(frozen=True)
class Formula:
    """The target of a regression and the columns that explain it."""

    target: str
    terms: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, the target first."""
        return (self.target, *self.terms)

    @classmethod
    def parse(cls, text: str) -> Formula:
        """Read "target ~ column + column"; names with `~` or `+` stand in backquotes."""
        sides = _split(text, "~") if isinstance(text, str) else []
        if len(sides) != 2:
            raise ParameterError('A formula reads "target ~ column + column".')
        target, *terms = _name(sides[0]), *(_name(each) for each in _split(sides[1], "+"))
        if len({target, *terms}) != len(terms) + 1:
            raise ParameterError("A column is named twice in the formula.")
        return cls(target, tuple(terms))


@dataclass(frozen=True, eq=False)
class RegressionMatrix:
    """A table as a regression sees it: one column for each coefficient, and the rows that have every value."""

    matrix: Reals
    kept: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Coding:
    """How the columns of a formula become those of a design.

    Attributes
    ----------
    fields
        The columns that explain.
    levels
        For each of them the codes that have a coefficient; none for numbers. The first category is the reference.
    reference
        The code of the reference of each, -1 for numbers.
    """

    fields: tuple[SheetField, ...]
    levels: tuple[tuple[int, ...], ...]
    reference: tuple[int, ...]

    @classmethod
    def of(cls, sheets: Sheets, formula: Formula) -> Coding:
        """Take the categories of the original's rows that have every value."""
        fields = tuple(sheets.field(name) for name in formula.terms)
        kept = complete(sheets, formula, sheets.original)
        found = [_present(sheets.original.cells[field.name].codes[kept]) for field in fields]
        levels = [() if field.numeric else each[1:] for field, each in zip(fields, found, strict=True)]
        first = [-1 if field.numeric or not each else each[0] for field, each in zip(fields, found, strict=True)]
        return cls(fields, tuple(levels), tuple(first))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the coefficients; of a category "column[label]"."""
        dummies = [
            [field.name] if field.numeric else [f"{field.name}[{field.labels[code]}]" for code in levels]
            for field, levels in zip(self.fields, self.levels, strict=True)
        ]
        return (INTERCEPT, *(name for each in dummies for name in each))

    @property
    def owners(self) -> tuple[str, ...]:
        """For each coefficient the column that it belongs to."""
        sizes = [1 if field.numeric else len(levels) for field, levels in zip(self.fields, self.levels, strict=True)]
        named = [field.name for field, size in zip(self.fields, sizes, strict=True) for _ in range(size)]
        return (INTERCEPT, *named)

    def design(self, sheets: Sheets, formula: Formula, sheet: Sheet, where: str) -> RegressionMatrix:
        """Return the design of one table; rows without a value, or with a category the original lacks, are left out."""
        kept = complete(sheets, formula, sheet)
        columns: list[Reals] = [np.ones(sheet.rows)]
        for field, levels, first in zip(self.fields, self.levels, self.reference, strict=True):
            cells = sheet.cells[field.name]
            if field.numeric:
                columns.append(cells.numbers)
                continue
            kept &= np.isin(cells.codes, [first, *levels])
            columns += [(cells.codes == code).astype(np.float64) for code in levels]
        matrix = np.stack([each[kept] for each in columns], axis=1)
        self._check(matrix, where)
        return RegressionMatrix(matrix, kept)

    def _check(self, matrix: Reals, where: str) -> None:
        rows, size = matrix.shape
        if rows <= size:
            raise DataError(
                f"{where} has {counted(rows, 'row')} with every value of the formula; "
                f"{counted(size, 'coefficient')} need more."
            )
        empty = np.flatnonzero(~matrix.any(axis=0))
        if empty.size and self.fields[self.names_of_fields.index(self.owners[empty[0]])].numeric is False:
            raise DataError(
                f"{where} lacks a category of column {self.owners[empty[0]]!r} that the original has; "
                "put rare categories together, or leave the column out."
            )
        left = dependent(matrix)
        if left.size:
            raise DataError(
                f"{where}: column {self.owners[left[-1]]!r} of the formula does not vary or follows from the other "
                "columns; leave one out."
            )

    @property
    def names_of_fields(self) -> tuple[str, ...]:
        """The names of the columns that explain; the intercept is none of them."""
        return tuple(field.name for field in self.fields)


def complete(sheets: Sheets, formula: Formula, sheet: Sheet) -> npt.NDArray[np.bool_]:
    """Return which rows have a value in every column of the formula."""
    kept = np.ones(sheet.rows, dtype=np.bool_)
    for name in formula.columns:
        kept &= ~sheet.missing(sheets.field(name))
    return kept


def _present(codes: Codes) -> tuple[int, ...]:
    return tuple(int(code) for code in np.unique(codes))


def _split(text: str, sign: str) -> list[str]:
    """Split at a sign that is not in backquotes."""
    parts = re.split(rf"{re.escape(sign)}(?=(?:[^`]*`[^`]*`)*[^`]*$)", text)
    return [part.strip() for part in parts]


def _name(text: str) -> str:
    found = _TERM.fullmatch(text)
    if not found:
        raise ParameterError('A formula reads "target ~ column + column"; write one name between two signs.')
    return (found[1] or found[2]).strip()
