"""SELECT as a question: what is asked is understood, or refused with the reason and a rewrite."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._question import Aggregate, Key, Question
from ziggurat.queries._value import Value
from ziggurat.queries.language._aggregates import holds_aggregate, is_aggregate, read_aggregate
from ziggurat.queries.language._answer_scope import AnswerScope
from ziggurat.queries.language._canonical_text import canonical
from ziggurat.queries.language._catalogue import Catalogue
from ziggurat.queries.language._relations import Names, check_name, rows_of
from ziggurat.queries.language._rows import SelectedRows
from ziggurat.queries.language._totals import item_at
from ziggurat.queries.language.expressions import (
    Cell,
    Expressions,
    Literal,
    only,
    plain,
    read_select,
    refuse_large,
    show,
)

_MOST_COLUMNS = 100
_PARTS = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "with_")


def parse(sql: str, catalogue: Catalogue) -> Question:
    """Return the question that one SELECT asks, resolved, typed and total; no private table is read.

    Parameters
    ----------
    sql
        One SELECT, as docs/reference/sql.md describes.
    catalogue
        The tables it may name.

    Raises
    ------
    QuestionError
        If it cannot be answered with a promise; the message says why, and what to ask instead.
    """
    select = read_select(sql)
    try:
        return _question(select, catalogue)
    except RecursionError:
        raise QuestionError("The question is nested too deeply; compute parts of it in WITH.") from None


def _question(select: exp.Select, catalogue: Catalogue) -> Question:
    _refuse_clauses(select)
    names = Names(catalogue).with_queries(select.args.get("with_"))
    rows = rows_of(select, names)
    where = select.args.get("where")
    condition = None if where is None else Expressions(rows).condition(where.this)
    keys = _keys(select, rows)
    columns, named, aggregates = _items(select, rows, keys)
    answer = AnswerScope(rows, named, aggregates)
    having = select.args.get("having")
    relation = rows.relation()
    refuse_large(relation.query)
    made = Question(
        relation=relation,
        where=condition,
        keys=tuple(named),
        aggregates=tuple(aggregates),
        having=None if having is None else answer.condition(having.this),
        order=answer.order(select),
        limit=_limit(select),
        columns=tuple(columns),
        text="",
    )
    text, tables = canonical(made)
    return replace(made, text=text, reads=tables.union(relation.tables))


def _refuse_clauses(select: exp.Select) -> None:
    if select.args.get("distinct"):
        raise QuestionError("SELECT DISTINCT would show values of single people; write GROUP BY with COUNT(*).")
    only(select, *_PARTS)
    if len(select.expressions) > _MOST_COLUMNS:
        raise QuestionError(f"A question has at most {_MOST_COLUMNS} columns; ask several.")


def _keys(select: exp.Select, rows: SelectedRows) -> list[Value]:
    group = select.args.get("group")
    if group is None:
        return []
    only(group, "expressions")
    keys = [_key(select, rows, node) for node in group.expressions]
    return [key for place, key in enumerate(keys) if all(key.sql != before.sql for before in keys[:place])]


def _key(select: exp.Select, rows: SelectedRows, node: exp.Expr) -> Value:
    if isinstance(node, exp.Literal) and not node.is_string:
        node = item_at(select, str(node.this), "GROUP BY").unalias()
    elif isinstance(node, exp.Column) and not node.table:
        node = _unless_column(select, rows, node)
    if rows.is_unit(node):
        raise QuestionError(
            f"A group per {rows.privacy.unit.name} would show single ones; group by something they share, "
            "or take totals per unit in a sub-query in FROM."
        )
    if holds_aggregate(node):
        raise QuestionError(f"{show(node)} is an aggregate; rows cannot be grouped by it.")
    return _as_key(Expressions(rows).value(node))


def _unless_column(select: exp.Select, rows: SelectedRows, node: exp.Column) -> exp.Expr:
    """The column of SELECT with that alias, unless a table has a column of that name."""
    for item in select.expressions:
        if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower() and not rows.has(node):
            return item.unalias()
    return node


def _as_key(value: Value) -> Value:
    if isinstance(value, Literal):
        raise QuestionError("A constant makes one group of all rows; leave it out of GROUP BY.")
    if value.kind is Kind.REAL and value.domain() is None:
        raise QuestionError("Groups of a real number are of one row each; group by BIN(x, width) or FLOOR(x).")
    if isinstance(value, Cell) and value.categories is not None and value.domain() is not None:
        # Whoever answers matches groups with the categories, so rows of other groups need no test of their own.
        return replace(plain(value), sql=value.bare)
    return plain(value)


def _items(select: exp.Select, rows: SelectedRows, keys: list[Value]) -> tuple[list[str], list[Key], list[Aggregate]]:
    columns: list[str] = []
    named: dict[int, Key] = {}
    aggregates: list[Aggregate] = []
    for item in select.expressions:
        name = check_name(item.alias) if item.alias else None
        if is_aggregate(item.unalias()):
            aggregates.append(read_aggregate(rows, item.unalias(), name))
            columns.append(aggregates[-1].name)
        else:
            place = _place(rows, keys, item)
            if place in named:
                raise QuestionError(f"The key {named[place].name!r} is shown twice; leave one of them out.")
            named[place] = Key(name or keys[place].column or f"key_{place + 1}", keys[place])
            columns.append(named[place].name)
    _check(columns, named, aggregates, keys)
    return columns, [named[place] for place in range(len(keys))], aggregates


def _check(columns: list[str], named: dict[int, Key], aggregates: list[Aggregate], keys: list[Value]) -> None:
    lowered = [name.lower() for name in columns]
    for name in columns:
        check_name(name)
        if lowered.count(name.lower()) > 1:
            raise QuestionError(f"Two columns of the answer are called {name!r}; name one with AS.")
    if not aggregates:
        raise QuestionError("There is nothing to compute; add an aggregate such as COUNT(*).")
    if len(named) < len(keys):
        raise QuestionError("Rows are grouped by something that is not shown; add every key of GROUP BY to SELECT.")


def _place(rows: SelectedRows, keys: list[Value], item: exp.Expr) -> int:
    node = item.unalias()
    if isinstance(node, exp.Star):
        raise QuestionError("SELECT * would show rows of single people; ask for aggregates such as COUNT(*).")
    if holds_aggregate(node):
        raise QuestionError(
            f"Arithmetic over aggregates, as in {show(node)}, is not understood; ask for each of them and compute "
            "with the answers, which costs nothing (for SUM(x) / COUNT(x) there is AVG(x))."
        )
    value = Expressions(rows).value(node)
    wanted = value.bare if isinstance(value, Cell) and value.categories is not None else value.sql
    for place, key in enumerate(keys):
        if key.sql in (wanted, value.sql):
            return place
    raise QuestionError(f"{show(node)} is one person's value; put it into an aggregate or into GROUP BY.")


def _limit(select: exp.Select) -> int | None:
    limit = select.args.get("limit")
    if limit is None:
        return None
    only(limit, "expression")
    number = limit.expression
    text = str(number.this) if isinstance(number, exp.Literal) and not number.is_string else ""
    if not text.isdigit() or len(text) > 9:
        raise QuestionError("LIMIT takes a whole number that is written out.")
    return int(text)
