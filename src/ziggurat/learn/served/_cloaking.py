"""Noise in the shape of what it has to hide, where that is the columns of a public matrix.

Answers A y, of which one entry of y moves by at most d, move by d times a column of A. Noise of covariance M hides
that as well as unit noise hides a move of d times the largest c' M^-1 c over the columns c, whatever M is: so M may be
chosen for the least volume (cloaking: Smith, Alvarez, Zwiessele & Lawrence 2018) or for the least variance of answers.
Both are found by multiplicative updates of one weight a column, and what they find is measured, not trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.learn.served._kernels import Array

_SMALLEST = 1e-10  # singular values below this part of the largest are left out, of the answers and of the noise
_CLOSE = 1e-9
_MOST_ROUNDS = 20_000
_WORK = 2e9  # multiplications that a shape of least variance may cost, in all rounds but the first
_EVERYWHERE = 1e-3  # importance of all directions beside those of the rows


@dataclass(frozen=True)
class Cloak:
    """`inward` takes labels to where no column is longer than `longest`; `outward` takes that to answers."""

    inward: Array
    outward: Array
    longest: float

    @property
    def covariance(self) -> Array:
        """The shape M of the noise in the answers; every column c has c' M^-1 c <= longest^2."""
        return np.asarray(self.outward @ self.outward.T)


def cloak(columns: Array) -> Cloak:
    """Shape noise of the least volume for answers `columns @ labels`.

    M = r sum_i u_i c_i c_i' for the weights u that maximise its determinant, r its rank: then c_i' M^-1 c_i <= 1 with
    the least log det M (the dual of D-optimal design). Directions that no label moves are left out of the answers as
    well as of the noise, so nothing is protected less.
    """
    basis, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    kept = basis[:, sizes > _SMALLEST * max(float(sizes.max()), 1e-300)]
    inside = kept.T @ columns
    weights = _design(inside)
    root = np.linalg.cholesky(len(inside) * (inside * weights) @ inside.T)
    inward = np.linalg.solve(root, inside)
    return Cloak(inward, kept @ root, float(np.linalg.norm(inward, axis=0).max()))


def _design(inside: Array) -> Array:
    """Weights of a D-optimal design, by multiplicative updates (Titterington 1976), which never decrease it."""
    size, count = inside.shape
    weights = np.full(count, 1 / count)
    for _ in range(_MOST_ROUNDS):
        reach = np.einsum("ij,ij->j", inside, np.linalg.solve((inside * weights) @ inside.T, inside))
        if reach.max() <= size * (1 + _CLOSE):
            break
        weights *= reach / size
        weights /= weights.sum()
    return np.asarray(weights)


def least_variance(rows: Array, importance: Array) -> tuple[Array, Array]:
    """Shape noise for weights whose moves are these rows; return the maps into its coordinates and back.

    Answers phi' w have mean variance tr(W M), W the mean of phi phi' (`importance`). Where B = W^1/2 A, the least
    trace of M with b_j' M^-1 b_j <= 1 is reached by M = c (sum_j u_j b_j b_j')^1/2, by Lagrange's rule.
    """
    size = len(importance)
    root = np.linalg.cholesky(importance + _EVERYWHERE / size * np.eye(size))
    moves = rows @ root
    weights = np.full(len(moves), 1 / len(moves))
    for _ in range(1 + min(10, int(_WORK / (len(moves) * size**2 + 10 * size**3)))):
        values, vectors = np.linalg.eigh((moves.T * weights) @ moves)
        quarter = np.maximum(values, _SMALLEST**2 * max(float(values.max()), 1e-300)) ** 0.25
        reach = ((moves @ vectors / quarter) ** 2).sum(axis=1)
        best = vectors, quarter
        weights *= reach
        weights /= weights.sum()
    vectors, quarter = best
    inward = (vectors / quarter).T @ root.T
    return np.asarray(inward), np.asarray(np.linalg.solve(root.T, vectors * quarter))
