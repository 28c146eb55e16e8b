"""`train-student`: a student that learns from noisy labels and is judged on rows of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.errors import ExperimentError
from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.cases import Classes, Features
from ziggurat.experiments.steps.voting._pate import network_of

if TYPE_CHECKING:
    from ziggurat.pate import Labels

OUTPUTS = (
    "accuracy",
    "balanced_accuracy",
    "constant_accuracy",
    "true_positive_rate",
    "true_negative_rate",
    "threshold",
    "evaluation",
)


@step("train-student", outputs=OUTPUTS)
def train_student(
    rows: Classes,
    sent: Features,
    labels: Classes,
    event: Mapping[str, Any],
    pool_features: Features,
    pool_labels: Classes,
    validation_features: Features,
    validation_labels: Classes,
    *,
    classes: int,
    features: str = "original",
    threshold_rows: int = 0,
    threshold_labels: str = "teachers",
    unlabelled: str = "drop",
    hidden: Sequence[int] = (512, 128),
    training: Mapping[str, Any] | None = None,
    seed: int = 0,
) -> dict[str, Any]:
    """Train a student on the rows that `label-queries` had labelled, and judge it on validation rows.

    Parameters
    ----------
    rows, sent, labels, event
        From `label-queries`.
    pool_features, pool_labels, validation_features, validation_labels
        The student's pool and the rows it is judged on; labels of the pool are used only where the threshold asks.
    classes
        How many classes there are.
    features
        'original': learns from the rows as they are, as the documents do; then the student itself promises nothing
        to those in them. 'sent': learns from what left, which is protected whatever becomes of the student.
    threshold_rows
        How many of the rows, the last ones, choose the threshold instead of being learned from; two classes only.
    threshold_labels
        'teachers': the noisy labels. 'truth': the true ones, which a student would have to pay or know.
    unlabelled
        'drop', or 'spread': rows of the pool without a label get that of their nearest neighbours.
    hidden, training
        The network, and the settings of `ziggurat.pate.Training`.

    Returns
    -------
    dict
        Accuracy and balanced accuracy; the accuracy of naming the most frequent class always; with two classes both
        rates and the threshold; and the whole evaluation. All are exact functions of the validation rows.
    """
    from ziggurat.pate import Student, Training
    from ziggurat.threads import one_thread

    if features not in ("original", "sent") or threshold_labels not in ("teachers", "truth"):
        raise ExperimentError("'features' is 'original' or 'sent', and 'threshold_labels' is 'teachers' or 'truth'.")
    own = pool_features[rows] if features == "original" else sent
    learned, chosen = np.split(np.arange(len(rows)), [len(rows) - threshold_rows])
    given: dict[str, Any] = {}
    if threshold_rows:
        named = labels if threshold_labels == "teachers" else pool_labels[rows]
        given = {"threshold_X": own[chosen], "threshold_y": named[chosen]}
    taken, noted = own[learned], labels[learned]
    if unlabelled == "spread":
        taken, noted = _with_the_rest(pool_features, taken, rows[learned], noted)
    network = network_of(own.shape[1], hidden, classes)
    student = Student(network, training=Training(**training or {}), unlabelled=unlabelled, random_state=seed)
    with one_thread():
        student.fit(taken, _as_released(noted, event), **given)
        return _judge(student, validation_features, validation_labels)


def _with_the_rest(pool: Features, own: Features, rows: Classes, labels: Classes) -> tuple[Features, Classes]:
    """The rows that were asked, then all others of the pool without labels."""
    rest = np.delete(pool, rows, axis=0)
    return np.concatenate([own, rest]), np.concatenate([labels, np.full(len(rest), -1, dtype=np.int64)])


def _as_released(labels: Classes, event: Mapping[str, Any]) -> Labels:
    """The labels with their price, which covers those that choose the threshold as well."""
    from ziggurat.pate import UNANSWERED, Labels
    from ziggurat.privacy import event_from_dict

    return Labels(labels, labels != UNANSWERED, event_from_dict(event), "seeded")


def _judge(student: Any, features: Features, truth: Classes) -> dict[str, Any]:
    found = student.evaluate(features, truth)
    return {
        "accuracy": found.accuracy,
        "balanced_accuracy": found.balanced_accuracy,
        "constant_accuracy": float(np.bincount(truth).max() / len(truth)),
        "true_positive_rate": found.true_positive_rate,
        "true_negative_rate": found.true_negative_rate,
        "threshold": student.threshold_,
        "evaluation": found.to_dict(),
    }
