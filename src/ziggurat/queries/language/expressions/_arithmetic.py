"""Arithmetic over one row whose result provably exists, on every engine.

Bounds are those of interval arithmetic: the exact results at the corners, rounded to the nearest double where the
value is real. That is a proof, because rounding is monotone (IEEE 754): what lies between two corners is rounded to
something between the rounded corners. PostgreSQL raises when a product or quotient of reals underflows, so factors
nearer to zero than `TINY` count as zero.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import cast_to, constant, only_where
from ziggurat.data.schema import INT64_LOWER, INT64_UPPER
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions._cells import LARGEST, Literal, call, is_nothing, literal, make_value

TINY = 1e-150
"""In products and quotients, reals nearer to zero than this count as zero; so no product of two underflows."""

Span = tuple[Fraction, Fraction]


def number(value: Value, where: str) -> Value:
    """Return a value that is a number, or refuse it."""
    if is_nothing(value):
        raise QuestionError(f"NULL in {where} would make all of it NULL; leave it out.")
    if not value.is_number:
        hint = "; count with CASE WHEN ... THEN 1 ELSE 0 END" if value.kind is Kind.BOOLEAN else ""
        raise QuestionError(f"{where} needs numbers, not a value of kind {value.kind}{hint}.")
    return value


def as_real(value: Value) -> Value:
    """Return a number as a real one."""
    if value.kind is Kind.REAL:
        return value
    if isinstance(value, Literal):
        return literal(float(value.constant))  # type: ignore[arg-type]
    ends = (float(value.lower), float(value.upper)) if value.bounded else (None, None)  # type: ignore[arg-type]
    return make_value(cast_to(value.sql, "DOUBLE"), Kind.REAL, *ends)


def span(value: Value) -> Span | None:
    """Return between which exact numbers a value lies; None for a real without bounds."""
    if value.kind is Kind.INTEGER:
        lower = INT64_LOWER if value.lower is None else value.lower
        upper = INT64_UPPER if value.upper is None else value.upper
        return Fraction(lower), Fraction(upper)  # type: ignore[arg-type]
    if value.lower is None or value.upper is None:
        return None
    return Fraction(value.lower), Fraction(value.upper)  # type: ignore[arg-type]


def known_span(value: Value, where: str) -> Span:
    """Return the span of a value, or refuse it because it has none."""
    found = span(value)
    if found is None:
        raise QuestionError(f"{where} of a number without bounds could overflow; write CLAMP(x, lower, upper) for it.")
    return found


def compute(
    sql: exp.Expr, kind: Kind, corners: Iterable[Fraction], bounded: bool, what: str, written: exp.Expr | None = None
) -> Value:
    """Return a value that lies between the extreme corners, or refuse it if it might not fit its type."""
    ends = list(corners)
    lower, upper = min(ends), max(ends)
    if kind is Kind.INTEGER:
        if lower < INT64_LOWER or upper > INT64_UPPER:
            raise QuestionError(
                f"{what} of whole numbers could leave 64 bits; bound what goes into it, as in CLAMP(x, 0, 1000)."
            )
        return make_value(sql, kind, *((int(lower), int(upper)) if bounded else (None, None)), written=written)
    if max(-lower, upper) > Fraction(LARGEST):
        raise QuestionError(
            f"{what} could exceed 1e300, which some engines refuse; bound what goes into it, as in CLAMP(x, 0, 1000)."
        )
    return make_value(sql, kind, *((float(lower), float(upper)) if bounded else (None, None)), written=written)


def add(left: Value, right: Value) -> Value:
    """Return the sum of two numbers."""
    return _linear(exp.Add, left, right, 1, "A sum")


def subtract(left: Value, right: Value) -> Value:
    """Return the difference of two numbers."""
    return _linear(exp.Sub, left, right, -1, "A difference")


def _linear(operator: type[exp.Binary], left: Value, right: Value, sign: int, what: str) -> Value:
    left, right = align(left, right, what)
    a, b = known_span(left, what), known_span(right, what)
    corners = [x + sign * y for x, y in product(a, b)]
    sql = operator(this=left.sql, expression=right.sql)
    return compute(sql, left.kind, corners, left.bounded and right.bounded, what)


def multiply(left: Value, right: Value) -> Value:
    """Return the product of two numbers."""
    left_whole, right_whole = left.kind is Kind.INTEGER, right.kind is Kind.INTEGER
    left, right = align(left, right, "A product")
    a, b = known_span(left, "A product"), known_span(right, "A product")
    corners = [x * y for x, y in product(a, b)]
    first, second = left.sql, right.sql
    if left.kind is Kind.REAL:
        # A factor of at least 1, or of 0, cannot make the other underflow.
        first = first if right_whole or left_whole or _away(b, 1) else flush_to_zero(left, a)
        second = second if right_whole or left_whole or _away(a, 1) else flush_to_zero(right, b)
        if first is not left.sql or second is not right.sql:
            corners.append(Fraction(0))
    sql = exp.Mul(this=first, expression=second)
    written = exp.Mul(this=left.sql, expression=right.sql)
    return compute(sql, left.kind, corners, left.bounded and right.bounded, "A product", written)


def divide(above: Value, below: Value) -> Value:
    """Return the quotient as a real number; NULL where the denominator is zero, or so near that it would overflow."""
    above, below = number(above, "A quotient"), number(below, "A quotient")
    a, b = _round_span(known_span(above, "A quotient")), _round_span(known_span(below, "A quotient"))
    if b[0] == b[1] == 0:
        raise QuestionError("A denominator is always zero; divide by something else.")
    whole_above, whole_below = above.kind is Kind.INTEGER, below.kind is Kind.INTEGER
    least = Fraction(1) if whole_below else max(Fraction(TINY), _largest(a) / Fraction(LARGEST))
    top = as_real(above).sql
    if not whole_above and _largest(b) > 1:
        top = flush_to_zero(above, a, max(TINY, float(_largest(b)) / LARGEST))
    sql: exp.Expr = exp.Div(this=top, expression=as_real(below).sql)
    if not _away(b, least):
        sql = only_where(_at_least(below, least), sql)
    corners = _quotients(a, b, least)
    if top is not as_real(above).sql and not whole_above:
        corners.append(Fraction(0))
    known = above.bounded and below.bounded and (whole_below or _away(b, least))
    return compute(sql, Kind.REAL, corners, known, "A quotient", exp.Div(this=above.sql, expression=below.sql))


def _round_span(found: Span) -> Span:
    """A span as doubles hold it: whole numbers beyond 2**53 are rounded when they become real."""
    return Fraction(float(found[0])), Fraction(float(found[1]))


def _quotients(a: Span, b: Span, least: Fraction) -> list[Fraction]:
    denominators = {y for y in (*b, -least, least) if b[0] <= y <= b[1] and abs(y) >= least}
    return [x / y for x, y in product(a, denominators)] or [Fraction(0)]


def _at_least(value: Value, least: Fraction) -> exp.Expr:
    if value.kind is Kind.INTEGER:
        return exp.NEQ(this=value.sql, expression=constant(0, Kind.INTEGER))
    return exp.GTE(this=exp.Abs(this=value.sql), expression=constant(float(least), Kind.REAL))


def remainder(left: Value, right: Value) -> Value:
    """Return what whole division leaves, with the sign of the dividend; NULL where the divisor is zero."""
    left, right = number(left, "A remainder"), number(right, "A remainder")
    if left.kind is not Kind.INTEGER or right.kind is not Kind.INTEGER:
        raise QuestionError("A remainder (%) needs whole numbers; for reals write x - y * FLOOR(x / y).")
    a, b = known_span(left, "A remainder"), known_span(right, "A remainder")
    if a[0] == INT64_LOWER and b[0] <= -1 <= b[1]:
        raise QuestionError("A remainder of a number without bounds needs a divisor above zero; write a positive one.")
    most = max(int(_largest(b)) - 1, 0)
    sql: exp.Expr = exp.Mod(this=left.sql, expression=right.sql)
    if b[0] <= 0 <= b[1]:
        sql = only_where(exp.NEQ(this=right.sql, expression=constant(0, Kind.INTEGER)), sql)
    lower, upper = max(-most, min(int(a[0]), 0)), min(most, max(int(a[1]), 0))
    return make_value(sql, Kind.INTEGER, lower, upper, written=exp.Mod(this=left.sql, expression=right.sql))


def negate(value: Value) -> Value:
    """Return a number with the other sign."""
    value = number(value, "A minus sign")
    if isinstance(value, Literal):
        return literal(-value.constant)  # type: ignore[operator]
    found = span(value)
    if found is None:
        return make_value(exp.Neg(this=value.sql), Kind.REAL)
    return compute(exp.Neg(this=value.sql), value.kind, [-found[0], -found[1]], value.bounded, "The opposite")


def absolute(value: Value) -> Value:
    """Return the distance of a number from zero."""
    value = number(value, "ABS")
    found = span(value)
    if found is None:
        return make_value(exp.Abs(this=value.sql), Kind.REAL)
    corners = [abs(found[0]), abs(found[1]), *([Fraction(0)] if found[0] <= 0 <= found[1] else [])]
    return compute(exp.Abs(this=value.sql), value.kind, corners, value.bounded, "ABS")


def sign(value: Value) -> Value:
    """Return -1, 0 or 1."""
    value = number(value, "SIGN")
    zero = constant(0, value.kind) if value.kind is Kind.INTEGER else constant(0.0, Kind.REAL)
    tests = [(exp.LT, -1), (exp.EQ, 0), (exp.GT, 1)]
    ifs = [exp.If(this=t(this=value.sql, expression=zero), true=constant(result, Kind.INTEGER)) for t, result in tests]
    return make_value(exp.Case(ifs=ifs, default=exp.Null()), Kind.INTEGER, -1, 1, written=call("SIGN", value.sql))


def align(left: Value, right: Value, what: str) -> tuple[Value, Value]:
    """Return two numbers of one kind: whole if both are, and otherwise real."""
    left, right = number(left, what), number(right, what)
    if left.kind is right.kind:
        return left, right
    return as_real(left), as_real(right)


def flush_to_zero(value: Value, found: Span, least: float = TINY) -> exp.Expr:
    """Return a real number, or zero where it is nearer to zero than `least`."""
    if isinstance(value, Literal) and abs(float(value.constant)) < least:  # type: ignore[arg-type]
        return constant(0.0, Kind.REAL)
    if _away(found, least):
        return value.sql
    near = exp.LT(this=exp.Abs(this=value.sql), expression=constant(least, Kind.REAL))
    return exp.Case(ifs=[exp.If(this=near, true=constant(0.0, Kind.REAL))], default=value.sql)


def _away(found: Span, least: float | Fraction) -> bool:
    """Whether everything in a span is at least so far from zero."""
    return found[0] >= Fraction(least) or found[1] <= -Fraction(least)


def _largest(found: Span) -> Fraction:
    return max(abs(found[0]), abs(found[1]))
