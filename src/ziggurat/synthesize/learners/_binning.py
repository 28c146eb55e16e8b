"""Columns cut into at most 255 bins, on which trees are grown and followed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled
from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.errors import DataError
from ziggurat.synthesize._method import Arrays

Bytes = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

MOST = 255
_CATEGORIES = 250
_MISSING = 55


@dataclass(frozen=True)
class Binner:
    """How the cells of one column become bins.

    Parameters
    ----------
    edges
        Of numbers: the largest that falls in each bin but the last.
    table
        The bin of each code; of numbers the entry of code 0 means nothing.
    ordered
        How many bins, the first ones, have an order; of numbers the others stand for codes.
    """

    edges: Reals
    table: Bytes
    ordered: int

    @property
    def many(self) -> int:
        """How many bins there may be."""
        return max(self.ordered, int(self.table[1:].max(initial=0)) + 1)

    def bins(self, cells: CodedColumn) -> Bytes:
        """Return the bin of each cell."""
        if cells.values is None:
            return self.table.take(cells.codes)
        bins = np.empty(cells.rows, np.uint8)
        _place(np.ascontiguousarray(cells.values), self.edges, bins)
        if cells.size > 1:
            missing = np.flatnonzero(cells.codes)
            bins[missing] = self.table[cells.codes[missing]]
        return bins


@dataclass(frozen=True)
class Bins:
    """Columns cut into bins once, for all the trees that are grown on them: a row of `cells` per column."""

    binners: tuple[Binner, ...]
    cells: Bytes

    def select(self, columns: Sequence[int], rows: Integers | npt.NDArray[np.bool_] | None = None) -> Bins:
        """Return some of the columns, and of the rows if they are named."""
        cells = self.cells[list(columns)]
        chosen = cells if rows is None else np.ascontiguousarray(cells[:, rows])
        return Bins(tuple(self.binners[j] for j in columns), chosen)


def bin_columns(columns: Sequence[CodedColumn], binners: Sequence[Binner] | None = None) -> Bins:
    """Cut each column into bins: numbers by quantiles, or one bin per value where these are few; categories by code.

    Codes for missing numbers have bins of their own. Of more than 250 categories the rarest share a bin, or, where
    they have an order, neighbours do. With `binners` the columns are cut as others were before.
    """
    binners = tuple(map(_binner, columns) if binners is None else binners)
    if len(columns) != len(binners) or len({cells.rows for cells in columns}) > 1:
        raise DataError("Give the same columns as when the trees were grown, all of as many rows.")
    cells = np.empty((len(columns), columns[0].rows if columns else 0), np.uint8)
    for j, (binner, column) in enumerate(zip(binners, columns, strict=True)):
        cells[j] = binner.bins(column)
    return Bins(binners, cells)


def pack(binners: Sequence[Binner]) -> dict[str, npt.NDArray[np.generic]]:
    """Return the binners as arrays."""
    return {
        "bin_edges": np.concatenate([np.empty(0), *(each.edges for each in binners)]),
        "bin_edge_counts": np.array([len(each.edges) for each in binners], np.int64),
        "bin_tables": np.concatenate([np.empty(0, np.uint8), *(each.table for each in binners)]),
        "bin_table_sizes": np.array([len(each.table) for each in binners], np.int64),
        "bin_ordered": np.array([each.ordered for each in binners], np.int64),
    }


def unpack(arrays: Arrays) -> tuple[Binner, ...]:
    """Return the binners that `pack` described."""
    held = cast(Mapping[str, npt.NDArray[Any]], arrays)
    edges = np.split(held["bin_edges"], np.cumsum(held["bin_edge_counts"]))
    tables = np.split(held["bin_tables"], np.cumsum(held["bin_table_sizes"]))
    ordered = held["bin_ordered"].tolist()
    return tuple(Binner(edges[j], tables[j], ordered[j]) for j in range(len(ordered)))


def _binner(cells: CodedColumn) -> Binner:
    if cells.values is not None:
        return _of_numbers(cells, cells.values)
    return _of_ordered(cells) if cells.ordered else _of_categories(cells)


def _of_numbers(cells: CodedColumn, values: Reals) -> Binner:
    codes = min(cells.size - 1, _MISSING)
    edges = _edges(values if cells.size == 1 else values[cells.codes == 0], MOST - codes)
    first = len(edges) + 1
    table = first + np.minimum(np.arange(-1, cells.size - 1), codes - 1)
    return Binner(edges, table.astype(np.uint8), first)


def _of_ordered(cells: CodedColumn) -> Binner:
    if cells.size <= _CATEGORIES:
        return Binner(np.empty(0), np.arange(cells.size, dtype=np.uint8), cells.size)
    edges = _edges(cells.codes.astype(np.float64), _CATEGORIES)
    return Binner(np.empty(0), np.searchsorted(edges, np.arange(cells.size)).astype(np.uint8), len(edges) + 1)


def _of_categories(cells: CodedColumn) -> Binner:
    table = np.arange(cells.size)
    if cells.size > _CATEGORIES:
        commonest = np.argsort(-np.bincount(cells.codes, minlength=cells.size), kind="stable")
        table[commonest] = np.minimum(table, _CATEGORIES - 1)
    return Binner(np.empty(0), table.astype(np.uint8), 0)


def _edges(values: Reals, most: int) -> Reals:
    distinct, counts = np.unique(values, return_counts=True)
    return _cuts(distinct, counts, most)


@compiled
def _cuts(values: Reals, counts: Integers, most: int) -> Reals:
    """Cut between ascending values into bins of about as many rows each; a value that fills a bin has it alone."""
    edges = np.empty(most)
    made, held, rest = 0, 0, counts.sum()
    few = values.size <= most
    for i in range(values.size - 1):
        held += counts[i]
        room = most - made
        if few or (room > 1 and (held * room >= rest or counts[i + 1] * room >= rest)):
            middle = values[i] / 2 + values[i + 1] / 2
            edges[made] = middle if values[i] <= middle < values[i + 1] else values[i]
            made, held, rest = made + 1, 0, rest - held
    return edges[:made].copy()


@compiled
def _place(values: Reals, edges: Reals, bins: Bytes) -> None:
    """Write for each value how many edges lie below it, by a search without branches."""
    if edges.size == 0:
        bins[:] = 0
        return
    for i in range(values.size):
        value, low, many = values[i], 0, edges.size
        while many > 1:
            half = many // 2
            low += half if edges[low + half - 1] < value else 0
            many -= half
        bins[i] = low + (edges[low] < value)
