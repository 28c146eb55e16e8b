"""Minimising a noisy quadratic: all of it is post-processing of released sums."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np

from ziggurat.learn._clipping import Floats
from ziggurat.learn._moments import Quadratic

# The spectral norm of symmetric noise is about 2 spread sqrt(d) (Wigner). Of 0.25 to 4 it was also the best on wine
# quality, where it was tried; on other tables 1 is often better at a large epsilon and 4 at a small one.
_RIDGE = 2.0
_SWEEPS = 1000
_CLOSE = 1e-10
# Where scaled weights stop that noise left without a minimum: 1 already takes a column's range to all of the target's.
_FARTHEST = 1e6


@dataclass(frozen=True)
class Penalty:
    """What weighs on scaled weights t beside squared residuals: sum square_j t_j^2 + 2 sum absolute_j |t_j|.

    With `per_row` it is counted once for every row, as noise let them be counted.
    """

    square: Floats
    absolute: Floats
    per_row: bool = False

    def of(self, rows: float) -> Penalty:
        """The penalty on so many rows."""
        return Penalty(rows * self.square, rows * self.absolute) if self.per_row else self


def solve(noisy: Quadratic, penalty: Penalty, *, repair: bool = True) -> tuple[Floats, float]:
    """Give the scaled weights and intercept that minimise the noisy quadratic with its penalty.

    Noise can make a quadratic indefinite, which then has no minimum. The repair takes negative eigenvalues for 0 and
    adds a ridge of the spectral norm of noise alone, about 2 spread sqrt(d), less what the penalty adds anyway.

    Without the repair, where there is no minimum, the answer is the saddle, or with absolute values, where descent
    would never end, what it has reached at `_FARTHEST`; and a warning says so. It is raised by the noisy sums alone, so
    it is post-processing as well.
    """
    penalty, (gram, cross) = penalty.of(noisy.rows), noisy.centre()
    if repair:
        level = _RIDGE * noisy.spread * math.sqrt(len(cross)) - float(penalty.square.min())
        gram = _lift(gram) + max(level, 0.0) * np.eye(len(cross))
    gram = gram + np.diag(penalty.square)
    if not repair and np.linalg.eigvalsh(gram)[0] < 0:
        _warn_of_no_minimum()
    weights = _sparse(gram, cross, penalty.absolute) if penalty.absolute.any() else _stationary(gram, cross)
    return weights, noisy.intercept(weights)


def _warn_of_no_minimum() -> None:
    warnings.warn(
        "Noise left the objective without a minimum, as the published method allows: the weights are a saddle, or "
        "where descent was stopped; method 'functional' repairs this.",
        UserWarning,
        stacklevel=2,
    )


def _lift(gram: Floats) -> Floats:
    values, vectors = np.linalg.eigh(gram)
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


def _stationary(gram: Floats, cross: Floats) -> Floats:
    """The stationary point; where there are several, the shortest."""
    return np.asarray(np.linalg.lstsq(gram, cross, rcond=1e-12)[0])


def _sparse(gram: Floats, cross: Floats, absolute: Floats) -> Floats:
    """Coordinate descent with soft thresholds; every step is the exact minimum along its coordinate, within a box.

    A coordinate along which noise left no minimum stays at 0.
    """
    weights = np.zeros_like(cross)
    for _ in range(_SWEEPS):
        before = weights.copy()
        for j in range(len(cross)):
            if gram[j, j] <= 0:
                continue
            rest = cross[j] - gram[j] @ weights + gram[j, j] * weights[j]
            weights[j] = math.copysign(min(max(abs(rest) - absolute[j], 0.0) / gram[j, j], _FARTHEST), rest)
        if np.max(np.abs(weights - before)) <= _CLOSE * (1 + np.max(np.abs(weights))):
            break
    return weights
