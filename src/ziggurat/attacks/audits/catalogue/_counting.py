"""Audits of models made of noisy counts, each by what its fitted attributes tell of one row.

A share of classes tells one noisy count nearly exactly where the other is so large that its noise does not matter, and
both are so large that none is moved to the least that is possible. So a crowd is in one class, a handful in the other,
and the row that comes or goes joins the handful.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ziggurat.attacks.audits.catalogue._fits import RepeatedFit, fit_case, with_one_more

_CROWD, _HANDFUL = 400, 12
_CLASSES = {"classes": 2, "bounds": (-1, 1)}
_JOINED = with_one_more(1, 1, (1, 1, _HANDFUL), (-1, 0, _CROWD))
_PAIR = "the counts of a crowd and of a handful, and a row more in the handful"
# Of two equally good splits the row is on the right side of one alone, which permute-and-flip then prefers.
_BETWEEN = with_one_more(0, 1, (-1, 0, 20), (1, 1, 20))
# One row far away, or two: the second may carry its bucket over the least count that is surely not empty.
_FAR = with_one_more(1000, 1, (1000, 1, 1), (1, 0, _CROWD))


def _count_handful(made: Any) -> float:
    return _CROWD * float(made.class_prior_[1] / made.class_prior_[0])


def _count_category(made: Any) -> tuple[float, float]:
    count = _count_handful(made)
    return count, count * float(made.feature_prob_[0][1, 1])


def _ratio_of_sums(made: Any) -> float:
    """The log ratio of likelihoods of the noisy count and of the noisy sum in the handful, in equal parts of epsilon.

    Means lean on that of all, which is 0 here, with the weight of as many rows as the noise of a sum has deviation.
    """
    count = _count_handful(made)
    total = float(made.theta_[1, 0]) * (count + math.sqrt(2) * 17 / 8 / float(made.epsilon))
    return float(np.clip(count - _HANDFUL, 0, 1) + np.clip(total, 0, 1))


def _odds_in_leaves(made: Any) -> list[float]:
    return [float(odds) for odds in np.ravel(made.value_[..., 1] / made.value_[..., 0])]


def _first_threshold(made: Any) -> float:
    return float(made.threshold_[0])


def _upper_end(made: Any) -> float:
    return float(made.bounds_[1, 0])


def _share(made: Any) -> float:
    return float(made.shares_[1] / made.shares_[0])


def _count_all(made: Any) -> float:
    return float(made.count_)


_STUMP = {**_CLASSES, "depth": 1}

CASES = (
    fit_case(
        RepeatedFit("CategoricalNB", {"classes": 2, "categories": 2, "delta": 0}, _JOINED, _count_category),
        _PAIR,
        fault=4,
    ),
    fit_case(
        RepeatedFit(
            "GaussianNB",
            {**_CLASSES, "delta": 0},
            with_one_more(1, 1, (0, 1, _HANDFUL), (0, 0, _CROWD)),
            _ratio_of_sums,
        ),
        "a crowd and a handful in the middle, and a row more at the end of the bounds",
        fault=8,
    ),
    fit_case(
        RepeatedFit("GaussianNB", {"classes": 2, "delta": 0, "bounds_share": "0.9"}, _FAR, _upper_end),
        "a crowd and a row far away, and a second one there",
        of="bounds",
        fault=8,
    ),
    fit_case(
        RepeatedFit(
            "DecisionTreeClassifier", {**_STUMP, "thresholds": 1, "leaf_share": "0.9"}, _JOINED, _odds_in_leaves
        ),
        _PAIR,
        of="leaves",
        fault=4,
    ),
    fit_case(
        RepeatedFit(
            "DecisionTreeClassifier", {**_STUMP, "thresholds": 2, "leaf_share": "0.1"}, _BETWEEN, _first_threshold
        ),
        "two equally good splits, and a row more that makes one of them better",
        of="splits",
        runs=400,
        fault=6,
    ),
    fit_case(
        RepeatedFit(
            "DecisionTreeClassifier",
            {**_STUMP, "thresholds": 2, "leaf_share": "0.1", "criterion": "gini"},
            _BETWEEN,
            _first_threshold,
        ),
        "two equally good splits, and a row more that makes one of them better",
        of="splits by Gini impurity",
        runs=400,
        fault=6,
    ),
    fit_case(
        RepeatedFit("RandomForestClassifier", {**_STUMP, "trees": 1, "delta": 0}, _JOINED, _odds_in_leaves),
        _PAIR,
        fault=4,
    ),
    fit_case(RepeatedFit("Histogram", {"bounds": (-1, 1), "bins": 2, "delta": 0}, _JOINED, _share), _PAIR, fault=4),
    fit_case(
        RepeatedFit("ServedHistogram", {"bounds": (-1, 1), "bins": 1, "delta": 0}, _JOINED, _count_all), _PAIR, fault=4
    ),
)
