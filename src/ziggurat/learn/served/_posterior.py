"""The posterior mean of a Gaussian process as a public linear map of the labels, and how far one label moves it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ziggurat.learn.served._cloaking import least_variance
from ziggurat.learn.served._fourier import Fourier
from ziggurat.learn.served._kernels import Array, gaussian_kernel

ROUNDING = 2.0**-53
SAFELY = 1 + 1e-9
"""Covers the round-off of norms that are computed from public numbers."""

_CHUNK = 4096


@dataclass(frozen=True)
class Posterior:
    """Labels within [-1, 1] go through `inward`, the last factor first; noise is added; `outward` makes it a function.

    One label moves what noise is added to by at most `moved`, in l2 or in the norm of the kernel's space. The map is
    whatever the floats in it are: its own columns are measured, not those of the map that it stands for.
    """

    inward: tuple[Array, ...]
    outward: Array | None
    moved: float

    def of(self, labels: Array) -> Array:
        """Apply the inward factors."""
        for factor in reversed(self.inward):
            labels = factor @ labels
        return labels


def in_kernel(rows: Array, noise: float, width: float) -> Posterior:
    """Coefficients C y of the kernel at the rows, C = (K + s^2 I)^-1; one label moves the mean by 2 sqrt([CKC]_jj)."""
    gram = gaussian_kernel(rows, rows, width)
    inverse = np.asarray(np.linalg.inv(gram + noise * np.eye(len(rows))), dtype=np.float64)
    squares = np.einsum("ij,ij->j", inverse, gram @ inverse)
    # Coefficients of opposite signs cancel in the square, and their round-off does not.
    sizes = np.abs(inverse)
    off = 8 * ROUNDING * (len(rows) + 64) * np.einsum("ij,ij->j", sizes, gram @ sizes)
    longest = math.sqrt(float((np.maximum(squares, 0.0) + off).max()))
    return Posterior((inverse,), None, 2 * longest * SAFELY + round_off(len(rows), len(rows), 1 / noise))


def in_features(features: Fourier, rows: Array, noise: float, *, shaped: bool) -> Posterior:
    """Weights (F'F + s^2 I)^-1 F'y of the features, in coordinates where noise is the same in every direction."""
    parts = [features.of(rows[start : start + _CHUNK]) for start in range(0, len(rows), _CHUNK)]
    table = np.concatenate(parts)
    square = table.T @ table
    inverse = np.asarray(np.linalg.inv(square + noise * np.eye(features.size)), dtype=np.float64)
    outward = None
    if shaped:
        inward, outward = least_variance(table @ inverse.T, square / len(rows))
        inverse = inward @ inverse
    longest = max(float(np.linalg.norm(part @ inverse.T, axis=1).max()) for part in parts)
    norm = math.sqrt(float(np.linalg.norm(inverse, 1) * np.linalg.norm(inverse, np.inf)))  # no less than the l2 norm
    return Posterior((inverse, table.T), outward, 2 * longest * SAFELY + round_off(len(rows), features.size, norm))


def round_off(rows: int, size: int, norm: float) -> float:
    """Twice what floats can get wrong in a product with labels in [-1, 1]: sums of n terms err by n u of their size.

    Rows of features have length 1, so F'y is at most n long; the absolute values of the inverse have at most
    sqrt(size) times its norm.
    """
    return 4 * ROUNDING * rows * (rows + math.sqrt(size) * size) * norm
