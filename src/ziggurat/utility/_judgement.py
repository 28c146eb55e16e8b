"""What every judge of usefulness returns: facts, a sentence and a table; and values with their spread over copies."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


class Judgement(ABC):
    """How useful synthetic copies are; the figures are exact and unprotected, for the steward only."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """What was found, as a table for a report."""

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as values that JSON can hold; what has no value is None."""
        return {**_facts(self), "sentence": self.sentence}


@dataclass(frozen=True)
class Spread:
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

    def __str__(self) -> str:
        if not self._known:
            return "no value"
        ends = f" ({self.low:.3g} to {self.high:.3g})" if len(self.values) > 1 else ""
        return f"{self.mean:.3g}{ends}"


def average(values: Iterable[float]) -> float:
    """Return the mean of those values that are there; NaN if none is."""
    return Spread.of(values).mean


def _facts(value: object) -> dict[str, Any]:
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.repr}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    if isinstance(value, Judgement):
        return value.to_dict()
    if isinstance(value, Spread):
        return _plain({"mean": value.mean, "low": value.low, "high": value.high, "values": value.values})
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return _facts(value) if hasattr(value, "__dataclass_fields__") else value
