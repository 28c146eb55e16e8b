"""A regression on the original beside the same regression on the copies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from scipy import stats

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.threads import one_thread
from ziggurat.utility._estimates import interval_columns
from ziggurat.utility._fits import Coding, Fit, Formula, complete, least_squares, logistic
from ziggurat.utility._intervals import Combiner, Combining, Interval, around, combiner, overlap
from ziggurat.utility._judgement import Reals, average
from ziggurat.utility._sheets import ROWS, Sheet, SheetField, Sheets, open_sheets
from ziggurat.wording import count_noun

RegressionKind = Literal["linear", "logistic"]


@dataclass(frozen=True)
class Coefficient(Shown):
    """One coefficient.

    Attributes
    ----------
    name, column
        Its name, and the column that it belongs to; both are "intercept" for the intercept.
    original, synthetic
        With their intervals; of the copies combined.
    overlap
        Of the intervals, from 0 to 1.
    difference
        By how many standard errors of the original the estimates differ.
    """

    name: str
    column: str
    original: Interval
    synthetic: Interval
    overlap: float
    difference: float


@dataclass(frozen=True)
class ComparedRegression(Finding):
    """A regression on the original and on the copies.

    Attributes
    ----------
    formula, kind, combining, confidence
        What was fitted, and how the copies were combined.
    coefficients
        The intercept first. Categories are compared with the first of them in sorted order.
    rows, dropped
        How many rows of the original were used, and how many lack a value.
    synthetic_dropped
        How many rows of each copy lack a value or hold a category that the original does not have.
    """

    formula: str
    kind: RegressionKind
    combining: str
    confidence: float
    coefficients: tuple[Coefficient, ...]
    rows: int
    dropped: int
    synthetic_dropped: tuple[int, ...]

    @property
    def overlap(self) -> float:
        """The mean overlap over all coefficients."""
        return average(each.overlap for each in self.coefficients)

    def __getitem__(self, name: str) -> Coefficient:
        for each in self.coefficients:
            if each.name == name:
                return each
        raise ParameterError("There is no coefficient of this name; `coefficients` has them all.")

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        worst = min(self.coefficients, key=lambda each: each.overlap)
        return (
            f"In the {self.kind} regression {self.formula} the {self.confidence:.0%} intervals of "
            f"{count_noun(len(self.coefficients), 'coefficient')} overlap by {self.overlap:.2f} on average, least of "
            f"all one of {worst.column!r} by {worst.overlap:.2f}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each coefficient."""
        return pa.table(
            {
                "coefficient": [each.name for each in self.coefficients],
                **interval_columns("original", [each.original for each in self.coefficients]),
                **interval_columns("synthetic", [each.synthetic for each in self.coefficients]),
                "overlap": [each.overlap for each in self.coefficients],
                "difference": [each.difference for each in self.coefficients],
            }
        )


def regression(
    original: object,
    synthetic: object,
    formula: str,
    *,
    kind: RegressionKind = "linear",
    combining: Combining | None = None,
    confidence: float = 0.95,
    rows: int = ROWS,
    source: Source | None = None,
) -> ComparedRegression:
    """Fit one regression on the original and on every copy, and compare the coefficients.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    formula
        "target ~ column + column"; dates are days, categories are compared with the first in sorted order, and rows
        that lack a value are left out. Names that hold `~` or `+` stand in backquotes.
    kind
        "linear" for a target of numbers; "logistic" for one of two values, of which the one that comes last in sorted
        order is the event.
    combining
        How the copies are combined: "fully" or "partially" synthetic, "simple", or "as real"; by default
        "partially" for a partially synthetic table as `synthesize` returns it, else "simple".
    confidence
        Of the intervals.
    rows
        At most how many rows of each table are looked at.
    source
        Of the draw of these rows.
    """
    parsed = Formula.parse(formula)
    if kind not in ("linear", "logistic"):
        raise ParameterError("The kind of a regression is 'linear' or 'logistic'.")
    sheets = open_sheets(original, synthetic, parsed.columns, rows=rows, source=source)
    return regression_of(sheets, parsed, kind, combining, confidence)


@one_thread()
def regression_of(
    sheets: Sheets, formula: Formula, kind: RegressionKind, combining: Combining | None, confidence: float
) -> ComparedRegression:
    """Compare a regression on tables that were read already."""
    how = combiner(sheets, combining, confidence)
    coding = Coding.of(sheets, formula)
    events = _events(sheets, formula, kind)
    fits = [
        _fit(sheets, formula, coding, sheet, events, "The original" if place == 0 else f"Synthetic copy {place}")
        for place, sheet in enumerate(sheets.all)
    ]
    used = [size for _, size in fits]
    found = [_coefficient(place, coding, [fit for fit, _ in fits], used, how) for place in range(len(coding.names))]
    return ComparedRegression(
        formula=f"{formula.target} ~ {' + '.join(formula.terms)}",
        kind=kind,
        combining=how.rule,
        confidence=confidence,
        coefficients=tuple(found),
        rows=used[0],
        dropped=sheets.original.rows - used[0],
        synthetic_dropped=tuple(sheet.rows - size for sheet, size in zip(sheets.copies, used[1:], strict=True)),
    )


def _events(sheets: Sheets, formula: Formula, kind: RegressionKind) -> float | None:
    """Return the code or number that counts as the event of a logistic regression; None for a linear one."""
    field, kept = sheets.field(formula.target), complete(sheets, formula, sheets.original)
    if kind == "linear":
        if not field.numeric:
            raise ParameterError(f"Column {field.name!r} holds categories; a linear regression explains numbers.")
        return None
    values = np.unique(_raw(field, sheets.original)[kept])
    if values.size != 2:
        raise ParameterError(
            f"Column {field.name!r} has {count_noun(values.size, 'value')} in rows with every value of the formula; "
            "a logistic regression explains a column of two."
        )
    return float(values[1])


def _raw(field: SheetField, sheet: Sheet) -> Reals:
    cells = sheet.cells[field.name]
    return cells.numbers if field.numeric else cells.codes.astype(np.float64)


def _fit(
    sheets: Sheets, formula: Formula, coding: Coding, sheet: Sheet, event: float | None, where: str
) -> tuple[Fit, int]:
    design = coding.design(sheets, formula, sheet, where)
    target = _raw(sheets.field(formula.target), sheet)[design.kept]
    if event is None:
        return least_squares(design.matrix, target), len(target)
    hits = (target == event).astype(np.float64)
    if hits.min() == hits.max():
        raise DataError(f"{where} has only one value of column {formula.target!r}; there is nothing to explain.")
    return logistic(design.matrix, hits, where), len(target)


def _coefficient(place: int, coding: Coding, fits: list[Fit], used: list[int], how: Combiner) -> Coefficient:
    first, *others = fits
    quantile = stats.t.ppf((1 + how.confidence) / 2, first.degrees)
    original = around(float(first.estimates[place]), float(first.errors[place]), float(quantile))
    values, errors = [float(each.estimates[place]) for each in others], [float(each.errors[place]) for each in others]
    synthetic = how.combine(values, errors, used[0], used[1:])
    gap = synthetic.estimate - original.estimate
    return Coefficient(
        name=coding.names[place],
        column=coding.owners[place],
        original=original,
        synthetic=synthetic,
        overlap=overlap(original, synthetic),
        difference=gap / original.error if original.error > 0 else (0.0 if gap == 0 else math.inf),
    )
