"""Confidence intervals around noisy values, rounded outwards."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.mechanisms._lattice import numbers_in

Floats = npt.NDArray[np.float64]


def around(noisy: Any, half: Fraction) -> tuple[Any, Any]:
    """Give the lows and highs at `half` around a number or an array, never narrower for any rounding.

    A float was rounded to its last digit when it was shown: half a unit of that digit is added on both sides.
    """
    centre, gap = _centre(noisy)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = _add_upwards(np.asarray(gap / 2), np.asarray(_float_above(half)))
        low, high = -_add_upwards(-centre, spread), _add_upwards(centre, spread)
    return (low, high) if centre.ndim else (float(low), float(high))


def _centre(noisy: Any) -> tuple[Floats, Floats]:
    """The noisy value in floats, and the distance of neighbouring floats where it is not exact."""
    try:
        numbers = numbers_in(noisy)
    except ParameterError:
        raise ParameterError("The noisy value must be a number or an array of numbers.") from None
    if isinstance(numbers, (int, Fraction)):
        return _exact_centre(numbers)
    # A single float of NumPy keeps its own width, because its own last digit counts.
    shown = numbers if isinstance(numbers, np.ndarray) else np.asarray(noisy)
    centre = shown.astype(np.float64)
    if not bool(np.all(np.isfinite(centre))):
        raise ParameterError("The noisy value must be finite.")
    if shown.dtype.kind == "f":
        return centre, np.spacing(np.abs(shown)).astype(np.float64)
    return centre, np.where(np.abs(centre) <= 2.0**53, 0.0, np.spacing(np.abs(centre)))


def _exact_centre(number: int | Fraction) -> tuple[Floats, Floats]:
    centre = np.asarray(_as_float(number))
    return centre, np.asarray(0.0 if float(centre) == number else np.spacing(np.abs(centre)))


def _as_float(number: int | Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(sys.float_info.max, number)


def _float_above(value: Fraction) -> float:
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if near >= value else math.nextafter(near, math.inf)


def _add_upwards(a: Floats, b: Floats) -> Floats:
    """a + b rounded up: the error of a float sum is itself a float (Knuth's TwoSum)."""
    total = a + b
    shifted = total - a
    error = (a - (total - shifted)) + (b - shifted)
    return np.asarray(np.where(error > 0, np.nextafter(total, np.inf), total))
