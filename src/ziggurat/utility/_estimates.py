"""Means, quantiles and shares of the original beside those of the copies."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.utility._intervals import (
    Combiner,
    Combining,
    Interval,
    around,
    combiner,
    normal_quantile,
    overlap,
)
from ziggurat.utility._judgement import Reals, average
from ziggurat.utility._sheets import ROWS, Sheet, SheetField, Sheets, open_sheets

QUANTILES = (0.25, 0.5, 0.75)
_SHARES = 10  # of the most common categories

Statistic = Callable[[Sheet], tuple[float, float]]


@dataclass(frozen=True)
class ColumnEstimate(Shown):
    """One figure of one column.

    Attributes
    ----------
    column, figure
        Which column, and what of it: "mean", "quantile 0.5", "share of ...".
    original, synthetic
        With their intervals; of the copies combined.
    overlap
        Of the intervals, from 0 to 1; NaN if one of them has no value.
    """

    column: str
    figure: str
    original: Interval
    synthetic: Interval
    overlap: float


@dataclass(frozen=True)
class Estimates(Finding):
    """Figures of columns with their intervals.

    Attributes
    ----------
    figures
        In the order of the columns.
    combining
        How the copies were combined.
    confidence
        Of the intervals.
    """

    figures: tuple[ColumnEstimate, ...]
    combining: str
    confidence: float

    @property
    def overlap(self) -> float:
        """The mean overlap of the intervals."""
        return average(each.overlap for each in self.figures)

    def overlaps(self) -> dict[str, float]:
        """Return for each column the mean overlap of its intervals."""
        names = dict.fromkeys(each.column for each in self.figures)
        return {name: average(each.overlap for each in self.figures if each.column == name) for name in names}

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        known = [each for each in self.figures if not math.isnan(each.overlap)]
        if not known:
            return "No column has a mean or a share to compare."
        worst = min(known, key=lambda each: each.overlap)
        return (
            f"The {self.confidence:.0%} intervals of means, quantiles and shares overlap by {self.overlap:.2f} on "
            f"average, least of all a {worst.figure.split(' ')[0]} of {worst.column!r} by {worst.overlap:.2f}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each figure."""
        return pa.table(
            {
                "column": pa.array([each.column for each in self.figures], pa.string()),
                "figure": pa.array([each.figure for each in self.figures], pa.string()),
                **interval_columns("original", [each.original for each in self.figures]),
                **interval_columns("synthetic", [each.synthetic for each in self.figures]),
                "overlap": pa.array([each.overlap for each in self.figures], pa.float64(), from_pandas=True),
            }
        )


def interval_columns(name: str, intervals: Sequence[Interval]) -> dict[str, pa.Array]:
    """Return estimates and the ends of their intervals as columns of a table."""
    parts = {name: "estimate", f"{name}, low": "low", f"{name}, high": "high"}
    return {
        title: pa.array([getattr(each, part) for each in intervals], pa.float64(), from_pandas=True)
        for title, part in parts.items()
    }


def estimates(
    original: object,
    synthetic: object,
    *,
    columns: Iterable[str] | str | None = None,
    quantiles: Sequence[float] = QUANTILES,
    combining: Combining | None = None,
    confidence: float = 0.95,
    rows: int = ROWS,
    source: Source | None = None,
) -> Estimates:
    """Compare means and quantiles of numbers, and shares of the ten most common categories.

    Missing cells do not count for numbers and are a category of categories. The interval of a quantile is Woodruff's
    (1952); dates are counted in days since 1970.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    columns
        Which columns; by default all, without those of free text.
    quantiles
        Which quantiles, each between 0 and 1.
    combining
        How the copies are combined: "fully" or "partially" synthetic, "simple", or "as real"; by default
        "partially" for a partially synthetic table as `synthesize` returns it, else "simple".
    confidence
        Of the intervals.
    rows
        At most how many rows of each table are looked at; the intervals are those of so many rows.
    source
        Of the draw of these rows.
    """
    sheets = open_sheets(original, synthetic, columns, rows=rows, source=source)
    return estimates_of(sheets, quantiles, combining, confidence)


def estimates_of(
    sheets: Sheets,
    quantiles: Sequence[float] = QUANTILES,
    combining: Combining | None = None,
    confidence: float = 0.95,
) -> Estimates:
    """Compare the figures of tables that were read already."""
    how = combiner(sheets, combining, confidence)
    if not all(0 < each < 1 for each in quantiles):
        raise ParameterError("Quantiles lie between 0 and 1.")
    figures = [
        _estimate(sheets, field, figure, statistic, how)
        for field in sheets.fields
        for figure, statistic in _statistics(sheets, field, quantiles)
    ]
    return Estimates(tuple(figures), how.rule, confidence)


def _estimate(sheets: Sheets, field: SheetField, figure: str, statistic: Statistic, how: Combiner) -> ColumnEstimate:
    (value, error), *others = [statistic(sheet) for sheet in sheets.all]
    original = around(value, error, normal_quantile(how.confidence))
    if not all(math.isfinite(part) for each in others for part in each):
        nothing = Interval(math.nan, math.nan, math.nan, math.nan)
        return ColumnEstimate(field.name, figure, original, nothing, math.nan)
    sizes = [sheet.rows for sheet in sheets.copies]
    values, errors = [each[0] for each in others], [each[1] for each in others]
    synthetic = how.combine(values, errors, sheets.original.rows, sizes)
    return ColumnEstimate(field.name, figure, original, synthetic, overlap(original, synthetic))


def _statistics(sheets: Sheets, field: SheetField, quantiles: Sequence[float]) -> Iterator[tuple[str, Statistic]]:
    if not field.numeric:
        counts = np.bincount(sheets.original.cells[field.name].codes, minlength=len(field.labels))
        for code in np.argsort(-counts, kind="stable")[:_SHARES]:
            if counts[code] or len(field.labels) == 1:
                yield f"share of {field.labels[code]}", _share(field, int(code))
        return
    yield "mean", lambda sheet: _mean(_keep_known(sheet, field))
    for level in quantiles:
        yield f"quantile {level:g}", _quantile(field, level)


def _keep_known(sheet: Sheet, field: SheetField) -> Reals:
    values = sheet.cells[field.name].numbers
    return values[~np.isnan(values)]


def _mean(values: Reals) -> tuple[float, float]:
    if values.size < 2:
        return math.nan, math.nan
    return float(values.mean()), float(values.std(ddof=1) / math.sqrt(values.size))


def _share(field: SheetField, code: int) -> Statistic:
    def share(sheet: Sheet) -> tuple[float, float]:
        found = float(np.mean(sheet.cells[field.name].codes == code))
        return found, math.sqrt(found * (1 - found) / sheet.rows)

    return share


def _quantile(field: SheetField, level: float) -> Statistic:
    def quantile(sheet: Sheet) -> tuple[float, float]:
        values = _keep_known(sheet, field)
        if values.size < 2:
            return math.nan, math.nan
        z = normal_quantile(0.95)
        reach = z * math.sqrt(level * (1 - level) / values.size)
        low, middle, high = np.quantile(values, [max(0.0, level - reach), level, min(1.0, level + reach)])
        return float(middle), float(high - low) / (2 * z)

    return quantile
