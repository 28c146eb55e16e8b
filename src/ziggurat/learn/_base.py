"""What every private model shares: exact amounts, a source of randomness, an event and a guarantee."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator

from ziggurat.errors import ParameterError
from ziggurat.privacy import (
    Amount,
    Event,
    Guarantee,
    compose,
    exact_delta,
    exact_epsilon,
)
from ziggurat.randomness import Source, secure, seeded


class Private(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that is fitted on private rows, of which only what mechanisms protected may be kept.

    A subclass has the parameters `epsilon`, `delta` and `random_state`, and says in `planned` what fitting will cost.

    Attributes
    ----------
    event_
        What fitting did, for the ledger: a function of public facts alone.
    origin_
        "secure", or "seeded" for a rehearsal, which must never be published.
    """

    epsilon: Amount
    delta: Amount
    random_state: int | None
    event_: Event
    origin_: str

    @abstractmethod
    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting a table of this shape will cost; nothing is read.

        Under add-or-remove-one the number of rows is private, and it is the same for any.
        """

    def check(self, X: Any, y: Any = None) -> None:  # noqa: N803 - as in scikit-learn
        """Refuse rows that cannot be learned from, as `fit` would; for whoever is about to pay."""
        self._checked(X, y)

    @abstractmethod
    def _checked(self, X: Any, y: Any) -> Any:  # noqa: N803
        """Read what `fit` is given."""

    @property
    def guarantee_(self) -> Guarantee:
        """The promise that fitting keeps: pure where delta is 0."""
        account = compose(self.event_)
        return account.approximate(self._delta) if self._delta else account.pure()

    @property
    def rehearsal_(self) -> bool:
        """Whether seeded randomness was used, so that the model must not be published."""
        return self.origin_ != "secure"

    @property
    def _epsilon(self) -> Fraction:
        return exact_epsilon(self.epsilon)

    @property
    def _delta(self) -> Fraction:
        return exact_delta(self.delta)

    def _source(self) -> Source:
        state: Any = self.random_state
        if state is None:
            return secure()
        if isinstance(state, bool) or not isinstance(state, Integral):
            raise ParameterError("The random state must be a whole number for a rehearsal, or None.")
        return seeded(int(state))

    def _released(self, event: Event, source: Source) -> None:
        """Note what was done, once it was done; it must be what was planned."""
        self.event_, self.origin_ = event, source.origin
