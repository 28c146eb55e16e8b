"""Audits of served models, by their answers where one row or label moves them furthest."""

from __future__ import annotations

import math
from typing import Any

from ziggurat.attacks.audits.catalogue._fits import RepeatedFit, fit_case, invent_table, with_one_more

_DELTA = "0.01"
_BOX = {"bounds": (-1, 1), "delta": _DELTA}
_ALONE = with_one_more(0, 1)
_LABELS = (invent_table((0, 1, 1)), invent_table((0, -1, 1)))
_AWAY = with_one_more(1, 1, (-1, 0, 100))


def _density(made: Any) -> float:
    """The noisy sum of kernels at the row and the noisy number of rows, as a row moves both beside their noise.

    A row adds 1 to the one and, of noise of the same deviation, a quarter to a quarter of the other.
    """
    highest = math.sqrt(2 * math.pi)
    return float(made.count_ * (made.density([[1.0]])[0] * highest + 1 / 16))


def _decision(made: Any) -> float:
    return float(made.decision_function([[0.0]])[0])


def _prediction(made: Any) -> float:
    return float(made.predict([[0.0]])[0])


def _answer(made: Any) -> float:
    return float(made.answers_[0])


_ONE = "no row, and one"
_LABEL = "the lowest and the highest label of one public row (replace-one)"

_ANSWERED = {"delta": _DELTA, "y_bounds": (-1, 1)}

CASES = (
    fit_case(
        RepeatedFit("KernelDensity", {**_BOX, "features": 32}, _AWAY, _density),
        "a crowd, and a row more away from it",
        delta=_DELTA,
        fault=16,
    ),
    fit_case(
        RepeatedFit("KernelSVM", {**_BOX, "classes": 2, "features": 32}, _ALONE, _decision),
        _ONE,
        delta=_DELTA,
        runs=200,
        fault=30,
    ),
    fit_case(
        RepeatedFit("GaussianProcessRegression", {**_BOX, "y_bounds": (-1, 1), "features": 32}, _LABELS, _prediction),
        _LABEL,
        delta=_DELTA,
        runs=200,
        fault=16,
    ),
    fit_case(
        RepeatedFit("CloakedRegression", {**_ANSWERED, "questions": [[0.0]]}, _LABELS, _answer),
        _LABEL,
        delta=_DELTA,
        runs=200,
        fault=16,
    ),
    fit_case(
        RepeatedFit(
            "OutputPerturbation",
            {"delta": 0, "questions": [[0.0]]},
            _ALONE,
            _answer,
            inner={"model": ("KernelSVM", {"classes": 2})},
        ),
        _ONE,
        fault=6,
    ),
)
