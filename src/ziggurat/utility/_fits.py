"""Formulas such as "income ~ age + sex", the design that they describe, and its fit with standard errors."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from ziggurat.errors import DataError, ParameterError
from ziggurat.utility._judgement import Codes, Reals
from ziggurat.utility._sheets import Sheet, SheetField, Sheets
from ziggurat.wording import count_noun

INTERCEPT = "intercept"
_TERM = re.compile(r"`([^`]+)`|([^`~+]+)")
_STEPS = 50
_CLOSE = 1e-9
_SINGULAR = 1e-9


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
                f"{where} has {count_noun(rows, 'row')} with every value of the formula; "
                f"{count_noun(size, 'coefficient')} need more."
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


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients and their standard errors; `degrees` are those of Student's t, infinite for the normal."""

    estimates: Reals
    errors: Reals
    degrees: float


def dependent(design: Reals) -> npt.NDArray[np.intp]:
    """Return which columns of a design follow from the others; empty if it has full rank."""
    norms = np.linalg.norm(design, axis=0)
    scaled = design / np.where(norms > 0, norms, 1.0)
    _, upper, order = linalg.qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.sum(diagonal > _SINGULAR * max(diagonal[0], _SINGULAR)))
    found: npt.NDArray[np.intp] = np.sort(order[rank:])
    return found


def least_squares(design: Reals, target: Reals) -> Fit:
    """Fit a linear regression; the design must have full rank and more rows than columns."""
    scale = np.linalg.norm(design, axis=0)
    basis, upper = np.linalg.qr(design / scale)
    estimates = linalg.solve_triangular(upper, basis.T @ target)
    left = target - (design / scale) @ estimates
    degrees = len(target) - design.shape[1]
    return Fit(estimates / scale, _errors(upper) * np.sqrt(left @ left / degrees) / scale, float(degrees))


def logistic(design: Reals, target: Reals, where: str) -> Fit:
    """Fit a logistic regression by Newton's method; the design must have full rank.

    Raises DataError if there is no finite answer, because the columns tell the two values of the target apart.

    Parameters
    ----------
    design, target
        The columns, and 0 or 1 for each row.
    where
        The table, for an error message.
    """
    scale = np.linalg.norm(design, axis=0) / np.sqrt(len(design))
    scaled = design / scale
    estimates = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chances = special.expit(scaled @ estimates)
        root = np.sqrt(chances * (1 - chances))
        upper: Reals = np.asarray(np.linalg.qr(root[:, None] * scaled, mode="r"), dtype=np.float64)
        if np.abs(np.diag(upper)).min() < _SINGULAR * np.abs(np.diag(upper)).max():
            break
        gradient = scaled.T @ (target - chances)
        step = linalg.cho_solve((upper, False), gradient)
        estimates = estimates + _shorten(step)
        if np.abs(step).max() <= _CLOSE * (1 + np.abs(estimates).max()):
            return Fit(estimates / scale, _errors(upper) / scale, np.inf)
    raise DataError(
        f"{where}: the columns of the formula tell the values of its target (nearly) perfectly apart, so a logistic "
        "regression has no finite answer; leave out a column."
    )


def penalized_chances(design: Reals, target: Reals, penalty: float = 1e-6) -> Reals:
    """Return the fitted chances of a logistic regression; the slight penalty keeps it finite on any table."""
    size = design.shape[1]
    estimates, ridge = np.zeros(size), penalty * len(design) * np.eye(size)
    for _ in range(_STEPS):
        chances = special.expit(design @ estimates)
        weights = chances * (1 - chances)
        hessian = design.T @ (weights[:, None] * design) + ridge
        gradient = design.T @ (target - chances) - ridge @ estimates
        step = _shorten(linalg.solve(hessian, gradient, assume_a="pos"))
        estimates = estimates + step
        if np.abs(step).max() <= 1e-7 * (1 + np.abs(estimates).max()):
            break
    return np.asarray(special.expit(design @ estimates), dtype=np.float64)


def _shorten(step: Reals) -> Reals:
    """Newton's step, at most 5 long in every coefficient: far from the answer it may overshoot."""
    return step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))


def _errors(upper: Reals) -> Reals:
    inverse = linalg.solve_triangular(upper, np.eye(len(upper)))
    return np.asarray(np.sqrt((inverse**2).sum(axis=1)), dtype=np.float64)
