"""What all additive noise has in common: rounding to a grid, drawing, intervals, calibration by error."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Literal, TypeVar

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, confidence_for_each, require_one_of
from ziggurat.mechanisms._intervals import around
from ziggurat.mechanisms._lattice import (
    MOST_STEPS,
    Integers,
    Value,
    fitting_grid,
    from_steps,
    integers_in,
    is_power_of_two,
    to_steps,
)
from ziggurat.privacy import Amount, exact_positive, whole_number
from ziggurat.randomness import Source, choose_source

Values = Literal["integers", "reals"]
Made = TypeVar("Made", bound="AdditiveNoise")

# The samplers carry scales up to this many steps.
_WIDEST = 1 << 50


class TooWideError(ParameterError):
    """The noise asked for spans more steps of its grid than the samplers carry."""


class AdditiveNoise(Mechanism):
    """Noise in whole steps of `grid`, added to a value rounded to that grid.

    `coordinates` is the most coordinates of a vector that one unit can change; `sensitivity` is how far they can
    move together, in l1 for Laplace and in l2 for Gaussian noise. Rounding moves every coordinate that changes, and
    the sharper accounts of a single number do not hold for several, so `coordinates` must be stated before an array
    of more than one entry is released. It is a statement about the data: for a histogram of any length in which every
    unit is counted once it is 1 under add-or-remove-one, and 2 under replace-one, where a unit may change its bar.

    Values further than `limit` from 0 are taken as `limit`, without a word, because a word would tell of the data.
    """

    grid: Fraction
    values: Values
    coordinates: int | None

    @property
    def limit(self) -> Fraction:
        """The largest magnitude that is protected as it is: 2**61 steps of the grid; larger ones are clamped to it."""
        return MOST_STEPS * self.grid

    def release(self, value: Value, source: Source | None = None) -> Noisy[Any]:
        """Round the value to the grid and add noise; the result carries the event to be written down.

        A number gives a number. An array gives an array; if it has more than one entry, `coordinates` must be stated.
        """
        drawn_from = choose_source(source)
        steps = to_steps(integers_in(value) if self.values == "integers" else value, self.grid)
        self._require_coordinates(steps)
        noisy = steps + self._draw(steps.shape if isinstance(steps, np.ndarray) else None, drawn_from)
        shown = noisy if self.values == "integers" else from_steps(noisy, self.grid)
        return Noisy(self._finish(shown), self.event, drawn_from.origin)

    def _require_coordinates(self, steps: int | Integers) -> None:
        if self.coordinates is None and isinstance(steps, np.ndarray) and steps.size > 1:
            raise ParameterError(
                "To protect an array, state coordinates=..., the most entries that one unit can change; for a "
                "histogram that counts every unit once it is 1 under add-or-remove-one and 2 under replace-one."
            )

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

    def half_width(self, confidence: Amount = "0.95", answers: int = 1) -> Fraction:
        """Half the width of the interval around the noisy value that holds the true one, with this confidence.

        Exact: computed from the very distribution of the noise, the rounding to the grid included. Not included is
        the rounding of the result to the float that is shown, which `interval` adds, because it depends on the result.
        With `answers=n` the intervals around n entries hold all their true values together (union bound).
        """
        reach = self._reach(confidence_for_each(confidence, answers)) * self.grid
        return reach if self.values == "integers" else reach + self.grid / 2

    def interval(self, noisy: Any, confidence: Amount = "0.95", answers: int = 1) -> tuple[Any, Any]:
        """Confidence interval for the true value, given the noisy one; of an array, an array of lows and one of highs.

        The half width, half a unit of the last digit of a float, and outward rounding. Each interval of an array holds
        its own true value with this confidence; with `answers=n`, n intervals hold theirs together. Promised for true
        values within `limit`.
        """
        return around(noisy, self.half_width(confidence, answers))


def choose_grid(
    values: Values, sensitivity: Fraction, scale: Fraction, grid: Amount | None, finer: int = 1
) -> Fraction:
    """Give the grid asked for, or the fitting one."""
    require_one_of(values, ("integers", "reals"), "values")
    if values == "integers":
        require_whole_change(sensitivity)
        if grid is not None:
            raise ParameterError("Integers are not rounded to a grid; leave grid out, or use values='reals'.")
        return Fraction(1)
    chosen = fitting_grid(sensitivity, scale, finer) if grid is None else exact_positive(grid, "grid")
    if not is_power_of_two(chosen):
        raise ParameterError("grid must be a power of two, such as 1/1024, so that rounding to it is exact.")
    return chosen


def require_whole_change(sensitivity: Fraction) -> None:
    """Refuse a sensitivity below 1 for integers."""
    if sensitivity < 1:
        raise ParameterError("Integers that change at all change by at least 1; state that sensitivity.")


def read_coordinates(coordinates: int | None) -> int | None:
    """Read the number of coordinates, if it was stated."""
    return None if coordinates is None else whole_number(coordinates, "coordinates")


def carry_width(carry: Callable[[Fraction], Fraction], width: Fraction, name: str) -> Fraction:
    """Round a width in steps up to what the samplers carry."""
    if width > _WIDEST:
        raise TooWideError(f"The {name} spans more than 2**50 steps of the grid; use a coarser grid or unit.")
    return carry(width)


def for_error(
    cls: type[Made], half_width: Amount, sensitivity: Amount, confidence: Amount, options: dict[str, Any]
) -> Made:
    """Search for the widest noise whose half width does not exceed the one asked for.

    The half width is not quite monotone on a lattice, so the result is checked rather than trusted.
    """
    target = exact_positive(half_width, "half_width")

    def fitting(width: Fraction) -> Made | None:
        try:
            made = cls(sensitivity, width, **options)  # type: ignore[call-arg]
        except TooWideError:
            return None
        return made if made.half_width(confidence) <= target else None

    low, high, best = _bracket(fitting, target)
    for _ in range(40):
        middle = (low + high) / 2
        made = fitting(middle)
        low, high, best = (low, middle, best) if made is None else (middle, high, made)
    if best is None:
        raise ParameterError("No noise of this kind stays within so small an error; ask for a larger half_width.")
    return best


def _bracket(fitting: Callable[[Fraction], Made | None], width: Fraction) -> tuple[Fraction, Fraction, Made | None]:
    """Double the width until it no longer fits; a confidence so low that 200 times is not enough gets what it gets."""
    low, best = Fraction(0), None
    for _ in range(200):
        made = fitting(width)
        if made is None:
            break
        low, best, width = width, made, 2 * width
    return low, width, best
