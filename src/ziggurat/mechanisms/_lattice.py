"""The lattice that real-valued noise lives on.

A value is first rounded to a multiple of a power of two, `grid`, then whole steps of noise are added. Rounding is
floor(x/grid + 1/2) exactly, so two values that differ by D steps differ by at most ceil(D) steps once rounded; that
difference, not D, is the sensitivity. No floating-point addition touches a private value after it was rounded, so
none of its low-order bits can leak (Mironov 2012).

Steps beyond 2**61 either way count as 2**61. Clamping each coordinate moves no two values further apart (it is
1-Lipschitz), so every sensitivity still holds, and no error tells that a value was large.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError

# Steps of the lattice per sensitivity or per scale, whichever is smaller: the rounding then costs less than a
# millionth of either.
_FINENESS = 20
# Rounding costs up to a step per coordinate, so many coordinates ask for finer steps; this many times finer at most,
# because the values that fit into 2**61 steps shrink with them.
_FINER = 1 << 16
# The samplers carry scales up to this many steps.
_WIDEST = 1 << 46

MOST_STEPS = 1 << 61
"""Steps from 0 at which a value to protect is clamped: sums with noise stay within 64-bit integers."""

Integers = npt.NDArray[np.int64]
Value = int | float | Fraction | Sequence[float] | npt.NDArray[Any]


def fitting_grid(sensitivity: Fraction, scale: Fraction, finer: int = 1) -> Fraction:
    """Choose the power of two on which noise of about `scale` for this sensitivity should live.

    `finer` is how many steps the rounding of all coordinates together can cost.
    """
    finest = _power_below(min(sensitivity, scale) / min(finer, _FINER)) / (1 << _FINENESS)
    coarsest = _power_below(scale) / _WIDEST
    return max(finest, coarsest)


def _power_below(value: Fraction) -> Fraction:
    """Give the largest power of two at most `value`."""
    power = Fraction(2) ** _exponent(value)
    return power if power <= value else power / 2


def _exponent(value: Fraction) -> int:
    """Give e for value = 2**e; for any other value, an e that is at most 1 above its logarithm."""
    return value.numerator.bit_length() - value.denominator.bit_length()


def is_power_of_two(grid: Fraction) -> bool:
    """Tell whether dividing a float by `grid` is exact."""
    return grid.numerator.bit_count() == 1 and grid.denominator.bit_count() == 1


def l2_rounding(coordinates: int) -> int:
    """How many steps rounding can add to an l2 distance over this many coordinates: the root, rounded up."""
    return math.isqrt(coordinates - 1) + 1


def l1_steps(sensitivity: Fraction, grid: Fraction, coordinates: int) -> int:
    """Sensitivity in whole steps after rounding, in l1: each touched coordinate gains less than one step."""
    steps = sensitivity / grid
    return math.ceil(steps) if coordinates == 1 else math.ceil(steps + coordinates) - 1


def l2_steps(sensitivity: Fraction, grid: Fraction, coordinates: int) -> Fraction:
    """Sensitivity in steps after rounding, in l2: at most sqrt(coordinates) more, by the triangle inequality."""
    steps = sensitivity / grid
    return Fraction(math.ceil(steps)) if coordinates == 1 else steps + l2_rounding(coordinates)


def as_array(value: Any) -> npt.NDArray[Any]:
    """Make an array of what was given, or refuse it without showing it."""
    if isinstance(value, np.ma.MaskedArray):
        raise ParameterError("A masked array would lose its mask here; fill or leave out the masked entries first.")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        raise ParameterError("The value to protect must be a number or an array of numbers.") from None
    if array.dtype.kind in "fO" and isinstance(value, (list, tuple)) and value and all(map(_is_int, value)):
        return _from_large_ints(value)
    return array


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _from_large_ints(values: Sequence[int]) -> Integers:
    """Keep integers that NumPy cannot hold side by side; clamping them is 1-Lipschitz, as saturation is."""
    most = (1 << 63) - 1
    return np.array([min(max(item, -most), most) for item in values], dtype=np.int64)


def numbers_in(value: Any) -> int | float | Fraction | npt.NDArray[Any]:
    """Give a Python number, or an array of integers or of floats of at most 64 bits; refuse anything else unseen."""
    if isinstance(value, (bool, np.bool_)):
        raise ParameterError("The value to protect must be a number, not a truth value.")
    if isinstance(value, (int, float, Fraction)) and not isinstance(value, np.generic):
        return value
    array = as_array(value)
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ParameterError("The value to protect must be a number or an array of numbers, of at most 64 bits each.")
    return array if array.ndim else array.item()


def integers_in(value: Any) -> int | npt.NDArray[Any]:
    """Give a Python integer or an integer array; refuse anything else unseen. An empty array may be of any kind."""
    numbers = numbers_in(value)
    if isinstance(numbers, int):
        return numbers
    if isinstance(numbers, np.ndarray) and (numbers.dtype.kind in "iu" or numbers.size == 0):
        return numbers
    raise ParameterError("This mechanism protects integers; give an int or an integer array, or use values='reals'.")


def to_steps(value: Value, grid: Fraction) -> int | Integers:
    """Round a number or a vector to whole steps, exactly, and clamp it to 2**61 steps either way.

    Integers pass a grid of 1 unchanged, which is why integer data need no allowance for rounding.
    """
    numbers = numbers_in(value)
    if not isinstance(numbers, np.ndarray):
        return _scalar_steps(numbers, grid)
    if numbers.dtype.kind == "f":
        return _float_steps(numbers, _exponent(grid))
    wide = numbers.astype(np.uint64 if numbers.dtype.kind == "u" else np.int64)
    return _coarse_steps(wide, _exponent(grid)) if grid > 1 else _fine_steps(wide, -_exponent(grid))


def _scalar_steps(value: int | float | Fraction, grid: Fraction) -> int:
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError("The value to protect is not a finite number; clip it to public bounds first.")
    steps = math.floor(Fraction(value) / grid + Fraction(1, 2))
    return min(max(steps, -MOST_STEPS), MOST_STEPS)


def _float_steps(array: npt.NDArray[Any], exponent: int) -> Integers:
    """Round floats: scaling by a power of two is exact, but for underflow, where every step is 0, and overflow."""
    if not bool(np.all(np.isfinite(array))):
        raise ParameterError("A value to protect is not a finite number; clip it to public bounds first.")
    with np.errstate(over="ignore", under="ignore"):
        doubled = np.floor(np.ldexp(array.astype(np.float64), 1 - exponent))
    return _halve(np.clip(doubled, -2.0 * MOST_STEPS, 2.0 * MOST_STEPS).astype(np.int64))


def _coarse_steps(array: npt.NDArray[Any], exponent: int) -> Integers:
    """Round 64-bit integers to a grid above 1: floor(2x/grid) by a shift; a shift by 64 leaves the sign alone."""
    shift = exponent - 1
    doubled = array >> min(shift, 63)
    if shift > 63 and array.dtype.kind == "u":
        doubled = np.zeros_like(array)
    return _halve(_clamp(doubled, 2 * MOST_STEPS))


def _fine_steps(array: npt.NDArray[Any], shift: int) -> Integers:
    """Multiply 64-bit integers by 2**shift; from a shift of 61 on, every integer but 0 is clamped."""
    shift = min(shift, 61)
    return _clamp(array, MOST_STEPS >> shift) << shift


def _clamp(array: npt.NDArray[Any], most: int) -> Integers:
    least = 0 if array.dtype.kind == "u" else -most
    return np.asarray(np.clip(array, least, most), dtype=np.int64)


def _halve(doubled: Integers) -> Integers:
    """floor(x/grid + 1/2) from floor(2x/grid)."""
    return (doubled + 1) >> 1


def from_steps(steps: int | Integers, grid: Fraction) -> Any:
    """Turn whole steps back into floats, the largest float at most; rounding them is post-processing."""
    most = sys.float_info.max
    if isinstance(steps, np.ndarray):
        with np.errstate(over="ignore", under="ignore"):
            return np.clip(np.ldexp(steps.astype(np.float64), _exponent(grid)), -most, most)
    try:
        return float(steps * grid)
    except OverflowError:
        return math.copysign(most, steps)
