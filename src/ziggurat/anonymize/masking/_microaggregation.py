"""Microaggregation: like rows in groups of at least k, each shown as the mean of its group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.anonymize.masking._technique import (
    Reals,
    Tally,
    Technique,
    Truths,
    column_of,
    count_changed,
    count_filled,
    reals,
    replace_column,
)
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source

Groups = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Microaggregate(Technique):
    """Put like rows into groups of k to 2k-1 and show the mean of the group in place of each value, as a real.

    One column is grouped optimally (Hansen, Mukherjee 2003), several together by MDAV (Domingo-Ferrer, Torra 2005)
    after bringing each to mean 0 and standard deviation 1; means stay as they were, up to rounding. MDAV takes time of
    the order of n*n/k. Rows are grouped with those that have the same columns filled; where fewer than k have, their
    cells are blanked, so that no value leaves by itself.

    At least k rows share their values in *these* columns. It promises nothing about other columns, nor that a group is
    not all alike: k equal incomes are shown as they are.

    Parameters
    ----------
    k
        The smallest size of a group, at least 2.
    """

    name: ClassVar[str] = "microaggregate"
    k: int

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 2:
            raise ParameterError("The smallest size of a group must be a whole number of at least 2.")

    @property
    def row_wise(self) -> bool:
        """Never: groups are made of all rows."""
        return False

    def parameters(self) -> dict[str, Any]:
        """Return the smallest size of a group."""
        return {"k": self.k}

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:  # noqa: ARG002
        """Group the rows and show their means."""
        if 0 < table.num_rows < self.k:
            raise DataError(f"Groups of {self.k} rows cannot be made of a table of {table.num_rows}; lower k.")
        read = [reals(table.column(name), name, "microaggregation") for name in columns]
        rows = np.column_stack([values for values, _ in read]) if columns else np.empty((0, 0))
        there = np.column_stack([known for _, known in read])
        means, groups, blanked = _aggregate(rows, there, self.k)
        tally = Tally(counts={"groups": groups, "blanked": int(blanked.sum())})
        for place, name in enumerate(columns):
            before = table.column(name)
            after = column_of(means[:, place], there[:, place] & ~blanked[:, place], pa.float64())
            tally = tally + Tally(count_filled(before), count_changed(before, after))
            table = replace_column(table, name, after)
        return table, tally


def _aggregate(rows: Reals, there: Truths, k: int) -> tuple[Reals, int, Truths]:
    """The means of the groups, how many groups there are, and which cells had too few like them."""
    means, blanked, total = rows.copy(), np.zeros_like(there), 0
    patterns, which = np.unique(there, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        alike = np.flatnonzero(which.ravel() == number)
        if not pattern.any():
            continue
        if alike.size < k:
            blanked[np.ix_(alike, pattern)] = True
            continue
        means[np.ix_(alike, pattern)], count = _group(rows[np.ix_(alike, pattern)], k)
        total += count
    return means, total, blanked


def _group(rows: Reals, k: int) -> tuple[Reals, int]:
    from ziggurat.anonymize.masking import _grouping

    scaled = standardize(rows)
    group: Groups = np.full(len(rows), -1, dtype=np.int64)
    if rows.shape[1] == 1:
        order = np.argsort(scaled[:, 0], kind="stable")
        numbered = group.copy()
        count = _grouping.optimal_groups(scaled[order, 0], k, numbered)
        group[order] = numbered
    else:
        count = _grouping.mdav_groups(scaled, k, group)
    return _grouping.group_means(np.ascontiguousarray(rows), group, count), count


def standardize(rows: Reals) -> Reals:
    """Return each column about its mean, in its own standard deviations; a constant one as zeros."""
    largest = np.abs(rows).max(axis=0, initial=0.0)
    scaled = rows / np.where(largest > 0, largest, 1.0)  # first, so that no square overflows
    centred = scaled - scaled.mean(axis=0)
    spread = centred.std(axis=0)
    return np.ascontiguousarray(centred / np.where(spread > 0, spread, 1.0))
