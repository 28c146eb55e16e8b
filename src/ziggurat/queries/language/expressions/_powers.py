"""Roots, logarithms, exponentials and powers that are NULL, not an error, where they do not exist."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from ziggurat.data import Kind
from ziggurat.data.expressions import constant, only_where
from ziggurat.errors import QuestionError
from ziggurat.queries._value import Value
from ziggurat.queries.language.expressions._arithmetic import as_real, known_span, number
from ziggurat.queries.language.expressions._cells import LARGEST, Literal, call, make_value

_SLACK = 1e-12  # libraries of mathematics differ in the last digits
_SMALLEST = 5e-324
_LEAST_BASE = 1e-307
_LARGEST_DOUBLE = 1.7976931348623157e308
_MOST_EXPONENT = 690


def square_root(value: Value) -> Value:
    """Return the square root; NULL of a negative number. Engines round it correctly, so its bounds are exact."""
    value = number(value, "SQRT")
    real = as_real(value)
    lower, upper = _ends(value)
    sql: exp.Expr = exp.Sqrt(this=real.sql)
    if lower < 0:
        sql = only_where(exp.GTE(this=real.sql, expression=constant(0.0, Kind.REAL)), sql)
    return make_value(
        sql, Kind.REAL, math.sqrt(max(lower, 0.0)), math.sqrt(max(upper, 0.0)), written=call("SQRT", value.sql)
    )


def logarithm(value: Value) -> Value:
    """Return the natural logarithm; NULL of what is not above zero."""
    return _logarithm(value, "LN", math.log)


def decimal_logarithm(value: Value) -> Value:
    """Return the logarithm to base 10; NULL of what is not above zero."""
    return _logarithm(value, "LOG10", math.log10)


def _logarithm(value: Value, name: str, model: Callable[[float], float]) -> Value:
    value = number(value, name)
    real = as_real(value)
    lower, upper = _ends(value)
    least = 1.0 if value.kind is Kind.INTEGER else _SMALLEST
    sql: exp.Expr = exp.Anonymous(this=name, expressions=[real.sql])
    if lower <= 0:
        sql = only_where(exp.GT(this=real.sql, expression=constant(0.0, Kind.REAL)), sql)
    ends = [model(max(end, least)) for end in (lower, upper)]
    return make_value(sql, Kind.REAL, *_widen(*ends), written=call(name, value.sql))


def exponential(value: Value) -> Value:
    """Return e to the power of a number, which must provably lie between -690 and 690."""
    value = number(value, "EXP")
    lower, upper = known_span(value, "EXP")
    if lower < -_MOST_EXPONENT or upper > _MOST_EXPONENT:
        raise QuestionError("EXP could overflow; write EXP(CLAMP(x, -690, 690)), with narrower bounds if you can.")
    ends = _widen(math.exp(lower), math.exp(upper))
    return make_value(exp.Exp(this=as_real(value).sql), Kind.REAL, max(ends[0], 0.0), ends[1])


def power(value: Value, exponent: Value) -> Value:
    """Return a constant power; NULL where it does not exist.

    Numbers so near to zero that their power would underflow count as zero.
    """
    value = number(value, "POWER")
    if not isinstance(exponent, Literal) or not exponent.is_number:
        raise QuestionError("The exponent of POWER must be a number that is written out, as in POWER(x, 2).")
    degree = float(exponent.constant)  # type: ignore[arg-type]
    if not 0 < abs(degree) <= 100:
        raise QuestionError("The exponent of POWER must lie between -100 and 100 and not be zero.")
    found = known_span(value, "POWER")
    # Below `least` a positive power would underflow and a negative one overflow; of zero itself there is none.
    least = max(LARGEST ** (-1 / abs(degree)), 0.0 if degree > 0 else _LEAST_BASE) * (1 + _SLACK)
    _refuse_overflow(max(abs(found[0]), abs(found[1])), degree)
    lower, upper = _power_ends(value, found, degree, least)
    sql = _power_sql(as_real(value).sql, degree, least)
    return make_value(sql, Kind.REAL, lower, upper, written=call("POWER", value.sql, exponent.sql))


def _power_sql(base: exp.Expr, degree: float, least: float) -> exp.Expr:
    raised = exp.Pow(this=base, expression=constant(degree, Kind.REAL))
    near = exp.LT(this=exp.Abs(this=base), expression=constant(least, Kind.REAL))
    tests = [exp.If(this=near, true=constant(0.0, Kind.REAL) if degree > 0 else exp.Null())]
    if not degree.is_integer():
        tests.insert(0, exp.If(this=exp.LT(this=base, expression=constant(0.0, Kind.REAL)), true=exp.Null()))
    return exp.Case(ifs=tests, default=raised)


def _refuse_overflow(largest: Fraction, degree: float) -> None:
    # With a negative exponent the power of a large number would underflow, which is an error in PostgreSQL, too.
    if largest > 1 and math.log10(largest) * abs(degree) > 300:
        raise QuestionError("POWER could exceed 1e300; bound what is raised, as in POWER(CLAMP(x, 0, 1000), 2).")


def _power_ends(
    value: Value, found: tuple[Fraction, Fraction], degree: float, least: float
) -> tuple[float, float] | tuple[None, None]:
    """The bounds of a power; none if the number may come near zero and the exponent is negative."""
    lower, upper = float(found[0]), float(found[1])
    crosses = lower <= 0 <= upper
    if not value.bounded or (degree < 0 and crosses and value.kind is not Kind.INTEGER):
        return None, None
    bases = [end for end in (lower, upper, -1.0, 1.0) if lower <= end <= upper and end]
    if not degree.is_integer():
        bases = [end for end in bases if end > 0]
    powers = [math.copysign(max(abs(end), least), end) ** degree for end in bases]
    if degree > 0 and lower <= least and upper >= -least:
        powers.append(0.0)
    return _widen(min(powers), max(powers)) if powers else (0.0, 0.0)


def _ends(value: Value) -> tuple[float, float]:
    if value.kind is Kind.INTEGER or value.bounded:
        lower, upper = known_span(value, "A function")
        return float(lower), float(upper)
    return -_LARGEST_DOUBLE, _LARGEST_DOUBLE


def _widen(lower: float, upper: float) -> tuple[float, float]:
    return lower - abs(lower) * _SLACK, upper + abs(upper) * _SLACK
