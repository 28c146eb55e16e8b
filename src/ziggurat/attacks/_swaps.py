"""How far chance alone takes a count, if people who were learned from and people who were not could change places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_RADEMACHER = 3.1787  # 1 / (4 P[Z >= sqrt 2]) = 3.17865…, rounded up


def bound_luck(differences: npt.NDArray[np.generic]) -> float:
    """Return how likely the differences, with random signs, add up to as much as they do: at most.

    Whatever the differences are, such a sum is at least x standard deviations with a probability of at most 3.178 times
    the normal one (Bentkus, Dzindzalieta 2015, "A tight Gaussian bound for weighted sums of Rademacher random
    variables", Bernoulli 21(2)), however few they are.
    """
    from scipy import stats

    values = differences.astype(np.float64)
    size = float(np.sqrt((values**2).sum()))
    return min(1.0, _RADEMACHER * float(stats.norm.sf(values.sum() / size))) if size else 1.0
