"""How a column as an engine holds it becomes a column as the schema declares it.

Text that should be a number, a date or a truth value is read by one grammar on every engine; the engines' own
casts differ (DuckDB reads '1.5' as the integer 2, PostgreSQL refuses it).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import pyarrow as pa
import pyarrow.types as kinds
from sqlglot import exp

from ziggurat.data.engines import is_finite
from ziggurat.data.expressions import (
    cast_to,
    constant,
    is_filled,
    is_one_of,
    missing_codes,
    only_where,
    reference,
    sql_type,
)
from ziggurat.data.schema import GRAMMAR, INT64_LOWER, INT64_UPPER, LONGEST, PLAIN_TRUTH, TYPICAL, Column, Kind
from ziggurat.data.written import FALSE_WORDS, TRUE_WORDS, is_notated, notated_value
from ziggurat.errors import SchemaError

_NO_NUMBER = "^(nan|[+-]?inf(inity)?)?$"  # a pattern: DuckDB makes a join of a longer list, for every column


@dataclass(frozen=True)
class Conversion:
    """A column of the view: its value, and the condition under which a cell could not be converted."""

    column: Column
    value: exp.Expr
    bad: exp.Expr | None = None


def kind_of(given: pa.DataType) -> Kind | None:
    """Return the kind that describes an engine's type, or None if none does.

    A timestamp is read as a date, the one in its own time zone: its time of day is left behind. A dictionary of
    text is a category.
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


def is_moment(given: pa.DataType | None) -> bool:
    """Return whether a type holds a time of day, which a date leaves behind."""
    return given is not None and bool(kinds.is_timestamp(given))


def conversion(column: Column, given: pa.DataType) -> Conversion:
    """Return how to read a column that the engine holds as `given`, or raise SchemaError if it cannot be."""
    if column.sequence is not None and _is_list(given):
        return Conversion(column, _joined(column))
    held, wanted = kind_of(given), column.storage
    held = Kind.TEXT if held is Kind.CATEGORY else held
    if held is wanted is Kind.DATE:
        return _convert_checked(column, is_filled(reference(column)), _calendar_day(column))
    if held is wanted is Kind.INTEGER and _is_wide(given):
        return _convert_checked(column, is_filled(reference(column)), _fitting(reference(column)))
    if held is wanted or kinds.is_null(given) or (held, wanted) in _PLAIN_CASTS:
        return Conversion(column, _cast(column, given))
    if held is Kind.TEXT:
        return _convert_checked(column, _readable_text(column), _from_text(column))
    if (held, wanted) == (Kind.REAL, Kind.INTEGER):
        return _convert_checked(column, _finite(column), _whole_number(column))
    if (held, wanted) == (Kind.INTEGER, Kind.BOOLEAN):
        return _convert_checked(column, is_filled(reference(column)), _truth(column, ("1",), ("0",)))
    holds = f"holds {held} values" if held else "has a type that no kind describes"
    raise SchemaError(f"Column {column.name!r} {holds}; it cannot be read as {column.kind}.")


_PLAIN_CASTS = {
    (Kind.INTEGER, Kind.REAL),
    (Kind.INTEGER, Kind.TEXT),
    (Kind.BOOLEAN, Kind.TEXT),
}


def reads_as(column: Column) -> exp.Expr:
    """Return the condition that a cell of text holds a value that one would write for the column's kind.

    Stricter than a conversion: no number with leading zeros or more than 18 digits before the point, which is
    rather a code; no abbreviations of truth values. NaN and the infinities count as filled cells and as reals; the
    column's missing codes do not count.
    """
    blank = _is_word(column, ("",))
    written = exp.and_(is_filled(reference(column)), exp.Not(this=blank), *_no_code(column), copy=False)
    if column.kind is Kind.TEXT:
        return written
    if column.kind is Kind.BOOLEAN:
        return exp.and_(written, _is_word(column, PLAIN_TRUTH), copy=False)
    return exp.and_(written, _matches(column, column.kind, TYPICAL), copy=False)


def see_value(column: Column, given: pa.DataType) -> exp.Expr:
    """Return a cell as the schema says it is to be read."""
    return conversion(column, given).value


def find_unreadable(column: Column, given: pa.DataType) -> exp.Expr | None:
    """Return the condition that a cell cannot be read as the column's kind; None if every cell can."""
    return conversion(column, given).bad


def _is_list(given: pa.DataType) -> bool:
    listed = kinds.is_list(given) or kinds.is_large_list(given)
    return bool(listed and kind_of(given.value_type) in (Kind.TEXT, Kind.CATEGORY, Kind.INTEGER))


def _joined(column: Column) -> exp.Expr:
    """A list of symbols as one text: sequences in lists are read like sequences in texts."""
    assert column.sequence is not None
    texts = cast_to(reference(column), "ARRAY<TEXT>")
    return exp.ArrayToString(this=texts, expression=exp.Literal.string(column.sequence.separator))


def _cast(column: Column, given: pa.DataType) -> exp.Expr:
    cell: exp.Expr = reference(column)
    if kinds.is_decimal(given) and column.storage is Kind.REAL and given.precision > 15:
        cell = cast_to(cell, "TEXT")  # through its digits: not every engine rounds a wide decimal correctly
    return cast_to(cell, sql_type(column.storage))


