"""What the samplers carry exactly, and how a wanted parameter is rounded to that, on the safe side."""

from __future__ import annotations

import numbers
from fractions import Fraction

from ziggurat.errors import ParameterError

LARGEST_TERM = 2**50
"""The largest numerator or denominator of a scale, a standard deviation or a rate."""

LARGEST_EXPONENT = 2**62
"""The largest numerator of an exponent, and the largest bound of a uniform draw."""


def exact(value: Fraction | int, name: str) -> Fraction:
    """Return `value` as a fraction; a float is refused, since 0.1 as a float is not one tenth."""
    if isinstance(value, bool) or not isinstance(value, numbers.Rational):
        raise ParameterError(f"Give {name} as a Fraction or an integer.")
    return Fraction(int(value.numerator), int(value.denominator))


def positive_terms(value: Fraction | int, name: str) -> tuple[int, int]:
    """Return numerator and denominator of a positive parameter that the samplers carry exactly."""
    ratio = exact(value, name)
    if ratio <= 0:
        raise ParameterError(f"The {name} must be positive.")
    if max(ratio.numerator, ratio.denominator) > LARGEST_TERM:
        raise ParameterError(f"The {name} must have a numerator and a denominator of at most 2**50; round it first.")
    return ratio.numerator, ratio.denominator


def _carry(value: Fraction, name: str) -> Fraction:
    """Round up to terms of at most LARGEST_TERM, by a factor of at most 1 + 2**-49.

    For value >= 1 the denominator is the largest d with value*d <= LARGEST_TERM, and rounding the numerator
    up adds less than 1 to value*d > LARGEST_TERM/2. For value < 1 the roles are exchanged: the numerator is
    the largest n with n/value <= LARGEST_TERM, and the denominator is rounded down.
    """
    if value <= 0:
        raise ParameterError(f"The {name} must be positive.")
    if max(value.numerator, value.denominator) <= LARGEST_TERM:
        return value
    if value > LARGEST_TERM:
        raise ParameterError(f"The {name} must be at most 2**50; use a coarser unit for the values.")
    if value >= 1:
        denominator = LARGEST_TERM // value
        return Fraction(-(-value * denominator // 1), denominator)
    numerator = max(LARGEST_TERM * value // 1, 1)
    return Fraction(numerator, min(numerator / value // 1, LARGEST_TERM))


def carry_laplace(scale: Fraction | int) -> Fraction:
    """Return the scale to draw discrete Laplace noise with: `scale`, or the next above that is carried.

    Exact where numerator and denominator are at most 2**50. Otherwise larger by a factor of at most
    1 + 2**-49, or 2**-50 where the scale is smaller still; a scale above 2**50 is refused.
    """
    return _carry(exact(scale, "scale"), "scale")


def carry_gaussian(sigma: Fraction | int) -> Fraction:
    """Return the sigma to draw discrete or rounded Gaussian noise with; same rule as `carry_laplace`."""
    return _carry(exact(sigma, "sigma"), "sigma")


def carry_rate(rate: Fraction | int) -> Fraction:
    """Return the rate to choose with: `rate`, or the next below that is carried; more random, never less.

    Exact where numerator and denominator are at most 2**50. Otherwise smaller by a factor of at least
    1 - 2**-49, or 2**50 where the rate is larger still; a rate below 2**-50 is refused.
    """
    ratio = exact(rate, "rate")
    if ratio <= 0:
        raise ParameterError("The rate must be positive.")
    if ratio * LARGEST_TERM < 1:
        raise ParameterError("The rate must be at least 2**-50; use a coarser unit for the scores.")
    return 1 / _carry(1 / ratio, "rate")
