"""What the population alone tells about an attribute: learned from people who are neither members nor asked about."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import Floats, LabelledRows
from ziggurat.errors import ParameterError

Integers = npt.NDArray[np.int64]

_FOLDS = 3
_MIXED = 1e-3  # of the uniform distribution, so that nothing is impossible


@dataclass(frozen=True)
class LearnedBaseline:
    """A learner that predicts the attribute from the rest of the row and the label.

    Attributes
    ----------
    name
        What it is called.
    fitted
        The learner; None for the shares of the values alone.
    shares
        Of every candidate among the population.
    classes
        Into how many indicators the label is turned; 0 for a number.
    """

    name: str
    fitted: Any = field(repr=False)
    shares: Floats = field(repr=False)
    classes: int

    def tell(self, known: LabelledRows) -> Floats:
        """Log probabilities of every candidate: (rows, candidates)."""
        return np.log(_predict(self.fitted, show_known(known, self.classes), self.shares))


def learn_baseline(
    known: LabelledRows, truth: Integers, candidates: int, by_class: bool, given: Any, seed: int
) -> LearnedBaseline:
    """Learn the given classifier, or the one of three that cross-validation finds best."""
    shares = (np.bincount(truth, minlength=candidates) + 1) / (len(truth) + candidates)
    classes = int(known.labels.max()) + 1 if by_class else 0
    rows = show_known(known, classes)
    if given is not None:
        return LearnedBaseline(type(given).__name__, _fit(given, rows, truth), shares, classes)
    tried = _list_learners(seed)
    losses = {name: _validate(learner, rows, truth, shares, seed) for name, learner in tried.items()}
    best = min(losses, key=lambda name: losses[name])
    return LearnedBaseline(best, _fit(tried[best], rows, truth), shares, classes)


def show_known(known: LabelledRows, classes: int) -> Floats:
    """What the attacker knows, as numbers: the rest of the row and the label, a class as indicators."""
    if not classes:
        return np.column_stack([known.features, known.labels])
    return np.column_stack([known.features, known.labels[:, None] == np.arange(classes)]).astype(np.float64)


def _list_learners(seed: int) -> dict[str, Any]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return {
        "the most common value": None,
        "a logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "a forest": RandomForestClassifier(100, min_samples_leaf=5, random_state=seed),
    }


def _validate(learner: Any, rows: Floats, truth: Integers, shares: Floats, seed: int) -> float:
    """The mean of minus the log probability of the truth, on folds that were not learned from."""
    from sklearn.model_selection import KFold

    lost = 0.0
    for learned, left in KFold(_FOLDS, shuffle=True, random_state=seed).split(rows):
        told = _predict(_fit(learner, rows[learned], truth[learned]), rows[left], shares)
        lost -= float(np.log(told[np.arange(len(left)), truth[left]]).sum())
    return lost / len(rows)


def _fit(learner: Any, rows: Floats, truth: Integers) -> Any:
    """Fit a copy; None where there is nothing to learn."""
    from sklearn.base import clone

    if learner is None or len(np.unique(truth)) < 2:
        return None
    if not hasattr(learner, "predict_proba"):
        raise ParameterError("The baseline must be a classifier that gives probabilities.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they may quote cells
        return clone(learner).fit(rows, truth)


def _predict(fitted: Any, rows: Floats, shares: Floats) -> Floats:
    if fitted is None:
        return np.tile(shares, (len(rows), 1))
    told = np.zeros((len(rows), len(shares)))
    told[:, np.asarray(fitted.classes_, np.intp)] = fitted.predict_proba(rows)
    return np.asarray((1 - _MIXED) * told + _MIXED * shares)
