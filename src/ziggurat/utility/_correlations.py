"""Whether columns go together in a copy as they do in the original."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.threads import one_thread
from ziggurat.utility._distributions import count_cells
from ziggurat.utility._judgement import Codes, Reals, Spread
from ziggurat.utility._sheets import ROWS, Sheet, SheetField, Sheets, open_sheets


@dataclass(frozen=True, eq=False)
class Correlations(Finding):
    """How strongly columns go together, in the original and in the copies.

    Attributes
    ----------
    columns
        The columns, in the order of the matrices.
    original, synthetic
        Two numbers: Pearson's correlation over rows that have both. Two categories: Cramér's V. A number and a
        category: the correlation ratio. Missing is a category; NaN where one of them does not vary. Of the copies,
        the mean.
    mean_difference
        The mean absolute difference over all pairs that have a value in both, for each copy.
    """

    columns: tuple[str, ...]
    original: Reals
    synthetic: Reals
    mean_difference: Spread

    @property
    def difference(self) -> Reals:
        """Synthetic minus original."""
        return self.synthetic - self.original

    @property
    def worst(self) -> tuple[str, str]:
        """The pair that differs most; the same column twice if no pair has a value."""
        gaps = np.abs(np.nan_to_num(self.difference))
        np.fill_diagonal(gaps, 0.0)
        first, second = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
        return self.columns[first], self.columns[second]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        if np.isnan(self.mean_difference.mean):
            return "No two columns vary in both tables, so there are no correlations to compare."
        first, second = self.worst
        at = self.columns.index(first), self.columns.index(second)
        return (
            f"Correlations differ by {self.mean_difference} on average, most of all between {first!r} and {second!r} "
            f"({self.original[at]:.3g} in the original, {self.synthetic[at]:.3g} in the copies)."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each pair, the largest difference first."""
        first, second = np.triu_indices(len(self.columns), k=1)
        order = np.argsort(-np.abs(np.nan_to_num(self.difference[first, second])), kind="stable")
        return pa.table(
            {
                "column": pa.array([self.columns[place] for place in first[order]], pa.string()),
                "other column": pa.array([self.columns[place] for place in second[order]], pa.string()),
                "original": pa.array(self.original[first, second][order], from_pandas=True),
                "synthetic": pa.array(self.synthetic[first, second][order], from_pandas=True),
            }
        )


def correlations(
    original: object,
    synthetic: object,
    *,
    columns: Iterable[str] | str | None = None,
    rows: int = ROWS,
    source: Source | None = None,
) -> Correlations:
    """Compare how strongly each two columns go together.

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
    return correlations_of(open_sheets(original, synthetic, columns, rows=rows, source=source))


@one_thread()
def correlations_of(sheets: Sheets) -> Correlations:
    """Compare the correlations of tables that were read already."""
    first, *others = [associations(sheets.fields, sheet) for sheet in sheets.all]
    upper = np.triu_indices(len(sheets.fields), k=1)
    gaps = [np.abs(each - first)[upper] for each in others]
    means = Spread.of(float(np.nanmean(each)) if not np.isnan(each).all() else np.nan for each in gaps)
    return Correlations(sheets.names, first, np.mean(others, axis=0), means)


def associations(fields: tuple[SheetField, ...], sheet: Sheet) -> Reals:
    """Return how strongly each two columns of a table go together."""
    numbers = [place for place, field in enumerate(fields) if field.numeric]
    categories = [place for place, field in enumerate(fields) if not field.numeric]
    found = np.full((len(fields), len(fields)), np.nan)
    if numbers:
        values = np.stack([sheet.cells[fields[place].name].numbers for place in numbers])
        found[np.ix_(numbers, numbers)] = pearson(values)
    for at, place in enumerate(categories):
        codes = sheet.cells[fields[place].name].codes
        for number in numbers:
            ratio = correlation_ratio(codes, sheet.cells[fields[number].name].numbers)
            found[place, number] = found[number, place] = ratio
        for other in categories[at:]:
            found[place, other] = found[other, place] = cramers_v(codes, sheet.cells[fields[other].name].codes)
    return found


def pearson(values: Reals) -> Reals:
    """Return the correlations of the rows of a matrix, each two over the places that both have (others are NaN)."""
    known = ~np.isnan(values)
    size = np.maximum(known.sum(axis=1, keepdims=True), 1)
    filled = np.where(known, values, 0.0)
    filled = np.where(known, filled - filled.sum(axis=1, keepdims=True) / size, 0.0)
    scale = np.sqrt((filled**2).sum(axis=1, keepdims=True) / size)
    filled = np.divide(filled, scale, out=np.zeros_like(filled), where=scale > 0)
    held = known.astype(np.float64)
    count = np.maximum(held @ held.T, 1)
    sums = filled @ held.T
    spread = (filled**2) @ held.T - sums**2 / count
    below = np.sqrt(np.maximum(spread * spread.T, 0.0))
    covered = filled @ filled.T - sums * sums.T / count
    found: Reals = np.divide(covered, below, out=np.full(below.shape, np.nan), where=below > 1e-9)
    return np.clip(found, -1, 1)


def cramers_v(one: Codes, other: Codes) -> float:
    """Return Cramér's V of two columns of codes; NaN if one has a single category."""
    rows, columns = np.bincount(one), np.bincount(other)
    cells, counts = count_cells(one * columns.size + other, rows.size * columns.size)
    smaller = min(np.count_nonzero(rows), np.count_nonzero(columns))
    if smaller < 2:
        return float("nan")
    first, second = np.divmod(cells, columns.size)
    squared = float(np.sum(counts.astype(np.float64) ** 2 / (rows[first] * columns[second].astype(np.float64)))) - 1
    return min(1.0, float(np.sqrt(max(squared, 0.0) / (smaller - 1))))


def correlation_ratio(codes: Codes, values: Reals) -> float:
    """Return the root of the share of the variance of numbers that lies between categories; NaN if nothing varies."""
    known = ~np.isnan(values)
    groups, numbers = codes[known], values[known]
    counts = np.bincount(groups)
    if np.count_nonzero(counts) < 2 or np.ptp(numbers) == 0:
        return float("nan")
    centred = numbers - numbers.mean()
    sums = np.bincount(groups, weights=centred)
    between = float(np.sum(sums[counts > 0] ** 2 / counts[counts > 0]))
    return min(1.0, float(np.sqrt(between / np.sum(centred**2))))
