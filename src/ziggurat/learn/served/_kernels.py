"""The Gaussian kernel exp(-|x - x'|^2 / 2 h^2): its values, and functions that are sums of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_CELLS = 1 << 22  # of a block of kernel values: 32 MiB


def gaussian_kernel(rows: Array, centres: Array, bandwidth: float) -> Array:
    """Kernel values between all rows and all centres; never above 1, which is the value at distance 0."""
    from scipy.spatial.distance import cdist

    # Differences are squared, not the rows: points that lie close together and far from 0 keep their distance.
    return np.asarray(np.exp(cdist(rows, centres, "sqeuclidean") / (-2 * bandwidth**2)))


@dataclass(frozen=True)
class KernelExpansion:
    """Functions sum_i coefficients[i] k(., centres[i]), one for each column of the coefficients."""

    centres: Array
    coefficients: Array
    bandwidth: float

    def at(self, rows: Array) -> Array:
        """Values at the rows, a column for each function."""
        step = max(1, _CELLS // max(1, len(self.centres)))
        parts = [
            gaussian_kernel(rows[start : start + step], self.centres, self.bandwidth) @ self.coefficients
            for start in range(0, len(rows), step)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.coefficients.shape[1]))

    def distance(self, other: KernelExpansion) -> float:
        """The norm of the difference of the first functions in the reproducing kernel Hilbert space."""
        centres = np.concatenate([self.centres, other.centres])
        weights = np.concatenate([self.coefficients[:, 0], -other.coefficients[:, 0]])
        return float(np.sqrt(max(weights @ gaussian_kernel(centres, centres, self.bandwidth) @ weights, 0.0)))
