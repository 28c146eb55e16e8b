"""Audits of linear models, by the weights that leave."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ziggurat.attacks.audits.catalogue._fits import RepeatedFit, fit_case, with_one_more

_LINE = {"bounds": (-1, 1), "y_bounds": (-1, 1), "fit_intercept": False}
# All rows lie on a line of slope 1 but for one. It lowers the noisy sum of x y by 1 and raises that of x^2, and as both
# are far larger than their noise, the slope moves by as much as the sum of both moves beside its noise.
_CONTRARY = with_one_more(1, -1, (1, 1, 2000))
_ALONE = with_one_more(1, 1)

# A crowd pulls the weights far along one diagonal; the row pulls nearly all its force across it (slope near 1).
_FAR, _LEAN = 4.0, 0.6
_ALONG, _ACROSS = np.array([1.0, -1.0]) / math.sqrt(2), np.array([1.0, 1.0]) / math.sqrt(2)
_PULLED = with_one_more(
    -_LEAN * _ALONG + math.sqrt(1 - _LEAN**2) * _ACROSS, 1, (_ALONG, 1, round(_FAR * math.exp(_FAR)))
)


def _slope(made: Any) -> float:
    return float(np.ravel(made.coef_)[0])


def _across(made: Any) -> float:
    return float(made.coef_[0] @ _ACROSS)


def _chosen(made: Any) -> int:
    return int(made.best_index_)


_SLOPED = "rows on a line, and one more far from it"
_ONE = "no row, and one"
_RIDGE = {**_LINE, "delta": 0, "method": "output", "alpha": 1000.0, "expected_rows": 1}
_LOGISTIC = {"classes": 2, "bounds": (-1, 1), "fit_intercept": False}
_SPARSE = {**_LINE, "delta": "0.01", "alpha": 0.001, "expected_rows": 2000}
# Candidates that say one end of the target or the other, nearly without noise. One row lies nearer to the low end, and
# another at the high end makes that the better one; all that is seen is which was chosen.
_SAYING = {"alpha": 1e9, "method": "output", "expected_rows": 1, "bounds": (-1, 1)}
_ENDS = {"y_bounds": [(-1.0, -0.9), (0.9, 1.0)]}


def _by_method(method: str) -> RepeatedFit:
    tables = _ALONE if method == "objective" else _CONTRARY
    declared = {"expected_rows": 3} if method == "input" else {}
    return RepeatedFit("LinearRegression", {**_LINE, "delta": 0, "method": method, **declared}, tables, _slope)


CASES = (
    fit_case(
        RepeatedFit("LinearRegression", {**_LINE, "delta": "0.01"}, _CONTRARY, _slope), _SLOPED, delta="0.01", fault=16
    ),
    fit_case(_by_method("functional"), _SLOPED, of="functional", fault=8),
    fit_case(_by_method("functional-as-published"), _SLOPED, of="functional-as-published", fault=30),
    fit_case(_by_method("objective"), _ONE, of="objective", fault=12),
    fit_case(_by_method("input"), _SLOPED, of="input", fault=6),
    fit_case(RepeatedFit("Ridge", {**_LINE, "delta": "0.01"}, _CONTRARY, _slope), _SLOPED, delta="0.01", fault=16),
    fit_case(RepeatedFit("Ridge", _RIDGE, _ALONE, _slope), _ONE, of="output", fault=6),
    fit_case(RepeatedFit("Lasso", _SPARSE, _CONTRARY, _slope), _SLOPED, delta="0.01", fault=16),
    fit_case(RepeatedFit("ElasticNet", _SPARSE, _CONTRARY, _slope), _SLOPED, delta="0.01", fault=16),
    fit_case(
        RepeatedFit("LogisticRegression", {**_LOGISTIC, "delta": 0, "expected_rows": 1}, _ALONE, _slope),
        _ONE,
        of="objective",
        fault=16,
    ),
    fit_case(
        RepeatedFit("LogisticRegression", {**_LOGISTIC, "delta": "0.01", "expected_rows": 1}, _ALONE, _slope),
        _ONE,
        of="objective with Gaussian noise",
        delta="0.01",
        fault=30,
    ),
    fit_case(
        RepeatedFit(
            "LogisticRegression", {**_LOGISTIC, "delta": 0, "method": "output", "clip_norm": 1}, _PULLED, _across
        ),
        "a crowd far to one side, and a row more that pulls across it",
        of="output",
        fault=12,
    ),
    fit_case(
        RepeatedFit(
            "PrivateSearch",
            {"param_grid": _ENDS, "delta": 0, "choice_share": "0.9"},
            with_one_more(0, 1, (0, -0.5, 1)),
            _chosen,
            inner={"estimator": ("Ridge", {**_SAYING, "y_bounds": (-1, 1)})},
        ),
        "a row nearer to the one of two candidates, and a row more nearer to the other",
        runs=200,  # every fit plans and makes two
        fault=8,
    ),
)
