"""How far noise reaches: exact quantiles of its absolute value, in whole steps."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def laplace_reach(scale: Fraction, confidence: Fraction) -> int:
    """Least w with P[|X| <= w] >= confidence for discrete Laplace noise.

    P[|X| > w] = 2 a^(w+1) / (1 + a) with a = e^(-1/scale).
    """
    rate = float(1 / scale)
    log_tail = math.log(1 - confidence)
    log_norm = math.log(2) - math.log1p(math.exp(-rate))
    return max(_first_whole((log_norm - log_tail) / rate - 1), 0)


def gaussian_reach(sigma: Fraction, confidence: Fraction) -> int:
    """Least w with P[|round(Z)| <= w] >= confidence: |Z| < w + 1/2, which has probability erf."""
    from scipy.special import ndtri

    quantile = -float(ndtri(float((1 - confidence) / 2)))
    return max(_first_whole(quantile * float(sigma) - 0.5), 0)


def discrete_gaussian_reach(sigma: Fraction, confidence: Fraction) -> int:
    """Least w with P[|X| <= w] >= confidence, by summing the probabilities.

    For wide noise the sum is an integral to within e^(-2 pi^2 sigma^2), far below a float's last digit.
    """
    if sigma > 100_000:
        return gaussian_reach(sigma, confidence) + 1
    width = math.ceil(12 * sigma) + 12
    weights = np.exp(-0.5 * (np.arange(width, dtype=float) / float(sigma)) ** 2)
    weights[1:] *= 2
    tail = np.cumsum(weights[::-1])[::-1]
    beyond = np.append(tail[1:], 0.0) / tail[0]
    return int(np.argmax(beyond <= float(1 - confidence)))


def _first_whole(value: float) -> int:
    """The least integer at or above a computed bound; round-off may only make it larger."""
    return math.ceil(value + abs(value) * 1e-12)
