"""Totals per unit: what a sub-query may compute exactly, because every row of its result is about one unit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.engines import WIDE
from ziggurat.data.expressions import cast_to, constant, exact_sum, is_filled, only_where, ratio
from ziggurat.data.schema import INT64_LOWER, INT64_UPPER
from ziggurat.errors import QuestionError
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries._value import Value
from ziggurat.queries.answering import quantize_range, quantize_value
from ziggurat.queries.language._aggregates import holds_aggregate, is_aggregate, read_aggregate
from ziggurat.queries.language._from_items import UNIT, FromItem, carry_out, derive_item
from ziggurat.queries.language._rows import SelectedRows
from ziggurat.queries.language.expressions import Expressions, enclose, only, plain, show, within

_BITS = 44  # how finely reals are laid on a grid, relative to their bounds
_FINEST = Fraction(1, 2**500)


@dataclass(frozen=True)
class _TotalColumn:
    """One aggregate per unit: how it is computed, and what is known of it."""

    sql: exp.Expr
    kind: Kind
    lower: Any = None
    upper: Any = None

    def value(self) -> Value:
        return Value(self.sql, self.kind, self.lower, self.upper)


def totals(select: exp.Select, rows: SelectedRows) -> tuple[FromItem, list[exp.Expr], exp.Expr | None]:
    """Return an item of FROM with one row per unit (and per combination of further keys), and what is selected from it.

    The selected expressions and the condition refer to the columns of that item.
    """
    keys = _keys(select, rows)
    computed: dict[str, Value] = {}

    def named(node: exp.Expr) -> exp.Expr:
        return _rewrite(node, rows, keys, computed)

    items = [_title(item, named(item), keys) for item in select.expressions]
    having = select.args.get("having")
    condition = None if having is None else named(having.this.transform(lambda node: _look_up_alias(select, node)))
    query = _group_rows(select, rows, keys, computed)
    privacy = replace(carry_out(rows.privacy), rows=_most_rows(keys))
    return derive_item(query, {**keys, **computed}, privacy), items, condition


def _keys(select: exp.Select, rows: SelectedRows) -> dict[str, Value]:
    """The keys besides the unit, under new names."""
    group = select.args.get("group")
    if group is not None:
        only(group, "expressions")
    nodes = [_look_up_key(select, each) for each in (group.expressions if group is not None else [])]
    if not any(rows.is_unit(node) for node in nodes):
        unit = rows.privacy.unit.column
        why = f"group it by {unit!r}" if unit else "the unit of this table is a row, so there are no totals per unit"
        raise QuestionError(f"A sub-query cannot hold totals over different people; {why}, or ask for them outside.")
    expressions = Expressions(rows)
    others = [expressions.value(node) for node in nodes if not rows.is_unit(node)]
    return {f"key_{place}": plain(value) for place, value in enumerate(others, start=1)}


def _look_up_key(select: exp.Select, node: exp.Expr) -> exp.Expr:
    """What a key of GROUP BY stands for: a column of SELECT, by place or by alias, or itself."""
    if isinstance(node, exp.Literal) and not node.is_string:
        return item_at(select, str(node.this), "GROUP BY").unalias()
    return _look_up_alias(select, node)


def _look_up_alias(select: exp.Select, node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.Column) and not node.table:
        for item in select.expressions:
            if isinstance(item, exp.Alias) and item.alias.lower() == node.name.lower():
                return item.unalias()
    return node


def item_at(select: exp.Select, place: str, clause: str) -> exp.Expr:
    """Return the column of SELECT at a place, counted from 1."""
    number = int(place) if place.isdigit() and len(place) < 6 else 0
    if not 1 <= number <= len(select.expressions):
        raise QuestionError(f"{clause} {place[:20]} names no column of SELECT; count them from 1.")
    found: exp.Expr = select.expressions[number - 1]
    return found


def _rewrite(node: exp.Expr, rows: SelectedRows, keys: dict[str, Value], computed: dict[str, Value]) -> exp.Expr:
    """An expression over aggregates and keys, as one over the columns of the totals."""
    if isinstance(node, exp.Alias):
        return exp.alias_(_rewrite(node.this, rows, keys, computed), node.alias, quoted=True)
    if rows.is_unit(node):
        return node
    if is_aggregate(node):
        return _column(_remember(computed, _total(rows, node)))
    if not holds_aggregate(node):
        found = _key(node, rows, keys)
        if found is not None:
            return _column(found)
    copy = node.copy()
    for child in list(copy.iter_expressions()):
        child.replace(_rewrite(child, rows, keys, computed))
    return copy


def _title(item: exp.Expr, rewritten: exp.Expr, keys: dict[str, Value]) -> exp.Expr:
    """A key that is selected as a column keeps the name of the column."""
    if isinstance(item, exp.Column) and rewritten.name in keys:
        return exp.alias_(rewritten, keys[rewritten.name].column or item.name, quoted=True)
    return rewritten


def _column(name: str) -> exp.Column:
    return exp.column(name)


def _key(node: exp.Expr, rows: SelectedRows, keys: dict[str, Value]) -> str | None:
    if not any(isinstance(each, exp.Column) for each in node.walk()):
        return None
    sql = Expressions(rows).value(node).sql
    for name, value in keys.items():
        if value.sql == sql:
            return name
    if isinstance(node, exp.Column):
        raise QuestionError(f"{show(node)} is neither a total nor a key; add it to GROUP BY of the sub-query.")
    return None


def _remember(computed: dict[str, Value], total: _TotalColumn) -> str:
    for name, value in computed.items():
        if value.sql == total.sql:
            return name
    name = f"total_{len(computed) + 1}"
    computed[name] = total.value()
    return name


def _group_rows(
    select: exp.Select, rows: SelectedRows, keys: dict[str, Value], computed: dict[str, Value]
) -> exp.Select:
    unit = exp.column(UNIT, quoted=True)
    chosen: list[exp.Expr] = [unit.as_(UNIT, quoted=True)]
    chosen += [value.sql.as_(name, quoted=True) for name, value in {**keys, **computed}.items()]
    where = select.args.get("where")
    conditions = [] if where is None else [Expressions(rows).condition(where.this)]
    # Rows without a unit would make one unit of many people.
    query = exp.select(*chosen).from_(rows.relation().query.subquery("rows", copy=False), copy=False)
    places = [exp.Literal.number(place) for place in range(1, len(keys) + 2)]
    return query.where(is_filled(unit), *conditions).group_by(*places)


def _most_rows(keys: dict[str, Value]) -> int | None:
    """One row for every combination of keys, each of which may also be missing."""
    most = 1
    for value in keys.values():
        domain = value.domain()
        if domain is None:
            return None
        most *= len(domain) + 1
    return most


def _total(rows: SelectedRows, node: exp.Expr) -> _TotalColumn:
    where, inner = None, node
    if isinstance(node, exp.Filter):
        where, inner = Expressions(rows).condition(node.expression.this), node.this
    if isinstance(inner, exp.Min | exp.Max):
        return _extreme(rows, inner, where)
    aggregate = read_aggregate(rows, node)
    rule = _RULES.get(aggregate.measure)
    if rule is None:
        raise QuestionError("Per unit only COUNT, SUM, AVG, MIN and MAX are understood; ask for others outside.")
    return rule(aggregate, rows.privacy.rows)


def _keep_where(sql: exp.Expr, where: exp.Expr | None) -> exp.Expr:
    return sql if where is None else only_where(where, sql)


def _extreme(rows: SelectedRows, node: exp.Expr, where: exp.Expr | None) -> _TotalColumn:
    only(node, "this")
    value = Expressions(rows).value(node.this)
    if value.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise QuestionError(f"MIN and MAX per unit need numbers or dates, not values of kind {value.kind}.")
    return _TotalColumn(type(node)(this=_keep_where(value.sql, where)), value.kind, value.lower, value.upper)


def _count(aggregate: Aggregate, most: int | None) -> _TotalColumn:
    of = exp.Literal.number(1) if aggregate.value is None else aggregate.value.sql
    return _TotalColumn(cast_to(exp.Count(this=_keep_where(of, aggregate.where)), "BIGINT"), Kind.INTEGER, 0, most)


def _count_distinct(aggregate: Aggregate, most: int | None) -> _TotalColumn:
    assert aggregate.value is not None
    distinct = exp.Distinct(expressions=[_keep_where(aggregate.value.sql, aggregate.where)])
    return _TotalColumn(cast_to(exp.Count(this=distinct), "BIGINT"), Kind.INTEGER, 0, most)


def _sum(aggregate: Aggregate, most: int | None) -> _TotalColumn:
    value = _summable(aggregate)
    if value.kind is Kind.REAL:
        return _real_sum(value, aggregate.where, most)
    total = exact_sum(_keep_where(value.sql, aggregate.where))
    lower, upper = _sum_ends(value.lower, value.upper, most)
    if lower is None or upper is None or lower < INT64_LOWER or upper > INT64_UPPER:
        total = _fit(total)
        lower, upper = (0 if lower == 0 else None), (0 if upper == 0 else None)
    return _TotalColumn(cast_to(total, "BIGINT"), Kind.INTEGER, lower, upper)


def _summable(aggregate: Aggregate) -> Value:
    assert aggregate.value is not None
    if aggregate.value.kind is Kind.REAL and not aggregate.value.bounded:
        raise QuestionError(
            "A sum of reals per unit needs bounds, so that it does not depend on the order of rows; "
            "write CLAMP(x, lower, upper)."
        )
    return aggregate.value


def _sum_ends(lower: Any, upper: Any, most: int | None) -> tuple[Any, Any]:
    """Between which numbers a sum of at most so many values lies; a sum of nothing is 0."""
    low = 0 if lower is not None and lower >= 0 else None if lower is None or most is None else lower * most
    high = 0 if upper is not None and upper <= 0 else None if upper is None or most is None else upper * most
    return low, high


def _fit(total: exp.Expr) -> exp.Expr:
    """A wide integer moved into 64 bits."""
    ends = [(exp.LT, INT64_LOWER), (exp.GT, INT64_UPPER)]
    tests = [exp.If(this=test(this=total, expression=_wide(end)), true=_wide(end)) for test, end in ends]
    return exp.Case(ifs=tests, default=total)


def _wide(number: int) -> exp.Expr:
    return cast_to(exp.Literal.string(str(number)), WIDE)


def _grid_of(value: Value) -> Fraction:
    largest = max(abs(value.lower), abs(value.upper))  # type: ignore[arg-type]
    if not largest:
        return Fraction(1)
    return max(Fraction(2) ** (math.frexp(float(largest))[1] - _BITS), _FINEST)


def _real_sum(value: Value, where: exp.Expr | None, most: int | None) -> _TotalColumn:
    grid = _grid_of(value)
    steps = cast_to(exact_sum(_keep_where(quantize_value(value, grid), where)), "DOUBLE")
    first, last = quantize_range(value, grid)
    ends = [None if end is None else float(end * grid) for end in _sum_ends(first, last, most)]
    return _TotalColumn(exp.Mul(this=steps, expression=constant(float(grid), Kind.REAL)), Kind.REAL, *ends)


def _mean(aggregate: Aggregate, _: int | None) -> _TotalColumn:
    value = _summable(aggregate)
    grid = Fraction(1) if value.kind is Kind.INTEGER else _grid_of(value)
    kept = _keep_where(value.sql if value.kind is Kind.INTEGER else quantize_value(value, grid), aggregate.where)
    mean = ratio(exact_sum(kept), exp.Count(this=kept))
    if not value.bounded:
        return _TotalColumn(mean, Kind.REAL)
    first, last = (value.lower, value.upper) if value.kind is Kind.INTEGER else quantize_range(value, grid)
    scaled = mean if grid == 1 else exp.Mul(this=mean, expression=constant(float(grid), Kind.REAL))
    ends = (float(first * grid), float(last * grid))  # type: ignore[operator]
    # Rounded twice, a mean may come out beside the values it is of.
    return _TotalColumn(within(enclose(scaled), *ends, Kind.REAL), Kind.REAL, *ends)


_RULES: dict[Measure, Callable[[Aggregate, int | None], _TotalColumn]] = {
    Measure.COUNT: _count,
    Measure.COUNT_DISTINCT: _count_distinct,
    Measure.SUM: _sum,
    Measure.MEAN: _mean,
}
