"""How a column as an engine holds it becomes a column as the schema declares it.

Text that should be a number, a date or a truth value is read by one grammar on every engine; the engines' own
casts differ (DuckDB reads '1.5' as the integer 2, PostgreSQL refuses it).
"""

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.types as kinds
from sqlglot import exp

from ziggurat.data._column import INT64_LOWER, INT64_UPPER, Column, Kind
from ziggurat.data._expressions import constant, missing_codes, reference, sql_type
from ziggurat.errors import SchemaError

_LEAP_YEAR = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAYS = "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
_GRAMMAR = {
    Kind.INTEGER: "[+-]?[0-9]{1,37}",
    Kind.REAL: "[+-]?([0-9]{1,99}[.]?|[0-9]{0,99}[.][0-9]{1,99})([eE][+-]?[12]?[0-9]{1,2})?",
    Kind.DATE: f"([0-9]{{4}}-{_DAYS}|{_LEAP_YEAR}-02-29)",
}
_UNPADDED = "(0|[1-9][0-9]{0,17})"
_TYPICAL = {
    Kind.INTEGER: f"[+-]?{_UNPADDED}",
    Kind.REAL: f"[+-]?(({_UNPADDED}([.][0-9]{{0,99}})?|[.][0-9]{{1,99}})([eE][+-]?[12]?[0-9]{{1,2}})?"
    "|nan|NaN|NAN|inf|Inf|INF|Infinity)",
    Kind.DATE: _GRAMMAR[Kind.DATE],
}
_TRUE, _FALSE = ("true", "t", "yes", "y", "1"), ("false", "f", "no", "n", "0")
_NO_NUMBERS = ("nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")


@dataclass(frozen=True)
class Conversion:
    """A column of the view: its value, and the condition under which a cell could not be converted."""

    column: Column
    value: exp.Expr
    bad: exp.Expr | None = None


def kind_of(given: pa.DataType) -> Kind | None:
    """Return the kind that describes an engine's type, or None if none does.

    A timestamp is read as a date: its time of day is left behind. A dictionary of text is a category.
    """
    if kinds.is_dictionary(given):
        return Kind.CATEGORY if kind_of(given.value_type) is Kind.TEXT else kind_of(given.value_type)
    if kinds.is_integer(given) or (kinds.is_decimal(given) and given.scale <= 0):
        return Kind.INTEGER
    if kinds.is_floating(given) or kinds.is_decimal(given):
        return Kind.REAL
    if kinds.is_boolean(given):
        return Kind.BOOLEAN
    if kinds.is_date(given) or kinds.is_timestamp(given):
        return Kind.DATE
    text = kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given)
    return Kind.TEXT if text or kinds.is_null(given) else None


def conversion(column: Column, given: pa.DataType) -> Conversion:
    """Return how to read a column that the engine holds as `given`, or raise SchemaError if it cannot be."""
    held, wanted = kind_of(given), column.storage
    held = Kind.TEXT if held is Kind.CATEGORY else held
    if held is wanted or kinds.is_null(given) or (held, wanted) in _PLAIN_CASTS:
        return Conversion(column, _cast(column, given))
    if held is Kind.TEXT:
        return _checked(column, _readable_text(column), _from_text(column))
    if (held, wanted) == (Kind.REAL, Kind.INTEGER):
        return _checked(column, _finite(column), _whole_number(column))
    if (held, wanted) == (Kind.INTEGER, Kind.BOOLEAN):
        return _checked(column, reference(column).is_(exp.null()).not_(), _truth(column, ("1",), ("0",)))
    holds = f"holds {held} values" if held else "has a type that no kind describes"
    raise SchemaError(f"Column {column.name!r} {holds}; it cannot be read as {column.kind}.")


_PLAIN_CASTS = {
    (Kind.INTEGER, Kind.REAL),
    (Kind.INTEGER, Kind.TEXT),
    (Kind.BOOLEAN, Kind.TEXT),
}


def looks_like(text: str, kind: Kind) -> bool:
    """Return whether a piece of text follows the grammar of a kind."""
    return re.fullmatch(_GRAMMAR[kind], text.strip()) is not None


