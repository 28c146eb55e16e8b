"""FROM: tables, sub-queries and joins, and the totals per unit that sub-queries may hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language._aggregates import holds_aggregate
from ziggurat.queries.language._catalogue import RESERVED, Catalogue
from ziggurat.queries.language._from_items import UNIT, FromItem, carry_out, derive_item, item_of
from ziggurat.queries.language._joins import join_item, side_of
from ziggurat.queries.language._public import MOST_LISTED, PublicTable
from ziggurat.queries.language._rows import Joined, SelectedRows
from ziggurat.queries.language._totals import totals
from ziggurat.queries.language.expressions import Cell, Expressions, Literal, literal, only, show

_LONGEST_NAME = 60  # PostgreSQL cuts names at 63 bytes


@dataclass(frozen=True)
class Names:
    """What a name in FROM may stand for: tables of the catalogue, and sub-queries named by WITH."""

    catalogue: Catalogue
    named: Mapping[str, FromItem] = field(default_factory=dict)

    def find(self, name: str) -> FromItem:
        """Return what a name stands for, or refuse it."""
        return self.named.get(name.lower()) or item_of(self.catalogue.find(name))

    def with_queries(self, clause: exp.Expr | None) -> Names:
        """Return the names together with those of a WITH clause."""
        if clause is None:
            return self
        only(clause, "expressions")
        names = self
        for each in clause.expressions:
            only(each, "this", "alias")
            name = check_name(each.alias)
            names = replace(names, named={**names.named, name.lower(): sub_query(each.this, names)})
        return names


def rows_of(select: exp.Select, names: Names) -> SelectedRows:
    """Return the rows that a SELECT is about."""
    start = select.args.get("from_")
    if start is None:
        raise QuestionError("A question needs FROM with the name of a table.")
    items = [_name_item(start.this, names)]
    joins = list(select.args.get("joins") or [])
    items += [_name_item(each.this, names) for each in joins]
    items, joins = _private_first(items, joins)
    name, first = items[0]
    if first.privacy is None:
        raise QuestionError("There is nothing private in FROM; ask the engine of the public table itself.")
    rows = SelectedRows(first.privacy, [Joined(name, first)], lambda query: _public_values(query, names))
    for (name, item), join in zip(items[1:], joins, strict=True):
        if any(each.name.lower() == name.lower() for each in rows.joined):
            raise QuestionError(f"Two things in FROM are called {name!r}; give one another name with AS.")
        rows = join_item(rows, name, item, join)
    return rows


def _private_first(
    items: list[tuple[str, FromItem]], joins: list[exp.Join]
) -> tuple[list[tuple[str, FromItem]], list[exp.Join]]:
    """An inner join of two may be read from either side; the private one comes first here."""
    swapped = len(joins) == 1 and items[0][1].privacy is None and items[1][1].privacy is not None
    if swapped and side_of(joins[0]) == "":
        return [items[1], items[0]], joins
    return items, joins


def _name_item(node: exp.Expr, names: Names) -> tuple[str, FromItem]:
    alias = node.args.get("alias")
    if alias is not None:
        only(alias, "this")
    if isinstance(node, exp.Subquery):
        only(node, "this", "alias")
        return check_name(node.alias or "query"), sub_query(node.this, names)
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        raise QuestionError(f"{show(node)} cannot stand in FROM; name a table, or write a sub-query in parentheses.")
    only(node, "this", "alias")
    return check_name(node.alias or node.name), names.find(node.name)


def check_name(name: str) -> str:
    """Return a name that the analyst gives, if every engine can hold it."""
    if not name or not name.isprintable() or len(name.encode()) > _LONGEST_NAME or name.lower().startswith(RESERVED):
        raise QuestionError(
            f"{name[:_LONGEST_NAME]!r} cannot be a name here; use up to {_LONGEST_NAME} printable characters, "
            f"not beginning with {RESERVED!r}."
        )
    return name


def _public_values(query: exp.Expr, names: Names) -> list[Literal]:
    """The values of SELECT column FROM public_table."""
    select = query.unnest()
    simple = isinstance(select, exp.Select) and len(select.expressions) == 1 and select.args.get("from_") is not None
    table = select.args["from_"].this if simple else None
    if not isinstance(table, exp.Table) or not isinstance(select.expressions[0], exp.Column):
        raise QuestionError("After IN only SELECT column FROM public_table is understood; join anything else.")
    only(select, "expressions", "from_")
    found = None if table.name.lower() in names.named else names.catalogue.find(table.name)
    if not isinstance(found, PublicTable):
        raise QuestionError("IN (SELECT ...) over private rows would show them one by one; join the tables instead.")
    column = _column_of(found, select.expressions[0].name)
    values = found.values(column)
    if values is None:
        raise QuestionError(f"The public column has no values, or more than {MOST_LISTED:,}; join its table instead.")
    return [literal(value) for value in values]


def _column_of(table: PublicTable, name: str) -> str:
    found = [each for each in table.columns if each.lower() == name.lower()]
    if not found:
        raise QuestionError(f"The public table {table.name!r} has no column {name[:60]!r}.")
    return found[0]


_PARTS = ("expressions", "from_", "joins", "where", "group", "having", "with_")


def sub_query(query: exp.Expr, names: Names) -> FromItem:
    """Return a sub-query in FROM as an item: chosen rows, or totals per unit."""
    select = query.unnest()
    if not isinstance(select, exp.Select):
        raise QuestionError("A sub-query must be one SELECT; UNION and the like are not understood.")
    only(select, *_PARTS)
    names = names.with_queries(select.args.get("with_"))
    rows = rows_of(select, names)
    group = select.args.get("group")
    if group is not None or any(holds_aggregate(each) for each in select.expressions):
        return _over_totals(select, rows)
    if select.args.get("having") is not None:
        raise QuestionError("HAVING needs GROUP BY; write WHERE.")
    where = select.args.get("where")
    return _project(rows, select.expressions, None if where is None else where.this)


def _over_totals(select: exp.Select, rows: SelectedRows) -> FromItem:
    """Totals per unit, and whatever is computed from them."""
    item, chosen, having = totals(select, rows)
    if item.privacy is None:
        raise QuestionError("A sub-query needs private rows.")
    inner = SelectedRows(item.privacy, [Joined("totals", item)], rows.public_values)
    return _project(inner, chosen, having)


def _project(rows: SelectedRows, items: list[exp.Expr], where: exp.Expr | None) -> FromItem:
    expressions = Expressions(rows)
    columns: dict[str, Value] = {}
    unit_names = set(rows.privacy.names)
    for item in _expand(rows, items):
        if rows.is_unit(item.unalias()):
            unit_names.add(item.alias_or_name.lower())
            continue
        value = expressions.value(item.unalias())
        name = _item_name(item, value)
        if name.lower() in {each.lower() for each in columns}:
            raise QuestionError(f"Two columns of a sub-query are called {name!r}; rename one with AS.")
        columns[name] = value
    condition = None if where is None else expressions.condition(where)
    query = _selecting(rows, columns, condition)
    names = frozenset(unit_names - {name.lower() for name in columns})
    return derive_item(query, columns, replace(carry_out(rows.privacy), names=names))


def _expand(rows: SelectedRows, items: list[exp.Expr]) -> list[exp.Expr]:
    return [each for item in items for each in (rows.every_column() if isinstance(item, exp.Star) else [item])]


def _item_name(item: exp.Expr, value: Value) -> str:
    name = item.alias or (value.column if isinstance(item, exp.Column) else None)
    if not name:
        raise QuestionError(f"The column {show(item)} of a sub-query needs a name; write it with AS.")
    return check_name(name)


def _selecting(rows: SelectedRows, columns: Mapping[str, Value], where: exp.Expr | None) -> exp.Select:
    held = [
        (value.bare if isinstance(value, Cell) else value.sql).as_(name, quoted=True) for name, value in columns.items()
    ]
    if rows.privacy.column is not None:
        held.append(exp.column(UNIT, quoted=True).as_(UNIT, quoted=True))
    chosen = held or [exp.Literal.number(1).as_("ziggurat_row", quoted=True)]
    query = exp.select(*chosen, copy=False).from_(rows.relation().query.subquery("rows", copy=False), copy=False)
    return query if where is None else query.where(where, copy=False)
