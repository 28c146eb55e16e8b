"""Whole numbers out of reals, and values moved into ranges: FLOOR, CEIL, ROUND, CLAMP, BIN and BUCKET."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import cast_to, constant
from ziggurat.errors import QuestionError
from ziggurat.queries._value import MOST_KEYS, Value
from ziggurat.queries.language.expressions._arithmetic import (
    add,
    as_real,
    divide,
    multiply,
    number,
    remainder,
    subtract,
)
from ziggurat.queries.language.expressions._cells import Cell, Literal, as_written, call, literal, make_value, within

_WHOLE = 2.0**52  # from here on every double is whole


def floor(value: Value) -> Value:
    """Return the next whole number below; of kind INTEGER if it provably fits, otherwise REAL."""
    return _round_by(value, exp.Floor, math.floor, "FLOOR")


def ceiling(value: Value) -> Value:
    """Return the next whole number above; of kind INTEGER if it provably fits, otherwise REAL."""
    return _round_by(value, exp.Ceil, math.ceil, "CEIL")


def _round_by(value: Value, function: type[exp.Func], model: Callable[[float], int], what: str) -> Value:
    value = number(value, what)
    if value.kind is Kind.INTEGER:
        return value
    lower, upper, written = value.lower, value.upper, call(what, value.sql)
    if lower is None or upper is None:
        return make_value(_real_whole(value, function), Kind.REAL, written=written)
    ends = (model(lower), model(upper))  # type: ignore[arg-type]
    if ends[0] >= -_WHOLE and ends[1] <= _WHOLE:
        return make_value(cast_to(function(this=value.sql), "BIGINT"), Kind.INTEGER, *ends, written=written)
    return make_value(_real_whole(value, function), Kind.REAL, float(ends[0]), float(ends[1]), written=written)


def _real_whole(value: Value, function: type[exp.Func]) -> exp.Expr:
    # Spark's FLOOR of a real is a 64-bit integer, so it is asked only where there is something to round.
    small = exp.LT(this=exp.Abs(this=value.sql), expression=constant(_WHOLE, Kind.REAL))
    rounded = cast_to(function(this=value.sql), "DOUBLE")
    return exp.Case(ifs=[exp.If(this=small, true=rounded)], default=value.sql)


def round_places(value: Value, places: int) -> Value:
    """Return a number rounded to so many decimal places, halves upwards, as FLOOR(x * 10**n + 0.5) / 10**n."""
    value = number(value, "ROUND")
    if not -15 <= places <= 15:
        raise QuestionError("ROUND takes between -15 and 15 decimal places.")
    if value.kind is Kind.INTEGER and places >= 0:
        return value
    scale = literal(10 ** abs(places))
    if places < 0:
        result = multiply(_half_up(divide(value, scale)), scale)
    else:
        result = divide(_half_up(multiply(value, scale)), scale) if places else _half_up(value)
    return as_written(result, call("ROUND", value.sql, exp.Literal.number(places)))


def _half_up(value: Value) -> Value:
    return floor(add(as_real(value), literal(0.5)))


def clamp(value: Value, lower: Value, upper: Value) -> Value:
    """Return a number or date moved between two constants."""
    low, high = _end(value, lower), _end(value, upper)
    if low > high:  # type: ignore[operator]
        raise QuestionError("The bounds of CLAMP are the wrong way round; swap them.")
    if value.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise QuestionError(f"CLAMP needs a number or a date, not a value of kind {value.kind}.")
    sql = value.sql
    if isinstance(value, Cell) and value.categories is None and _narrows(value, low, high):
        sql = value.present
    ends = (_move(value.lower, low, high, low), _move(value.upper, low, high, high))
    written = call("CLAMP", sql, constant(low, value.kind), constant(high, value.kind))
    return make_value(within(sql, low, high, value.kind), value.kind, *ends, written=written)


def _end(value: Value, given: Value) -> int | float | date:
    if not isinstance(given, Literal):
        raise QuestionError("The bounds of CLAMP must be constants, as in CLAMP(x, 0, 1000).")
    end = given.constant
    if isinstance(end, str) and value.kind is Kind.DATE:
        end = date_from(end)
    if value.kind is Kind.REAL and isinstance(end, int | float):
        return float(end)
    if value.kind is Kind.INTEGER and isinstance(end, float) and end.is_integer():
        end = literal(int(end)).constant
    fits = {Kind.INTEGER: int, Kind.DATE: date}.get(value.kind, type(None))
    if isinstance(end, bool) or not isinstance(end, fits):
        raise QuestionError(f"The bounds of CLAMP must be of the kind of what they bound, which is {value.kind}.")
    return end  # type: ignore[return-value]


def date_from(text: str) -> date:
    """Return the date that a text in the form 2020-01-31 names, or refuse it."""
    try:
        if len(text) == 10:
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise QuestionError("A date is written as DATE '2020-01-31'.")


def _narrows(value: Value, low: int | float | date, high: int | float | date) -> bool:
    return not value.bounded or (low >= value.lower and high <= value.upper)  # type: ignore[operator]


def _move(
    end: int | float | date | None, low: int | float | date, high: int | float | date, unknown: int | float | date
) -> int | float | date:
    return unknown if end is None else min(max(end, low), high)


def put_in_bins(value: Value, width: Value, origin: Value) -> Value:
    """Return the lower edge of the bin that holds a number; bins begin at `origin` and are `width` wide."""
    value, step, start = number(value, "BIN"), _constant(width, "width"), _constant(origin, "origin")
    if step <= 0:
        raise QuestionError("The width of BIN must be above zero.")
    if not value.bounded:
        raise QuestionError(
            "BIN of a number without bounds has no first bin; write BIN(CLAMP(x, lower, upper), width)."
        )
    if value.kind is Kind.INTEGER and isinstance(step, int) and isinstance(start, int):
        edge = _whole_bin(value, step, start)
    else:
        edge = _real_bin(value, step, start)
    return as_written(edge, call("BIN", value.sql, width.sql, origin.sql))


def _real_bin(value: Value, step: int | float, start: int | float) -> Value:
    index = floor(divide(subtract(value, literal(start)) if start else value, literal(step)))
    if index.kind is not Kind.INTEGER:
        raise QuestionError("BIN would have too many bins; choose a larger width.")
    edge = multiply(index, literal(step))
    edge = add(edge, literal(start)) if start else edge
    first, last = int(index.lower), int(index.upper)  # type: ignore[arg-type]
    return _list_edges(edge, last - first + 1, lambda place: (first + place) * step + start)


def _whole_bin(value: Value, width: int, origin: int) -> Value:
    # Twice the remainder, because that of a negative number is negative.
    offset = remainder(subtract(value, literal(origin)) if origin else value, literal(width))
    if offset.lower != 0:
        offset = remainder(add(offset, literal(width)), literal(width))
    first, last = ((int(end) - origin) // width * width + origin for end in (value.lower, value.upper))  # type: ignore[arg-type]
    literal(first)  # refuses an edge below what 64 bits hold
    edge = make_value(exp.Sub(this=value.sql, expression=offset.sql), Kind.INTEGER, first, last)
    return _list_edges(edge, (last - first) // width + 1, lambda place: first + place * width)


def _list_edges(edge: Value, bins: int, at: Callable[[int], int | float]) -> Value:
    if bins > MOST_KEYS:
        return edge
    exact = float if edge.kind is Kind.REAL else int
    return replace(edge, categories=tuple(exact(at(place)) for place in range(bins)))


def put_in_buckets(value: Value, lower: Value, upper: Value, count: Value) -> Value:
    """Return which of `count` equally wide buckets between two constants holds a number: 1, 2, ..., count.

    What lies below the first bucket counts in it, and what lies above the last in that.
    """
    value, buckets = number(value, "BUCKET"), whole_constant(count, "The number of buckets")
    low, high = float(_constant(lower, "lower end")), float(_constant(upper, "upper end"))
    if not 1 <= buckets <= MOST_KEYS or not low < high:
        raise QuestionError("BUCKET(x, lower, upper, n) needs lower < upper and 1 to 100,000 buckets.")
    inside = clamp(as_real(value), literal(low), literal(high))
    place = floor(multiply(subtract(inside, literal(low)), literal(buckets / (high - low))))
    bucket = add(clamp(place, literal(0), literal(buckets - 1)), literal(1))
    return as_written(bucket, call("BUCKET", value.sql, lower.sql, upper.sql, count.sql))


def ends_of(value: Value) -> tuple[Value, Value]:
    """Return the bounds of a number as constants, or refuse it."""
    if not number(value, "BUCKET").bounded:
        raise QuestionError("BUCKET(x, n) needs a number with bounds; write BUCKET(x, lower, upper, n).")
    return literal(value.lower), literal(value.upper)  # type: ignore[arg-type]


def _constant(value: Value, what: str) -> int | float:
    if not isinstance(value, Literal) or isinstance(value.constant, bool | str | date):
        raise QuestionError(f"The {what} of bins must be a number that is written out.")
    return value.constant


def whole_constant(value: Value, what: str) -> int:
    """Return a whole number that is written out, or refuse the value."""
    if not isinstance(value, Literal) or isinstance(value.constant, bool) or not isinstance(value.constant, int):
        raise QuestionError(f"{what} must be a whole number that is written out.")
    return value.constant
