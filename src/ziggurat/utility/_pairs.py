"""Pair by pair: how far the tables of two columns are from the original's.

References
----------
Snoke, Raab, Nowok, Dibben, Slavkovic (2018), "General and specific utility measures for synthetic data", JRSS A 181(3):
the propensity mean squared error, and what to expect of it.
Raab, Nowok, Dibben (2021), "Assessing, visualizing and improving the utility of synthetic data", arXiv:2109.12717: that
error for tables of pairs of columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.randomness import Source
from ziggurat.utility._distributions import DENSE, Binned, cut_column
from ziggurat.utility._judgement import Codes, Reals, Spread
from ziggurat.utility._sheets import ROWS, Sheets, open_sheets

GROUPS = 5


@dataclass(frozen=True, eq=False)
class Pairs(Finding):
    """The tables of all pairs of columns.

    Attributes
    ----------
    columns
        The columns, in the order of the matrices.
    total_variation
        Of the table of two columns, the mean over the copies; the diagonal has single columns.
    pmse_ratio
        The propensity mean squared error of the table of two columns over its expectation, the mean over the copies;
        the diagonal has single columns, and a table of one cell has none (NaN). It is about 1 if the copy was drawn
        from the original's own distribution, and about 1 + k/n if it is an independent sample of k rows from where
        the original's n come from.
    mean_total_variation, mean_pmse_ratio
        The means over all pairs, for each copy.
    groups
        Into how many groups numbers were cut.
    """

    columns: tuple[str, ...]
    total_variation: Reals
    pmse_ratio: Reals
    mean_total_variation: Spread
    mean_pmse_ratio: Spread
    groups: int

    @property
    def worst(self) -> tuple[str, str]:
        """The pair with the largest ratio; the same column twice if there is one column only."""
        ratios = np.where(np.isnan(self.pmse_ratio), -1.0, self.pmse_ratio).copy()
        if len(self.columns) > 1:
            np.fill_diagonal(ratios, -2.0)
        first, second = np.unravel_index(int(np.argmax(ratios)), ratios.shape)
        return self.columns[first], self.columns[second]

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        first, second = self.worst
        ratio = self.pmse_ratio[self.columns.index(first), self.columns.index(second)]
        return (
            f"Tables of two columns differ by a total variation of {self.mean_total_variation} and have a standardised "
            f"pMSE of {self.mean_pmse_ratio} on average, most of all {first!r} by {second!r} with {ratio:.3g}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each pair, the worst first."""
        first, second = np.triu_indices(len(self.columns), k=1 if len(self.columns) > 1 else 0)
        ratios = self.pmse_ratio[first, second]
        order = np.argsort(-np.where(np.isnan(ratios), -1.0, ratios), kind="stable")
        return pa.table(
            {
                "column": [self.columns[place] for place in first[order]],
                "other column": [self.columns[place] for place in second[order]],
                "total variation": self.total_variation[first, second][order],
                "pMSE ratio": pa.array(ratios[order], from_pandas=True),
            }
        )


def pairs(
    original: object,
    synthetic: object,
    *,
    columns: Iterable[str] | str | None = None,
    groups: int = GROUPS,
    rows: int = ROWS,
    source: Source | None = None,
) -> Pairs:
    """Compare the tables of all pairs of columns.

    Numbers are cut into groups at the original's quantiles; missing is a category. For a table with k cells that are
    not empty, of N rows of which a share c is synthetic: pMSE is the sum of N_cell (p_cell - c)^2 / N, where p_cell is
    the synthetic share of the cell, and its expectation (k - 1)(1 - c)^2 c / N.

    Parameters
    ----------
    original, synthetic
        What `ziggurat.data.read` takes; of synthetic copies one, a list, or what `synthesize` returned.
    columns
        Which columns; by default all, without those of free text.
    groups
        Into how many groups numbers are cut.
    rows
        At most how many rows of each table are looked at.
    source
        Of the draw of these rows.
    """
    return pairs_of(open_sheets(original, synthetic, columns, rows=rows, source=source), groups)


def pairs_of(sheets: Sheets, groups: int = GROUPS) -> Pairs:
    """Compare pairs of columns of tables that were read already."""
    if isinstance(groups, bool) or not isinstance(groups, int) or groups < 2:
        raise ParameterError("The number of groups must be a whole number of at least 2.")
    cut = [cut_column(sheets, field, groups) for field in sheets.fields]
    size, copies = len(cut), len(sheets.copies)
    distances, ratios = np.full((copies, size, size), np.nan), np.full((copies, size, size), np.nan)
    for i, j in [*((place, place) for place in range(size)), *combinations(range(size), 2)]:
        first, *others = _counts(cut[i], cut[j])
        for place, other in enumerate(others):
            distances[place, i, j] = distances[place, j, i] = _variation(first, other)
            ratios[place, i, j] = ratios[place, j, i] = pmse_ratio(first, other)
    return Pairs(
        sheets.names, _mean(distances), _mean(ratios), _over_pairs(distances), _over_pairs(ratios), groups
    )  # fmt: skip


def pmse_ratio(original: Codes, synthetic: Codes) -> float:
    """Return the propensity mean squared error of a table of counts over its expectation; NaN for a single cell."""
    both = original + synthetic
    held = both > 0
    cells, total = int(held.sum()), int(both.sum())
    if cells < 2:
        return float("nan")
    share = synthetic.sum() / total
    found = float(np.sum(both[held] * (synthetic[held] / both[held] - share) ** 2)) / total
    return found / expected_pmse(cells, share, total)


def expected_pmse(parameters: int, share: float, rows: int) -> float:
    """Return what to expect of the error if the copy was drawn from the original's distribution (Snoke et al.)."""
    return (parameters - 1) * (1 - share) ** 2 * share / rows


def _counts(one: Binned, other: Binned) -> list[Codes]:
    """Count the cells of a table of two columns: of the original, then of each copy."""
    if one is other:
        return one.counts()
    keys = [first * other.size + second for first, second in zip(one.codes, other.codes, strict=True)]
    cells = one.size * other.size
    if cells > DENSE * max(map(len, keys)):
        found, places = np.unique(np.concatenate(keys), return_inverse=True)
        keys, cells = np.split(places, np.cumsum([len(each) for each in keys])[:-1]), found.size
    return [np.bincount(each, minlength=cells) for each in keys]


def _variation(original: Codes, synthetic: Codes) -> float:
    return float(np.abs(original / original.sum() - synthetic / synthetic.sum()).sum() / 2)


def _mean(values: Reals) -> Reals:
    """The mean over the copies; NaN where no copy has a value."""
    known = ~np.isnan(values)
    sums: Reals = np.where(known, values, 0.0).sum(axis=0)
    means: Reals = np.divide(sums, known.sum(axis=0), out=np.full(sums.shape, np.nan), where=known.any(axis=0))
    return means


def _over_pairs(values: Reals) -> Spread:
    size = values.shape[1]
    first, second = np.triu_indices(size, k=1 if size > 1 else 0)
    chosen: Sequence[Reals] = [each[first, second] for each in values]
    return Spread.of(float(np.nanmean(each)) if not np.isnan(each).all() else np.nan for each in chosen)
