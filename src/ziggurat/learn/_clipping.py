"""Rows as models see them: checked, moved into public bounds, and rounded to whole steps so that sums are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data.withheld import cells_withheld as cells_withheld
from ziggurat.data.withheld import finite as finite
from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, exact_positive

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

STEPS = 1 << 16
"""Whole steps that a scaled value of 1 has."""


def check_rows(model: Any, features: Any, *, reset: bool = False, least: int = 1) -> Floats:
    """Return a table of finite floats with so many rows; `reset` notes its columns, which are otherwise compared."""
    from sklearn.utils.validation import validate_data

    with cells_withheld():
        table = validate_data(
            model, features, reset=reset, ensure_all_finite=False, ensure_min_samples=least, dtype=np.float64
        )
    return finite(table, "features")


def check_pairs(
    model: Any, features: Any, target: Any, *, numeric: bool, least: int = 1
) -> tuple[Floats, npt.NDArray[Any]]:
    """Return a table of finite floats and as many targets, numbers or labels; the columns are noted."""
    from sklearn.utils.validation import validate_data

    with cells_withheld():
        table, known = validate_data(
            model, features, target, ensure_all_finite=False, ensure_min_samples=least, dtype=np.float64,
            y_numeric=numeric,
        )  # fmt: skip
    return finite(table, "features"), finite(known.astype(np.float64), "targets") if numeric else np.asarray(known)


@dataclass(frozen=True)
class Scale:
    """Public bounds of columns, and the map that takes them to [-1, 1]."""

    lower: Floats
    upper: Floats

    @property
    def centre(self) -> Floats:
        """The middle of the bounds."""
        return self.lower / 2 + self.upper / 2

    @property
    def half(self) -> Floats:
        """Half the distance between the bounds."""
        return self.upper / 2 - self.lower / 2

    def scale(self, table: Floats) -> Floats:
        """Map the bounds to [-1, 1] and clip what lies outside."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((table - self.centre) / self.half, -1.0, 1.0))

    def clip(self, table: Floats) -> Floats:
        """Move what lies outside the bounds to them."""
        return np.asarray(np.clip(table, self.lower, self.upper))

    def around_zero(self) -> Scale:
        """Widen the bounds so that 0 is mapped to 0, as a model without intercept needs."""
        most = np.maximum(np.abs(self.lower), np.abs(self.upper))
        return Scale(-most, most)


def exact_norm(norm: Amount | None) -> Fraction | None:
    """Read the largest l2 norm of a scaled row."""
    return None if norm is None else exact_positive(norm, "clip_norm")


def norm_squared(norm: Fraction | None, columns: int) -> Fraction:
    """The largest squared norm that a scaled row has: the box [-1, 1]^d has d."""
    return Fraction(columns) if norm is None else min(Fraction(columns), norm**2)


def shorten(scaled: Floats, norm: Fraction | None) -> Floats:
    """Scale rows longer than the norm down to it; 2**-40 is kept back for the round-off of their length."""
    if norm is None or norm**2 >= scaled.shape[1]:
        return scaled
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    longest = float(norm) * (1 - 2.0**-40)
    return np.asarray(scaled * np.minimum(1.0, longest / np.maximum(length, 1e-300)))


def as_learned(scale: Scale, table: Floats, norm: Fraction | None) -> Floats:
    """Move rows to where rows were learned from, within the bounds and the norm, in the units of the data."""
    if norm is None:
        return scale.clip(table)
    return np.asarray(scale.centre + scale.half * shorten(scale.scale(table), norm))


def in_steps(scaled: Floats) -> Integers:
    """Cut values in [-1, 1] to whole steps towards 0, so that no row leaves its box or ball."""
    return np.trunc(scaled * STEPS).astype(np.int64)


def root_above(square: Fraction) -> Fraction:
    """A rational at least the square root, and at most a part in 2**30 above it."""
    shift = 1 << (40 + max(0, square.denominator.bit_length() - square.numerator.bit_length()))
    return Fraction(math.isqrt(math.ceil(square * shift**2)) + 1, shift)


def read_bounds(bounds: Any, columns: int, name: str) -> Scale:
    """Read bounds that were stated: two numbers, or two lists with a number for every column."""
    try:
        lower, upper = (np.broadcast_to(np.asarray(end, dtype=np.float64), (columns,)) for end in bounds)
    except (TypeError, ValueError):
        raise ParameterError(f"{name} must be (lower, upper), two numbers or two lists of {columns} numbers.") from None
    scale = Scale(lower, upper)
    if not (np.isfinite(lower).all() and np.isfinite(upper).all() and np.all(scale.half > 0)):
        raise ParameterError(f"Every lower end of {name} must be a finite number below the upper one.")
    return scale
