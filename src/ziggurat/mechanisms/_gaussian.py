"""Gaussian noise: rounded from a continuous deviate, or discrete."""

from __future__ import annotations

import math
from fractions import Fraction

from ziggurat import randomness
from ziggurat.mechanisms._additive import (
    AdditiveNoise,
    Values,
    carry_width,
    choose_grid,
    for_error,
    read_coordinates,
    require_whole_change,
)
from ziggurat.mechanisms._base import neighbours_or_usual
from ziggurat.mechanisms._lattice import Integers, l2_rounding, l2_steps
from ziggurat.mechanisms._tails import discrete_gaussian_reach, gaussian_reach
from ziggurat.privacy import (
    Amount,
    DiscreteGaussianEvent,
    GaussianEvent,
    Neighbours,
    compose,
    exact_delta,
    exact_epsilon,
    exact_positive,
    gaussian_mu,
    in_words,
)
from ziggurat.randomness import Source


def _movement(values: Values, sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """How far one unit moves the rounded value in l2."""
    return sensitivity if values == "integers" else l2_steps(sensitivity, grid, coordinates) * grid


class Gaussian(AdditiveNoise):
    """Gaussian noise: an exact N(0, sigma^2) deviate, rounded to the grid.

    Promise: exactly mu-Gaussian DP with mu = sensitivity/sigma, sensitivity in l2, in any dimension.
    Proof: the value lies on the grid, so adding a rounded deviate is rounding the value plus the deviate, which is
    post-processing of the continuous Gaussian mechanism. Calibrated with the exact curve of Balle & Wang (2018).
    """

    event: GaussianEvent

    def __init__(
        self,
        sensitivity: Amount,
        sigma: Amount,
        *,
        values: Values = "reals",
        grid: Amount | None = None,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        wanted, width = exact_positive(sensitivity, "sensitivity"), exact_positive(sigma, "sigma")
        self.coordinates = read_coordinates(coordinates)
        changed = self.coordinates or 1
        self.values, self.grid = values, choose_grid(values, wanted, width, grid, l2_rounding(changed))
        self._sigma = carry_width(randomness.carry_gaussian, width / self.grid, "sigma")
        moved = _movement(values, wanted, self.grid, changed)
        self.event = GaussianEvent(neighbours_or_usual(neighbours), moved, self._sigma * self.grid)

    @classmethod
    def calibrated(
        cls,
        epsilon: Amount,
        delta: Amount,
        sensitivity: Amount = 1,
        *,
        values: Values = "reals",
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> Gaussian:
        """Make the least noise that promises (epsilon, delta), by the analytic calibration."""
        eps, dlt = exact_epsilon(epsilon), exact_delta(delta)
        wanted, changed = exact_positive(sensitivity, "sensitivity"), read_coordinates(coordinates) or 1
        multiplier = 1 / Fraction(gaussian_mu(float(eps), float(dlt)))
        grid = choose_grid(values, wanted, wanted * multiplier, None, l2_rounding(changed))
        moved = _movement(values, wanted, grid, changed)
        while True:
            made = Gaussian(
                wanted,
                moved * multiplier,
                values=values,
                grid=None if values == "integers" else grid,
                coordinates=coordinates,
                neighbours=neighbours,
            )
            if compose(made.event).gaussian_epsilon(dlt) <= eps:
                return made
            multiplier *= 1 + Fraction(1, 2**30)

    @classmethod
    def for_error(
        cls,
        half_width: Amount,
        sensitivity: Amount = 1,
        *,
        confidence: Amount = "0.95",
        values: Values = "reals",
        grid: Amount | None = None,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> Gaussian:
        """Make the noise whose interval at `confidence` has at most this half width: what guarantee does it give?"""
        options = {"values": values, "grid": grid, "coordinates": coordinates, "neighbours": neighbours}
        return for_error(cls, half_width, sensitivity, confidence, options)

    @property
    def sigma(self) -> Fraction:
        """The exact standard deviation before rounding."""
        return self.event.sigma

    @property
    def mu(self) -> Fraction:
        """The exact mu of the Gaussian DP promised."""
        return self.event.sensitivity / self.event.sigma

    def _noise(self, size: int | None, source: Source) -> int | Integers:
        return randomness.rounded_gaussian(self._sigma, size=size, source=source)

    def _reach(self, confidence: Fraction) -> int:
        return gaussian_reach(self._sigma, confidence)

    def __repr__(self) -> str:
        return f"Gaussian(sigma {in_words(self.sigma)}, sensitivity {in_words(self.event.sensitivity)})"


class DiscreteGaussian(AdditiveNoise):
    """Discrete Gaussian noise on integers: P[X = x] proportional to exp(-x^2 / (2 sigma^2)).

    Promise: rho-zCDP with rho = sensitivity^2 / (2 sigma^2), sensitivity in l2, in any dimension
    (Canonne, Kamath & Steinke 2020, Theorem 14). For a single integer its loss distribution is used as well.
    """

    event: DiscreteGaussianEvent

    def __init__(
        self,
        sensitivity: Amount,
        sigma: Amount,
        *,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        wanted, width = exact_positive(sensitivity, "sensitivity"), exact_positive(sigma, "sigma")
        require_whole_change(wanted)
        self.values, self.grid, self.coordinates = "integers", Fraction(1), read_coordinates(coordinates)
        self._sigma = carry_width(randomness.carry_gaussian, width, "sigma")
        self.event = DiscreteGaussianEvent(neighbours_or_usual(neighbours), wanted, self._sigma, self.coordinates or 1)

    @classmethod
    def calibrated(
        cls,
        rho: Amount,
        sensitivity: Amount = 1,
        *,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> DiscreteGaussian:
        """Make the least noise that promises rho-zCDP."""
        wanted = exact_positive(sensitivity, "sensitivity")
        square = wanted**2 / (2 * exact_positive(rho, "rho"))
        return cls(wanted, _root_above(square), coordinates=coordinates, neighbours=neighbours)

    @classmethod
    def for_error(
        cls,
        half_width: Amount,
        sensitivity: Amount = 1,
        *,
        confidence: Amount = "0.95",
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> DiscreteGaussian:
        """Make the noise whose interval at `confidence` has at most this half width: what rho does it give?"""
        options = {"coordinates": coordinates, "neighbours": neighbours}
        return for_error(cls, half_width, sensitivity, confidence, options)

    @property
    def sigma(self) -> Fraction:
        """The exact parameter of the noise."""
        return self.event.sigma

    @property
    def rho(self) -> Fraction:
        """The exact rho promised."""
        return (self.event.sensitivity / self.event.sigma) ** 2 / 2

    def _noise(self, size: int | None, source: Source) -> int | Integers:
        return randomness.discrete_gaussian(self._sigma, size=size, source=source)

    def _reach(self, confidence: Fraction) -> int:
        return discrete_gaussian_reach(self._sigma, confidence)

    def __repr__(self) -> str:
        return f"DiscreteGaussian(sigma {in_words(self.sigma)}, rho {in_words(self.rho)})"


def _root_above(square: Fraction) -> Fraction:
    """A rational at least the square root, within 2^-40 of it in relative terms."""
    shift = 2 ** (80 + 2 * abs(square.numerator.bit_length() - square.denominator.bit_length()))
    return Fraction(math.isqrt(math.ceil(square * shift**2)) + 1, shift)
