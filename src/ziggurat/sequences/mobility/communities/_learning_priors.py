"""Dirichlet priors that are learned from counts: Minka's fixed point (2000, "Estimating a Dirichlet distribution")."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.special import digamma

from ziggurat.sequences.mobility.communities._bags import Reals

_ROUNDS = 5  # it is learned again and again while topics are drawn
_LEAST, _MOST = 1e-5, 1e3


def learn_even(prior: float, counts: npt.NDArray[np.int64], sums: npt.NDArray[np.int64], size: int) -> float:
    """One number for all `size` values, from how often each occurs (`counts`, zeros may be left out) in each group.

    `sums` holds how many there are in each group. The likelihood never falls from one round to the next.
    """
    at, often = np.unique(counts[counts > 0], return_counts=True)
    whole, groups = np.unique(sums[sums > 0], return_counts=True)
    for _ in range(_ROUNDS if len(at) else 0):
        up = often @ (digamma(at + prior) - digamma(prior))
        down = size * (groups @ (digamma(whole + size * prior) - digamma(size * prior)))
        prior = float(np.clip(prior * up / down, _LEAST, _MOST))
    return prior


def learn_uneven(prior: Reals, counts: npt.NDArray[np.int64]) -> Reals:
    """A number for every value, from the counts of each value (column) in each group (row)."""
    whole, groups = np.unique(counts.sum(axis=1), return_counts=True)
    for _ in range(_ROUNDS):
        up = (digamma(counts + prior) - digamma(prior)).sum(axis=0)
        down = groups @ (digamma(whole + prior.sum()) - digamma(prior.sum()))
        prior = np.clip(prior * up / max(down, _LEAST), _LEAST, _MOST)
    return prior
