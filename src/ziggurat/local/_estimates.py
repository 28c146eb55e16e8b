"""What is learned from reports: counts and means without bias, with their intervals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.wording import printable

Floats = npt.NDArray[np.float64]
Label = str | int | None


@dataclass(frozen=True)
class LocalEstimate(Shown):
    """The root of all estimates.

    Attributes
    ----------
    people
        How many reports it rests on.
    confidence
        With which each interval, taken alone, holds its truth.
    population
        Whether the truth is that of the population the people were drawn from, or their own.
    """

    people: int
    confidence: Fraction
    population: bool

    def to_dict(self) -> dict[str, Any]:
        """Give the estimate in JSON."""
        about = "population" if self.population else "people"
        return {"people": self.people, "confidence": str(self.confidence), "about": about}


@dataclass(frozen=True)
class Frequencies(LocalEstimate):
    """How many people hold each category of a public list.

    Attributes
    ----------
    categories
        The list; None stands for a missing value.
    counts
        Without bias, and therefore not forced into 0 to `people`.
    low, high
        The intervals, cut to 0 to `people`, or to a count that lies beyond.
    """

    categories: tuple[Label, ...]
    counts: Floats
    low: Floats
    high: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", np.minimum(self.low, self.counts))
        object.__setattr__(self, "high", np.maximum(self.high, self.counts))

    @property
    def shares(self) -> Floats:
        """The counts as shares of all people."""
        return self.counts / self.people

    def __str__(self) -> str:
        """One category a line, with its count and interval."""
        shown = ["missing" if name is None else printable(str(name)) for name in self.categories]
        width = max(map(len, shown))
        rows = zip(shown, self.counts, self.low, self.high, strict=True)
        return "\n".join(f"{name:<{width}}  {_figures(count, low, high)}" for name, count, low, high in rows)

    def interval(self, category: Label) -> tuple[float, float]:
        """The interval around the count of one category."""
        if category not in self.categories:
            raise ParameterError("This category was not estimated; ask for one of the public list.")
        at = self.categories.index(category)
        return float(self.low[at]), float(self.high[at])

    def to_dict(self) -> dict[str, Any]:
        """Give the estimate in JSON."""
        rows = zip(self.categories, self.counts, self.low, self.high, strict=True)
        counts = [
            {"category": name, "count": float(count), "low": float(low), "high": float(high)}
            for name, count, low, high in rows
        ]
        return {"estimate": "frequencies", **super().to_dict(), "counts": counts}


@dataclass(frozen=True)
class Mean(LocalEstimate):
    """The mean of the people's values: a number, or for vectors one number per coordinate.

    Attributes
    ----------
    value
        Without bias.
    low, high
        The interval, for vectors one per coordinate.
    """

    value: Any
    low: Any
    high: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "low", np.minimum(self.low, self.value))
        object.__setattr__(self, "high", np.maximum(self.high, self.value))

    def __str__(self) -> str:
        """The mean and its interval; of a vector, one coordinate a line."""
        parts = zip(np.atleast_1d(self.value), np.atleast_1d(self.low), np.atleast_1d(self.high), strict=True)
        return "\n".join(_figures(*each) for each in parts)

    @property
    def total(self) -> Any:
        """The sum over the people who reported; its interval is that of the mean times `people`."""
        return self.value * self.people

    def to_dict(self) -> dict[str, Any]:
        """Give the estimate in JSON."""
        named = {"mean": self.value, "low": self.low, "high": self.high}
        return {
            "estimate": "mean",
            **super().to_dict(),
            **{name: np.asarray(value).tolist() for name, value in named.items()},
        }


def _figures(value: float, low: float, high: float) -> str:
    return f"{value:,.6g} [{low:,.6g}, {high:,.6g}]"
