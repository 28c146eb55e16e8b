"""Shares with honest intervals, which attacks find, and words for their sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

from ziggurat.errors import ParameterError
from ziggurat.findings import RangedNumber

CONFIDENCE = 0.95
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class Share(RangedNumber):
    """How many of how many, with Wilson's interval (1927) at 95 %.

    Parameters
    ----------
    hits, trials
        How often it happened, and how often it could have.
    """

    hits: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.trials:
            raise ParameterError("A share needs 0 <= hits <= trials.")

    @property
    def rate(self) -> float:
        """The share itself; 0 of nothing."""
        return self.hits / self.trials if self.trials else 0.0

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return 0.0 if self.hits == 0 else self._centre - self._reach

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return 1.0 if self.hits == self.trials else self._centre + self._reach

    @property
    def _centre(self) -> float:
        return (self.hits + _Z**2 / 2) / (self.trials + _Z**2)

    @property
    def _reach(self) -> float:
        spread = self.trials * self.rate * (1 - self.rate) + _Z**2 / 4
        return _Z * math.sqrt(spread) / (self.trials + _Z**2)

    def to_dict(self) -> dict[str, Any]:
        """Return the share, its ends, and what was counted."""
        return {"rate": self.rate, "low": self.low, "high": self.high, "hits": self.hits, "trials": self.trials}

    def __str__(self) -> str:
        return f"{self.rate:.1%} ({self.low:.1%} to {self.high:.1%})"


@dataclass(frozen=True)
class Difference(RangedNumber):
    """By how much one share exceeds another, with Newcombe's interval (1998, his method 10) at 95 %.

    Parameters
    ----------
    attack, control
        The share among people in the table, and among people who are not.
    """

    attack: Share
    control: Share

    @property
    def rate(self) -> float:
        """The difference of the shares."""
        return self.attack.rate - self.control.rate

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.rate - math.hypot(self.attack.rate - self.attack.low, self.control.high - self.control.rate)

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.rate + math.hypot(self.attack.high - self.attack.rate, self.control.rate - self.control.low)

    def to_dict(self) -> dict[str, Any]:
        """Return the difference and its ends."""
        return {"rate": self.rate, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        return f"{self.rate:+.1%} ({self.low:+.1%} to {self.high:+.1%})"


def fraction(value: float, what: str) -> float:
    """Return a number above 0 and at most 1, or raise ParameterError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= 1:
        raise ParameterError(f"{what} must be above 0 and at most 1.")
    return float(value)
