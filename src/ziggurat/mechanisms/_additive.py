"""Additive noise: Laplace, Gaussian, discrete Gaussian and the truncated geometric mechanism."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, drawing_from, exact_confidence
from ziggurat.mechanisms._lattice import (
    Integers,
    Value,
    fitting_grid,
    from_steps,
    is_power_of_two,
    l1_steps,
    l2_steps,
    require_integers,
    to_steps,
)
from ziggurat.mechanisms._tails import discrete_gaussian_reach, gaussian_reach, laplace_reach
from ziggurat.privacy import (
    Amount,
    DiscreteGaussianEvent,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    compose,
    exact_delta,
    exact_epsilon,
    exact_positive,
    gaussian_mu,
    in_words,
)
from ziggurat.randomness import Source

Values = Literal["integers", "reals"]
Made = TypeVar("Made", bound="AdditiveNoise")


class AdditiveNoise(Mechanism):
    """Noise in whole steps of `grid`, added to a value rounded to that grid.

    `coordinates` is the most coordinates of a vector that one unit can change; `sensitivity` is how far they can
    move together, in l1 for Laplace and in l2 for Gaussian noise.
    """

    grid: Fraction
    values: Values

    def release(self, value: Value, source: Source | None = None) -> Noisy[Any]:
        """Round the value to the grid and add noise; the result carries the event to be written down."""
        drawn_from = drawing_from(source)
        if self.values == "integers":
            require_integers(value)
        steps = to_steps(value, self.grid)
        noisy = steps + self._draw(steps.shape if isinstance(steps, np.ndarray) else None, drawn_from)
        shown = noisy if self.values == "integers" else from_steps(noisy, self.grid)
        return Noisy(self._finish(shown), self.event, drawn_from.origin)

    def _draw(self, shape: tuple[int, ...] | None, source: Source) -> Any:
        if shape is None:
            return self._noise(None, source)
        return np.asarray(self._noise(math.prod(shape), source)).reshape(shape)

    def _finish(self, value: Any) -> Any:
        return value

    @abstractmethod
    def _noise(self, size: int | None, source: Source) -> int | Integers:
        """Draw noise in whole steps."""

    @abstractmethod
    def _reach(self, confidence: Fraction) -> int:
        """The least number of steps within which the noise stays with this confidence."""

    def half_width(self, confidence: Amount = "0.95") -> Fraction:
        """Half the width of the interval around the noisy value that holds the true one, with this confidence.

        Exact: computed from the very distribution of the noise, the rounding to the grid included.
        """
        reach = self._reach(exact_confidence(confidence)) * self.grid
        return reach if self.values == "integers" else reach + self.grid / 2

    def interval(self, noisy: float, confidence: Amount = "0.95") -> tuple[float, float]:
        """Confidence interval for the true value, given the noisy one."""
        half = self.half_width(confidence)
        centre = Fraction(noisy)
        return float(centre - half), float(centre + half)


def _grid_for(values: Values, sensitivity: Fraction, scale: Fraction, grid: Amount | None) -> Fraction:
    """Give the grid asked for, or the fitting one."""
    if values not in ("integers", "reals"):
        raise ParameterError("values must be 'integers' or 'reals'.")
    if values == "integers":
        if sensitivity.denominator != 1 and sensitivity < 1:
            raise ParameterError("Integers that change at all change by at least 1; state that sensitivity.")
        return Fraction(1)
    chosen = fitting_grid(sensitivity, scale) if grid is None else exact_positive(grid, "grid")
    if not is_power_of_two(chosen):
        raise ParameterError("grid must be a power of two, such as 1/1024, so that rounding to it is exact.")
    return chosen


def _l1_moved(values: Values, sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """How far one unit moves the rounded value in l1; integers are not rounded, so only whole steps count."""
    if values == "integers":
        return Fraction(math.floor(sensitivity))
    return l1_steps(sensitivity, grid, coordinates) * grid


def _l2_moved(values: Values, sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """How far one unit moves the rounded value in l2."""
    return sensitivity if values == "integers" else l2_steps(sensitivity, grid, coordinates) * grid


def _whole(coordinates: int) -> int:
    if isinstance(coordinates, bool) or not isinstance(coordinates, int) or coordinates < 1:
        raise ParameterError("coordinates must be a whole number of at least 1.")
    return coordinates


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
        coordinates: int = 1,
        neighbours: Neighbours | None = None,
    ) -> None:
        wanted, width = exact_positive(sensitivity, "sensitivity"), exact_positive(scale, "scale")
        self.values, self.grid = values, _grid_for(values, wanted, width, grid)
        moved = _l1_moved(values, wanted, self.grid, _whole(coordinates))
        self._scale = randomness.carry_laplace(width / self.grid)
        self.event = LaplaceEvent(neighbours or Neighbours(), moved, self._scale * self.grid, self.grid, coordinates)

    @classmethod
    def calibrated(
        cls,
        epsilon: Amount,
        sensitivity: Amount = 1,
        *,
        values: Values = "reals",
        coordinates: int = 1,
        neighbours: Neighbours | None = None,
    ) -> Laplace:
        """Make the least noise that promises `epsilon`, the rounding to the grid included."""
        eps, wanted = exact_epsilon(epsilon), exact_positive(sensitivity, "sensitivity")
        grid = _grid_for(values, wanted, wanted / eps, None)
        scale = _l1_moved(values, wanted, grid, _whole(coordinates)) / eps
        return Laplace(wanted, scale, values=values, grid=grid, coordinates=coordinates, neighbours=neighbours)

    @classmethod
    def for_error(
        cls, half_width: Amount, sensitivity: Amount = 1, *, confidence: Amount = "0.95", **options: Any
    ) -> Laplace:
        """Make the noise whose interval at `confidence` has at most this half width: what epsilon buys it?"""
        return _for_error(cls, half_width, sensitivity, confidence, options)

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
    """

    def __init__(self, lower: int, upper: int, sensitivity: Amount = 1, scale: Amount = 1, **options: Any) -> None:
        if not (isinstance(lower, int) and isinstance(upper, int) and lower < upper):
            raise ParameterError("lower and upper must be public whole numbers with lower < upper.")
        super().__init__(sensitivity, scale, values="integers", **options)
        self.lower, self.upper = lower, upper

    @classmethod
    def within(
        cls, lower: int, upper: int, epsilon: Amount, sensitivity: Amount = 1, **options: Any
    ) -> TruncatedGeometric:
        """Make the least noise that promises `epsilon` for an integer known to lie in [lower, upper]."""
        return cls(
            lower,
            upper,
            sensitivity,
            exact_positive(sensitivity, "sensitivity") / exact_epsilon(epsilon),
            **options,
        )

    def _finish(self, value: Any) -> Any:
        clamped = np.clip(value, self.lower, self.upper)
        return clamped if isinstance(value, np.ndarray) else int(clamped)

    def __repr__(self) -> str:
        return f"TruncatedGeometric({self.lower}..{self.upper}, epsilon {in_words(self.epsilon)})"


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
        coordinates: int = 1,
        neighbours: Neighbours | None = None,
    ) -> None:
        wanted, width = exact_positive(sensitivity, "sensitivity"), exact_positive(sigma, "sigma")
        self.values, self.grid = values, _grid_for(values, wanted, width, grid)
        moved = _l2_moved(values, wanted, self.grid, _whole(coordinates))
        self._sigma = randomness.carry_gaussian(width / self.grid)
        self.event = GaussianEvent(neighbours or Neighbours(), moved, self._sigma * self.grid)

    @classmethod
    def calibrated(
        cls,
        epsilon: Amount,
        delta: Amount,
        sensitivity: Amount = 1,
        *,
        values: Values = "reals",
        coordinates: int = 1,
        neighbours: Neighbours | None = None,
    ) -> Gaussian:
        """Make the least noise that promises (epsilon, delta), by the analytic calibration."""
        eps, dlt = exact_epsilon(epsilon), exact_delta(delta)
        wanted = exact_positive(sensitivity, "sensitivity")
        multiplier = 1 / Fraction(gaussian_mu(float(eps), float(dlt)))
        grid = _grid_for(values, wanted, wanted * multiplier, None)
        moved = _l2_moved(values, wanted, grid, _whole(coordinates))
        while True:
            made = Gaussian(
                wanted,
                moved * multiplier,
                values=values,
                grid=grid,
                coordinates=coordinates,
                neighbours=neighbours,
            )
            if compose(made.event).gaussian_epsilon(dlt) <= eps:
                return made
            multiplier *= 1 + Fraction(1, 2**30)

    @classmethod
    def for_error(
        cls, half_width: Amount, sensitivity: Amount = 1, *, confidence: Amount = "0.95", **options: Any
    ) -> Gaussian:
        """Make the noise whose interval at `confidence` has at most this half width: what guarantee does it give?"""
        return _for_error(cls, half_width, sensitivity, confidence, options)

    @property
    def sigma(self) -> Fraction:
        """The exact standard deviation before rounding."""
        return self.event.sigma

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
        coordinates: int = 1,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.values, self.grid = "integers", Fraction(1)
        self._sigma = randomness.carry_gaussian(exact_positive(sigma, "sigma"))
        self.event = DiscreteGaussianEvent(
            neighbours or Neighbours(), exact_positive(sensitivity, "sensitivity"), self._sigma, coordinates
        )

    @classmethod
    def calibrated(cls, rho: Amount, sensitivity: Amount = 1, **options: Any) -> DiscreteGaussian:
        """Make the least noise that promises rho-zCDP."""
        wanted = exact_positive(sensitivity, "sensitivity")
        square = wanted**2 / (2 * exact_positive(rho, "rho"))
        return cls(wanted, _root_above(square), **options)

    @classmethod
    def for_error(
        cls, half_width: Amount, sensitivity: Amount = 1, *, confidence: Amount = "0.95", **options: Any
    ) -> DiscreteGaussian:
        """Make the noise whose interval at `confidence` has at most this half width: what rho does it give?"""
        return _for_error(cls, half_width, sensitivity, confidence, options)

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


def _for_error(
    cls: type[Made], half_width: Amount, sensitivity: Amount, confidence: Amount, options: dict[str, Any]
) -> Made:
    """Bisect for the widest noise whose half width does not exceed the one asked for.

    The half width is not quite monotone on a lattice, so the result is checked rather than trusted.
    """
    target = exact_positive(half_width, "half_width")
    low, high = Fraction(0), 4 * target
    best: Made | None = None
    for _ in range(40):
        middle = (low + high) / 2
        made = cls(sensitivity, middle, **options)  # type: ignore[call-arg]
        if made.half_width(confidence) <= target:
            low, best = middle, made
        else:
            high = middle
    if best is None:
        raise ParameterError("No noise of this kind stays within so small an error; ask for a larger half_width.")
    return best
