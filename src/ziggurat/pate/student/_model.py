"""What is inside a student: one network or one classifier, how it is trained, and when it names the second class."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.data.withheld import RowsError
from ziggurat.errors import ParameterError
from ziggurat.pate.training import Classifiers, Network, Placement, Training, best_cut, find_classes, require_torch

if TYPE_CHECKING:
    from ziggurat.pate.training import Networks

_MOST = 1000.0  # log-odds: those of two floats that are not 0 lie within 750

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class StudentRule:
    """Class 1 of two is named above this number: of its "score" (a decision value or logit) or its "probability"."""

    kind: str
    at: float

    @classmethod
    def best(cls, model: Any, features: Array, codes: Integers) -> StudentRule:
        """Return the one with the largest true less false positive rate on labelled rows."""
        return cls("score", best_cut(scores(model, features), codes))

    def name_classes(self, model: Any, features: Array) -> Integers:
        """Return the class of every row, 0 or 1."""
        by_score = self.kind == "score"
        strength = scores(model, features) if by_score else model.probabilities(features)[0, :, 1]
        return np.asarray(strength > self.at, dtype=np.int64)

    @property
    def probability(self) -> float:
        """The number as a probability: the logistic function of a score."""
        return self.at if self.kind == "probability" else (1 + math.tanh(self.at / 2)) / 2


def require_network(network: Network, training: Training) -> None:
    """Raise a sentence unless the network can be trained as said."""
    require_torch()
    from ziggurat.pate.training import require_stackable

    require_stackable(network)
    weights = training.class_weights
    if isinstance(weights, tuple) and len(weights) != network.classes:
        raise ParameterError(f"Give a weight for each of the {network.classes} classes.")


def require_classifier(model: Any) -> None:
    """Raise a sentence unless it is a scikit-learn classifier."""
    from sklearn.base import is_classifier

    if isinstance(model, type) or not hasattr(model, "get_params") or not is_classifier(model):
        raise ParameterError("The model must be an MLP, a CNN, a Network of your own or a scikit-learn classifier.")


def require_threshold(threshold: Any, *, probabilities: bool) -> None:
    """Raise a sentence unless this threshold can be used by a model that does or does not give probabilities."""
    if isinstance(threshold, str) and threshold in ("tpr-fpr", "half"):
        return
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < float(threshold) < 1:
        raise ParameterError("The threshold must be 'tpr-fpr', 'half' or a number between 0 and 1.")
    if not probabilities:
        raise ParameterError("This model gives no probabilities; use the threshold 'tpr-fpr' or 'half'.")


def fit_network(
    network: Network, training: Training, features: Array, codes: Integers, seed: int, progress: Progress | None
) -> Networks:
    """Train by the program of the teachers, with one member that has all rows."""
    from ziggurat.pate.training import Networks, TrainingJob

    own = (np.arange(len(codes)),)
    place = Placement(chunk=1, executor="inline")
    job = TrainingJob([(network, training)], features, codes, own, (seed,), place, progress=progress)
    return Networks(job.run(), find_classes(codes, own, network.classes))


def fit_classifier(model: Any, features: Array, codes: Integers, classes: int, seed: int) -> Classifiers:
    """Fit a clone; where there is one class only, nothing has to be learned."""
    seen = np.bincount(codes[codes >= 0], minlength=classes) > 0
    return Classifiers([None if seen.sum() == 1 else _fit(model, features, codes, seed)], seen[None])


def is_semi_supervised(model: Any) -> bool:
    """Return whether the model, or the last step of a pipeline, takes rows without labels as they are."""
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return isinstance(last, LabelPropagation | LabelSpreading | SelfTrainingClassifier)


def scores(model: Any, features: Array) -> Floats:
    """Return how strongly each row speaks for class 1 against class 0, in decision values or log-odds.

    These still differ where probabilities round to the same number.
    """
    if not isinstance(model, Classifiers):
        return _logits(model, features)
    fitted: Any = model.fitted[0]
    if hasattr(fitted, "decision_function"):
        return np.asarray(fitted.decision_function(features), dtype=np.float64)
    if not hasattr(fitted, "predict_proba"):
        raise ParameterError("This model gives no scores to find a threshold in; use threshold='half'.")
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(fitted.predict_proba(features))
        odds = logs[:, 1] - logs[:, 0]
    return np.asarray(np.nan_to_num(odds, nan=0.0, posinf=_MOST, neginf=-_MOST))


def _logits(model: Networks, features: Array) -> Floats:
    """Ask in the ensemble's own batches: one logit stands for class 1 against 0."""
    logits = np.concatenate([part.double().numpy() for _, _, part, _ in model._ask(features)])
    return np.asarray(logits[:, 0] if logits.shape[1] == 1 else logits[:, 1] - logits[:, 0])


def _fit(model: Any, features: Array, codes: Integers, seed: int) -> Any:
    """Warnings other than those of convergence, and errors, are withheld, because they may quote cells."""
    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    one = clone(model)
    states = [name for name, value in one.get_params().items() if name.endswith("random_state") and value is None]
    one.set_params(**dict.fromkeys(states, seed % 2**32))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("default", ConvergenceWarning)
            return one.fit(features, codes)
    except Exception as error:  # noqa: BLE001 - whatever a foreign classifier raises
        kind = type(error).__name__
        raise RowsError(f"The model could not be trained on these rows ({kind}); check its settings.") from None
