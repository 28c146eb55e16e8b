"""Comparisons and tests: conditions over one row that every engine evaluates alike."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data import expressions as written
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions._arithmetic import align
from ziggurat.queries.language.expressions._cells import Cell, Literal, is_nothing, literal, make_value
from ziggurat.queries.language.expressions._rounding import date_from
from ziggurat.wording import nearest

Comparison = type[exp.Binary]

_FLIPPED: dict[Comparison, Comparison] = {
    exp.LT: exp.GT, exp.GT: exp.LT, exp.LTE: exp.GTE, exp.GTE: exp.LTE, exp.EQ: exp.EQ, exp.NEQ: exp.NEQ,
}  # fmt: skip
_EQUALITIES = (exp.EQ, exp.NEQ)
_MOST_LISTED = 1_000


def compare(operator: Comparison, left: Value, right: Value, *, as_filter: bool = False) -> Value:
    """Return the comparison of two values; NULL if one of them is.

    Parameters
    ----------
    operator
        One of the six comparisons.
    left, right
        Of one kind, or two numbers, or a date and a text that names one.
    as_filter
        NULL and FALSE need not be told apart, so that a category need not be held against its list.
    """
    if isinstance(left, Literal) and not isinstance(right, Literal):
        left, right, operator = right, left, _FLIPPED[operator]
    _refuse_nothing(left, right)
    left, right = _of_one_kind(operator, left, right)
    if left.kind in (Kind.TEXT, Kind.BOOLEAN) and operator not in _EQUALITIES:
        raise QuestionError(f"Values of kind {left.kind} have no order that all engines share; compare them with = .")
    if isinstance(right, Literal) and operator in _EQUALITIES:
        _refuse_unlisted(left, right)
    sql = _cheapest(left, [right], as_filter and operator is exp.EQ)
    return make_value(operator(this=sql, expression=right.sql), Kind.BOOLEAN)


def _refuse_nothing(*values: Value) -> None:
    if any(is_nothing(value) for value in values):
        raise QuestionError("A comparison with NULL is never true; write IS NULL or IS NOT NULL.")


def _of_one_kind(operator: Comparison, left: Value, right: Value) -> tuple[Value, Value]:
    if left.kind is Kind.DATE and isinstance(right, Literal) and isinstance(right.constant, str):
        return left, literal(date_from(right.constant))
    if left.kind is Kind.INTEGER and isinstance(right, Literal) and isinstance(right.constant, float):
        return left, _whole_end(operator, right.constant)
    if left.is_number and right.is_number:
        return align(left, right, "A comparison") if left.kind is not right.kind else (left, right)
    if left.kind is not right.kind:
        raise QuestionError(f"A value of kind {left.kind} cannot be compared with one of kind {right.kind}.")
    return left, right


def _whole_end(operator: Comparison, end: float) -> Literal:
    """The whole number that divides whole numbers as `end` does."""
    if not end.is_integer() and operator in _EQUALITIES:
        raise QuestionError("A whole number never equals one with a fraction; compare with a whole number.")
    return literal(math.floor(end) if operator in (exp.GT, exp.LTE) else math.ceil(end))


def _refuse_unlisted(value: Value, wanted: Literal) -> None:
    if value.categories is None or isinstance(value, Literal) or wanted.constant in value.categories:
        return
    if isinstance(value, Cell):
        known = nearest(wanted.constant, [str(each) for each in value.categories])
        raise QuestionError(f"{wanted.constant!r} is not among the categories of column {value.column!r}; {known}")


def _cheapest(value: Value, constants: Sequence[Value], as_filter: bool) -> exp.Expr:
    """The cheapest form of a value whose comparison with constants comes out the same."""
    if not isinstance(value, Cell) or not all(isinstance(each, Literal) for each in constants):
        return value.sql
    if value.categories is not None:
        return value.bare if as_filter else value.sql
    if value.kind in (Kind.TEXT, Kind.BOOLEAN) or not value.bounded:
        return value.sql
    # Moving a cell into the bounds changes no comparison with what lies strictly inside them.
    inside = all(value.lower < each.lower < value.upper for each in constants)  # type: ignore[operator]
    return value.present if inside else value.sql


def is_among(value: Value, listed: Sequence[Value], *, as_filter: bool = False) -> Value:
    """Return whether a value equals one of a list of constants; NULL if it is missing."""
    if not 1 <= len(listed) <= _MOST_LISTED:
        raise QuestionError("IN takes a list of 1 to 1,000 constants; join a public table that holds longer ones.")
    if not all(isinstance(each, Literal) for each in listed):
        raise QuestionError("IN takes constants; compare with anything else by = and OR.")
    pairs = [_of_one_kind(exp.EQ, value, each) for each in listed]
    _refuse_nothing(value)
    for kept, wanted in pairs:
        if isinstance(wanted, Literal):
            _refuse_unlisted(kept, wanted)
    constants = [wanted for _, wanted in pairs]
    sql = _cheapest(pairs[0][0], constants, as_filter)
    return make_value(written.is_one_of(sql, [each.sql for each in constants]), Kind.BOOLEAN)


def is_between(value: Value, low: Value, high: Value) -> Value:
    """Return whether a value lies between two others, both included."""
    return both(compare(exp.GTE, value, low), compare(exp.LTE, value, high))


def is_missing(value: Value) -> Value:
    """Return whether a value is NULL."""
    _refuse_bare(value)
    sql = value.present if isinstance(value, Cell) and value.categories is None else value.sql
    return make_value(exp.Is(this=sql, expression=exp.Null()), Kind.BOOLEAN)


def _refuse_bare(value: Value) -> None:
    if is_nothing(value):
        raise QuestionError("NULL IS NULL is always true; leave it out.")


def is_truth(value: Value, wanted: bool) -> Value:
    """Return whether a condition is TRUE (or FALSE), where NULL is neither."""
    return make_value(exp.Is(this=condition(value), expression=exp.Boolean(this=wanted)), Kind.BOOLEAN)


def condition(value: Value) -> exp.Expr:
    """Return the expression of a value that is true or false, or refuse it."""
    if value.kind is not Kind.BOOLEAN:
        raise QuestionError(
            f"A condition is needed, and this is a value of kind {value.kind}; compare it with something."
        )
    return value.sql


def both(left: Value, right: Value) -> Value:
    """Return whether two conditions hold."""
    return chain(exp.And, [condition(left), condition(right)])


def chain(operator: type[exp.Connector], parts: Sequence[exp.Expr]) -> Value:
    """Return conditions joined by AND or by OR, without parentheses, so that long chains stay shallow."""
    chain = parts[0]
    for part in parts[1:]:
        chain = operator(this=chain, expression=part)
    return make_value(chain, Kind.BOOLEAN)


def opposite(value: Value) -> Value:
    """Return whether a condition does not hold; NULL stays NULL."""
    return make_value(exp.Not(this=condition(value)), Kind.BOOLEAN)


def is_like(value: Value, pattern: Value) -> Value:
    """Return whether a text follows a pattern in which % stands for any text and _ for one character."""
    if value.kind is not Kind.TEXT or is_nothing(value):
        raise QuestionError(f"LIKE needs text, not a value of kind {value.kind}.")
    if not isinstance(pattern, Literal) or not isinstance(pattern.constant, str):
        raise QuestionError("The pattern of LIKE must be a text that is written out.")
    if "\\" in pattern.constant:
        raise QuestionError("Engines read a backslash in a pattern of LIKE differently; leave it out.")
    return make_value(exp.Like(this=value.sql, expression=pattern.sql), Kind.BOOLEAN)


def truth_as_number(value: Value) -> Value:
    """Return 1 for TRUE and 0 for FALSE."""
    one, zero = written.constant(1, Kind.INTEGER), written.constant(0, Kind.INTEGER)
    negated = exp.Not(this=condition(value))
    ifs = [exp.If(this=value.sql, true=one), exp.If(this=negated, true=zero)]
    return make_value(
        exp.Case(ifs=ifs, default=exp.Null()), Kind.INTEGER, 0, 1, written=written.cast_to(value.sql, "BIGINT")
    )
