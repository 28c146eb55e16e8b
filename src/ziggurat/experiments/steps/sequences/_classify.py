"""`classify-sequences`: the control test, a recurrent classifier without any privacy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ziggurat.experiments._steps import step
from ziggurat.experiments.steps.records import best_threshold, measure
from ziggurat.experiments.steps.sequences._data import unpack

OUTPUTS = (
    "accuracy",
    "balanced_accuracy",
    "auc",
    "true_positive_rate",
    "false_positive_rate",
    "threshold",
    "confusion",
    "accuracy_on_original",
)


@step("classify-sequences", outputs=OUTPUTS)
def classify_sequences(
    train: Mapping[str, Any],
    validation: Mapping[str, Any],
    test: Mapping[str, Any],
    *,
    original: Mapping[str, Any] | None = None,
    epochs: int = 5,
    batch: int = 64,
    seed: int = 0,
) -> dict[str, Any]:
    """Train on `train`, choose the threshold on `validation`, judge on `test`; no privacy of its own.

    Parameters
    ----------
    train, validation, test
        From `sequence-data` or `privatize-sequences`.
    original
        Sequences as they were, to be judged by the same classifier; `test` if there are none.
    epochs, batch
        How it is trained.

    Returns
    -------
    dict
        The measures on `test`, balanced accuracy among them, and `accuracy_on_original`.
    """
    from ziggurat.sequences.tokens import RecurrentClassifier

    judge = RecurrentClassifier(epochs=epochs, batch=batch, random_state=seed).fit(unpack(train))

    def scores(part: Mapping[str, Any]) -> tuple[Any, Any]:
        return judge.predict_proba(unpack(part))[:, 1], part["labels"]

    threshold = best_threshold(*scores(validation), "tpr-fpr")
    found = measure(*scores(test), threshold)
    on_original = found if original is None else measure(*scores(original), threshold)
    return {
        **{name: found[name] for name in OUTPUTS if name in found},
        "balanced_accuracy": (found["true_positive_rate"] + 1 - found["false_positive_rate"]) / 2,
        "accuracy_on_original": on_original["accuracy"],
    }
