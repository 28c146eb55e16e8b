"""What every mechanism is: a value in, a noisy value and an event out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from ziggurat import randomness
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy import (
    Amount,
    ApproximateDP,
    Event,
    Neighbours,
    PureDP,
    Relation,
    compose,
    exact_confidence,
    exact_delta,
    whole_number,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Noisy(Shown, Generic[T]):
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
        account, allowed = compose(self.event), exact_delta(delta)
        if allowed > 0:
            return account.approximate(allowed)
        try:
            return account.pure()
        except PrivacyError:
            raise PrivacyError(
                "This mechanism promises nothing at delta 0; ask for guarantee(delta=...), "
                "for instance guarantee(delta='1e-6')."
            ) from None

    @abstractmethod
    def __repr__(self) -> str:
        """Say which mechanism this is, with its parameters."""


def confidence_for_each(confidence: Amount, answers: int) -> Fraction:
    """Raise a confidence so that it holds for all of so many answers at once.

    By the union bound, `answers` statements that each fail with probability m/answers fail together with at most m.
    """
    return 1 - (1 - exact_confidence(confidence)) / whole_number(answers, "answers")


def require_one_of(value: object, choices: tuple[str, ...], name: str) -> None:
    """Refuse what is none of the words that may be chosen."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}.")


def neighbours_or_usual(neighbours: Neighbours | None, relation: Relation = Relation.ADD_OR_REMOVE_ONE) -> Neighbours:
    """Give the neighbours stated, or the usual ones."""
    if neighbours is None:
        return Neighbours(relation=relation)
    if not isinstance(neighbours, Neighbours):
        raise ParameterError("neighbours must be stated as Neighbours(unit, relation).")
    return neighbours


def round_rate(rate: Fraction) -> Fraction:
    """Round the rate of a choice down to what the samplers carry; one that is too small comes of a small epsilon."""
    try:
        return randomness.carry_rate(rate)
    except ParameterError:
        raise ParameterError(
            "epsilon is too small to be drawn exactly: epsilon over what one unit moves, in steps of the grid, must be "
            "at least 2**-50; allow a larger epsilon."
        ) from None
