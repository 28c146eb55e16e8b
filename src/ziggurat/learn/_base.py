"""What every private model shares: exact amounts, a source of randomness, an event and a guarantee."""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, Self

from sklearn.base import BaseEstimator

from ziggurat.learn._around import seen_around
from ziggurat.learn._family import Family, Passage, warn_of_unpaid
from ziggurat.privacy import (
    Amount,
    Event,
    Guarantee,
    compose,
    exact_delta,
    exact_epsilon,
)
from ziggurat.randomness import Source, choose_source


class PrivateModel(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """A model that is fitted on private rows, of which only what mechanisms protected may be kept.

    A subclass has the parameters `epsilon`, `delta` and `random_state`, and says in `planned` what fitting will cost.

    Every fit is a release about its rows, and a second `fit` of the same object is a second one. Copies (`clone`,
    `copy`, a pickle, a file) share the count, so that a search or a cross-validation shows in `guarantee_`; see
    `_family`.

    Attributes
    ----------
    event_
        What this fit did, for the ledger: a function of public facts alone.
    origin_
        "secure", or "seeded" for a rehearsal, which must never be published.
    """

    epsilon: Amount
    delta: Amount
    random_state: int | None
    event_: Event
    origin_: str
    _family: Family

    @abstractmethod
    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting a table of this shape will cost; nothing is read.

        Under add-or-remove-one the number of rows is private, and it is the same for any.
        """

    def check(self, X: Any, y: Any = None) -> None:  # noqa: N803 - as in scikit-learn
        """Refuse rows that cannot be learned from, as `fit` would; for whoever is about to pay."""
        self._check_rows(X, y)

    @abstractmethod
    def _check_rows(self, X: Any, y: Any) -> Any:  # noqa: N803
        """Read what `fit` is given."""

    @property
    def guarantee_(self) -> Guarantee:
        """The promise that all fits of this model and its copies keep together: pure where delta is 0.

        Raises
        ------
        PrivacyError
            If copies left for other processes unfitted, or something around the model learned from the rows: then
            nothing is proven about all together.
        """
        _ = self.event_  # of a model that was fitted, as everything here
        return self.kin.guarantee()

    @property
    def fits_(self) -> int:
        """How often this model and its copies were fitted, as far as this process knows."""
        return self.kin.fits

    @property
    def fit_guarantee_(self) -> Guarantee:
        """The promise of this fit alone, about the rows of the table that it was given."""
        account = compose(self.event_)
        return account.approximate(self._delta) if self._delta else account.pure()

    def fresh(self) -> Self:
        """Give a model of the same parameters and no history, for rows about other people."""
        made: Self = super().__sklearn_clone__()
        return made

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
        return choose_source(self.random_state)

    def _note_release(self, event: Event, source: Source) -> None:
        """Note what was done, once it was done; it must be what was planned."""
        self.event_, self.origin_ = event, source.origin
        learned, choosers = seen_around()
        self.kin.note(event, self._delta, learned)
        warn_of_unpaid(learned, choosers)

    @property
    def kin(self) -> Family:
        """The family, which begins with the first copy or fit: an estimator's `__init__` may set parameters only."""
        if "_family" not in vars(self):
            self._family = Family()
        return self._family

    def __sklearn_clone__(self) -> Self:
        made = self.fresh()
        made._family = self.kin
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_family": Passage(self.kin, fitted="event_" in vars(self))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        passage = state.get("_family")
        super().__setstate__({**state, "_family": passage.family if isinstance(passage, Passage) else Family()})
