"""The support vector machine without a bias: min |w|^2/2 + C sum_i max(0, 1 - y_i f(x_i)), to a certified accuracy.

Dual coordinate ascent (Hsieh et al. 2008) goes on until the duality gap is at most a public tolerance. The objective is
1-strongly convex, so whatever the solver did, its result is within sqrt(2 gap) of the exact minimiser: the sensitivity
of what is released is that of the minimiser and twice this distance. The number of sweeps has no limit, because giving
up would depend on the data.
"""

from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.learn.served._kernels import Array

SLACK = 0.02
"""Distance from the minimiser that is accepted, in units of C."""

# A gap is a difference of sums of size C times rows; floats can resolve it down to the tolerance up to this ratio.
_MOST_ROWS = 1e11
_NEVER_MORE = 1e7  # rows whose features could be kept in memory, where their number must not be looked at
_SWEEPS = 100  # over the rows on the margin, between two sweeps over all


def _jit(function: Any) -> Any:
    return cast(Any, numba.njit(cache=True)(function))


@_jit
def _sweep(features: Any, signs: Any, alpha: Any, w: Any, order: Any, cost: float) -> None:
    for i in order:
        slope = signs[i] * np.dot(features[i], w) - 1.0
        fresh = min(max(alpha[i] - slope / np.dot(features[i], features[i]), 0.0), cost)
        if fresh != alpha[i]:
            w += (fresh - alpha[i]) * signs[i] * features[i]
            alpha[i] = fresh


@_jit
def _sweep_gram(gram: Any, signs: Any, alpha: Any, values: Any, order: Any, cost: float) -> None:
    for i in order:
        fresh = min(max(alpha[i] - (signs[i] * values[i] - 1.0) / gram[i, i], 0.0), cost)
        if fresh != alpha[i]:
            values += (fresh - alpha[i]) * signs[i] * gram[i]
            alpha[i] = fresh


def require_soluble(cost: float, rows: int | None) -> None:
    """Refuse, from public facts alone, what floats cannot solve to the tolerance; None where rows are not public."""
    if rows is None and _NEVER_MORE / cost > _MOST_ROWS:
        raise ParameterError(
            f"C must be at least {_NEVER_MORE / _MOST_ROWS:g} under add-or-remove-one, where it may not depend on the "
            "number of rows, to be solved to the accuracy that the proof needs."
        )
    if rows is not None and rows / cost > _MOST_ROWS:
        raise ParameterError("C is too small for so many rows to be solved to the accuracy that the proof needs.")


def linear_machine(features: Array, signs: Array, cost: float) -> Array:
    """Return weights within SLACK * cost of the minimiser."""
    alpha = np.zeros(len(features))
    orders = np.random.default_rng(0)  # public: it decides how fast, not what
    table = np.ascontiguousarray(features)
    while True:
        # Recomputed, so that round-off of the updates never adds up.
        w = table.T @ (alpha * signs)
        values = table @ w
        if _gap(float(w @ w), values, signs, alpha, cost) <= _tolerance(cost):
            return np.asarray(w)
        _sweep(table, signs, alpha, w, orders.permutation(len(table)), cost)
        near = _undecided(alpha, cost)
        for _ in range(_SWEEPS):
            _sweep(table, signs, alpha, w, orders.permutation(near), cost)


def kernel_machine(gram: Array, signs: Array, cost: float) -> Array:
    """Return coefficients of the kernel at the rows; the function is within SLACK * cost of the minimiser."""
    alpha = np.zeros(len(gram))
    orders = np.random.default_rng(0)
    while True:
        values = gram @ (alpha * signs)
        if _gap(float(alpha * signs @ values), values, signs, alpha, cost) <= _tolerance(cost):
            return np.asarray(alpha * signs)
        _sweep_gram(gram, signs, alpha, values, orders.permutation(len(gram)), cost)
        near = _undecided(alpha, cost)
        for _ in range(_SWEEPS):
            _sweep_gram(gram, signs, alpha, values, orders.permutation(near), cost)


def _undecided(alpha: Array, cost: float) -> Any:
    """The rows on the margin: near the end they are few, and all that is left to do."""
    return np.flatnonzero((alpha > 0) & (alpha < cost))


def _gap(square: float, values: Array, signs: Array, alpha: Array, cost: float) -> float:
    """Primal less dual objective: |w|^2 + C sum hinge - sum alpha, never below 0 but for round-off."""
    return square + float((cost * np.maximum(0.0, 1.0 - signs * values) - alpha).sum())


def _tolerance(cost: float) -> float:
    """Half the square of the accepted distance, less what floats may hide."""
    return (SLACK * cost) ** 2 / 2 * 0.99