def reads_as(column: Column) -> exp.Expr:
    """Return the condition that a cell of text holds a value that one would write for the column's kind.

    Stricter than a conversion: no number with leading zeros or more than 18 digits before the point, which is
    rather a code; no abbreviations of truth values. NaN and the infinities count as filled cells and as reals.
    """
    filled = exp.and_(reference(column).is_(exp.null()).not_(), _word(column).isin("").not_())
    if column.kind is Kind.TEXT:
        return filled
    if column.kind is Kind.BOOLEAN:
        return exp.and_(filled, _word(column).isin("true", "false"))
    pattern = _TYPICAL[column.kind]
    return exp.and_(filled, exp.RegexpLike(this=_trimmed(column), expression=exp.Literal.string(f"^({pattern})$")))


def _cast(column: Column, given: pa.DataType) -> exp.Expr:
    cell: exp.Expr = reference(column)
    if kinds.is_decimal(given) and column.storage is Kind.REAL and given.precision > 15:
        cell = exp.cast(cell, "TEXT")  # through its digits: not every engine rounds a wide decimal correctly
    return exp.cast(cell, sql_type(column.storage))


def _checked(column: Column, filled: exp.Expr, value: exp.Expr) -> Conversion:
    bad = exp.and_(filled, exp.paren(value.copy()).is_(exp.null()))
    return Conversion(column, value, bad)


def _readable_text(column: Column) -> exp.Expr:
    """A cell that should have held something: not NULL, not blank, not NaN or infinite, not a missing code."""
    cell = reference(column)
    empty = ("", *(_NO_NUMBERS if column.storage is Kind.REAL else ()))
    conditions = [cell.is_(exp.null()).not_(), _word(column).isin(*empty).not_()]
    codes = missing_codes(column, Kind.TEXT)
    return exp.and_(*conditions, *([cell.copy().isin(*codes).not_()] if codes else []))


def _from_text(column: Column) -> exp.Expr:
    if column.storage is Kind.BOOLEAN:
        return _truth(column, _TRUE, _FALSE)
    if column.storage is Kind.INTEGER:
        return _when(column, Kind.INTEGER, _fitting(column))
    return _when(column, column.storage, exp.cast(_trimmed(column), sql_type(column.storage)))


def _when(column: Column, storage: Kind, value: exp.Expr) -> exp.Expr:
    pattern = exp.Literal.string(f"^({_GRAMMAR[storage]})$")
    matches = exp.RegexpLike(this=_trimmed(column), expression=pattern)
    return exp.case().when(exp.and_(_readable_text(column), matches), value).else_(exp.null())


def _fitting(column: Column) -> exp.Expr:
    wide = exp.cast(_trimmed(column), "DECIMAL(38, 0)")
    lower, upper = (exp.cast(exp.Literal.string(str(end)), "DECIMAL(38, 0)") for end in (INT64_LOWER, INT64_UPPER))
    return exp.case().when(wide.between(lower, upper), exp.cast(wide.copy(), "BIGINT")).else_(exp.null())


def _trimmed(column: Column) -> exp.Expr:
    return exp.Trim(this=reference(column))


def _truth(column: Column, true: tuple[str, ...], false: tuple[str, ...]) -> exp.Expr:
    case = exp.case().when(_word(column).isin(*true), exp.true())
    return case.when(_word(column).isin(*false), exp.false()).else_(exp.null())


def _word(column: Column) -> exp.Expr:
    return exp.Lower(this=exp.Trim(this=exp.cast(reference(column), "TEXT")))


def _finite(column: Column) -> exp.Expr:
    cell = reference(column)
    largest = constant(1.7976931348623157e308, Kind.REAL)
    return exp.and_(
        cell.is_(exp.null()).not_(), exp.cast(cell.copy(), "DOUBLE").between(exp.Neg(this=largest), largest.copy())
    )


def _whole_number(column: Column) -> exp.Expr:
    cell = exp.cast(reference(column), "DOUBLE")
    within = cell.between(constant(-(2.0**63), Kind.REAL), constant(2.0**63 - 1024, Kind.REAL))
    whole = exp.EQ(this=cell.copy(), expression=exp.Floor(this=cell.copy()))
    return exp.case().when(exp.and_(within, whole), exp.cast(cell.copy(), "BIGINT")).else_(exp.null())
