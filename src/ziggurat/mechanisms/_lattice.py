"""The lattice that real-valued noise lives on.

A value is first rounded to a multiple of a power of two, `grid`, then whole steps of noise are added. Rounding is
floor(x/grid + 1/2) exactly, so two values that differ by D steps differ by at most ceil(D) steps once rounded; that
difference, not D, is the sensitivity. No floating-point addition touches a private value after it was rounded, so
none of its low-order bits can leak (Mironov 2012).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError

# Steps of the lattice per sensitivity or per scale, whichever is smaller: the rounding then costs less than a
# millionth of either.
_FINENESS = 20
# The samplers carry scales up to this many steps.
_WIDEST = 1 << 46

Integers = npt.NDArray[np.int64]
Value = int | float | Fraction | Sequence[float] | npt.NDArray[Any]


def fitting_grid(sensitivity: Fraction, scale: Fraction) -> Fraction:
    """Choose the power of two on which noise of about `scale` for this sensitivity should live."""
    finest = _power_below(min(sensitivity, scale)) / (1 << _FINENESS)
    coarsest = _power_below(scale) / _WIDEST
    return max(finest, coarsest)


def _power_below(value: Fraction) -> Fraction:
    """Give the largest power of two at most `value`."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    power = Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
    return power if power <= value else power / 2


def is_power_of_two(grid: Fraction) -> bool:
    """Tell whether dividing a float by `grid` is exact."""
    return grid.numerator.bit_count() == 1 and grid.denominator.bit_count() == 1


def l1_steps(sensitivity: Fraction, grid: Fraction, coordinates: int) -> int:
    """Sensitivity in whole steps after rounding, in l1: each touched coordinate gains less than one step."""
    steps = sensitivity / grid
    return math.ceil(steps) if coordinates == 1 else math.ceil(steps + coordinates) - 1


def l2_steps(sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """Sensitivity in steps after rounding, in l2: at most sqrt(coordinates) more, by the triangle inequality."""
    steps = sensitivity / grid
    return Fraction(math.ceil(steps)) if coordinates == 1 else steps + math.isqrt(coordinates - 1) + 1


def as_array(value: Any) -> npt.NDArray[Any]:
    """Make an array of what was given, or refuse it without showing it."""
    try:
        return np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise ParameterError("The value to protect must be a number or an array of numbers.") from None


def require_integers(value: Value) -> None:
    """Refuse a value that is not integral, without showing it."""
    kind = as_array(value).dtype.kind
    if kind in "iu" or (isinstance(value, int) and not isinstance(value, bool)):
        return
    raise ParameterError("This mechanism protects integers; give an int or an integer array, or use values='reals'.")


def to_steps(value: Value, grid: Fraction) -> int | Integers:
    """Round a number or a vector to whole steps, exactly.

    Integers pass a grid of 1 unchanged, which is why integer data need no allowance for rounding.
    """
    if isinstance(value, (bool, np.bool_)):
        raise ParameterError("The value to protect must be a number, not a truth value.")
    if isinstance(value, (int, float, Fraction, np.integer, np.floating)):
        return _scalar_steps(value, grid)
    array = as_array(value)
    if array.ndim == 0 or array.dtype.kind not in "iuf":
        raise ParameterError("The value to protect must be a number or an array of numbers.")
    return _array_steps(array, grid)


def _scalar_steps(value: Any, grid: Fraction) -> int:
    if isinstance(value, (float, np.floating)) and not math.isfinite(value):
        raise ParameterError("The value to protect is not a finite number; clip it to public bounds first.")
    plain = value.item() if isinstance(value, np.generic) else value
    return math.floor(Fraction(plain) / grid + Fraction(1, 2))


def _array_steps(array: npt.NDArray[Any], grid: Fraction) -> Integers:
    if grid == 1 and array.dtype.kind in "iu":
        return array.astype(np.int64)
    doubled = np.floor(array.astype(np.float64) * float(2 / grid))
    if not bool(np.all(np.abs(doubled) < 2.0**62)):
        raise ParameterError("A value to protect is not finite or too large; clip it to public bounds first.")
    return (doubled.astype(np.int64) + 1) >> 1


def from_steps(steps: int | Integers, grid: Fraction) -> Any:
    """Turn whole steps back into floats; rounding them is post-processing."""
    if isinstance(steps, np.ndarray):
        return steps.astype(np.float64) * float(grid)
    return float(steps * grid)