def _convert_checked(column: Column, given: exp.Expr, value: exp.Expr) -> Conversion:
    # The value first: only of the few cells without one must it be asked whether something was given.
    unread = exp.Is(this=exp.Paren(this=value), expression=exp.Null())
    return Conversion(column, value, only_where(unread, given))


def _readable_text(column: Column) -> exp.Expr:
    """A cell that should have held something: not NULL, not blank, not NaN or infinite, not a missing code."""
    empty = _is_word(column, ("",))
    if column.storage is Kind.REAL:
        empty = exp.RegexpLike(this=_word(column), expression=exp.Literal.string(_NO_NUMBER))
    return exp.and_(is_filled(reference(column)), exp.Not(this=empty), *_no_code(column), copy=False)


def _no_code(column: Column) -> list[exp.Expr]:
    codes = missing_codes(column, Kind.TEXT)
    return [exp.Not(this=is_one_of(reference(column), codes))] if codes else []


def _from_text(column: Column) -> exp.Expr:
    if column.storage is Kind.BOOLEAN:
        return _truth(column, *_truth_words(column))
    if is_notated(column):
        value = notated_value(column, _trim(column))
        fitting = _fitting(value) if column.storage is Kind.INTEGER else value
        told = _no_code(column)
        return only_where(exp.and_(*told, copy=False), fitting) if told else fitting
    value = cast_to(_trim(column), sql_type(column.storage))
    if column.storage is Kind.INTEGER:
        value = _fitting(cast_to(_trim(column), "DECIMAL(38, 0)"))
    # What follows the grammar is neither blank nor NaN, but may be a missing code.
    return only_where(exp.and_(_matches(column, column.storage, GRAMMAR), *_no_code(column), copy=False), value)


def _truth_words(column: Column) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if column.written is None:
        return TRUE_WORDS, FALSE_WORDS
    told = [tuple(each.lower() for each in words) for words in (column.written.true, column.written.false)]
    known = ((TRUE_WORDS, told[1]), (FALSE_WORDS, told[0]))
    usual = [tuple(word for word in words if word not in other) for words, other in known]
    return (*told[0], *usual[0]), (*told[1], *usual[1])


def _matches(column: Column, kind: Kind, grammar: Mapping[Kind, str]) -> exp.Expr:
    short = exp.LTE(this=exp.Length(this=_trim(column)), expression=exp.Literal.number(LONGEST[kind]))
    pattern = exp.Literal.string(f"^({grammar[kind]})$")
    return exp.And(this=short, expression=exp.RegexpLike(this=_trim(column), expression=pattern))


def _fitting(wide: exp.Expr) -> exp.Expr:
    """An integer of any width if it has 64 bits, and otherwise NULL; so too for what is no integer after all."""
    lower, upper = (cast_to(exp.Literal.string(str(end)), "DECIMAL(38, 0)") for end in (INT64_LOWER, INT64_UPPER))
    whole = exp.EQ(this=wide, expression=exp.Floor(this=wide))
    fits = exp.and_(exp.Between(this=wide, low=lower, high=upper), whole, copy=False)
    return only_where(fits, cast_to(wide, "BIGINT"))


def _is_wide(given: pa.DataType) -> bool:
    # PostgreSQL's numeric without a scale may hold fractions, too; it shows as a decimal of 38 digits.
    return bool(kinds.is_uint64(given) or (kinds.is_decimal(given) and given.precision > 18))


def _calendar_day(column: Column) -> exp.Expr:
    """The date, if Python has it: engines know the year 100,000 and dates at infinity."""
    day = cast_to(reference(column), "DATE")
    first, last = constant(date.min, Kind.DATE), constant(date.max, Kind.DATE)
    return only_where(exp.Between(this=day, low=first, high=last), day)


def _trim(column: Column) -> exp.Expr:
    return exp.Trim(this=reference(column))


def _truth(column: Column, true: tuple[str, ...], false: tuple[str, ...]) -> exp.Expr:
    cases = [
        exp.If(this=_is_word(column, true), true=exp.true()),
        exp.If(this=_is_word(column, false), true=exp.false()),
    ]
    return exp.Case(ifs=cases, default=exp.Null())


def _is_word(column: Column, words: tuple[str, ...]) -> exp.Expr:
    return is_one_of(_word(column), (exp.Literal.string(each) for each in words))


def _word(column: Column) -> exp.Expr:
    return exp.Lower(this=exp.Trim(this=cast_to(reference(column), "TEXT")))


def _finite(column: Column) -> exp.Expr:
    cell = reference(column)
    return exp.and_(is_filled(cell), is_finite(cast_to(cell, "DOUBLE")), copy=False)


def _whole_number(column: Column) -> exp.Expr:
    cell = cast_to(reference(column), "DOUBLE")
    ends = {"low": constant(-(2.0**63), Kind.REAL), "high": constant(2.0**63 - 1024, Kind.REAL)}
    whole = exp.EQ(this=cell, expression=exp.Floor(this=cell))
    fits = exp.and_(_finite(column), exp.Between(this=cell, **ends), whole, copy=False)
    return only_where(fits, cast_to(cell, "BIGINT"))
