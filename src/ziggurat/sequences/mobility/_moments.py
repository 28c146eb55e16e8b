"""When a visit was, in minutes since midnight of a public Monday, as an engine computes it.

A time that cannot be read, or lies farther than a few thousand years from now, is NULL: no cell makes a query fail.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ziggurat.data import Column, Kind
from ziggurat.data.expressions import cast_to, constant, is_present, only_where, reference
from ziggurat.data.schema import GRAMMAR
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility._layout import Calendar

_FARTHEST = 2.0**40  # minutes
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9]"
_FIRST, _LAST = "0001-01-02 00:00:00", "9999-12-30 00:00:00"  # a day from the end, so that no zone leads beyond it


def minutes_of(column: Column, calendar: Calendar) -> exp.Expr:
    """The minute of a visit whose time stands in one column, or NULL."""
    if column.kind in (Kind.INTEGER, Kind.REAL) and not _is_written(column, calendar):
        return _minutes_of_number(column, calendar)
    if column.storage is Kind.DATE:
        return _minutes_of_moment(cast_to(reference(column), "TIMESTAMP"), calendar)
    return _minutes_of_moment(_moment_of_text([column], calendar.pattern), calendar)


def minutes_of_pair(day: Column, clock: Column, calendar: Calendar) -> exp.Expr:
    """The minute of a visit whose date and time of day stand in two columns, or NULL."""
    return _minutes_of_moment(_moment_of_text([day, clock], calendar.pattern), calendar)


def _is_written(column: Column, calendar: Calendar) -> bool:
    """Whether whole numbers are digits of a date, such as 202401310815, because the pattern has nothing but digits."""
    return column.kind is Kind.INTEGER and calendar.pattern.isalpha()


def _minutes_of_number(column: Column, calendar: Calendar) -> exp.Expr:
    cell = cast_to(reference(column), "DOUBLE")
    upper, lower = (constant(float(each), Kind.REAL) for each in calendar.step.as_integer_ratio())
    minutes = exp.Div(this=exp.Mul(this=cell, expression=upper), expression=lower, typed=True)
    low, high = constant(-_FARTHEST, Kind.REAL), constant(_FARTHEST, Kind.REAL)
    # Before rounding down, for some engines round to 64 bits at once.
    near = exp.and_(is_present(column), exp.Between(this=minutes, low=low, high=high), copy=False)
    whole = exp.Add(this=cast_to(exp.Floor(this=minutes), "BIGINT"), expression=exp.Literal.number(calendar.shift))
    return only_where(near, whole)


def _minutes_of_moment(moment: exp.Expr, calendar: Calendar) -> exp.Expr:
    first, last = (cast_to(exp.Literal.string(each), "TIMESTAMP") for each in (_FIRST, _LAST))
    local = moment if calendar.zone is None else _local(moment, calendar.zone)
    monday = constant(calendar.monday.date(), Kind.DATE)
    days = exp.DateDiff(this=cast_to(local, "DATE"), expression=monday, unit=exp.Var(this="DAY"))
    hours, minutes = (_part(local, each) for each in ("HOUR", "MINUTE"))
    total = _sum(_times(cast_to(days, "BIGINT"), 24 * 60), _times(hours, 60), minutes)
    return only_where(exp.Between(this=moment, low=first, high=last), total)


def _local(moment: exp.Expr, zone: str) -> exp.Expr:
    utc = exp.AtTimeZone(this=moment, zone=exp.Literal.string("UTC"))
    return cast_to(exp.AtTimeZone(this=utc, zone=exp.Literal.string(zone)), "TIMESTAMP")


def _moment_of_text(columns: Sequence[Column], pattern: str) -> exp.Expr:
    """The moment that cells of text name, put together as engines read it; NULL unless it is one of the calendar."""
    patterns = [pattern] if len(columns) == 1 else pattern.split(" ", 1)
    if len(patterns) != len(columns):
        raise ParameterError("The pattern needs a blank between the date and the time, which stand in two columns.")
    patterns = [
        "YYYY-MM-DD" if column.storage is Kind.DATE else each for column, each in zip(columns, patterns, strict=True)
    ]
    cells = [_text(column, each) for column, each in zip(columns, patterns, strict=True)]
    day, clock = _written(cells, patterns, ("YYYY", "MM", "DD"), "-"), _written(cells, patterns, ("hh", "mm"), ":")
    said = exp.and_(_follows(day, GRAMMAR[Kind.DATE]), _follows(clock, _CLOCK), copy=False)
    return only_where(said, cast_to(_join(day, exp.Literal.string(" "), clock, exp.Literal.string(":00")), "TIMESTAMP"))


def _text(column: Column, pattern: str) -> exp.Expr:
    text = exp.Trim(this=cast_to(reference(column), "TEXT"))
    if column.storage is not Kind.INTEGER:
        return text
    length = exp.Literal.number(len(pattern))
    padded = exp.Pad(this=text, expression=length, fill_pattern=exp.Literal.string("0"), is_left=True)
    return only_where(exp.LTE(this=exp.Length(this=text), expression=length), padded)


def _written(cells: Sequence[exp.Expr], patterns: Sequence[str], parts: Sequence[str], between: str) -> exp.Expr:
    found: list[exp.Expr] = []
    for part in parts:
        held = [(cell, pattern.find(part)) for cell, pattern in zip(cells, patterns, strict=True) if part in pattern]
        given = [_piece(cell, place, len(part)) for cell, place in held[:1]]
        found += [exp.Literal.string(between), *(given or [exp.Literal.string("00")])]
    return _join(*found[1:])


def _piece(cell: exp.Expr, place: int, length: int) -> exp.Expr:
    return exp.Substring(this=cell, start=exp.Literal.number(place + 1), length=exp.Literal.number(length))


def _follows(text: exp.Expr, grammar: str) -> exp.Expr:
    return exp.RegexpLike(this=exp.Paren(this=text), expression=exp.Literal.string(f"^({grammar})$"))


def _part(moment: exp.Expr, unit: str) -> exp.Expr:
    return cast_to(exp.Extract(this=exp.Var(this=unit), expression=moment), "BIGINT")


def _times(value: exp.Expr, factor: int) -> exp.Expr:
    return exp.Mul(this=value, expression=exp.Literal.number(factor))


def _sum(*values: exp.Expr) -> exp.Expr:
    total, *rest = values
    for each in rest:
        total = exp.Add(this=total, expression=each)
    return total


def _join(*texts: exp.Expr) -> exp.Expr:
    joined, *rest = texts
    for each in rest:
        joined = exp.DPipe(this=joined, expression=each, safe=True)
    return joined
