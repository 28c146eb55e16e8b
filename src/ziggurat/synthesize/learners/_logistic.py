"""Multinomial logistic regression with a normal prior, and the Laplace approximation of its posterior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn, Reals
from ziggurat.synthesize._method import Arrays, Codes
from ziggurat.synthesize.learners._design import Design
from ziggurat.synthesize.learners._sampling import (
    Donors,
    Labels,
    chunks,
    commonest,
    draw_labels,
    level_scores,
    shares_of,
)
from ziggurat.threads import one_thread

_MOST_CLASSES = 200
_MOST_CELLS = 20_000_000  # of the Cholesky factors of all classes
_WHOLE = 1_000  # coefficients, up to which the whole Hessian is kept
_ANCHORS = 1_000
_INTERCEPT = 1e-4  # the precision of an intercept: enough to fix what adds the same to all classes


@dataclass(frozen=True)
class Logistic:
    """A multinomial logistic regression; every category has coefficients of its own.

    The posterior is approximated by a normal around the mode (Laplace). Its precision is the Hessian there. With more
    than 1,000 coefficients it is the Hessian of one Poisson regression per category instead, so that categories are
    independent before their shares are made to sum to one. That is exact where the design tells apart every
    group of rows with shares of its own (Baker 1994); elsewhere it is somewhat too narrow.

    A normal coefficient makes a share that is nearly log-normal, and its mean exceeds its median: drawn as they are,
    coefficients would make rare categories several times too common. So the intercepts of every draw are set anew: over
    the rows that were seen, the expected count of a category follows a distribution with the mean that was seen and
    the variance of the Laplace approximation.

    Beyond 200 categories (fewer, at least 20, where the design has more than 300 columns), the rarest are one to the
    regression, and drawn by how often they occur.

    Parameters
    ----------
    design
        How given columns become a matrix.
    donors
        The categories, each a group; the last group may hold several.
    weights
        The coefficients: one row per column of the matrix, one column per category.
    roots
        The Cholesky factors (lower) of the precision: a single one, or one per category.
    anchors
        Up to 1,000 rows of the matrix that was seen, over which intercepts are set.
    """

    design: Design
    donors: Donors
    weights: Reals
    roots: Reals
    anchors: Reals

    @classmethod
    def fit(
        cls, target: CodedColumn, given: Sequence[CodedColumn], spread: float, draw: np.random.Generator
    ) -> Logistic:
        """Return the regression of the target on the given columns."""
        design = Design.learn(given)
        labels = commonest(target, int(np.clip(_MOST_CELLS // design.width**2, 20, _MOST_CLASSES)))
        donors = Donors.of(target, labels)
        matrix = design.matrix(given, target.rows)
        penalty = np.full(design.width, spread**-2)
        penalty[0] = _INTERCEPT
        weights = _mode(matrix, labels, donors.shares, penalty)
        anchors = matrix[draw.permutation(target.rows)[:_ANCHORS]]
        return cls(design, donors, weights, _roots(matrix, weights, penalty), anchors)

    @one_thread()
    def posterior(self, draw: np.random.Generator) -> Logistic:
        """Draw the coefficients from the Laplace approximation, and the shares within the last group."""
        from scipy.linalg import solve_triangular

        noise = draw.standard_normal(self.roots.shape[:2])
        steps = [solve_triangular(root, z, lower=True, trans="T") for root, z in zip(self.roots, noise, strict=True)]
        weights = self.weights + np.concatenate(steps).reshape(self.weights.T.shape).T
        aims = shares_of(self.anchors @ self.weights).sum(axis=0) * np.exp(self._drift(noise))
        weights[0] += level_scores(self.anchors @ weights, aims * (len(self.anchors) / aims.sum()))
        return replace(self, weights=weights, donors=self.donors.posterior(draw))

    def _drift(self, noise: Reals) -> Reals:
        """Return the log of what multiplies the expected count of each category in a draw; the mean of that is one.

        To first order the counts change by the Hessian's rows of the intercepts times the change of coefficients. With
        the Hessian LL' and the change z / L', that is the same rows of Lz.
        """
        counts = self.donors.shares * self.donors.weights.sum()
        rows = self.roots.reshape(*self.weights.T.shape, -1)[:, 0]
        change, variance = (rows * noise).sum(axis=1) / counts, (rows**2).sum(axis=1) / counts**2
        return np.asarray(change - variance / 2)

    @one_thread()
    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> Codes | Reals:
        """Return categories drawn with the shares that the regression gives every row."""
        matrix, uniform = self.design.matrix(given, rows), draw.random(rows)
        labels = np.empty(rows, dtype=np.int64)
        for part in chunks(rows):
            labels[part] = draw_labels(shares_of(matrix[part] @ self.weights), uniform[part])
        return self.donors.sample(labels, draw)

    def state(self) -> dict[str, npt.NDArray[np.generic]]:
        """Return what was learned as arrays."""
        own = {"weights": self.weights, "roots": self.roots, "anchors": self.anchors}
        return {**own, **self.donors.state(), **self.design.state()}

    @classmethod
    def restored(cls, state: Arrays) -> Logistic:
        """Return what `state` described."""
        weights, roots, anchors = (np.array(state[name], dtype=np.float64) for name in ("weights", "roots", "anchors"))
        return cls(Design.restored(state), Donors.restored(state), weights, roots, anchors)


def _mode(matrix: Reals, labels: Labels, shares: Reals, penalty: Reals) -> Reals:
    """Return the coefficients at which the posterior density is highest.

    The search runs in coordinates in which the Hessian is near the identity: per class, the one of rows that all have
    the shares of the whole column. A slope of 0.03 there is a small part of the posterior's standard deviation.
    """
    from scipy.optimize import minimize

    scale = np.sqrt(penalty)[:, None]
    sizes, axes = np.linalg.eigh(matrix.T @ matrix / (scale * scale.T))
    stretch = np.sqrt(np.maximum(sizes, 0)[:, None] * shares * (1 - shares) + 1)
    start = np.zeros(stretch.shape)
    start[0] = np.log(shares)

    def weights(point: Reals) -> Reals:
        return np.asarray(axes @ (point.reshape(stretch.shape) / stretch) / scale)

    def loss(point: Reals) -> tuple[float, Reals]:
        value, slope = _loss(matrix, labels, weights(point), penalty)
        return value, (axes.T @ (slope / scale) / stretch).ravel()

    first = (stretch * (axes.T @ (scale * start))).ravel()
    options = {"maxiter": 300, "maxcor": 20, "gtol": 0.03, "ftol": 0}
    return weights(minimize(loss, first, jac=True, method="L-BFGS-B", options=options).x)


def _loss(matrix: Reals, labels: Labels, weights: Reals, penalty: Reals) -> tuple[float, Reals]:
    """Return minus the log posterior density, up to a constant, and its slope."""
    pulled = penalty[:, None] * weights
    value, slope = float((pulled * weights).sum()) / 2, pulled
    for part in chunks(len(matrix)):
        scores, rows = matrix[part] @ weights, np.arange(part.stop - part.start)
        top = scores.max(axis=1)
        shares = np.exp(np.maximum(scores - top[:, None], -700))
        sums = shares.sum(axis=1)
        value += float((np.log(sums) + top - scores[rows, labels[part]]).sum())
        shares /= sums[:, None]
        shares[rows, labels[part]] -= 1
        slope = slope + matrix[part].T @ shares
    return value, slope


def _roots(matrix: Reals, weights: Reals, penalty: Reals) -> Reals:
    """Return the Cholesky factors of the precision: one of all classes together, or one per class.

    Over classes j and k, the Hessian sums (p_j [j = k] - p_j p_k) x x'. The first term is that of Poisson regressions.
    """
    from scipy.linalg import block_diag, cholesky

    whole = weights.size <= _WHOLE
    blocks = np.tile(np.diag(penalty), (weights.shape[1], 1, 1))
    cross = np.zeros((weights.size, weights.size)) if whole else np.empty(0)
    for part in chunks(len(matrix)):
        rows = matrix[part]
        shares = shares_of(rows @ weights)
        for block, share in zip(blocks, shares.T, strict=True):
            block += rows.T @ (share[:, None] * rows)
        if whole:
            joint = (shares[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
            cross += joint.T @ joint
    precisions = [block_diag(*blocks) - cross] if whole else blocks
    return np.stack([cholesky(each, lower=True) for each in precisions])
