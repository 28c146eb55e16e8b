"""Exact noise on whole numbers of which one unit moves at most a bound, at a price stated before the bound is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.privacy import (
    Amount,
    ComposedEvent,
    Event,
    GaussianEvent,
    Neighbours,
    PureEvent,
    compose,
    exact_delta,
    exact_epsilon,
)
from ziggurat.randomness import Source

Table = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

PARTS = 2**16
"""Counts are kept in so many parts of one, so that weights are whole numbers."""


@dataclass(frozen=True)
class CountingNoise:
    """Discrete Laplace noise for `PureEvent`, rounded Gaussian noise for `GaussianEvent` of sensitivity 1.

    Promise: the event, for counts that one unit moves by at most `bound`, in l1 or in l2. Proof: discrete Laplace noise
    of scale at least bound / epsilon is epsilon-DP; Gaussian noise of deviation at least bound * sigma on whole
    numbers, rounded, is post-processing of what is exactly (1 / sigma)-Gaussian DP. The bound may depend on what was
    published before: the price is the same for each (adaptive composition).
    """

    event: PureEvent | GaussianEvent

    @property
    def square(self) -> bool:
        """Whether the bound is on the root of the sum of squares rather than on the sum."""
        return isinstance(self.event, GaussianEvent)

    def protect(self, counts: Table, bound: int, source: Source) -> tuple[Reals, float]:
        """Add noise; also say how wide it is."""
        noise = self._noise(bound, counts.size)
        width = noise.scale if isinstance(noise, Laplace) else noise.sigma
        return np.asarray(noise.release(counts, source).value, dtype=np.float64), float(width)

    def _noise(self, bound: int, coordinates: int) -> Laplace | Gaussian:
        whom = self.event.neighbours
        if isinstance(self.event, PureEvent):
            return Laplace.calibrated(
                self.event.epsilon, bound, values="integers", coordinates=coordinates, neighbours=whom
            )
        return Gaussian(bound, bound * self.event.sigma, values="integers", coordinates=coordinates, neighbours=whom)


def share_noise(
    epsilon: Amount, delta: Amount, shares: Sequence[Fraction], neighbours: Neighbours
) -> list[CountingNoise]:
    """Share (epsilon, delta) out: epsilon itself if delta is 0, otherwise the square of the mu of Gaussian DP."""
    eps, dlt = exact_epsilon(epsilon), exact_delta(delta)
    if not dlt:
        return [CountingNoise(PureEvent(neighbours, eps * share)) for share in shares]
    sigma = Gaussian.calibrated(eps, dlt, values="integers").sigma
    while True:
        events = [GaussianEvent(neighbours, Fraction(1), sigma * _root_above(1 / share)) for share in shares]
        if compose(sum_of(events)).gaussian_epsilon(dlt) <= eps:
            return [CountingNoise(event) for event in events]
        sigma *= 1 + Fraction(
            1, 2**30
        )  # the roots are rounded up, so that only the last digits of floats are in the way


def weigh(norms: Table, bound: int, square: bool, whole: int = PARTS) -> Table:
    """The largest whole weights up to `whole` with which counts of these norms stay within the bound.

    The norm is the sum of the counts or, with `square`, the sum of their squares; then the bound is on its root.
    """
    if not square:
        return np.minimum(bound // norms, whole)
    weights = np.sqrt(bound**2 / norms).astype(np.int64)
    weights -= weights**2 * norms > bound**2  # the float may have been rounded up
    return np.minimum(weights, whole)


def sum_of(events: Sequence[Event]) -> Event:
    """All of them, on the same data."""
    return ComposedEvent(events[0].neighbours, tuple(events))


def _root_above(square: Fraction) -> Fraction:
    return Fraction(math.isqrt(math.ceil(square * 2**80)) + 1, 2**40)
