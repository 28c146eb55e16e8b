"""Public tables: everything about them may be asked, and it is asked once."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from threading import RLock
from typing import Any

from sqlglot import exp

from ziggurat.data import Column, Kind, Table
from ziggurat.data.engines import Engine
from ziggurat.data.expressions import cast_to, is_filled, sql_type
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.language.expressions import Seen, cell_of, plain

MOST_INLINED = 10_000
"""The most rows of a public table that are sent along with a query to another engine."""

MOST_LISTED = 1_000
"""The most values of a public column that are known one by one."""


class PublicTable:
    """A table that everybody may read, with what questions have needed to know of it.

    Parameters
    ----------
    name
        As questions know it.
    table
        The table.
    """

    def __init__(self, name: str, table: Table) -> None:
        self.name, self.table = name, table
        self.columns = {column.name: column for column in table.schema.columns}
        self._known: dict[Any, Any] = {}
        self._lock = RLock()

    def seen(self, column: Column) -> Seen:
        """Return how a column is seen: with the bounds and the values that it has in fact."""

        def seen(raw: exp.Column) -> Value:
            value = cell_of(column)(raw)
            lower, upper, listed = self._facts(column)
            return replace(plain(value), lower=lower, upper=upper, categories=listed)

        return seen

    def values(self, name: str) -> tuple[Constant, ...] | None:
        """Return the distinct values of a column, or None if there are too many."""
        return self._facts(self.columns[name])[2]

    def most_rows(self, keys: list[exp.Expr]) -> int:
        """Return the largest number of rows that share one combination of `keys`, expressions over its columns."""
        written = tuple(key.sql() for key in keys)
        return int(self._once(written, lambda: self._count_most(keys)))

    def relation(self, names: list[str], engine: Engine) -> exp.Subquery:
        """Return the table for a query in `engine`: itself if it lives there, and otherwise its rows."""
        if self.table.engine is engine:
            return self.table.relation(names)
        return self._inline(names)

    def _facts(self, column: Column) -> tuple[Any, Any, tuple[Constant, ...] | None]:
        found: tuple[Any, Any, tuple[Constant, ...] | None] = self._once(column.name, lambda: self._ask(column))
        return found

    def _once(self, key: Any, ask: Any) -> Any:
        with self._lock:
            if key not in self._known:
                self._known[key] = ask()
            return self._known[key]

    def _ask(self, column: Column) -> tuple[Any, Any, tuple[Constant, ...] | None]:
        cell = cell_of(column)(exp.column(column.name, quoted=True)).sql
        distinct = exp.select(cell.as_("value")).distinct().from_(self.table.relation([column.name]))
        listed = self.table.query(distinct.where(is_filled(cell)).limit(MOST_LISTED + 1)).column("value").to_pylist()
        lower, upper = self._ends(column, cell)
        if not 0 < len(listed) <= MOST_LISTED or column.storage is Kind.BOOLEAN:
            return lower, upper, None
        return lower, upper, tuple(sorted(listed))

    def _ends(self, column: Column, cell: exp.Expr) -> tuple[Any, Any]:
        if column.storage not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
            return None, None
        asked = exp.select(exp.Min(this=cell).as_("lower"), exp.Max(this=cell).as_("upper"))
        (row,) = self.table.query(asked.from_(self.table.relation([column.name]))).to_pylist()
        return row["lower"], row["upper"]

    def _count_most(self, keys: list[exp.Expr]) -> int:
        counted = exp.select(exp.Count(this=exp.Star()).as_("rows")).from_(self.table.relation(list(self.columns)))
        counted = counted.where(*(is_filled(key) for key in keys)).group_by(*keys)
        most = exp.select(exp.Max(this=exp.column("rows")).as_("most")).from_(counted.subquery("counted"))
        return self.table.query(most).to_pylist()[0]["most"] or 0

    def _inline(self, names: list[str]) -> exp.Subquery:
        rows = self._once(("rows", *names), lambda: self._rows(names))
        places = [f"column_{place}" for place in range(len(names))]
        given = exp.values(rows, alias="given", columns=places)
        named = [
            cast_to(exp.column(place, quoted=True), sql_type(self.columns[name].storage)).as_(name, quoted=True)
            for name, place in zip(names, places, strict=True)
        ]
        return exp.select(*named).from_(given).subquery("seen")

    def _rows(self, names: list[str]) -> list[tuple[str | None, ...]]:
        rows = self.table.raw.rows(names, limit=MOST_INLINED + 1)
        if rows.num_rows > MOST_INLINED:
            raise QuestionError(
                f"The public table {self.name!r} lives in another engine and has more than {MOST_INLINED:,} rows; "
                "load it into the engine of the private table."
            )
        columns = [[_text(cell) for cell in rows.column(name).to_pylist()] for name in names]
        return list(zip(*columns, strict=True)) or [(None,) * len(names)]


def _text(cell: Constant | None) -> str | None:
    """A cell as text that every engine casts back to the same value."""
    if cell is None or isinstance(cell, str):
        return cell
    return cell.isoformat() if isinstance(cell, date) else str(cell).lower()
