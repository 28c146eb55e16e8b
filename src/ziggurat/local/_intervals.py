"""Intervals around what reports estimate.

By default the truth is fixed and the noise is all that is random, so its law is known but for the truth itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError

Floats = npt.NDArray[np.float64]

_ROUND_OFF = 1e-9
# Below this a float no longer tells a holder from anybody else.
_LEAST_SLOPE = 1e-12


def normal_reach(confidence: Fraction, kurtosis: float = 0.0) -> float:
    """How many standard deviations hold a symmetric sum with this confidence.

    The normal quantile with the Cornish-Fisher term for the excess kurtosis of the sum, which matters for few reports.
    """
    from scipy.special import ndtri

    z = -float(ndtri(float((1 - confidence) / 2)))
    return z + max(z**3 - 3 * z, 0.0) * kurtosis / 24


def student_reach(confidence: Fraction, people: int) -> float:
    """How many estimated standard errors hold the mean of a sample with this confidence."""
    from scipy.special import stdtrit

    return float(stdtrit(max(people - 1, 1), float(1 - (1 - confidence) / 2)))


@dataclass(frozen=True)
class Support:
    """The law of how many reports speak for a category: `hit` for each holder, `stray` for each other person.

    If c of n people hold it, the number is Binomial(c, hit) + Binomial(n - c, stray).
    """

    hit: float
    stray: float

    def __post_init__(self) -> None:
        if self.slope < _LEAST_SLOPE:
            raise ParameterError("epsilon is too small for reports to tell anything; allow a larger one.")

    @property
    def slope(self) -> float:
        """What one holder adds to the expected number."""
        return self.hit - self.stray

    def counts(self, seen: Floats, people: int) -> Floats:
        """Estimate without bias how many hold each category, from how many reports speak for it."""
        return (seen - people * self.stray) / self.slope

    def spread(self, share: float) -> float:
        """The variance of an estimated count, per person, if this share of the people hold the category."""
        stray, hit = self.stray * (1 - self.stray), self.hit * (1 - self.hit)
        return (stray + share * (hit - stray)) / self.slope**2

    def interval(self, seen: Floats, people: int, confidence: Fraction, population: bool) -> tuple[Floats, Floats]:
        """Hold each true count: all c under which the number seen is no surprise (score test, turned round).

        The surprise is measured with the variance under c itself, e0 + e1 c - e2 c^2, and half a report is conceded
        on either side because reports come whole. With `population`, c/n is a share of the population and the number
        is Binomial(n, stray + slope c/n); otherwise c is whole, and so are the ends.
        """
        z2 = normal_reach(confidence) ** 2
        e0, e1, e2 = self._variance(people, population)
        quadratic = self.slope**2 + z2 * e2
        ends = []
        for side in (-1, 1):
            beyond = seen - people * self.stray + side / 2
            half = beyond * self.slope + z2 * e1 / 2
            root = np.sqrt(np.maximum(half**2 - quadratic * (beyond**2 - z2 * e0), 0.0))
            ends.append((half + side * root) / quadratic)
        return possible(ends[0], ends[1], people, population)

    def _variance(self, people: int, population: bool) -> tuple[float, float, float]:
        constant = people * self.stray * (1 - self.stray)
        if population:
            return constant, self.slope * (1 - 2 * self.stray), self.slope**2 / people
        return constant, self.hit * (1 - self.hit) - self.stray * (1 - self.stray), 0.0


def possible(low: Floats, high: Floats, people: int, population: bool) -> tuple[Floats, Floats]:
    """Cut intervals around counts to 0 to `people`, and to whole numbers unless they are about a population."""
    if not population:
        low, high = inwards(low, high)
    return np.clip(low, 0.0, float(people)), np.clip(high, 0.0, float(people))


def inwards(low: Any, high: Any) -> tuple[Any, Any]:
    """Draw intervals of at least length 1 in to whole numbers; round-off may not exclude the end itself."""
    return np.ceil(low - _ROUND_OFF * (1 + np.abs(low))), np.floor(high + _ROUND_OFF * (1 + np.abs(high)))


def inverted_interval(
    law: Floats, weights: Floats, seen: Floats, confidence: Fraction, population: bool
) -> tuple[Floats, Floats, Floats]:
    """Estimate counts as weights @ seen, where the weights undo a public law of answers, with their intervals.

    A report y adds weights[v, y] to the count of v: in expectation 1 for a holder and 0 for others. So the variance
    over the noise is the sum of E[weights[v, y]^2] less the count itself, which the reports estimate without bias. It
    is taken as if one more person held each category, lest few reports seem surer than they are, and half of the most
    that a report moves is conceded because reports come whole.
    """
    people = int(seen.sum())
    counts, squares = weights @ seen, weights**2 @ seen
    known = counts**2 / people if population else np.clip(counts, 0.0, people)
    one_of_each = (weights**2 @ law.T).sum(axis=1) - 1
    spread = np.maximum(squares - known, 0.0) + np.maximum(one_of_each, 0.0)
    half = normal_reach(confidence) * np.sqrt(spread) + np.abs(weights).max(axis=1) / 2
    return counts, *possible(counts - half, counts + half, people, population)
