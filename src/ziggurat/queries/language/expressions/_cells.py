"""Where values begin: the columns of tables, and constants that the analyst wrote."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime

from sqlglot import exp

from ziggurat.data import Column, Kind, Provenance
from ziggurat.data.engines import in_byte_order, is_finite
from ziggurat.data.expressions import cast_to, constant, is_filled, is_one_of, missing_codes, only_where
from ziggurat.data.schema import INT64_LOWER, INT64_UPPER
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Constant, Value

LARGEST = 1e300
"""The largest real number that a computation may reach; engines raise, or not, a little above it."""

LONGEST = 4_000
"""The most nodes that the tree of one expression may have."""

WRITTEN = "ziggurat_written"
"""Marks, in the meta data of a node, how the canonical text writes it."""

_ATOMS = (exp.Column, exp.Literal, exp.Case, exp.Func, exp.Paren, exp.Boolean, exp.Null)

Seen = Callable[[exp.Column], Value]
"""What is known of a column, given how a query refers to it."""


@dataclass(frozen=True, kw_only=True)
class Cell(Value):
    """A column of a table: `sql` is total and within the bounds; the other forms are cheaper.

    Attributes
    ----------
    bare
        The cell as the table holds it.
    present
        NULL where the cell is missing, but neither moved into the bounds nor held against the categories.
    seen
        The same column under another name.
    """

    bare: exp.Expr
    present: exp.Expr
    seen: Seen


@dataclass(frozen=True, kw_only=True)
class Literal(Value):
    """A constant that the analyst wrote."""

    constant: Constant


class PlainMeaning:
    """What a guarded expression means, as one would write it; copies of the expression share it."""

    def __init__(self, node: exp.Expr) -> None:
        self.node = node

    def __deepcopy__(self, _: object) -> PlainMeaning:
        return self


def tell_apart(cell: exp.Expr, kind: Kind) -> exp.Expr:
    """Return a cell that is another wherever its bytes are; one would write it as the cell itself."""
    if kind is not Kind.TEXT:
        return cell
    apart = in_byte_order(cell)
    apart.meta[WRITTEN] = PlainMeaning(cell)
    return apart


NOTHING = Value(exp.Null(), Kind.TEXT)
"""NULL as the analyst wrote it: it has no kind of its own."""


def make_value(
    sql: exp.Expr,
    kind: Kind,
    lower: int | float | date | None = None,
    upper: int | float | date | None = None,
    categories: tuple[Constant, ...] | None = None,
    *,
    written: exp.Expr | None = None,
) -> Value:
    """Return a value whose expression may stand anywhere; QuestionError if it has grown too long.

    `written` is how the canonical text shows the expression, if not as it is.
    """
    if sum(1 for _ in sql.walk()) > LONGEST:
        raise QuestionError(
            "An expression is too long once it is guarded against errors; compute parts of it in a sub-query in FROM."
        )
    return as_written(Value(enclose(sql), kind, lower, upper, categories), written)


def as_written(value: Value, written: exp.Expr | None) -> Value:
    """Return a value that the canonical text shows as `written`."""
    if written is not None:
        value.sql.meta[WRITTEN] = PlainMeaning(enclose(written))
    return value


def call(name: str, *given: exp.Expr) -> exp.Expr:
    """Return the call of a function, for the canonical text."""
    return exp.Anonymous(this=name, expressions=list(given))


def enclose(sql: exp.Expr) -> exp.Expr:
    """Return an expression that binds more tightly than any operator."""
    # AND and OR are functions as well, to sqlglot.
    atom = isinstance(sql, _ATOMS) and not isinstance(sql, exp.Binary)
    return sql if atom else exp.Paren(this=sql)


def literal(value: Constant) -> Literal:
    """Return a constant as a value; QuestionError if no engine could hold it."""
    kind = _kind_of(value)
    sql = exp.Boolean(this=value) if isinstance(value, bool) else constant(value, kind)
    if isinstance(value, str):
        return Literal(sql, kind, categories=(value,), constant=value)
    if isinstance(value, bool):
        return Literal(sql, kind, constant=value)
    named = (value,) if isinstance(value, int) else None
    return Literal(sql, kind, value, value, named, constant=value)


def _kind_of(value: Constant) -> Kind:
    if isinstance(value, bool):
        return Kind.BOOLEAN
    if isinstance(value, int):
        if not INT64_LOWER <= value <= INT64_UPPER:
            raise QuestionError("A whole number does not fit 64 bits; write it with a decimal point.")
        return Kind.INTEGER
    if isinstance(value, float):
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise QuestionError("A number is too large; write one of at most 1e300.")
        return Kind.REAL
    if isinstance(value, datetime) or not isinstance(value, str | date):
        raise QuestionError("A constant must be a number, text, TRUE, FALSE or a date.")
    if isinstance(value, str) and any(each == "\0" or "\ud800" <= each <= "\udfff" for each in value):
        raise QuestionError("A text holds a character that databases cannot store; leave it out.")
    return Kind.TEXT if isinstance(value, str) else Kind.DATE


def is_nothing(value: Value) -> bool:
    """Return whether a value is the word NULL."""
    return isinstance(value.sql, exp.Null)


def plain(value: Value) -> Value:
    """Return a value without what only the resolving of expressions needs."""
    return Value(value.sql, value.kind, value.lower, value.upper, value.categories, value.column, value.raw)


def derive(value: Value) -> Seen:
    """Return how a value is seen from outside of the query that computes it."""
    if isinstance(value, Cell):
        return value.seen
    return lambda column: replace(plain(value), sql=column, column=column.name, raw=None)


def cell_of(column: Column) -> Seen:
    """Return how a column of a table is seen: typed and total.

    NULL, NaN, the infinities and missing codes are NULL; a number or date outside the public bounds is moved to the
    nearer bound; what is not among the public categories is NULL.
    """

    def seen(raw: exp.Column) -> Value:
        present = _present(column, raw)
        value = _look_up_listed(column, raw) or _clamp(column, raw, present)
        return Cell(**vars(value), bare=raw, present=present, seen=seen)

    return seen


def _look_up_listed(column: Column, raw: exp.Column) -> Value | None:
    listed = _public_categories(column)
    if listed is None:
        return None
    sql = only_where(is_one_of(raw, [constant(each, column.storage) for each in listed]), raw)
    numbers = [each for each in listed if isinstance(each, int)]
    lower, upper = (min(numbers), max(numbers)) if numbers else (None, None)
    return as_written(Value(sql, column.storage, lower, upper, listed, raw.name), raw)


def _clamp(column: Column, raw: exp.Column, present: exp.Expr) -> Value:
    bounds, kind = column.bounds, column.storage
    if bounds is None or bounds.provenance is not Provenance.PUBLIC:
        return Value(present, kind, column=raw.name)
    moved = within(raw, bounds.lower, bounds.upper, kind)
    sql = moved if present is raw else only_where(present.args["ifs"][0].this, moved)
    ends = [constant(end, kind) for end in (bounds.lower, bounds.upper)]
    value = Value(sql, kind, bounds.lower, bounds.upper, column=raw.name, raw=present)
    return as_written(value, call("CLAMP", raw, *ends) if sql is not raw else None)


def within(sql: exp.Expr, lower: int | float | date, upper: int | float | date, kind: Kind) -> exp.Expr:
    """Return a value moved into bounds; NULL stays NULL."""
    low, high = constant(lower, kind), constant(upper, kind)
    if not isinstance(sql, exp.Column):
        # GREATEST and LEAST skip NULL: without the condition a missing value would become a bound.
        least = exp.Least(this=sql, expressions=[high], ignore_nulls=True)
        return only_where(is_filled(sql), exp.Greatest(this=least, expressions=[low], ignore_nulls=True))
    ends = ((exp.LT, lower, low, INT64_LOWER), (exp.GT, upper, high, INT64_UPPER))
    tests = [exp.If(this=test(this=sql, expression=to), true=to) for test, end, to, no_end in ends if end != no_end]
    return exp.Case(ifs=tests, default=sql) if tests else sql


def _present(column: Column, raw: exp.Column) -> exp.Expr:
    conditions: list[exp.Expr] = []
    if column.storage is Kind.REAL:
        conditions.append(is_finite(cast_to(raw, "DOUBLE")))
    codes = missing_codes(column, column.storage)
    if codes:
        conditions.append(exp.Not(this=is_one_of(raw, codes)))
    if not conditions:
        return raw
    present = only_where(exp.and_(*conditions, copy=False), raw)
    present.meta[WRITTEN] = PlainMeaning(raw)
    return present


def _public_categories(column: Column) -> tuple[str | int, ...] | None:
    known = column.categories
    if known is None or known.provenance is not Provenance.PUBLIC:
        return None
    codes = set(column.missing)
    return tuple(each for each in known.values if each not in codes) or None
