"""What every judge returns, of risk or of use: facts, a sentence and a table, for the steward only."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


class RangedNumber(ABC):
    """A number that is told with its interval or its spread."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the number and its ends as values that JSON can hold."""


class Finding(ABC):
    """What a judge found, as a dataclass; the figures are exact and unprotected, for the steward only."""

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


def _facts(value: Any) -> dict[str, Any]:
    return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.repr}


def _plain(value: Any) -> Any:
    if isinstance(value, Finding):
        return value.to_dict()
    if isinstance(value, RangedNumber):
        return _plain(value.to_dict())
    if hasattr(value, "tolist"):  # of NumPy
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
