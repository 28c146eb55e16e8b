"""Exact integer noise: the distribution drawn is the distribution stated, to the last bit."""

from __future__ import annotations

from fractions import Fraction
from typing import overload

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.randomness._draw import Integers, draw
from ziggurat.randomness._limits import LARGEST_EXPONENT, LARGEST_TERM, exact, positive_terms
from ziggurat.randomness._source import Source

Rational = Fraction | int

_DIGITS = 6  # words of a normal's binary expansion: 384 bits, of which one word almost always decides


@overload
def uniform_below(n: int, *, size: None = None, source: Source) -> int: ...
@overload
def uniform_below(n: int, *, size: int, source: Source) -> Integers: ...
def uniform_below(n: int, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw uniformly from 0, 1, ..., n-1, for 1 <= n <= 2**62."""
    if exact(n, "n").denominator != 1 or not 1 <= n <= LARGEST_EXPONENT:
        raise ParameterError("A uniform draw needs an integer bound from 1 to 2**62.")
    return draw("uniform", size, source, int(n))


@overload
def bernoulli(p: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def bernoulli(p: Rational, *, size: int, source: Source) -> Integers: ...
def bernoulli(p: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw 1 with probability exactly `p`, otherwise 0; the denominator may be up to 2**62."""
    ratio = exact(p, "probability")
    if not 0 <= ratio <= 1:
        raise ParameterError("A probability must lie between 0 and 1.")
    if ratio.denominator > LARGEST_EXPONENT:
        raise ParameterError("A probability must have a denominator of at most 2**62; round it first.")
    return draw("bernoulli", size, source, ratio.numerator, ratio.denominator)


@overload
def bernoulli_exp(x: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def bernoulli_exp(x: Rational, *, size: int, source: Source) -> Integers: ...
def bernoulli_exp(x: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw 1 with probability exactly exp(-x), for x >= 0 (Canonne, Kamath, Steinke 2020, Algorithm 1)."""
    ratio = exact(x, "exponent")
    if ratio < 0:
        raise ParameterError("The exponent must not be negative.")
    if ratio.numerator > LARGEST_EXPONENT or ratio.denominator > LARGEST_TERM:
        raise ParameterError("The exponent must have a numerator of at most 2**62 and a denominator of at most 2**50.")
    return draw("bernoulli_exp", size, source, ratio.numerator, ratio.denominator)


@overload
def geometric(x: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def geometric(x: Rational, *, size: int, source: Source) -> Integers: ...
def geometric(x: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw k = 0, 1, 2, ... with probability exactly (1 - exp(-x)) * exp(-x*k), for x > 0."""
    numerator, denominator = positive_terms(x, "rate")
    return draw("laplace", size, source, denominator, numerator, False)


@overload
def discrete_laplace(scale: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def discrete_laplace(scale: Rational, *, size: int, source: Source) -> Integers: ...
def discrete_laplace(scale: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw x with probability exactly proportional to exp(-|x| / scale) over the integers.

    Added to an integer of sensitivity D it gives pure (D/scale)-differential privacy. Terms of the scale
    up to 2**50 are carried; `carry_laplace` rounds up to them. Canonne, Kamath, Steinke 2020, Algorithm 2.
    """
    numerator, denominator = positive_terms(scale, "scale")
    return draw("laplace", size, source, numerator, denominator, True)


@overload
def discrete_gaussian(sigma: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def discrete_gaussian(sigma: Rational, *, size: int, source: Source) -> Integers: ...
def discrete_gaussian(sigma: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw x with probability exactly proportional to exp(-x*x / (2*sigma*sigma)) over the integers.

    Added to an integer of sensitivity D it gives (D*D / (2*sigma*sigma))-zero-concentrated differential
    privacy. Terms of sigma up to 2**50 are carried; `carry_gaussian` rounds up to them. Canonne, Kamath,
    Steinke 2020, Algorithm 3.
    """
    numerator, denominator = positive_terms(sigma, "sigma")
    return draw("gaussian", size, source, numerator, denominator)


@overload
def rounded_gaussian(sigma: Rational, *, size: None = None, source: Source) -> int: ...
@overload
def rounded_gaussian(sigma: Rational, *, size: int, source: Source) -> Integers: ...
def rounded_gaussian(sigma: Rational, *, size: int | None = None, source: Source) -> int | Integers:
    """Draw floor(sigma*Z + 1/2) for a Z that is exactly standard normal, a real number and no float.

    Rounding an integer plus sigma*Z to the nearest integer is the integer plus this draw, and it is
    post-processing of the Gaussian mechanism. So the mechanism is exactly as private as the continuous one:
    (D/sigma)-Gaussian differential privacy for an L2 sensitivity of D, in any dimension, which is not proven
    of the discrete Gaussian. Z is read from tables of proven digits (`_tables`), beyond 4 it comes from Karney's
    Algorithm N (ACM TOMS 42(1), 2016); its binary digits are drawn until the rounding is decided. Terms of sigma
    up to 2**50 are carried.
    """
    # The tables and the compiler take their time: only those who draw pay for it.
    from ziggurat.randomness._tables import tables

    numerator, denominator = positive_terms(sigma, "sigma")
    scratch = np.empty(_DIGITS, dtype=np.uint64)
    scaling = _scaling(numerator, denominator)
    return draw("rounded", size, source, scratch, *tables(), *scaling, numerator, denominator)


def _scaling(n: int, m: int) -> tuple[int, int]:
    """Return F = floor(n/m * 2**(shift + 2)) below 2**63, and the shift: the largest for that, and at most 60."""
    exponent = min(62, 62 - (n // m).bit_length() + 1)
    return (n << exponent) // m, exponent - 2
