"""What one name in FROM stands for: a private table, a public one, or a sub-query."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from ziggurat.data import Unit
from ziggurat.data.engines import Engine
from ziggurat.queries._value import Value
from ziggurat.queries.language._catalogue import PrivateTable
from ziggurat.queries.language._public import PublicTable
from ziggurat.queries.language.expressions import Cell, Seen, cell_of, derive, refuse_large, tell_apart

UNIT = "ziggurat_unit"
"""What the column that tells units apart is called in every relation."""

NAMED = "ziggurat_table"
"""Marks, in the meta data of a node, what the canonical text calls by the name of a table."""

Base = Callable[[list[str], Engine], exp.Subquery]
"""Given the names of columns and the engine of the query, the sub-query that holds them."""


@dataclass(frozen=True)
class Privacy:
    """Whom the rows of an item are about.

    Attributes
    ----------
    unit
        What one person contributes.
    column
        The column of the base that tells units apart; None if the unit is a row.
    seen
        How that column is seen.
    names
        What the analyst may call it, in lower case.
    rows
        The most rows that one unit can have, proven; None if there is no limit.
    engine
        Where the rows live.
    tables
        The private tables they are from.
    """

    unit: Unit
    column: str | None
    seen: Seen | None
    names: frozenset[str]
    rows: int | None
    engine: Engine
    tables: tuple[str, ...]


@dataclass(frozen=True)
class FromItem:
    """What one name in FROM stands for.

    Attributes
    ----------
    columns
        How each column is seen, by name.
    base
        The sub-query that holds them.
    privacy
        Whom the rows are about; None for a public table.
    public
        The public table, if it is one.
    """

    columns: Mapping[str, Seen]
    base: Base
    privacy: Privacy | None = None
    public: PublicTable | None = None


def item_of(table: PrivateTable | PublicTable) -> FromItem:
    """Return a table of the catalogue as an item of FROM."""
    return _public(table) if isinstance(table, PublicTable) else _private(table)


def _private(table: PrivateTable) -> FromItem:
    unit = table.table.unit

    def base(names: list[str], _: Engine) -> exp.Subquery:
        return _mark(table.table.relation(names), table.name)

    columns = {name: cell_of(column) for name, column in table.columns.items() if name != unit.column}
    seen = None if unit.column is None else _unit_seen(cell_of(table.columns[unit.column]))
    names = frozenset() if unit.column is None else frozenset({unit.column.lower()})
    rows = 1 if unit.is_row else None
    privacy = Privacy(unit, unit.column, seen, names, rows, table.table.engine, (table.name,))
    return FromItem(columns, base, privacy)


def _unit_seen(seen: Seen) -> Seen:
    """The unit as it is: not moved into bounds, which would make one unit of several.

    Texts are told apart by their bytes, whatever the column takes for the same: so they are told apart where units are
    weighed in this process, and two that are one in the engine alone would there share a limit that each has here.
    """

    def unit(raw: exp.Column) -> Value:
        value = seen(raw)
        cell = value.present if isinstance(value, Cell) else value.sql
        return Value(tell_apart(cell, value.kind), value.kind)

    return unit


def _public(table: PublicTable) -> FromItem:
    def base(names: list[str], engine: Engine) -> exp.Subquery:
        return _mark(table.relation(names, engine), table.name)

    columns = {name: table.seen(column) for name, column in table.columns.items()}
    return FromItem(columns, base, public=table)


def _mark(base: exp.Subquery, name: str) -> exp.Subquery:
    base.meta[NAMED] = name
    return base


def carry_out(privacy: Privacy) -> Privacy:
    """Return whom rows are about when they are seen from outside of the query that selects them."""
    if privacy.seen is None:
        return privacy
    kind = privacy.seen(exp.column(UNIT, quoted=True)).kind
    return replace(privacy, column=UNIT, seen=lambda column: Value(column, kind))


def derive_item(query: exp.Select, columns: Mapping[str, Value], privacy: Privacy) -> FromItem:
    """Return a sub-query as an item of FROM; it selects `columns` by name, and the unit as UNIT where there is one."""
    refuse_large(query)

    def base(_: list[str], __: Engine) -> exp.Subquery:
        return query.subquery(copy=False)

    return FromItem({name: derive(value) for name, value in columns.items()}, base, privacy)
