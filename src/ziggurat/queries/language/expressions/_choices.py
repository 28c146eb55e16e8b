"""Values chosen among others: CASE, COALESCE, NULLIF, LEAST and GREATEST."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Constant, Value
from ziggurat.queries.language.expressions._arithmetic import as_real
from ziggurat.queries.language.expressions._cells import Literal, call, is_nothing, literal, make_value
from ziggurat.queries.language.expressions._comparison import Comparison, compare, condition
from ziggurat.queries.language.expressions._rounding import date_from

_MOST_CATEGORIES = 10_000

End = int | float | date | None
Ends = tuple[End, End]


def choose(tests: Sequence[tuple[exp.Expr, Value]], otherwise: Value) -> Value:
    """Return the value beside the first condition that holds, or else `otherwise`."""
    results = unify([*(value for _, value in tests), otherwise], "The results of CASE")
    ifs = [exp.If(this=test, true=result.sql) for (test, _), result in zip(tests, results[:-1], strict=True)]
    return _join(exp.Case(ifs=ifs, default=results[-1].sql), results)


def first_present(values: Sequence[Value]) -> Value:
    """Return the first value that is not NULL."""
    kept = unify([value for value in values if not is_nothing(value)], "The values of COALESCE")
    sql = exp.Coalesce(this=kept[0].sql, expressions=[value.sql for value in kept[1:]])
    return _join(sql if len(kept) > 1 else kept[0].sql, kept)


def null_if(value: Value, other: Value) -> Value:
    """Return a value, or NULL where it equals another."""
    equal = condition(compare(exp.EQ, value, other))
    return _join(exp.Case(ifs=[exp.If(this=equal, true=exp.Null())], default=value.sql), [value])


def least(values: Sequence[Value]) -> Value:
    """Return the smallest of several numbers or dates; NULL if one of them is."""
    return _extreme(values, exp.LTE, exp.GT, _least_ends, "LEAST")


def greatest(values: Sequence[Value]) -> Value:
    """Return the largest of several numbers or dates; NULL if one of them is."""
    return _extreme(values, exp.GTE, exp.LT, _greatest_ends, "GREATEST")


def _extreme(
    values: Sequence[Value], keeps: Comparison, yields: Comparison, ends: Callable[[Value, Value], Ends], what: str
) -> Value:
    if any(is_nothing(value) for value in values):
        raise QuestionError(f"{what} of NULL is NULL; leave it out.")
    first, *rest = unify(values, f"The values of {what}")
    if first.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise QuestionError(f"{what} needs numbers or dates, not values of kind {first.kind}.")
    for other in rest:
        stays = exp.If(this=keeps(this=first.sql, expression=other.sql), true=first.sql)
        gives_way = exp.If(this=yields(this=first.sql, expression=other.sql), true=other.sql)
        sql = exp.Case(ifs=[stays, gives_way], default=exp.Null())
        first = make_value(sql, first.kind, *ends(first, other), written=call(what, first.sql, other.sql))
    return first


def _least_ends(left: Value, right: Value) -> Ends:
    # The smaller of two is below the upper bound of either, even if that of the other is not known.
    below: Any = [end for end in (left.upper, right.upper) if end is not None]
    return _both(min, left.lower, right.lower), min(below, default=None)


def _greatest_ends(left: Value, right: Value) -> Ends:
    above: Any = [end for end in (left.lower, right.lower) if end is not None]
    return max(above, default=None), _both(max, left.upper, right.upper)


def _both(model: Callable[[Any, Any], Any], left: End, right: End) -> End:
    return None if left is None or right is None else model(left, right)


def unify(values: Sequence[Value], what: str) -> list[Value]:
    """Return values of one kind: whole numbers become real beside real ones, and texts beside dates become dates."""
    kinds = {value.kind for value in values if not is_nothing(value)}
    if not kinds:
        raise QuestionError(f"{what} are all NULL; give at least one a value.")
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return [value if is_nothing(value) else as_real(value) for value in values]
    if kinds == {Kind.TEXT, Kind.DATE} and all(_may_be_date(value) for value in values):
        return [_as_date(value) for value in values]
    if len(kinds) > 1:
        listed = " and ".join(sorted(kinds))
        raise QuestionError(f"{what} are of several kinds ({listed}); make them one kind.")
    return list(values)


def _may_be_date(value: Value) -> bool:
    return is_nothing(value) or value.kind is Kind.DATE or isinstance(value, Literal)


def _as_date(value: Value) -> Value:
    if isinstance(value, Literal) and isinstance(value.constant, str):
        return literal(date_from(value.constant))
    return value


def _join(sql: exp.Expr, values: Sequence[Value]) -> Value:
    """A value that is one of several."""
    real = [value for value in values if not is_nothing(value)]
    lowers: list[Any] = [value.lower for value in real]
    uppers: list[Any] = [value.upper for value in real]
    lower = None if None in lowers else min(lowers)
    upper = None if None in uppers else max(uppers)
    return make_value(sql, real[0].kind, lower, upper, _categories(real))


def _categories(values: Sequence[Value]) -> tuple[Constant, ...] | None:
    if values[0].kind in (Kind.REAL, Kind.BOOLEAN) or any(value.categories is None for value in values):
        return None
    listed: list[Any] = list(dict.fromkeys(each for value in values for each in value.categories or ()))
    if len(listed) > _MOST_CATEGORIES:
        return None
    return tuple(listed if values[0].kind is Kind.TEXT else sorted(listed))
