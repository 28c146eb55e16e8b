"""Copies that a thief makes of a model from its answers."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from ziggurat.attacks.models._attacked import AttackedModel, Floats

_TINY = 1e-12


class ModelCopy(ABC):
    """A model of the thief's own: learned from questions and answers, probabilities of classes or numbers."""

    name: str

    @abstractmethod
    def learn(self, rows: Floats, answers: Floats) -> Self:
        """Learn; a copy that was learned before is not changed."""

    @abstractmethod
    def answer(self, rows: Floats) -> Floats:
        """What it says, as the model does."""

    def doubt(self, rows: Floats) -> Floats:
        """How unsure it is of each row: of classes how little the first two differ."""
        said = self.answer(rows)
        if said.ndim == 1:
            return np.zeros(len(rows))
        first, second = np.sort(said, axis=1)[:, -2:].T[::-1]
        return np.asarray(second - first)


class SolvedCopy(ModelCopy):
    """Equations: log odds, or numbers, that are linear in the row."""

    name = "equations"

    def __init__(self) -> None:
        self.weights: Floats = np.empty((0, 0))
        self.classes = 0

    def learn(self, rows: Floats, answers: Floats) -> Self:
        """Solve for the weights."""
        made = type(self)()
        made.classes = answers.shape[1] if answers.ndim == 2 else 0
        logs = np.log(np.maximum(answers, _TINY)) if made.classes else answers[:, None]
        aims = logs[:, 1:] - logs[:, :1] if made.classes else logs
        made.weights = np.linalg.lstsq(_with_constant(rows), aims, rcond=None)[0]
        return made

    def answer(self, rows: Floats) -> Floats:
        """Probabilities by the log odds."""
        from scipy.special import softmax

        said = _with_constant(rows) @ self.weights
        if not self.classes:
            return np.asarray(said[:, 0])
        return np.asarray(softmax(np.column_stack([np.zeros(len(rows)), said]), axis=1))


class RegressedCopy(ModelCopy):
    """A learner of scikit-learn that predicts probabilities, or numbers, as they were said."""

    def __init__(self, name: str, learner: Any) -> None:
        self.name, self.learner = name, learner

    def learn(self, rows: Floats, answers: Floats) -> Self:
        """Fit a clone."""
        from sklearn.base import clone

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of solvers that stop early: a thief does not mind
            return type(self)(self.name, clone(self.learner).fit(rows, answers))

    def answer(self, rows: Floats) -> Floats:
        """Numbers, or shares of classes."""
        said = np.asarray(self.learner.predict(rows), np.float64)
        if said.ndim == 1:
            return said
        positive = np.maximum(said, _TINY)
        return np.asarray(positive / positive.sum(axis=1, keepdims=True))

    def doubt(self, rows: Floats) -> Floats:
        """Of numbers how much the trees of a forest differ, where it is one."""
        trees = getattr(self.learner, "estimators_", None)
        if trees is None or self.learner.n_outputs_ > 1:
            return super().doubt(rows)
        return np.asarray(np.std([each.predict(rows) for each in trees], axis=0))


class NamedCopy(ModelCopy):
    """A classifier of scikit-learn that learns which class was named."""

    def __init__(self, name: str, learner: Any, classes: int = 0, only: int | None = None) -> None:
        self.name, self.learner, self.classes, self.only = name, learner, classes, only

    def learn(self, rows: Floats, answers: Floats) -> Self:
        """Fit a clone; where one class was named only, it is the answer."""
        from sklearn.base import clone

        named, classes = answers.argmax(axis=1), answers.shape[1]
        if len(np.unique(named)) == 1:
            return type(self)(self.name, self.learner, classes, int(named[0]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return type(self)(self.name, clone(self.learner).fit(rows, named), classes)

    def answer(self, rows: Floats) -> Floats:
        """Probabilities of the classes, of those never named 0."""
        said = np.zeros((len(rows), self.classes))
        if self.only is not None:
            said[:, self.only] = 1.0
        else:
            said[:, np.asarray(self.learner.classes_, np.intp)] = self.learner.predict_proba(rows)
        return said


def list_copies(model: AttackedModel, seed: int) -> list[ModelCopy]:
    """Copies that fit what the model tells: equations and learners of probabilities or numbers, or of classes alone."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    network: dict[str, Any] = {"hidden_layer_sizes": (32, 32), "solver": "lbfgs", "alpha": 1e-3, "max_iter": 100}
    network["random_state"] = seed
    if model.labels_only:
        return [
            NamedCopy(
                "a logistic regression", make_pipeline(StandardScaler(), LogisticRegression(C=100, max_iter=1000))
            ),
            NamedCopy("a forest", ExtraTreesClassifier(50, random_state=seed)),
            NamedCopy("a network", make_pipeline(StandardScaler(), MLPClassifier(**network))),
        ]
    return [
        SolvedCopy(),
        RegressedCopy("a forest", ExtraTreesRegressor(50, random_state=seed)),
        RegressedCopy("a network", make_pipeline(StandardScaler(), MLPRegressor(**network))),
    ]


def _with_constant(rows: Floats) -> Floats:
    return np.column_stack([rows, np.ones(len(rows))])
