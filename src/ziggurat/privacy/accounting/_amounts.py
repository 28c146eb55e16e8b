"""Exact privacy amounts: what a person writes is what is counted."""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any

from ziggurat.errors import ParameterError

Amount = str | int | float | Decimal | Fraction
"""A number as people write it, which `exact` reads as a rational: "0.1" and 0.1 are one tenth."""

# Floats leave the accountants through `upper_rational`. The curves behind them are upper bounds already, round-off
# included for the size they are used at; this slack covers the few operations that remain, such as a product.
_SLACK = Fraction(1, 10**9)
# One limit for every form, so that whatever is accepted can be written down and read back: 4,096 bits above and below
# the line, at most 2,500 characters.
_MOST_BITS = 4096
_LONGEST = 2500
_LARGEST_EXPONENT = 300


def exact(value: Amount, name: str = "value") -> Fraction:
    """Read a number as the exact rational a person means by it.

    A float stands for its shortest decimal form, so that `0.1` is one tenth; a string may be a decimal (`"0.1"`,
    `"1e-6"`) or a fraction (`"1/3"`).

    >>> exact("0.1") + exact(0.2) == exact("3/10")
    True
    """
    if isinstance(value, bool) or not isinstance(value, (str, Decimal, Real)):
        raise ParameterError(f"{name} must be a number such as 0.5 or '1/3', not {type(value).__name__}.")
    # NumPy's integers are rationals too, but they would wrap in later arithmetic: they become Python's.
    if isinstance(value, Rational):
        amount = Fraction(int(value.numerator), int(value.denominator))
    else:
        amount = _parse(value, name)
    if max(amount.numerator.bit_length(), amount.denominator.bit_length()) > _MOST_BITS:
        raise ParameterError(f"{name} has too many digits to be meant; round it.")
    return amount


def _parse(value: Any, name: str) -> Fraction:
    """Read a decimal or a fraction as it is written."""
    if isinstance(value, str) and len(value) > _LONGEST:
        raise ParameterError(f"{name} has too many digits to be meant; round it.")
    try:
        if isinstance(value, str) and "/" in value:
            return Fraction(value)
        # str() is the shortest decimal that reads back, also of NumPy's floats.
        decimal = value if isinstance(value, Decimal) else Decimal(str(value))
    except (InvalidOperation, ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} must be a number such as 0.5 or '1/3'; {str(value)[:40]!r} is not one.") from None
    if not decimal.is_finite():
        raise ParameterError(f"{name} must be a finite number, not {decimal}.")
    if decimal and abs(decimal.adjusted()) > _LARGEST_EXPONENT:
        raise ParameterError(f"{name} is too large or too small to be meant.")
    return Fraction(decimal)


def whole_number(value: object, name: str, least: int = 1) -> int:
    """Read a whole number of at least `least`, Python's or NumPy's."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}.")
    return int(value)


def exact_epsilon(value: Amount, name: str = "epsilon") -> Fraction:
    """Read an epsilon: an exact rational greater than zero."""
    epsilon = exact(value, name)
    if epsilon <= 0:
        raise ParameterError(f"{name} must be greater than 0, not {value}.")
    return epsilon


def exact_delta(value: Amount, name: str = "delta") -> Fraction:
    """Read a delta: an exact rational in [0, 1)."""
    delta = exact(value, name)
    if not 0 <= delta < 1:
        raise ParameterError(f"{name} must be at least 0 and less than 1, not {value}.")
    return delta


def exact_positive(value: Amount, name: str) -> Fraction:
    """Read any amount that must be greater than zero, such as a sensitivity or a scale."""
    amount = exact(value, name)
    if amount <= 0:
        raise ParameterError(f"{name} must be greater than 0, not {value}.")
    return amount


def exact_confidence(value: Amount, name: str = "confidence") -> Fraction:
    """Read a confidence: an exact rational strictly between 0 and 1."""
    confidence = exact(value, name)
    if not 0 < confidence < 1:
        raise ParameterError(f"{name} must lie strictly between 0 and 1, not {value}.")
    return confidence


def upper_rational(value: float) -> Fraction:
    """Turn a computed upper bound into a rational that is certainly not below it."""
    return Fraction(value) * (1 + _SLACK)


def lower_rational(value: float) -> Fraction:
    """Turn a computed lower bound into a rational that is certainly not above it."""
    return Fraction(value) * (1 - _SLACK)


def float_below(amount: Fraction) -> float:
    """Give the largest float that is not above the amount.

    >>> float_below(Fraction(1, 2)), float_below(Fraction(1, 10)) < Fraction(1, 10)
    (0.5, True)
    """
    near = float(amount)
    return near if near <= amount else math.nextafter(near, -math.inf)


def float_above(amount: Fraction) -> float:
    """Give the least float that is not below the amount."""
    return -float_below(-amount)


def in_words(amount: Fraction, digits: int = 6) -> str:
    """Write an amount for people: exact when it is a short decimal, otherwise rounded up and marked with '≈'.

    >>> in_words(Fraction(1, 10)), in_words(Fraction(1, 3))
    ('0.1', '≈0.333334')
    """
    if amount == 0:
        return "0"
    text = _short_decimal(amount, digits + 6)
    if text is not None:
        return text
    exponent = math.floor(math.log10(abs(amount.numerator)) - math.log10(amount.denominator))
    mantissa = math.ceil(amount / Fraction(10) ** (exponent - digits + 1))
    shown = Decimal(mantissa).scaleb(exponent - digits + 1).normalize()
    return f"≈{_plain(shown)}"


def _plain(decimal: Decimal) -> str:
    far = abs(decimal.adjusted()) > 6
    return f"{decimal:e}".replace("e+", "e") if far else f"{decimal:f}"


def _short_decimal(amount: Fraction, digits: int) -> str | None:
    """Give the exact decimal form if it needs at most `digits` significant digits."""
    scaled = amount.denominator
    for prime in (2, 5):
        while scaled % prime == 0:
            scaled //= prime
    if scaled != 1:
        return None
    decimal = (Decimal(amount.numerator) / Decimal(amount.denominator)).normalize()
    if len(decimal.as_tuple().digits) > digits or Fraction(decimal) != amount:
        return None
    return _plain(decimal)
