"""Values with their spread over copies, and words for sentences about them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.findings import RangedNumber

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spread(Shown, RangedNumber):
    """One value for each copy; those that have none (NaN) do not count.

    Attributes
    ----------
    values
        In the order of the copies.
    """

    values: tuple[float, ...]

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Return the spread of these values."""
        return cls(tuple(float(each) for each in values))

    @property
    def mean(self) -> float:
        """Their mean; NaN if there is none."""
        return math.fsum(self._known) / len(self._known) if self._known else math.nan

    @property
    def low(self) -> float:
        """The smallest."""
        return min(self._known, default=math.nan)

    @property
    def high(self) -> float:
        """The largest."""
        return max(self._known, default=math.nan)

    @property
    def _known(self) -> list[float]:
        return [each for each in self.values if not math.isnan(each)]

    def to_dict(self) -> dict[str, Any]:
        """Return the mean, its ends and the values."""
        return {"mean": self.mean, "low": self.low, "high": self.high, "values": self.values}

    def __str__(self) -> str:
        if not self._known:
            return "no value"
        ends = f" ({self.low:.3g} to {self.high:.3g})" if len(self.values) > 1 else ""
        return f"{self.mean:.3g}{ends}"


def average(values: Iterable[float]) -> float:
    """Return the mean of those values that are there; NaN if none is."""
    return Spread.of(values).mean
