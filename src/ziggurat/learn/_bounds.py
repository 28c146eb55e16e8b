"""Bounds that were not declared are paid for: a noisy histogram over powers of two.

Every column has buckets between neighbouring powers of two, positive and negative. The bounds are the outer ends of
the outermost buckets that are surely not empty (Wilson et al. 2020). Replacing a row lowers one count and raises
another in every column: by 2 a column in l1, by sqrt(2 columns) together in l2; adding or removing it changes one.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ziggurat.learn._budget import FitBudget
from ziggurat.learn._clipping import Floats, Integers, Scale
from ziggurat.mechanisms import AdditiveNoise
from ziggurat.privacy import Relation
from ziggurat.randomness import Source

_SURELY = Fraction(99, 100)
_POWERS = 2.0 ** np.arange(-20, 41)
EDGES = np.concatenate([-_POWERS[::-1], [0.0], _POWERS])
"""Where buckets end; the outermost reach on for ever."""


def changed_counts(columns: int, budget: FitBudget) -> int:
    """How many counts one row changes, each by 1."""
    return columns * (2 if budget.neighbours.relation is Relation.REPLACE_ONE else 1)


def histogram_noise(columns: int, budget: FitBudget) -> AdditiveNoise:
    """Noise for the counts of so many columns at once."""
    changed = changed_counts(columns, budget)
    return budget.whole_noise(changed, changed)


def learn_bounds(table: Floats, noise: AdditiveNoise, source: Source) -> Scale:
    """Pay for the bounds of every column."""
    counts = np.stack([bucket_counts(column) for column in table.T])
    noisy = np.asarray(noise.release(counts, source).value)
    sure = noisy > float(noise.half_width(_SURELY, answers=counts.size))
    ends = np.array([_ends(row, found) for row, found in zip(noisy, sure, strict=True)])
    return Scale(ends[:, 0], ends[:, 1])


def bucket_counts(column: Floats) -> Integers:
    """Count the values of every bucket: that of the first edge which is not below the value."""
    return np.bincount(np.searchsorted(EDGES, column), minlength=EDGES.size + 1)


def _ends(noisy: Integers, sure: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[float, float]:
    places = np.flatnonzero(sure if sure.any() else noisy == noisy.max())
    last = EDGES.size - 1
    high = max(min(int(places[-1]), last), 1)
    low = min(max(int(places[0]) - 1, 0), high - 1)
    return float(EDGES[low]), float(EDGES[high])
