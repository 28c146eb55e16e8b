"""How far noise reaches: quantiles of its absolute value, in whole steps, never below the true ones."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

# Below this the tail of a float sum underflows, and a bound in closed form takes its place.
_SMALLEST_SUM = Fraction(1, 10**250)


def log_of(value: Fraction) -> float:
    """Natural logarithm of any positive rational, however large, small or close to 1."""
    if Fraction(1, 2) < value < 2:
        return math.log1p(float(value - 1))
    if Fraction(1, 10**300) < value < 10**300:
        return math.log(float(value))
    return math.log(value.numerator) - math.log(value.denominator)


def laplace_reach(scale: Fraction, confidence: Fraction) -> int:
    """Least w with P[|X| <= w] >= confidence for discrete Laplace noise.

    P[|X| > w] = 2 a^(w+1) / (1 + a) with a = e^(-1/scale).
    """
    rate = float(1 / scale)
    log_norm = -math.log1p(math.expm1(-rate) / 2)
    return max(_first_whole((log_norm - log_of(1 - confidence)) / rate - 1), 0)


def gaussian_reach(sigma: Fraction, confidence: Fraction) -> int:
    """Least w with P[|round(Z)| <= w] >= confidence: |Z| < w + 1/2, which has probability erf."""
    from scipy.special import ndtri_exp

    quantile = -float(ndtri_exp(log_of((1 - confidence) / 2))) + 1e-15
    return max(_first_whole(quantile * float(sigma) - 0.5), 0)


def discrete_gaussian_reach(sigma: Fraction, confidence: Fraction) -> int:
    """Least w with P[|X| <= w] >= confidence, by summing the probabilities.

    For wide noise the sum is an integral to within e^(-2 pi^2 sigma^2), far below a float's last digit. For a miss
    below 1e-250, w comes from P[|X| >= m] <= 2 e^(-m^2 / (2 sigma^2)) (Canonne, Kamath & Steinke 2020), a little wide.
    """
    miss = 1 - confidence
    if miss < _SMALLEST_SUM:
        return _first_whole(float(sigma) * math.sqrt(2 * log_of(2 / miss))) - 1
    if sigma > 100_000:
        return gaussian_reach(sigma, confidence) + 1
    # By the same bound what lies beyond this width is less than e^-40 of the miss.
    width = math.ceil(float(sigma) * math.sqrt(2 * (log_of(4 / miss) + 40))) + 12
    weights = np.exp(-0.5 * (np.arange(width, dtype=float) / float(sigma)) ** 2)
    weights[1:] *= 2
    tail = np.cumsum(weights[::-1])[::-1]
    beyond = np.append(tail[1:], 0.0) / tail[0] * (1 + 1e-9)
    return int(np.argmax(beyond <= float(miss)))


def _first_whole(value: float) -> int:
    """The least integer at or above a computed bound; round-off may only make it larger."""
    return math.ceil(value + abs(value) * 1e-12)
