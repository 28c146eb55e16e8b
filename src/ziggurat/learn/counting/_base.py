"""What classifiers share that are made of noisy counts."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ziggurat.errors import ParameterError
from ziggurat.learn._base import PrivateModel
from ziggurat.learn._bounds import histogram_noise, learn_bounds
from ziggurat.learn._budget import FitBudget, Kind, about_rows, exact_share, warn_of_noise
from ziggurat.learn._classes import Labels, code_labels, public_classes
from ziggurat.learn._clipping import Floats, Integers, Scale, check_pairs, read_bounds
from ziggurat.learn._storage import StoredModel
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import Amount, Event, Neighbours, Relation, compose_events, whole_number
from ziggurat.privacy.accounting import Size, fewest_rows
from ziggurat.randomness import Source


class CountingFacts(NamedTuple):
    """What is public before a row is read; of the rows about how many there are, None if nobody said."""

    rows: int | None
    columns: int
    classes: int


@dataclass(eq=False, repr=False, kw_only=True)
class CountingClassifier(StoredModel, ClassifierMixin, PrivateModel):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that counts private rows, adds noise, and publishes what follows from the noisy counts."""

    epsilon: Amount = 1
    delta: Amount = "1e-6"
    classes: Any = None
    relation: str = "add-or-remove-one"
    expected_rows: int | None = None
    random_state: int | None = None

    classes_: Labels = field(init=False)
    n_features_in_: int = field(init=False)

    def planned(self, rows: int, columns: int) -> Event:
        """Say what fitting a table of this shape will cost; nothing is read."""
        return self._costs(self._facts(rows, whole_number(columns, "columns")))

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as in scikit-learn
        """Learn from private rows.

        Parameters
        ----------
        X
            Features, a row for each record; values outside the bounds are moved to them.
        y
            A label for each row.

        Raises
        ------
        ParameterError
            If a parameter is wrong.
        DataError
            If the rows are not a table of finite numbers with a label each; no cell is shown.
        """
        features, codes = self._check_rows(X, y)
        facts, source = self._facts(*features.shape), self._source()
        event = self._costs(facts)
        if facts.rows is not None:
            warn_of_noise(self._epsilon, facts.rows, facts.columns, self._doubt(facts, facts.rows))
        self._forget_cost()
        self._learn(features, codes, facts, source)
        self.classes_ = public_classes(self.classes)
        self._note_release(event, source)
        return self

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Return the probability of every class, row by row."""

    def predict(self, X: Any) -> Labels:  # noqa: N803
        """Return the most likely class of every row."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[likeliest])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _check_rows(self, X: Any, y: Any) -> tuple[Floats, Integers]:  # noqa: N803
        features, labels = check_pairs(self, X, y, numeric=False, least=fewest_rows(self.relation))
        return features, code_labels(labels, public_classes(self.classes))

    def _facts(self, rows: int, columns: int) -> CountingFacts:
        likely = Size.of(self.relation, rows, self.expected_rows).likely
        return CountingFacts(likely, columns, public_classes(self.classes).size)

    @abstractmethod
    def _costs(self, facts: CountingFacts) -> Event:
        """Say what learning will cost."""

    @abstractmethod
    def _doubt(self, facts: CountingFacts, rows: int) -> float:
        """How much noise outweighs what so many rows can tell, by public facts alone."""

    @abstractmethod
    def _learn(self, features: Floats, codes: Integers, facts: CountingFacts, source: Source) -> None:
        """Count, add noise, and keep what follows."""

    def _forget_cost(self) -> None:
        """Drop what an earlier fit cost: if this one is interrupted, what it leaves must not pass as paid for by that.

        Bounds that were bought stay behind, for instance; a model without an event is neither loaded nor published.
        """
        for name in ("event_", "origin_"):
            self.__dict__.pop(name, None)

    @property
    def _neighbours(self) -> Neighbours:
        return about_rows(self.relation)

    @property
    def _changed(self) -> int:
        """How many of counts that name every row once one unit changes."""
        return 2 if self._neighbours.relation is Relation.REPLACE_ONE else 1


@dataclass(eq=False, repr=False, kw_only=True)
class BoundedClassifier(CountingClassifier):
    """A counting classifier whose features have public bounds, declared or bought."""

    bounds: Any = None
    bounds_share: Amount = "0.1"

    bounds_: Floats = field(init=False)

    def _shares(self, columns: int, kind: Kind) -> tuple[AdditiveNoise | None, FitBudget]:
        """Noise for bounds that have to be paid for, and the budget that is left."""
        whole_budget = FitBudget(self._epsilon, self._delta, kind, self._neighbours)
        if self.bounds is not None:
            read_bounds(self.bounds, columns, "bounds")
            return None, whole_budget
        paid, left = whole_budget.split(exact_share(self.bounds_share))
        return histogram_noise(columns, paid), left

    def _scale(self, features: Floats, noise: AdditiveNoise | None, source: Source) -> Scale:
        columns = features.shape[1]
        scale = read_bounds(self.bounds, columns, "bounds") if noise is None else learn_bounds(features, noise, source)
        self.bounds_ = np.stack([scale.lower, scale.upper])
        return scale


def with_bounds(noise: AdditiveNoise | None, event: Event) -> Event:
    """Add what bounds cost."""
    return event if noise is None else compose_events([noise.event, event])


def public_number(value: Any, name: str) -> float:
    """Read a public number above 0 and up to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0 < number <= 1:
        raise ParameterError(f"{name} must be a number above 0 and up to 1.")
    return number
