"""What every judge returns, of risk or of use: facts, a sentence and a table, for the steward only."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from ziggurat.plain import fields_to_plain

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
        return {**_drop_infinite(fields_to_plain(self)), "sentence": self.sentence}


def _drop_infinite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _drop_infinite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_drop_infinite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
