"""A model as attackers meet it: whom they ask, about what, and what they know of how it was trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.errors import DataError, ParameterError

Floats = npt.NDArray[np.float64]
Answers = Callable[[Floats], npt.ArrayLike]
"""Rows in; out come probabilities of every class, a row for each, or of a regression a number for each."""

ModelKind = Literal["classes", "numbers"]
"""Whether a model names classes, by their probabilities, or numbers."""


@dataclass(frozen=True)
class LabelledRows(Shown):
    """Rows of people with the label of each: a code of a class, or a number.

    Attributes
    ----------
    features
        A row of numbers for each person.
    labels
        What is predicted of each: codes from 0, or numbers.
    """

    features: Floats
    labels: npt.NDArray[Any]

    def __post_init__(self) -> None:
        """Refuse what cannot be asked about."""
        features, labels = np.asarray(self.features, np.float64), np.asarray(self.labels)
        if features.ndim != 2 or labels.shape != (len(features),):
            raise DataError("Attacked is a table of numbers, a row for each person, with a label for each.")
        if not np.isfinite(features).all() or labels.dtype.kind not in "biuf" or not np.isfinite(labels).all():
            raise DataError("Features and labels of the people must be finite numbers; encode classes from 0.")
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)

    def __len__(self) -> int:
        return len(self.features)

    def take(self, places: npt.NDArray[Any]) -> Self:
        """Some of them."""
        return replace(self, features=self.features[places], labels=self.labels[places])

    def join(self, others: LabelledRows) -> LabelledRows:
        """Both, one after the other."""
        if self.features.shape[1] != others.features.shape[1]:
            raise DataError("Members and others need the same columns.")
        return LabelledRows(np.vstack([self.features, others.features]), np.concatenate([self.labels, others.labels]))


@dataclass(frozen=True)
class AttackedModel:
    """A model that is about to leave, or to be asked.

    Attributes
    ----------
    answers
        What it says about rows.
    kind
        Whether it names classes (by probabilities) or numbers.
    labels_only
        Whether it tells the class alone: its probabilities are 0 and 1 then.
    recipe
        An estimator in the manner of scikit-learn that is trained as the model was, or a `NetworkRecipe`: attackers
        train shadows by it. None if attackers cannot.
    name
        What it is, for people.
    """

    answers: Answers = field(repr=False)
    kind: ModelKind = "classes"
    labels_only: bool = False
    recipe: Any = field(default=None, repr=False)
    name: str = "the model"

    @classmethod
    def of(cls, estimator: Any) -> Self:
        """A fitted estimator in the manner of scikit-learn, ours or foreign, with its own parameters as the recipe."""
        from sklearn.base import is_classifier, is_regressor

        name = type(estimator).__name__
        if is_classifier(estimator):
            only = not hasattr(estimator, "predict_proba")
            return cls(
                _name_classes(estimator) if only else _weigh_classes(estimator), "classes", only, estimator, name
            )
        if is_regressor(estimator):
            return cls(estimator.predict, "numbers", False, estimator, name)
        raise ParameterError("Attacked is a fitted classifier or regression; give others as AttackedModel(answers).")

    def remember(self, rows: LabelledRows) -> Self:
        """The same, asked once about these rows: what it said is used each time they are asked about."""
        said, asked, answers = self.ask(rows.features), rows.features, self.answers
        return replace(self, answers=lambda features: said if features is asked else answers(features))

    def ask(self, features: Floats) -> Floats:
        """What the model says, checked: (rows, classes), or (rows,) of a regression."""
        said = np.asarray(self.answers(features), np.float64)
        wanted = 2 if self.kind == "classes" else 1
        if said.ndim != wanted or len(said) != len(features) or not np.isfinite(said).all():
            raise DataError(
                "The model must answer each row with a probability for every class, or a regression with a number."
            )
        return said


def spread_classes(said: npt.ArrayLike, classes: npt.ArrayLike) -> Floats:
    """Return answers with a column for every code from 0; classes without codes keep the order they have."""
    answers, codes = np.asarray(said, np.float64), np.asarray(classes)
    if codes.dtype.kind not in "biuf" or (codes != np.floor(codes)).any() or codes.min() < 0:
        return answers
    if np.array_equal(codes, np.arange(len(codes))):
        return answers
    wide = np.zeros((len(answers), int(codes.max()) + 1))
    wide[:, codes.astype(np.intp)] = answers
    return wide


def _weigh_classes(estimator: Any) -> Answers:
    return lambda features: spread_classes(estimator.predict_proba(features), estimator.classes_)


def _name_classes(estimator: Any) -> Answers:
    def answer(features: Floats) -> Floats:
        classes = np.asarray(estimator.classes_)
        return spread_classes(np.asarray(estimator.predict(features))[:, None] == classes, classes)

    return answer
