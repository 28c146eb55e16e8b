"""The noise of a strategy: one mechanism for each histogram, together exactly what was allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ziggurat.mechanisms import AdditiveNoise, Gaussian, Laplace
from ziggurat.privacy import Neighbours, compose, gaussian_mu

# Shares are whole multiples of this, so that they add up to 1 exactly.
_PARTS = 1 << 30


def laplace_noise(shares: Sequence[float], epsilon: Fraction, rows: int, neighbours: Neighbours) -> list[AdditiveNoise]:
    """Noise for every histogram, whose epsilons add up to at most `epsilon`; `rows` is the sensitivity in l1."""
    return [
        Laplace(rows, rows / (share * epsilon), values="integers", coordinates=rows, neighbours=neighbours)
        for share in _exact(shares)
    ]


def gaussian_noise(
    shares: Sequence[float], epsilon: Fraction, delta: Fraction, rows: int, neighbours: Neighbours
) -> list[AdditiveNoise]:
    """Noise for every histogram, together (`epsilon`, `delta`); `rows` is the sensitivity in l2.

    Gaussian DP composes exactly: the squares of mu add up (Dong, Roth and Su 2022, Corollary 2), so histogram i with
    share s gets sigma = rows / (mu sqrt(s)).
    """
    multiplier = 1 / Fraction(gaussian_mu(float(epsilon), float(delta)))
    widths = [Fraction(1 / math.sqrt(share)) for share in _exact(shares)]
    while True:
        made: list[AdditiveNoise] = [
            Gaussian(rows, rows * multiplier * width, values="integers", coordinates=rows, neighbours=neighbours)
            for width in widths
        ]
        if compose(*(each.event for each in made)).gaussian_epsilon(delta) <= epsilon:
            return made
        multiplier *= 1 + Fraction(1, 2**30)


def _exact(shares: Sequence[float]) -> list[Fraction]:
    """Round the shares so that they add up to 1; what is left goes to the largest."""
    parts = [max(1, math.floor(share * _PARTS)) for share in shares]
    parts[parts.index(max(parts))] += _PARTS - sum(parts)
    return [Fraction(part, _PARTS) for part in parts]


def variance(mechanism: AdditiveNoise) -> float:
    """The exact variance of integer noise."""
    if isinstance(mechanism, Laplace):
        return laplace_variance(float(mechanism.scale))
    assert isinstance(mechanism, Gaussian)
    return gaussian_variance(float(mechanism.sigma))


def laplace_variance(scale: float) -> float:
    """The variance of discrete Laplace noise: 2a / (1 - a)^2 with a = e^(-1/scale)."""
    return 0.5 / math.sinh(0.5 / scale) ** 2 if scale > 2e-3 else 0.0


def gaussian_variance(sigma: float) -> float:
    """The variance of a rounded normal deviate; from sigma 1 on it is sigma^2 + 1/12 to within 1e-7."""
    if sigma >= 1:
        return sigma**2 + 1 / 12
    values = np.arange(1, 12)
    return float(2 * np.sum(values**2 * rounded_probabilities(sigma, values)))


def rounded_probabilities(sigma: float, values: np.ndarray) -> np.ndarray:
    """The probability of each positive integer under a rounded normal deviate."""
    from scipy.special import ndtr

    return np.asarray(ndtr(-(values - 0.5) / sigma) - ndtr(-(values + 0.5) / sigma))
