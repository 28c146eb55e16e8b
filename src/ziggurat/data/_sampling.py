"""Opening a table, whatever holds it, and reading rows: all, or as many as memory should hold, chosen at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._conditions import Condition
from ziggurat.data._table import Table
from ziggurat.data.reading import read
from ziggurat.randomness import Source


def open_table(given: Any) -> Table:
    """Return a table as it is, and open anything else that `read` can."""
    return given if isinstance(given, Table) else read(given)


def sample_rows(
    table: Table, names: Sequence[str], limit: int, source: Source, where: Condition | None = None
) -> tuple[pa.Table, int]:
    """Return at most `limit` rows, chosen at random without replacement, and how many there are in all.

    Every set of so many rows is equally likely. The engine draws them: of a long table no others come here. From a
    seeded source they are the same again if the engine is, and reads the table in the same order.
    """
    asked = None if where is None else where.expression
    answer = table.aggregate(exp.Count(this=exp.Star()).as_("rows"), where=asked)
    count = int(answer.column("rows")[0].as_py())
    query = table.select(*names)
    if where is not None:
        query = query.where(where.expression)
    if count <= limit:
        return table.query(query), count
    return table.engine.draw_rows(query, count, limit, source), count
