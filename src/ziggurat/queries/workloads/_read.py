"""Reading a table for a workload: one statement that counts rows by cell, for several sets of columns at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Table
from ziggurat.data.expressions import reference
from ziggurat.queries.answering import bound_rows
from ziggurat.queries.workloads._cells import ColumnCells

_UNIT, _COUNT = "ziggurat_unit", "ziggurat_count"


def counting(
    table: Table, cells: Mapping[str, ColumnCells], sets: Sequence[Sequence[str]], rows_per_unit: int, salt: int
) -> exp.Select:
    """Return the query that counts rows by the cells of every set of columns.

    If the unit is not a row, at most `rows_per_unit` rows of each unit count, the same rows in every set.
    """
    names = _columns_of(sets)
    codes = [cells[name].code().as_(_alias(place), quoted=True) for place, name in enumerate(names)]
    column = table.unit.column
    if column is None:
        rows = table.select(*(codes or [exp.Literal.number(1).as_("one")]))
    else:
        unit = reference(table.schema[column]).as_(_UNIT, quoted=True)
        kept = [_alias(place) for place in range(len(names))]
        rows = bound_rows(table.select(unit, *codes), _UNIT, kept, rows=rows_per_unit, salt=salt)
    count = exp.Count(this=exp.Star()).as_(_COUNT, quoted=True)
    query = exp.select(*map(_column, range(len(names))), count).from_(rows.subquery("cells", copy=False), copy=False)
    return query.group_by(_grouping(names, sets), copy=False) if names else query


def _grouping(names: Sequence[str], sets: Sequence[Sequence[str]]) -> exp.Expr:
    each = [exp.Tuple(expressions=[_column(names.index(name)) for name in chosen]) for chosen in sets]
    return exp.GroupingSets(expressions=each)


def lay_out_counts(
    answer: pa.Table, sets: Sequence[Sequence[str]], places: Mapping[str, Any], sizes: Mapping[str, int]
) -> list[Any]:
    """Lay the counts of every set out as an array with one axis for each of its columns.

    Parameters
    ----------
    answer
        What the engine said to `counting`.
    sets
        The same sets.
    places
        For every column where each of its cells goes.
    sizes
        For every column the length of its axis.
    """
    names = _columns_of(sets)
    codes = {name: answer.column(place).to_numpy() for place, name in enumerate(names)}
    counts = answer.column(_COUNT).to_numpy()
    tables = []
    for chosen in sets:
        mine = _rows_of(chosen, codes, len(counts))
        table = np.zeros([sizes[name] for name in chosen], dtype=np.int64)
        where = tuple(places[name][codes[name][mine].astype(np.int64)] for name in chosen)
        np.add.at(table, where, counts[mine])
        tables.append(table)
    return tables


def _rows_of(chosen: Sequence[str], codes: Mapping[str, Any], rows: int) -> Any:
    """Which rows count by these columns: a cell is never NULL, so NULL tells of a set without the column."""
    mine = np.ones(rows, dtype=bool)
    for name, each in codes.items():
        mine &= np.isnan(each) != (name in chosen)
    return mine


def _columns_of(sets: Sequence[Sequence[str]]) -> list[str]:
    return sorted({name for chosen in sets for name in chosen})


def _alias(place: int) -> str:
    return f"ziggurat_cell_{place}"


def _column(place: int) -> exp.Column:
    return exp.column(_alias(place), quoted=True)
