"""Aggregates as the analyst writes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._question import Aggregate, Measure
from ziggurat.queries._value import Value
from ziggurat.queries.language._rows import SelectedRows
from ziggurat.queries.language.expressions import Cell, Expressions, is_nothing, only, plain, show, truth_as_number

_MOST_RANKED = 1_000


@dataclass(frozen=True)
class _Call:
    """An aggregate function as written: what it is of, and a parameter."""

    measure: Measure
    of: exp.Expr | None
    parameter: Fraction | None = None


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether an expression is one aggregate."""
    if isinstance(node, exp.Anonymous):
        return str(node.this).upper() in _NAMED
    return isinstance(node, exp.AggFunc | exp.Filter | exp.WithinGroup | exp.IgnoreNulls)


def holds_aggregate(node: exp.Expr) -> bool:
    """Return whether there is an aggregate anywhere in an expression."""
    return any(is_aggregate(each) for each in node.walk())


def read_aggregate(rows: SelectedRows, node: exp.Expr, name: str | None = None) -> Aggregate:
    """Return an aggregate as it is understood, or raise QuestionError with what to ask instead."""
    expressions = Expressions(rows)
    where = None
    if isinstance(node, exp.Filter):
        where = expressions.condition(node.expression.this)
        node = node.this
    if isinstance(node, exp.CountIf):
        return _count_if(expressions, node, where, name)
    call = _call(rows, expressions, node)
    if call.measure is Measure.COUNT_UNITS or call.of is None:
        return Aggregate(name or call.measure.replace("-", "_"), call.measure, None, where)
    value = _fitting(call.measure, expressions.value(call.of))
    return Aggregate(name or _default(call.measure, value), call.measure, value, where, call.parameter)


def _default(measure: Measure, value: Value) -> str:
    title = measure.replace("-", "_")
    return f"{title}_{value.column}" if value.column else title


def _count_if(expressions: Expressions, node: exp.Expr, where: exp.Expr | None, name: str | None) -> Aggregate:
    only(node, "this")
    condition = expressions.condition(node.this)
    both = condition if where is None else exp.and_(where, condition)
    return Aggregate(name or "count", Measure.COUNT, None, both)


def _call(rows: SelectedRows, expressions: Expressions, node: exp.Expr) -> _Call:
    if isinstance(node, exp.Anonymous):
        return _call_own(expressions, node)
    rule = _CALLS.get(type(node))
    if rule is None:
        raise QuestionError(f"The aggregate {show(node)} is not understood; docs/reference/sql.md lists what is.")
    return rule(rows, expressions, node)


def _count(rows: SelectedRows, _: Expressions, node: exp.Expr) -> _Call:
    only(node, "this", "big_int")
    of = node.this
    if isinstance(of, exp.Distinct):
        return _count_distinct(rows, of)
    if isinstance(of, exp.Star | exp.Literal) or rows.is_unit(of):
        return _Call(Measure.COUNT, None)
    return _Call(Measure.COUNT, of)


def _count_distinct(rows: SelectedRows, distinct: exp.Distinct) -> _Call:
    only(distinct, "expressions")
    if len(distinct.expressions) != 1:
        raise QuestionError("COUNT(DISTINCT ...) takes one column; join several texts with || first.")
    (of,) = distinct.expressions
    if rows.is_unit(of):
        return _Call(Measure.COUNT_UNITS, None)
    return _Call(Measure.COUNT_DISTINCT, of)


def _simple(measure: Measure, parameter: int | None = None) -> Callable[..., _Call]:
    def rule(_: SelectedRows, __: Expressions, node: exp.Expr) -> _Call:
        only(node, "this")
        if isinstance(node.this, exp.Distinct):
            raise QuestionError("Of distinct values only the count is understood: COUNT(DISTINCT x).")
        return _Call(measure, node.this, None if parameter is None else Fraction(parameter))

    return rule


def _median(_: SelectedRows, __: Expressions, node: exp.Expr) -> _Call:
    only(node, "this")
    return _Call(Measure.QUANTILE, node.this, Fraction(1, 2))


def _quantile(_: SelectedRows, expressions: Expressions, node: exp.Expr) -> _Call:
    only(node, "this", "quantile", "expression")
    share = node.args.get("quantile") or node.args.get("expression")
    return _Call(Measure.QUANTILE, node.this, _share(expressions, share))


def _within_group(_: SelectedRows, expressions: Expressions, node: exp.Expr) -> _Call:
    inner, order = node.this, node.expression.expressions
    if len(order) != 1 or not isinstance(inner, exp.PercentileCont | exp.PercentileDisc | exp.Mode):
        raise QuestionError("Write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), or QUANTILE(x, 0.9).")
    only(inner, "this")
    only(order[0], "this", "desc")
    if isinstance(inner, exp.Mode):
        return _Call(Measure.MODE, order[0].this)
    share = _share(expressions, inner.this)
    return _Call(Measure.QUANTILE, order[0].this, 1 - share if order[0].args.get("desc") else share)


