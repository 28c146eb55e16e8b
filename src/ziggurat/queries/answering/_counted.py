"""The rows that a question counts, as the engine is asked for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.engines import in_byte_order
from ziggurat.data.expressions import constant, is_filled
from ziggurat.queries._question import Question
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.answering._bounding import bound_rows
from ziggurat.queries.answering._budget import has_private_keys
from ziggurat.queries.answering._contribution import Contribution

UNIT = "ziggurat_unit"


def key_names(question: Question) -> list[str]:
    """What the keys are called while the engine works on them."""
    return [f"key_{place}" for place in range(len(question.keys))]


def rows_of(
    question: Question, inputs: Mapping[str, exp.Expr], *, keys: bool = True, keyless: bool = False
) -> exp.Select:
    """SELECT the unit (if it has a column), the keys and the inputs of the rows that count.

    Rows without a unit belong to nobody and rows without a key to no group: both are left out, the latter unless
    `keyless` rows are wanted. Trees are shared with the question, because engines copy a query before they write it.
    """
    relation, private = question.relation, has_private_keys(question)
    columns: list[exp.Expr] = []
    conditions: list[exp.Expr] = [] if question.where is None else [question.where]
    if relation.unit_column is not None:
        unit = exp.column(relation.unit_column, quoted=True)
        columns.append(unit.as_(UNIT, quoted=True, copy=False))
        conditions.append(_is_there(unit))
    if keys:
        for name, key in zip(key_names(question), question.keys, strict=True):
            columns.append(compare_exactly(key.value.kind, key.value.sql).as_(name, quoted=True, copy=False))
            if not keyless:
                conditions.append(_is_declared(key.value) if private else _is_there(key.value.sql))
    columns += [cell.as_(name, quoted=True, copy=False) for name, cell in inputs.items()]
    rows = relation.query.subquery("counted", copy=False)
    found = exp.select(*(columns or [exp.Literal.number(1).as_("one")]), copy=False).from_(rows, copy=False)
    return found.where(*conditions, copy=False)


def select_counted(question: Question, shared: Contribution, inputs: Mapping[str, exp.Expr], salt: int) -> exp.Select:
    """The rows that count after bounding: what of one unit goes beyond its limits is left out by lot."""
    rows = rows_of(question, inputs)
    if not shared.bounding:
        return rows
    groups = shared.groups if question.keys else None
    return bound_rows(rows, UNIT, list(inputs), key_names(question), rows=shared.rows, groups=groups, salt=salt)


def group_rows(rows: exp.Select, keys: Sequence[str], aggregates: Sequence[exp.Expr]) -> exp.Select:
    """Aggregate rows by keys."""
    columns = [exp.column(name, quoted=True) for name in keys]
    query = exp.select(*columns, *aggregates, copy=False).from_(rows.subquery("counted", copy=False), copy=False)
    return query.group_by(*(each.copy() for each in columns), copy=False) if columns else query


def compare_exactly(kind: Kind, cell: exp.Expr) -> exp.Expr:
    """Return a cell such that only equal texts are one group.

    A column may have a collation to which texts are the same that differ in case, say. Which of them a group was called
    by would then be decided by whoever's row comes first, and one person could move the rows of all others to a name.
    """
    return in_byte_order(cell) if kind is Kind.TEXT else cell


def _is_declared(value: Value) -> exp.Expr:
    """The condition that a key is there and, if its categories are declared, one of them.

    Where all groups are known beforehand, others match none of them, and need no test.
    """
    if value.categories is None:
        return _is_there(value.sql)
    return exp.In(
        this=exp.paren(value.sql, copy=False), expressions=[constant(each, value.kind) for each in value.categories]
    )


def _is_there(cell: exp.Expr) -> exp.Expr:
    return is_filled(exp.paren(cell, copy=False))


def sort_key(group: tuple[Constant, ...]) -> tuple[tuple[str, Any], ...]:
    """By what groups are sorted, whose parts may be of several kinds, or missing."""
    return tuple((type(part).__name__, part) for part in group)
