"""Least squares and logistic regression with standard errors, without penalties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg, special

from ziggurat.errors import DataError
from ziggurat.utility._judgement import Reals

_STEPS = 50
_CLOSE = 1e-9
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class Fit:
    """Coefficients and their standard errors; `degrees` are those of Student's t, infinite for the normal."""

    estimates: Reals
    errors: Reals
    degrees: float


def dependent(design: Reals) -> npt.NDArray[np.intp]:
    """Return which columns of a design follow from the others; empty if it has full rank."""
    norms = np.linalg.norm(design, axis=0)
    scaled = design / np.where(norms > 0, norms, 1.0)
    _, upper, order = linalg.qr(scaled, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(upper))
    rank = int(np.sum(diagonal > _SINGULAR * max(diagonal[0], _SINGULAR)))
    found: npt.NDArray[np.intp] = np.sort(order[rank:])
    return found


def least_squares(design: Reals, target: Reals) -> Fit:
    """Fit a linear regression; the design must have full rank and more rows than columns."""
    scale = np.linalg.norm(design, axis=0)
    basis, upper = np.linalg.qr(design / scale)
    estimates = linalg.solve_triangular(upper, basis.T @ target)
    left = target - (design / scale) @ estimates
    degrees = len(target) - design.shape[1]
    return Fit(estimates / scale, _errors(upper) * np.sqrt(left @ left / degrees) / scale, float(degrees))


def logistic(design: Reals, target: Reals, where: str) -> Fit:
    """Fit a logistic regression by Newton's method; the design must have full rank.

    Raises DataError if there is no finite answer, because the columns tell the two values of the target apart.

    Parameters
    ----------
    design, target
        The columns, and 0 or 1 for each row.
    where
        The table, for an error message.
    """
    scale = np.linalg.norm(design, axis=0) / np.sqrt(len(design))
    scaled = design / scale
    estimates = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        chances = special.expit(scaled @ estimates)
        root = np.sqrt(chances * (1 - chances))
        upper: Reals = np.asarray(np.linalg.qr(root[:, None] * scaled, mode="r"), dtype=np.float64)
        if np.abs(np.diag(upper)).min() < _SINGULAR * np.abs(np.diag(upper)).max():
            break
        gradient = scaled.T @ (target - chances)
        step = linalg.cho_solve((upper, False), gradient)
        estimates = estimates + _shorten(step)
        if np.abs(step).max() <= _CLOSE * (1 + np.abs(estimates).max()):
            return Fit(estimates / scale, _errors(upper) / scale, np.inf)
    raise DataError(
        f"{where}: the columns of the formula tell the values of its target (nearly) perfectly apart, so a logistic "
        "regression has no finite answer; leave out a column."
    )


def penalized_chances(design: Reals, target: Reals, penalty: float = 1e-6) -> Reals:
    """Return the fitted chances of a logistic regression; the slight penalty keeps it finite on any table."""
    size = design.shape[1]
    estimates, ridge = np.zeros(size), penalty * len(design) * np.eye(size)
    for _ in range(_STEPS):
        chances = special.expit(design @ estimates)
        weights = chances * (1 - chances)
        hessian = design.T @ (weights[:, None] * design) + ridge
        gradient = design.T @ (target - chances) - ridge @ estimates
        step = _shorten(linalg.solve(hessian, gradient, assume_a="pos"))
        estimates = estimates + step
        if np.abs(step).max() <= 1e-7 * (1 + np.abs(estimates).max()):
            break
    return np.asarray(special.expit(design @ estimates), dtype=np.float64)


def _shorten(step: Reals) -> Reals:
    """Newton's step, at most 5 long in every coefficient: far from the answer it may overshoot."""
    return step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-300))


def _errors(upper: Reals) -> Reals:
    inverse = linalg.solve_triangular(upper, np.eye(len(upper)))
    return np.asarray(np.sqrt((inverse**2).sum(axis=1)), dtype=np.float64)
