"""Where to cut scores so that two classes are told apart best."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def best_cut(scores: Floats, labels: Integers) -> float:
    """Return the cut that maximises the true less the false positive rate; 0 where a class is missing.

    Among equals the lowest is taken, half way between two scores.
    """
    positives = int(labels.sum())
    if positives in (0, labels.size) or not np.isfinite(scores).all():
        return 0.0
    order = np.argsort(scores, kind="stable")
    ordered, positive = scores[order], labels[order] == 1
    # Below a cut after place i lie cumsum(...)[i] of each class: TPR - FPR is the difference of the shares below.
    gain = np.cumsum(~positive) / (labels.size - positives) - np.cumsum(positive) / positives
    gain[:-1][ordered[:-1] == ordered[1:]] = -1
    at = int(np.argmax(gain[:-1]))
    return float((ordered[at] + ordered[at + 1]) / 2) if gain[at] > 0 else 0.0
