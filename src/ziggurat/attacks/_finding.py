"""Differences of shares with honest intervals, which attacks find."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.findings import RangedNumber, Share

__all__ = ["Difference", "Share", "fraction"]


@dataclass(frozen=True)
class Difference(Shown, RangedNumber):
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
