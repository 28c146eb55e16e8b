"""Opening a table, whatever holds it, and reading rows: all, or as many as memory should hold, chosen at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conditions import Condition
from ziggurat.data._table import Table
from ziggurat.data.reading import read
from ziggurat.errors import DataError
from ziggurat.randomness import Source, sample_without_replacement


def open_table(given: Any) -> Table:
    """Return a table as it is, and open anything else that `read` can."""
    return given if isinstance(given, Table) else read(given)


def sample_rows(
    table: Table, names: Sequence[str], limit: int, source: Source, where: Condition | None = None
) -> tuple[pa.Table, int]:
    """Return at most `limit` rows, chosen at random without replacement, and how many there are in all."""
    asked = None if where is None else where.expression
    answer = table.aggregate(exp.Count(this=exp.Star()).as_("rows"), where=asked)
    count = int(answer.column("rows")[0].as_py())
    query = table.select(*names)
    if where is not None:
        query = query.where(where.expression)
    if count <= limit:
        return table.query(query), count
    chosen = np.sort(np.asarray(sample_without_replacement(count, limit, source=source), np.int64))
    return pa.Table.from_batches(_choose_rows(table.engine.batches(query), chosen)), count


def _choose_rows(batches: Iterator[pa.RecordBatch], places: np.ndarray) -> Iterator[pa.RecordBatch]:
    start = 0
    for batch in batches:
        first, last = np.searchsorted(places, [start, start + batch.num_rows])
        yield batch.take(pa.array(places[first:last] - start))
        start += batch.num_rows
    if start < (int(places[-1]) + 1 if places.size else 0):
        raise DataError("The table lost rows while it was being read; nothing was learned.")
