"""A classifier that learns on shadows how a model answers about people it was trained on, and about others.

Shokri, Stronati, Song, Shmatikov (2017), "Membership inference attacks against machine learning models", IEEE S&P.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows
from ziggurat.attacks.models._shadows import Shadows
from ziggurat.attacks.models._signals import measure_loss, scale_answers

_MOST = 10_000  # answers to learn from: more do not change what so few features tell
_LARGEST = 3  # probabilities that it is shown, in order


def score_by_classifier(
    model: AttackedModel, rows: LabelledRows, shadows: Shadows, draw: np.random.Generator
) -> Floats:
    """Return how likely a person is a member, by a classifier that learned it on shadows' answers.

    It sees the label, the confidence in it, the loss, and the largest probabilities, or of a regression the answer.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier

    shown = draw.permutation(shadows.inside.size)[:_MOST]
    which, whom = np.unravel_index(shown, shadows.inside.shape)
    learned = HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=15, early_stopping=False, random_state=0)
    learned.fit(_describe(shadows.answers[which, whom], rows.labels[whom]), shadows.inside[which, whom])
    return np.asarray(learned.decision_function(_describe(model.ask(rows.features), rows.labels)), np.float64)


def _describe(answers: Floats, labels: npt.NDArray[Any]) -> Floats:
    """What the classifier sees of answers about people: a row for each."""
    columns = [np.asarray(labels, np.float64), scale_answers(answers, labels), measure_loss(answers, labels)]
    if answers.ndim == 1:
        return np.column_stack([*columns, answers])
    largest = -np.sort(-answers, axis=1)[:, :_LARGEST]
    padded = np.pad(largest, ((0, 0), (0, _LARGEST - largest.shape[1])))
    return np.column_stack([*columns, padded, answers.argmax(axis=1) == labels])
