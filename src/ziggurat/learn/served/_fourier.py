"""Fourier features of the Gaussian kernel: finitely many functions whose products are its values, nearly.

A map phi with |phi(x)| = 1 has a kernel of its own, k'(x, x') = <phi(x), phi(x')>. A model fitted with k' is a finite
vector, and all that is proved here is proved for k', whatever it has to do with the Gaussian one.

On a lattice of frequencies 2 pi k / P, weighted by exp(-w^2 h^2 / 2), k' is by Poisson's summation the Gaussian kernel
repeated with period P, which is positive; leaving out frequencies of total weight m makes it at least -m / (1 - m).
The lattice is as good as exact in few dimensions. In many, frequencies are drawn instead (Rahimi & Recht 2007), from
a public low-discrepancy sequence; then only k' >= -1 is known.

Angles are products of floats. Their error grows with the distance from the centre, which is therefore the middle of
the bounds, not 0: a lattice has 2 million cells at most, so no angle is off by more than about 1e-9, a fiftieth of a
step to which features are rounded. Angles of drawn frequencies may be wrong altogether: whatever they are, squares of
a cosine and a sine of one float add up to 1, and two rows are at most 2 apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from ziggurat.learn.served._kernels import Array

MARGIN = 3.0
"""Bandwidths beyond the bounds up to which functions on a lattice can be asked."""

_LEFT_OUT = (1e-6, 1e-4, 1e-3)  # weight of the frequencies left out: the least for which there is room
_FURTHEST = 5.5  # deviations of a frequency that is kept, along each axis
_SUMMED = 9.0  # deviations up to which the total weight is summed
_MOST_CELLS = 2_000_000
_SEED = 20_131_001  # public, and the same for everybody: the frequencies have nothing to do with the data


@dataclass(frozen=True)
class Fourier:
    """phi(x) = sqrt(weight) (cos wx, sin wx) over all frequencies w; weights add up to 1.

    `least` is a proven lower bound of its kernel between any two rows within the bounds it was made for, and `centre`
    is what rows are measured from, the public middle of these bounds.
    """

    frequencies: Array
    weights: Array
    least: float
    centre: Array | float = 0.0

    @classmethod
    def lattice(cls, widths: Array, bandwidth: float, most: int) -> Self | None:
        """Make the lattice for a box of these widths; None where more than `most` features would be needed."""
        scaled = widths / bandwidth
        steps = 2 * np.pi / (scaled + 2 * MARGIN)
        reach = np.floor(_FURTHEST / steps)
        if np.prod(2 * reach + 1) > _MOST_CELLS:
            return None
        waves = _grid(reach, steps)
        raw = np.exp(-(waves**2).sum(axis=1) / 2) * np.where(waves.any(axis=1), 2.0, 1.0)
        share = raw / np.prod([_total(step) for step in steps])
        order = np.argsort(-share, kind="stable")
        counts = np.searchsorted(np.cumsum(share[order]), 1 - np.array(_LEFT_OUT)) + 1
        if 2 * counts.min() > most:
            return None
        kept = order[: int(counts[2 * counts <= most].max())]
        mass = float(share[kept].sum())
        images = np.prod([_images(width) for width in scaled])
        nearest = math.exp(-min(float((scaled**2).sum()) / 2, 700.0)) / float(images)
        return cls(waves[kept] / bandwidth, share[kept] / mass, (nearest - (1 - mass)) / mass - 1e-9)

    @classmethod
    def draw(cls, columns: int, bandwidth: float, features: int) -> Self:
        """Draw half as many frequencies as features, from the normal law of the Gaussian kernel."""
        from scipy.special import ndtri
        from scipy.stats import qmc

        count = max(1, features // 2)
        uniform = qmc.Halton(columns, rng=np.random.default_rng(_SEED)).random(count)
        waves = ndtri(np.clip(uniform, 1e-12, 1 - 1e-12))
        return cls(np.asarray(waves) / bandwidth, np.full(count, 1 / count), -1.0)

    @property
    def size(self) -> int:
        """How many features there are."""
        return 2 * len(self.weights)

    @property
    def diameter(self) -> float:
        """No two rows within the bounds have features further apart: |phi - phi'|^2 = 2 - 2 k'."""
        return math.sqrt(2 - 2 * self.least)

    def of(self, rows: Array) -> Array:
        """Return the features of every row, the same whatever other rows there are."""
        # One product a row: a product of tables may round a row's angles by its place among the others.
        angles = np.matmul(self.frequencies, (rows - self.centre)[:, :, None])[:, :, 0]
        return np.asarray(np.hstack([np.cos(angles), np.sin(angles)]) * np.tile(np.sqrt(self.weights), 2))


def _grid(reach: Array, steps: Array) -> Array:
    """All frequencies of the lattice, in bandwidths, one of each pair w and -w."""
    axes = [np.arange(-most, most + 1) for most in reach]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(steps))
    # meshgrid is symmetric about its middle, the zero frequency, so that the second half holds one of each pair.
    return np.asarray(points[len(points) // 2 :] * steps)


def _total(step: float) -> float:
    """Weight of all frequencies along an axis."""
    waves = np.arange(1, math.ceil(_SUMMED / step) + 1) * step
    return 1 + 2 * float(np.exp(-(waves**2) / 2).sum())


def _images(width: float) -> float:
    """What the repeated kernel is worth at distance 0, before it is scaled to 1."""
    copies = np.arange(1, 4) * (width + 2 * MARGIN)
    return 1 + 2 * float(np.exp(-(copies**2) / 2).sum())
