"""Laplace noise, and the truncated geometric mechanism."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms._additive import AdditiveNoise, Values, carry_width, choose_grid, for_error, read_coordinates
from ziggurat.mechanisms._base import neighbours_or_usual
from ziggurat.mechanisms._lattice import MOST_STEPS, Integers, l1_steps
from ziggurat.mechanisms._tails import laplace_reach
from ziggurat.privacy import Amount, LaplaceEvent, Neighbours, exact_epsilon, exact_positive, in_words
from ziggurat.randomness import Source


def _movement(values: Values, sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """How far one unit moves the rounded value in l1; integers are not rounded, so only whole steps count."""
    if values == "integers":
        return Fraction(math.floor(sensitivity))
    return l1_steps(sensitivity, grid, coordinates) * grid


class Laplace(AdditiveNoise):
    """Discrete Laplace noise: P[X = x] proportional to exp(-|x|/scale) on multiples of the grid.

    Promise: (sensitivity/scale)-differential privacy for the neighbours stated, sensitivity in l1.
    Proof: moving the centre by D steps changes each probability by at most e^(D/scale in steps); the rounding to
    the grid is counted in D (see `_lattice`). On integers it is the geometric mechanism (Ghosh et al. 2009).
    """

    event: LaplaceEvent

    def __init__(
        self,
        sensitivity: Amount,
        scale: Amount,
        *,
        values: Values = "reals",
        grid: Amount | None = None,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        wanted, width = exact_positive(sensitivity, "sensitivity"), exact_positive(scale, "scale")
        self.coordinates = read_coordinates(coordinates)
        changed = self.coordinates or 1
        self.values, self.grid = values, choose_grid(values, wanted, width, grid, changed)
        self._scale = carry_width(randomness.carry_laplace, width / self.grid, "scale")
        moved = _movement(values, wanted, self.grid, changed)
        self.event = LaplaceEvent(neighbours_or_usual(neighbours), moved, self._scale * self.grid, self.grid, changed)

    @classmethod
    def calibrated(
        cls,
        epsilon: Amount,
        sensitivity: Amount = 1,
        *,
        values: Values = "reals",
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> Laplace:
        """Make the least noise that promises `epsilon`, the rounding to the grid included."""
        eps, wanted = exact_epsilon(epsilon), exact_positive(sensitivity, "sensitivity")
        changed = read_coordinates(coordinates) or 1
        grid = choose_grid(values, wanted, wanted / eps, None, changed)
        return Laplace(
            wanted,
            _movement(values, wanted, grid, changed) / eps,
            values=values,
            grid=None if values == "integers" else grid,
            coordinates=coordinates,
            neighbours=neighbours,
        )

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
    ) -> Laplace:
        """Make the noise whose interval at `confidence` has at most this half width: what epsilon buys it?"""
        options = {"values": values, "grid": grid, "coordinates": coordinates, "neighbours": neighbours}
        return for_error(cls, half_width, sensitivity, confidence, options)

    @property
    def epsilon(self) -> Fraction:
        """The exact epsilon promised."""
        return self.event.sensitivity / self.event.scale

    @property
    def scale(self) -> Fraction:
        """The exact scale of the noise."""
        return self.event.scale

    def _noise(self, size: int | None, source: Source) -> int | Integers:
        return randomness.discrete_laplace(self._scale, size=size, source=source)

    def _reach(self, confidence: Fraction) -> int:
        return laplace_reach(self._scale, confidence)

    def __repr__(self) -> str:
        return f"Laplace(scale {in_words(self.scale)}, epsilon {in_words(self.epsilon)})"


class TruncatedGeometric(Laplace):
    """Discrete Laplace noise on an integer, clamped afterwards to the public range [lower, upper].

    Promise: that of `Laplace`; clamping to public bounds is post-processing (Ghosh, Roughgarden & Sundararajan 2009).
    Made by `within` for an epsilon; `calibrated` and `for_error` of `Laplace` do not know the range and are refused.
    """

    def __init__(
        self,
        lower: int,
        upper: int,
        sensitivity: Amount = 1,
        scale: Amount = 1,
        *,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.lower, self.upper = _read_bound(lower), _read_bound(upper)
        if self.lower >= self.upper:
            raise ParameterError("lower must be less than upper.")
        super().__init__(sensitivity, scale, values="integers", coordinates=coordinates, neighbours=neighbours)

    @classmethod
    def within(
        cls,
        lower: int,
        upper: int,
        epsilon: Amount,
        sensitivity: Amount = 1,
        *,
        coordinates: int | None = None,
        neighbours: Neighbours | None = None,
    ) -> TruncatedGeometric:
        """Make the least noise that promises `epsilon` for an integer known to lie in [lower, upper]."""
        wanted, eps = exact_positive(sensitivity, "sensitivity"), exact_epsilon(epsilon)
        grid = choose_grid("integers", wanted, wanted, None)
        scale = _movement("integers", wanted, grid, 1) / eps
        return cls(lower, upper, wanted, scale, coordinates=coordinates, neighbours=neighbours)

    @classmethod
    def calibrated(cls, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: the range is missing here; use `within`."""
        raise ParameterError("State the public range: use TruncatedGeometric.within(lower, upper, epsilon).")

    @classmethod
    def for_error(cls, *_args: Any, **_options: Any) -> NoReturn:
        """Refuse: the range is missing here; find the epsilon with `Laplace.for_error` and use `within`."""
        raise ParameterError(
            "State the public range: find the epsilon with Laplace.for_error(..., values='integers') and use "
            "TruncatedGeometric.within(lower, upper, epsilon)."
        )

    def _finish(self, value: Any) -> Any:
        clamped = np.clip(value, self.lower, self.upper)
        return clamped if isinstance(value, np.ndarray) else int(clamped)

    def __repr__(self) -> str:
        return f"TruncatedGeometric({self.lower}..{self.upper}, epsilon {in_words(self.epsilon)})"


def _read_bound(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or abs(int(value)) > MOST_STEPS:
        raise ParameterError("lower and upper must be public whole numbers from -2**61 to 2**61.")
    return int(value)
