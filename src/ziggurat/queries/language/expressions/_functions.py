"""Functions of one row, as the analyst calls them."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions import _arithmetic as arithmetic
from ziggurat.queries.language.expressions import _comparison as comparison
from ziggurat.queries.language.expressions import _dates as dates
from ziggurat.queries.language.expressions import _powers as powers
from ziggurat.queries.language.expressions import _rounding as rounding
from ziggurat.queries.language.expressions import _text_functions as texts
from ziggurat.queries.language.expressions._cells import Literal, is_nothing, literal
from ziggurat.queries.language.expressions._reading import only, show
from ziggurat.queries.language.expressions._resolver import Resolver
from ziggurat.wording import nearest

FUNCTIONS = (
    *("ABS", "BIN", "BUCKET", "CAST", "CEIL", "CLAMP", "COALESCE", "DATE_DIFF", "DAY", "EXP", "EXTRACT", "FLOOR"),
    *("GREATEST", "IF", "LEAST", "LENGTH", "LN", "LOG10", "LOWER", "MONTH", "NULLIF", "POWER", "QUARTER", "ROUND"),
    *("SIGN", "SQRT", "SUBSTRING", "TRIM", "UPPER", "YEAR"),
)
"""The functions of one row, by name."""


def as_date(value: Value) -> Value:
    """Return a text that is written out as the date it names; other values stay as they are."""
    if isinstance(value, Literal) and isinstance(value.constant, str):
        return literal(rounding.date_from(value.constant))
    return value


def round_number(self: Resolver, node: exp.Expr) -> Value:
    """Return ROUND(x) or ROUND(x, places)."""
    only(node, "this", "decimals")
    places = node.args.get("decimals")
    return rounding.round_places(
        self.value(node.this), 0 if places is None else self.constant(places, "The decimal places")
    )


def logarithm(self: Resolver, node: exp.Expr) -> Value:
    """Return LOG10(x); a LOG of no stated base is refused."""
    base = node.this
    if node.args.get("expression") is None or not isinstance(base, exp.Literal) or str(base.this) != "10":
        raise QuestionError("Engines disagree on the base of LOG; write LN(x) or LOG10(x).")
    return powers.decimal_logarithm(self.value(node.expression))


def extract(self: Resolver, node: exp.Expr) -> Value:
    """Return a part of a date."""
    only(node, "this", "expression")
    return dates.part(str(node.this.name).upper(), self.value(node.expression))


def days(self: Resolver, node: exp.Expr) -> Value:
    """Return the days between two dates."""
    only(node, "this", "expression", "unit", "date_part_boundary")
    if str(node.args.get("unit") or "").upper() not in ("DAY", "DAYS"):
        raise QuestionError("Only days between dates are understood: write DATE_DIFF('day', earlier, later).")
    return dates.days_between(as_date(self.value(node.this)), as_date(self.value(node.expression)))


def substring(self: Resolver, node: exp.Expr) -> Value:
    """Return SUBSTRING(text, start, length)."""
    only(node, "this", "start", "length")
    size = node.args.get("length")
    start = self.constant(node.args.get("start"), "The start of SUBSTRING")
    return texts.substring(
        self.value(node.this), start, None if size is None else self.constant(size, "The length of SUBSTRING")
    )


_TO_REAL = {exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT}
_TO_INTEGER = {exp.DataType.Type.BIGINT, exp.DataType.Type.INT, exp.DataType.Type.SMALLINT}
_TO_TEXT = {exp.DataType.Type.TEXT, exp.DataType.Type.VARCHAR}


def cast(self: Resolver, node: exp.Expr) -> Value:
    """Return a value as another kind, where every engine agrees on the result."""
    only(node, "this", "to")
    value, wanted = self.value(node.this), node.args["to"].this
    if is_nothing(value):
        raise QuestionError("NULL cannot be cast; leave it out.")
    if wanted is exp.DataType.Type.DATE:
        return _date(value)
    if wanted in _TO_TEXT:
        return texts.as_text(value)
    if value.kind is Kind.BOOLEAN and wanted in _TO_REAL | _TO_INTEGER:
        value = comparison.truth_as_number(value)
    if wanted in _TO_REAL:
        return arithmetic.as_real(arithmetic.number(value, "CAST"))
    if wanted in _TO_INTEGER and value.kind is Kind.INTEGER:
        return value
    if wanted in _TO_INTEGER and value.kind is Kind.REAL:
        raise QuestionError("Engines cast fractions to whole numbers differently; write FLOOR(x) or ROUND(x).")
    raise QuestionError(f"{show(node)} is not understood; CAST makes whole numbers, DOUBLE, TEXT or DATE.")


def _date(value: Value) -> Value:
    found = as_date(value)
    if found.kind is not Kind.DATE:
        raise QuestionError("Only a text that is written out becomes a date, as in DATE '2020-01-31'.")
    return found


def _clamp(self: Resolver, *given: exp.Expr) -> Value:
    return rounding.clamp(*(self.value(each) for each in given))


def _bin(self: Resolver, value: exp.Expr, width: exp.Expr, origin: exp.Expr | None = None) -> Value:
    start = literal(0) if origin is None else self.value(origin)
    return rounding.put_in_bins(self.value(value), self.value(width), start)


def _bucket(self: Resolver, value: exp.Expr, *given: exp.Expr) -> Value:
    number = self.value(value)
    if len(given) == 1:
        return rounding.put_in_buckets(number, *rounding.ends_of(number), self.value(given[0]))
    lower, upper, count = (self.value(each) for each in given)
    return rounding.put_in_buckets(number, lower, upper, count)


_OURS: dict[str, tuple[Callable[..., Value], tuple[int, ...], str]] = {
    "CLAMP": (_clamp, (3,), "CLAMP(x, lower, upper)"),
    "BIN": (_bin, (2, 3), "BIN(x, width) or BIN(x, width, origin)"),
    "BUCKET": (_bucket, (2, 4), "BUCKET(x, n) or BUCKET(x, lower, upper, n)"),
}


def call_own(self: Resolver, node: exp.Expr) -> Value:
    """Return the value of one of our own functions, or refuse one that is not known."""
    name = str(node.this).upper()
    if name == "UNIT":
        raise QuestionError(
            "UNIT() stands in COUNT(DISTINCT UNIT()) and in GROUP BY of a sub-query, if units have a column."
        )
    if name not in _OURS:
        raise QuestionError(f"There is no function {name[:40]!r} here; {nearest(name, FUNCTIONS)}")
    function, sizes, usage = _OURS[name]
    if len(node.expressions) not in sizes:
        raise QuestionError(f"{name} is written {usage}.")
    return function(self, *node.expressions)
