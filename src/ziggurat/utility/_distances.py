"""How far two distributions, or two intervals, are from each other.

References
----------
Karr, Kohnen, Oganian, Reiter, Sanil (2006), "A framework for evaluating the utility of data altered to protect
confidentiality", The American Statistician 60(3): the overlap of intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.utility._judgement import Reals

Weights = Sequence[float] | npt.NDArray[np.floating] | npt.NDArray[np.integer]


def interval_overlap(original: Sequence[float], synthetic: Sequence[float]) -> float:
    """Return the mean of the shares that two intervals have of each other: 1 if they are equal, 0 if they are apart.

    The printed formula is negative for intervals that are apart; here that is 0. An interval of no width counts as
    wholly covered if the other holds it.

    Parameters
    ----------
    original, synthetic
        Both ends of each interval.
    """
    (low, high), (other_low, other_high) = _ends(original), _ends(synthetic)
    inside = min(high, other_high) - max(low, other_low)
    if inside < 0:
        return 0.0
    shares = [inside / width if width > 0 else 1.0 for width in (high - low, other_high - other_low)]
    return sum(shares) / 2


def kl_divergence(p: Weights, q: Weights, *, smoothing: float = 0.0) -> float:
    """Return the Kullback-Leibler divergence of `p` from `q` in nats; infinite if `q` has 0 where `p` has not.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    smoothing
        What is added to each weight first. On counts, 0.5 keeps the divergence finite (Krichevsky and Trofimov).
    """
    one, other = _distributions(p, q, smoothing)
    held = one > 0
    if np.any(other[held] == 0):
        return math.inf
    return max(0.0, float(np.sum(one[held] * np.log(one[held] / other[held]))))


def normalized_kl(p: Weights, q: Weights, *, smoothing: float = 0.0) -> float:
    """Return 1 / (1 + KL): 1 for equal distributions, towards 0 for distant ones.

    The normalisation is our reading of "normalised KL-divergence, closer to 1 is more similar": several others fit
    these words, and their figures are not comparable.

    Parameters
    ----------
    p, q, smoothing
        As for `kl_divergence`.
    """
    return 1 / (1 + kl_divergence(p, q, smoothing=smoothing))


def total_variation(p: Weights, q: Weights) -> float:
    """Return the largest difference of the probabilities of any event: 0 for equal distributions, 1 for disjoint ones.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    """
    one, other = _distributions(p, q)
    return float(np.abs(one - other).sum() / 2)


def hellinger(p: Weights, q: Weights) -> float:
    """Return the Hellinger distance: 0 for equal distributions, 1 for disjoint ones.

    Parameters
    ----------
    p, q
        Weights of the same cells: probabilities or counts.
    """
    one, other = _distributions(p, q)
    return float(np.sqrt(np.sum((np.sqrt(one) - np.sqrt(other)) ** 2) / 2))


def _ends(interval: Sequence[float]) -> tuple[float, float]:
    ends = [float(each) for each in interval]
    if len(ends) != 2 or not all(map(math.isfinite, ends)) or ends[0] > ends[1]:
        raise ParameterError("An interval has two finite ends, the lower one first.")
    return ends[0], ends[1]


def _distributions(p: Weights, q: Weights, smoothing: float = 0.0) -> tuple[Reals, Reals]:
    if not (isinstance(smoothing, int | float) and 0 <= smoothing < math.inf):
        raise ParameterError("The smoothing must be a finite number, not negative.")
    both = [np.asarray(each, dtype=np.float64) for each in (p, q)]
    if both[0].ndim != 1 or both[0].shape != both[1].shape or not both[0].size:
        raise ParameterError("Distributions need the same cells, at least one, each with a weight.")
    both = [each + smoothing for each in both]
    if any(not np.all(np.isfinite(each)) or each.min() < 0 or each.sum() <= 0 for each in both):
        raise ParameterError("The weights of a distribution must be finite, not negative, and not all 0.")
    return both[0] / both[0].sum(), both[1] / both[1].sum()
