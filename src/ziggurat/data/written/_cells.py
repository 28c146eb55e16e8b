"""Cells of text as a column's notation says they are written."""

from sqlglot import exp

from ziggurat.data.expressions import cast_to, only_where
from ziggurat.data.schema import Column, Kind, Notation
from ziggurat.data.written._dates import date_pattern, date_value
from ziggurat.data.written._numbers import number_pattern, number_text
from ziggurat.data.written._times import clock_pattern, clock_value, duration_pattern, duration_value

_LONGEST = 100


def is_notated(column: Column) -> bool:
    """Return whether cells are read by a notation of numbers, dates or times."""
    return column.written is not None and column.storage in (Kind.INTEGER, Kind.REAL, Kind.DATE)


def notated_value(column: Column, cell: exp.Expr) -> exp.Expr:
    """Return a cell of text, without blanks around it, as its notation reads it; NULL if it does not fit.

    Whole numbers come as decimals of 38 digits, so that the caller can see which are too large.
    """
    assert column.written is not None
    notation, kind = column.written, column.storage
    if kind is Kind.DATE:
        return date_value(cell, notation)
    fits = matching(cell, cell_pattern(kind, notation), lowered=bool(notation.time))
    if notation.time:
        seconds = clock_value(cell) if notation.time == "clock" else duration_value(cell)
        return only_where(fits, seconds if kind is Kind.REAL else _whole(seconds))
    written = number_text(cell, kind, notation)
    return only_where(fits, cast_to(written, "DOUBLE" if kind is Kind.REAL else "DECIMAL(38, 0)"))


def cell_pattern(kind: Kind, notation: Notation, *, typical: bool = False) -> str:
    """Return the pattern of cells of a kind in a notation; of dates and times, in lower case."""
    if kind is Kind.DATE:
        return f"(?:{'|'.join(map(date_pattern, notation.dates))})"
    if notation.time:
        return clock_pattern() if notation.time == "clock" else duration_pattern()
    return number_pattern(kind, notation, typical=typical)


def matching(cell: exp.Expr, pattern: str, *, lowered: bool = False) -> exp.Expr:
    """Return the condition that a cell has a pattern; engines compile no pattern for cells that are far too long."""
    short = exp.LTE(this=exp.Length(this=cell), expression=exp.Literal.number(_LONGEST))
    compared = exp.Lower(this=cell) if lowered else cell
    return exp.And(this=short, expression=exp.RegexpLike(this=compared, expression=exp.Literal.string(f"^{pattern}$")))


def _whole(seconds: exp.Expr) -> exp.Expr:
    return only_where(
        exp.EQ(this=seconds, expression=exp.Floor(this=seconds)), cast_to(cast_to(seconds, "BIGINT"), "DECIMAL(38, 0)")
    )
