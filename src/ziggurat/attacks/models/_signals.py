"""What an attacker reads off a model's answer about one person: one number, the larger the better it knows them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.attacks.models._attacked import AttackedModel, Floats, LabelledRows

_TINY = 1e-12


def measure_confidence(model: AttackedModel, rows: LabelledRows) -> Floats:
    """Return the log odds of the true class, or of a regression minus the log of the squared error.

    Carlini et al. (2022) found log odds near normal over models trained alike, where probabilities are not.
    """
    return scale_answers(model.ask(rows.features), rows.labels)


def scale_answers(answers: Floats, labels: npt.NDArray[Any], least: float = _TINY) -> Floats:
    """Return the same from answers of any number of models: (..., rows, classes), or (..., rows) of regressions.

    A probability below `least` counts as that.
    """
    if _names_classes(answers, labels):
        true = find_true(answers, labels)
        rest = answers.sum(axis=-1) - true
        return np.asarray(np.log(np.maximum(true, least)) - np.log(np.maximum(rest, least)))
    return np.asarray(-np.log(np.maximum((answers - labels) ** 2, _TINY)))


def find_true(answers: Floats, labels: npt.NDArray[Any]) -> Floats:
    """Return the probability of the true class: (..., rows); 0 of a class that the model does not know."""
    codes = labels.astype(np.intp)
    known = (codes >= 0) & (codes < answers.shape[-1])
    places = np.broadcast_to(np.where(known, codes, 0)[:, None], (*answers.shape[:-1], 1))
    return np.asarray(np.take_along_axis(answers, places, axis=-1)[..., 0] * known)


def measure_loss(answers: Floats, labels: npt.NDArray[Any]) -> Floats:
    """Return minus the log of the probability of the true class, or of a regression the squared error."""
    if _names_classes(answers, labels):
        return np.asarray(-np.log(np.maximum(find_true(answers, labels), _TINY)))
    return np.asarray((answers - labels) ** 2)


def _names_classes(answers: Floats, labels: npt.NDArray[Any]) -> bool:
    return answers.ndim >= 2 and answers.shape[-2:-1] == labels.shape