def _share(expressions: Expressions, node: exp.Expr | None) -> Fraction:
    # From the digits as they are written, so that 0.9 is nine tenths.
    if isinstance(node, exp.Literal) and not node.is_string:
        expressions.value(node)
        share = Fraction(str(node.this))
        if 0 <= share <= 1:
            return share
    raise QuestionError("The share of a quantile must be a number between 0 and 1, as in QUANTILE(x, 0.9).")


def _extreme(_: SelectedRows, __: Expressions, node: exp.Expr) -> _Call:
    name, share = ("MIN", "0.01") if isinstance(node, exp.Min) else ("MAX", "0.99")
    of = node.this.sql(dialect="duckdb") if isinstance(node.this, exp.Column) else "x"
    raise QuestionError(f"{name} is one person's value, which no noise can hide; ask QUANTILE({of}, {share}) instead.")


def _approximate_top(_: SelectedRows, expressions: Expressions, node: exp.Expr) -> _Call:
    only(node, "this", "expression")
    return _top(expressions, node.this, node.args.get("expression"))


def _top(expressions: Expressions, of: exp.Expr, count: exp.Expr | None) -> _Call:
    wanted = expressions.constant(count, "How many values TOP_K shows")
    if not 1 <= wanted <= _MOST_RANKED:
        raise QuestionError("TOP_K(x, k) shows between 1 and 1,000 values.")
    return _Call(Measure.TOP, of, Fraction(wanted))


def _call_own(expressions: Expressions, node: exp.Anonymous) -> _Call:
    name, given = str(node.this).upper(), node.expressions
    if len(given) != _NAMED[name][0]:
        raise QuestionError(f"{name} is written {_NAMED[name][1]}.")
    if name == "MEAN":
        return _Call(Measure.MEAN, given[0])
    return _top(expressions, given[0], given[1])


_NAMED = {"MEAN": (1, "MEAN(x)"), "TOP_K": (2, "TOP_K(x, k)")}

_CALLS: dict[type[exp.Expr], Callable[..., _Call]] = {
    exp.Count: _count,
    exp.Sum: _simple(Measure.SUM),
    exp.Avg: _simple(Measure.MEAN),
    exp.Variance: _simple(Measure.VARIANCE, 1),
    exp.VariancePop: _simple(Measure.VARIANCE, 0),
    exp.Stddev: _simple(Measure.DEVIATION, 1),
    exp.StddevSamp: _simple(Measure.DEVIATION, 1),
    exp.StddevPop: _simple(Measure.DEVIATION, 0),
    exp.Mode: _simple(Measure.MODE),
    exp.Median: _median,
    exp.Quantile: _quantile,
    exp.ApproxQuantile: _quantile,
    exp.PercentileCont: _quantile,
    exp.PercentileDisc: _quantile,
    exp.WithinGroup: _within_group,
    exp.ApproxTopK: _approximate_top,
    exp.Min: _extreme,
    exp.Max: _extreme,
}

_SUMMED = (Measure.SUM, Measure.MEAN, Measure.VARIANCE, Measure.DEVIATION)


def _fitting(measure: Measure, value: Value) -> Value:
    """The value in the form that a measure takes, or a refusal."""
    if is_nothing(value):
        raise QuestionError("An aggregate of NULL has no value; name a column.")
    if measure is Measure.COUNT:
        return _count_values(value)
    if measure in _SUMMED and value.kind is Kind.BOOLEAN:
        value = truth_as_number(value)
    if measure in _SUMMED and not value.is_number:
        hint = "MEDIAN and QUANTILE take dates" if value.kind is Kind.DATE else "count it with COUNT_IF(x = ...)"
        raise QuestionError(f"{measure.upper()} needs numbers, not values of kind {value.kind}; {hint}.")
    if measure is Measure.QUANTILE and not (value.is_number or value.kind is Kind.DATE):
        raise QuestionError(f"A quantile needs numbers or dates, not values of kind {value.kind}; ask for MODE(x).")
    if measure in (*_SUMMED, Measure.QUANTILE):
        _refuse_unbounded(value)
    if measure in (Measure.MODE, Measure.TOP) and value.domain() is None:
        raise QuestionError(
            f"{measure.upper()} needs values that are known beforehand; declare categories or bounds, "
            "or group them with BIN(x, width) or CASE."
        )
    return plain(value)


def _count_values(value: Value) -> Value:
    if isinstance(value, Cell) and value.categories is None:
        return replace(plain(value), sql=value.present)
    return plain(value)


def _refuse_unbounded(value: Value) -> None:
    """A column without bounds may still have them learned; an expression cannot."""
    if not value.bounded and value.column is None:
        raise QuestionError(
            "One row could move this aggregate by any amount, because its expression has no bounds; "
            "write CLAMP(expression, lower, upper)."
        )


def same(left: Aggregate, right: Aggregate) -> bool:
    """Return whether two aggregates compute the same, whatever they are called."""

    def parts(each: Aggregate) -> tuple[Any, ...]:
        value = each.value
        return each.measure, None if value is None else value.sql, each.where, each.parameter

    return parts(left) == parts(right)
