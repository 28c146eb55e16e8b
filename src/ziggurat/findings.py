"""What every judge returns, of risk or of use: facts, a sentence and a table, for the steward only."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from ziggurat.cards import Card, Shown, describe_briefly, tabulate
from ziggurat.errors import ParameterError
from ziggurat.frames import GivenAsFrame
from ziggurat.plain import fields_to_plain

if TYPE_CHECKING:
    import pyarrow as pa

CONFIDENCE = 0.95
"""Of the intervals that judges state."""

_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


class RangedNumber(ABC):
    """A number that is told with its interval or its spread."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the number and its ends as values that JSON can hold."""


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
        """Refuse what cannot be."""
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
        """Return the share with its interval."""
        return f"{self.rate:.1%} ({self.low:.1%} to {self.high:.1%})"


class Finding(Shown, GivenAsFrame, ABC):
    """What a judge found, as a dataclass; the figures are exact and unprotected, for the steward only."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """What was found, as a table for a report."""

    def to_arrow(self) -> pa.Table:
        """Return what was found as a table, as `table` does."""
        return self.table

    def _card(self) -> Card:
        brief = describe_briefly(self, "private")
        return replace(brief, facts=(), **tabulate(self.table))

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; what has no value is None."""
        return {**_drop_infinite(fields_to_plain(self)), "sentence": self.sentence}


def _drop_infinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_infinite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_infinite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
