"""What every classifier is judged by: a threshold from the validation data, and the test data seen once."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ziggurat.data.encoding import Labels, Matrix
from ziggurat.errors import DataError, ExperimentError

ThresholdBy = Literal["tpr-fpr", "accuracy"]


def require_two_classes(labels: Labels, part: str) -> None:
    """Refuse data from which nothing can be learned or judged."""
    if len(np.unique(labels)) < 2:
        raise DataError(f"The {part} data hold one class only; use more rows or another target.")


def best_threshold(scores: Matrix, labels: Labels, by: ThresholdBy) -> float:
    """The score from which on a record counts as positive: the best one on the validation data, the highest of equals.

    'tpr-fpr' maximises the true minus the false positive rate (Youden's J); 'accuracy' the share that is right.
    """
    from sklearn.metrics import roc_curve

    require_two_classes(labels, "validation")
    false_rate, true_rate, thresholds = roc_curve(labels, scores, drop_intermediate=False)
    # The first threshold stands for "never positive" and is infinite; a finite one above all scores says the same.
    thresholds[0] = np.nextafter(thresholds[1], np.inf)
    positives = int(labels.sum())
    negatives = len(labels) - positives
    # Whole numbers, so that equals are equal.
    right, wrong = np.rint(true_rate * positives), np.rint(false_rate * negatives)
    if by == "tpr-fpr":
        worth = right * negatives - wrong * positives
    elif by == "accuracy":
        worth = right - wrong
    else:
        raise ExperimentError("'threshold_by' must be 'tpr-fpr' or 'accuracy'.")
    return float(thresholds[int(np.argmax(worth))])


def measure(scores: Matrix, labels: Labels, threshold: float) -> dict[str, Any]:
    """The measures on the test data; a ratio over nothing counts as 0."""
    from sklearn.metrics import roc_auc_score

    require_two_classes(labels, "test")
    said = scores >= threshold
    truth = labels == 1
    tp, fp = int((said & truth).sum()), int((said & ~truth).sum())
    fn, tn = int((~said & truth).sum()), int((~said & ~truth).sum())
    return {
        "confusion": {"true_positive": tp, "false_positive": fp, "false_negative": fn, "true_negative": tn},
        "accuracy": (tp + tn) / len(labels),
        "precision": _share(tp, tp + fp),
        "recall": _share(tp, tp + fn),
        "f1": _share(2 * tp, 2 * tp + fp + fn),
        "auc": float(roc_auc_score(labels, scores)),
        "true_positive_rate": _share(tp, tp + fn),
        "false_positive_rate": _share(fp, fp + tn),
        "threshold": threshold,
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
