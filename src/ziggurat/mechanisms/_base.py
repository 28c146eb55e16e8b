"""What every mechanism is: a value in, a noisy value and an event out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from ziggurat.errors import ParameterError
from ziggurat.privacy import Amount, ApproximateDP, Event, PureDP, compose, exact
from ziggurat.randomness import Source, secure

T = TypeVar("T")


@dataclass(frozen=True)
class Noisy(Generic[T]):
    """A noisy value, the event that produced it, and whether its randomness was fit for a release.

    Attributes
    ----------
    value
        What may leave.
    event
        What to write in the ledger.
    origin
        `"secure"`, or `"seeded"` for a rehearsal, which must never be published.
    """

    value: T
    event: Event
    origin: str

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the value must not be published."""
        return self.origin != "secure"


class Mechanism(ABC):
    """A way to answer with noise; `event` records the facts and guarantees follow from it."""

    event: Event

    def guarantee(self, delta: Amount = 0) -> PureDP | ApproximateDP:
        """Give the tightest proven promise at `delta` (a pure one where delta is 0)."""
        account = compose(self.event)
        return account.pure() if exact(delta) == 0 else account.approximate(delta)

    @abstractmethod
    def __repr__(self) -> str:
        """Say which mechanism this is, with its parameters."""


def drawing_from(source: Source | None) -> Source:
    """Give the source to draw from: secure unless a rehearsal passes its own."""
    return secure() if source is None else source


def exact_confidence(confidence: Amount) -> Fraction:
    """Read a confidence: an exact rational strictly between 0 and 1."""
    value = exact(confidence, "confidence")
    if not 0 < value < 1:
        raise ParameterError("confidence must lie strictly between 0 and 1, for instance 0.95.")
    return value
