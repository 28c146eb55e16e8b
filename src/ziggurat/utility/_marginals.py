"""Column by column: how far the distribution of a copy is from the original's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.data import Kind
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.utility._distributions import Binned, cut_column, hellinger, kl_divergence, total_variation
from ziggurat.utility._judgement import Codes, Reals, Spread, average
from ziggurat.utility._sheets import ROWS, Sheets, open_sheets

BINS = 20
SMOOTHING = 0.5
_SHOWN = 30  # categories in a picture; the rarer ones stand together
_OTHERS = "others"


@dataclass(frozen=True)
class MarginalHistogram(Shown):
    """Counts for a picture.

    Attributes
    ----------
    labels
        Of each bar; numbers have "" where an interval is meant.
    edges
        The ends of the intervals of numbers, or dates as text; bars of missing values come after them.
    original, synthetic
        The share of rows in each bar: of the original, and of the copies on average.
    """

    labels: tuple[str, ...]
    edges: tuple[float | str, ...]
    original: tuple[float, ...]
    synthetic: tuple[float, ...]


@dataclass(frozen=True)
class Marginal(Shown):
    """One column of the original beside that of the copies.

    Attributes
    ----------
    column, kind
        Which column, and what it holds.
    cells
        Into how many cells it was cut.
    total_variation, hellinger
        Distances of the shares of the cells.
    kl, normalised_kl
        Divergence of the original from the copy with half a row added to every cell, and 1 / (1 + KL).
    missing, synthetic_missing
        The share of cells without a value.
    outside
        The share of synthetic numbers beyond the smallest and the largest of the original.
    histogram
        For a picture.
    """

    column: str
    kind: str
    cells: int
    total_variation: Spread
    hellinger: Spread
    kl: Spread
    normalised_kl: Spread
    missing: float
    synthetic_missing: Spread
    outside: Spread
    histogram: MarginalHistogram


@dataclass(frozen=True)
class Marginals(Finding):
    """All columns, one by one.

    Attributes
    ----------
    columns
        In the order of the table.
    """

    columns: tuple[Marginal, ...]

    @property
    def total_variation(self) -> Spread:
        """The mean over the columns, for each copy."""
        return mean_spread([each.total_variation for each in self.columns])

    @property
    def normalised_kl(self) -> Spread:
        """The mean over the columns, for each copy."""
        return mean_spread([each.normalised_kl for each in self.columns])

    @property
    def worst(self) -> Marginal:
        """The column that is farthest from the original's."""
        return max(self.columns, key=lambda each: each.total_variation.mean)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        worst = self.worst
        return (
            f"Single columns differ from the original by a total variation of {self.total_variation} on average, "
            f"most of all {worst.column!r} by {worst.total_variation}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each column."""
        return pa.table(
            {
                "column": [each.column for each in self.columns],
                "kind": [each.kind for each in self.columns],
                "total variation": [each.total_variation.mean for each in self.columns],
                "normalised KL": [each.normalised_kl.mean for each in self.columns],
                "Hellinger": [each.hellinger.mean for each in self.columns],
                "missing": [each.missing for each in self.columns],
                "missing, synthetic": [each.synthetic_missing.mean for each in self.columns],
                "outside the range": [each.outside.mean for each in self.columns],
            }
        )


def marginals(
    original: object,
    synthetic: object,
    *,
    columns: Iterable[str] | str | None = None,
    rows: int = ROWS,
    source: Source | None = None,
) -> Marginals:
    """Compare the distributions of single columns.

    Categories are compared as they are and missing is one of them; numbers are cut at the original's quantiles into
    20 cells.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    columns
        Which columns; by default all, without those of free text.
    rows
        At most how many rows of each table are looked at.
    source
        Of the draw of these rows.
    """
    return marginals_of(open_sheets(original, synthetic, columns, rows=rows, source=source))


def marginals_of(sheets: Sheets) -> Marginals:
    """Compare single columns of tables that were read already."""
    return Marginals(tuple(_marginal(sheets, cut_column(sheets, field, BINS)) for field in sheets.fields))


def mean_spread(spreads: Sequence[Spread]) -> Spread:
    """Return for each copy the mean over several measures."""
    return Spread.of(average(values) for values in zip(*(each.values for each in spreads), strict=True))


def _marginal(sheets: Sheets, held: Binned) -> Marginal:
    first, *others = held.counts()
    kl = [kl_divergence(first, each, smoothing=SMOOTHING) for each in others]
    absent = [float(sheet.missing(held.field).mean()) for sheet in sheets.all]
    return Marginal(
        column=held.field.name,
        kind=held.field.kind.value,
        cells=held.size,
        total_variation=Spread.of(total_variation(first, each) for each in others),
        hellinger=Spread.of(hellinger(first, each) for each in others),
        kl=Spread.of(kl),
        normalised_kl=Spread.of(1 / (1 + each) for each in kl),
        missing=absent[0],
        synthetic_missing=Spread.of(absent[1:]),
        outside=_outside(sheets, held),
        histogram=_histogram(sheets, held, [first, *others]),
    )


def _outside(sheets: Sheets, held: Binned) -> Spread:
    if not held.field.numeric:
        return Spread.of(np.nan for _ in sheets.copies)
    values = [sheet.cells[held.field.name].numbers for sheet in sheets.all]
    known = [each[~np.isnan(each)] for each in values]
    if not known[0].size:
        return Spread.of(np.nan for _ in sheets.copies)
    low, high = known[0].min(), known[0].max()
    return Spread.of(float(np.mean((each < low) | (each > high))) if each.size else np.nan for each in known[1:])


def _histogram(sheets: Sheets, held: Binned, counts: Sequence[Codes]) -> MarginalHistogram:
    shares = [each / each.sum() for each in counts]
    synthetic = np.mean(shares[1:], axis=0)
    if held.field.numeric:
        labels = ("",) * (held.cuts.size + 1) + held.field.labels
        return MarginalHistogram(labels, _edges(sheets, held), tuple(shares[0].tolist()), tuple(synthetic.tolist()))
    return _of_categories(held.field.labels, shares[0], synthetic)


def _edges(sheets: Sheets, held: Binned) -> tuple[float | str, ...]:
    values = sheets.original.cells[held.field.name].numbers
    known = values[~np.isnan(values)]
    if not known.size:
        return ()
    edges = [float(known.min()), *held.cuts.tolist(), float(known.max())]
    if held.field.kind is Kind.DATE:
        return tuple((date(1970, 1, 1) + timedelta(days=int(each))).isoformat() for each in edges)
    return tuple(edges)


def _of_categories(labels: Sequence[str], original: Reals, synthetic: Reals) -> MarginalHistogram:
    if len(labels) <= _SHOWN:
        return MarginalHistogram(tuple(labels), (), tuple(original.tolist()), tuple(synthetic.tolist()))
    order = np.argsort(-original, kind="stable")[: _SHOWN - 1]
    shown = [np.append(each[order], 1 - each[order].sum()) for each in (original, synthetic)]
    names = (*(labels[place] for place in order), _OTHERS)
    return MarginalHistogram(names, (), tuple(shown[0].tolist()), tuple(shown[1].tolist()))
