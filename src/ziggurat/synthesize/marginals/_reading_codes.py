"""Rows as numbers of cells, a batch at a time, and at most so many of each unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Table
from ziggurat.data.expressions import null_if_missing
from ziggurat.randomness import Source, shuffle
from ziggurat.synthesize.marginals._cliques import Integers
from ziggurat.synthesize.marginals._counts import CountedUnit
from ziggurat.synthesize.marginals._domain import Axis
from ziggurat.synthesize.marginals._paying import learn_axis

if TYPE_CHECKING:
    from ziggurat.synthesize.marginals._private import CopyTerms

_UNIT = "ziggurat_unit"


def pay_for_axes(table: Table, axes: Sequence[Axis | None], terms: CopyTerms, source: Source) -> list[Axis]:
    """Learn the cells of the columns that have none yet, as was planned."""
    unknown = [name for name, axis in zip(terms.names, axes, strict=True) if axis is None]
    if terms.price is None or not unknown:
        return [axis for axis in axes if axis is not None]
    rows = table.query(table.select(*_select(table, unknown)))
    units = _units(table, rows)
    kept = pa.array(_keep_by_lot(units, terms.unit.rows, source))
    rows, units = rows.take(kept), units[kept.to_numpy()]
    found = {
        name: learn_axis(table.schema[name], rows[name], units, terms.price, terms.bins, name in terms.missing, source)
        for name in unknown
    }
    return [found[name] if axis is None else axis for name, axis in zip(terms.names, axes, strict=True)]


def read_codes(
    table: Table, axes: Sequence[Axis], unit: CountedUnit, source: Source
) -> tuple[Mapping[str, Integers], int]:
    """Return for every column the cells of the rows that count, and how many rows there are."""
    query = table.select(*_select(table, [axis.name for axis in axes]))
    parts: dict[str, list[Integers]] = {axis.name: [] for axis in axes}
    units: list[pa.Array] = []
    for batch in table.engine.batches(query):
        piece = pa.Table.from_batches([batch])
        for axis in axes:
            parts[axis.name].append(axis.codes(piece[axis.name]).astype(np.min_scalar_type(axis.size)))
        if table.unit.column is not None:
            units.append(batch.column(table.unit.column))
    codes = {name: np.concatenate(each) if each else np.zeros(0, dtype=np.int64) for name, each in parts.items()}
    rows = len(next(iter(codes.values())))
    if table.unit.column is None:
        return codes, rows
    kept = _keep_by_lot(
        _number_units(pa.chunked_array(units)) if units else np.zeros(0, dtype=np.int64), unit.rows, source
    )
    return {name: each[kept] for name, each in codes.items()}, len(kept)


def _select(table: Table, names: Sequence[str]) -> list[exp.Expr | str]:
    """The columns, with NULL for what is missing, and the one that tells units apart."""
    cells: list[exp.Expr | str] = [null_if_missing(table.schema[name]) for name in names]
    return cells if table.unit.column is None else [*cells, table.unit.column]


def _units(table: Table, rows: pa.Table) -> Integers:
    return np.arange(rows.num_rows) if table.unit.column is None else _number_units(rows[table.unit.column])


def _number_units(cells: pa.ChunkedArray) -> Integers:
    """A number for every unit, -1 for rows without one."""
    found = pa.array(cells.combine_chunks()).dictionary_encode()
    return np.asarray(found.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)


def _keep_by_lot(units: Integers, most: int, source: Source) -> Integers:
    """The places of at most so many rows of each unit, by lot; rows without a unit are left out.

    Which rows of a unit are kept depends on that unit's rows and on lots alone: in a uniformly random order of all
    rows, the orders of disjoint parts are independent of each other. So two tables that differ in one unit differ,
    after this, in at most so many rows of that unit, for some pairing of lots that has the right chances.
    """
    if units.size == 0 or most < 1:
        return np.zeros(0, dtype=np.int64)
    lot = shuffle(units.size, source=source)
    order = lot[np.argsort(units[lot], kind="stable")]
    sorted_units = units[order]
    first = np.concatenate([[True], sorted_units[1:] != sorted_units[:-1]])
    rank = np.arange(units.size) - np.maximum.accumulate(np.where(first, np.arange(units.size), 0))
    return order[(rank < most) & (sorted_units >= 0)]
