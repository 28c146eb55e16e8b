"""Parts of dates and days between them."""

from __future__ import annotations

from datetime import date, timedelta

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import cast_to
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions._cells import is_nothing, make_value

PARTS = ("YEAR", "QUARTER", "MONTH", "DAY")
_SPANS = {"QUARTER": (1, 4), "MONTH": (1, 12), "DAY": (1, 31)}


def part(name: str, value: Value) -> Value:
    """Return the year, quarter, month or day of a date as a whole number."""
    if name not in PARTS:
        raise QuestionError(f"EXTRACT knows {', '.join(PARTS)}.")
    first, last = _span(value, name)
    sql = cast_to(exp.Extract(this=exp.Var(this=name), expression=value.sql), "BIGINT")
    if name == "YEAR":
        return make_value(sql, Kind.INTEGER, first.year, last.year)
    if name == "MONTH" and first.year == last.year:
        return make_value(sql, Kind.INTEGER, first.month, last.month)
    return make_value(sql, Kind.INTEGER, *_SPANS[name])


def days_between(later: Value, earlier: Value) -> Value:
    """Return how many days one date is after another."""
    first, last = _span(later, "A difference of dates"), _span(earlier, "A difference of dates")
    sql = exp.DateDiff(this=later.sql, expression=earlier.sql, unit=exp.Var(this="DAY"))
    return make_value(cast_to(sql, "BIGINT"), Kind.INTEGER, (first[0] - last[1]).days, (first[1] - last[0]).days)


def days_later(value: Value, days: int) -> Value:
    """Return a date so many days later, or earlier if `days` is negative."""
    first, last = _span(value, "A date")
    try:
        ends = (first + timedelta(days=days), last + timedelta(days=days))
    except OverflowError:
        raise QuestionError(
            "The date could leave the years 1 to 9999; bound it first, as in "
            "CLAMP(d, DATE '1900-01-01', DATE '2100-12-31')."
        ) from None
    sql = exp.DateAdd(this=value.sql, expression=exp.Literal.number(days), unit=exp.Var(this="DAY"))
    return make_value(cast_to(sql, "DATE"), Kind.DATE, *ends)


def _span(value: Value, what: str) -> tuple[date, date]:
    if value.kind is not Kind.DATE or is_nothing(value):
        raise QuestionError(f"{what} needs a date, not a value of kind {value.kind}.")
    lower, upper = value.lower or date.min, value.upper or date.max
    return lower, upper  # type: ignore[return-value]
