"""Rounding a sum and adding whole steps of noise, in one pass over memory."""

from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np
import numpy.typing as npt


def _jit(function: Any) -> Any:
    return cast(Any, numba.njit(cache=True, nogil=True)(function))


@_jit
def add_steps(total: npt.NDArray[np.float64], noise: npt.NDArray[np.int64], grid: float, most: float) -> None:
    """Round `total` to steps of a power of two, at most so many, add whole steps, and leave the result in place.

    Dividing and multiplying by a power of two is exact, and steps and noise are added as integers.
    """
    for i in range(total.size):
        steps = min(max(np.rint(total[i] / grid), -most), most)
        total[i] = float(np.int64(steps) + noise[i]) * grid
