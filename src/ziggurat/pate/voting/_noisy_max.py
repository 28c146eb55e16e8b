"""The class with most votes, after noise: Gumbel, Laplace or Gaussian."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.pate.voting._aggregators import (
    Aggregator,
    ThresholdTest,
    finer_steps,
    gaussian_rounding,
    in_steps,
    noisy_argmax,
)
from ziggurat.pate.voting._exact import two_class_laplace_curve
from ziggurat.pate.voting._laws import gaussian_law, gumbel_law, laplace_law
from ziggurat.pate.voting._published import Bound, GaussianBound, GumbelBound, LaplaceBound
from ziggurat.pate.voting._votes import FINEST_PARTS, Ballot, Floats, Integers, Votes
from ziggurat.privacy import (
    Amount,
    Event,
    ExponentialEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    Neighbours,
    RepeatedEvent,
    exact_positive,
    in_words,
)
from ziggurat.randomness import Source
from ziggurat.wording import nearest

_ROOT_OF_TWO = Fraction(math.isqrt(2 * 10**30) + 1, 10**15)
"""A rational just above the square root of two."""


class GumbelNoisyMax(Aggregator):
    """The class with most votes after Gumbel noise of scale 1/gamma: the exponential mechanism. Recommended.

    Promise: 2 gamma-DP with 2 gamma-bounded range, hence gamma^2/2-zCDP, for any number of classes and one moved vote.
    Proof: class j wins with probability proportional to exp(gamma n_j); a moved vote changes the exponents by amounts
    that span at most 2 gamma, so the losses do as well (Cesar & Rogers 2021, Lemma 3). Laplace noise of the same
    gamma has a larger variance (2/gamma^2 against 1.64/gamma^2), and for three or more classes twice the proven rho.

    Parameters
    ----------
    gamma
        The inverse scale of the noise, in votes: each further vote multiplies the odds of a class by e^gamma.
    """

    def __init__(self, gamma: Amount, *, test: ThresholdTest | None = None) -> None:
        self.gamma, self.test = exact_positive(gamma, "gamma"), test
        finer_steps(1 / self.gamma)
        randomness.carry_rate(self.gamma / FINEST_PARTS)

    def event(self, ballot: Ballot) -> Event:
        """The exponential mechanism at 2 gamma for every moved vote."""
        return ExponentialEvent(ballot.neighbours, 2 * self.gamma * ballot.moved)

    def log_law(self, counts: Floats) -> Floats:
        """Proportional to exp(gamma n_j)."""
        return gumbel_law(counts, float(self.gamma))

    def published(self) -> Bound:
        """Bounded range, and the theorem of 2017."""
        return GumbelBound(float(self.gamma))

    def draw(self, votes: Votes, source: Source) -> Integers:
        """Propose classes uniformly, and accept one g votes behind the best with probability exactly e^(-gamma g).

        That is the probability that a geometric deviate reaches g.
        """
        gaps = votes.counts.max(axis=1, keepdims=True) - votes.counts
        rate = randomness.carry_rate(self.gamma / votes.parts)
        chosen, left = np.empty(len(votes), dtype=np.int64), np.arange(len(votes))
        while left.size:
            proposed = randomness.uniform_below(votes.classes, size=left.size, source=source)
            accepted = gaps[left, proposed] <= randomness.geometric(rate, size=left.size, source=source)
            chosen[left[accepted]] = proposed[accepted]
            left = left[~accepted]
        return chosen

    def __repr__(self) -> str:
        return f"GumbelNoisyMax(gamma {in_words(self.gamma)})"


class LaplaceNoisyMax(Aggregator):
    """The class with most votes after discrete Laplace noise of scale 1/gamma on every count.

    Promise for one moved vote: 2 gamma-DP, and more that is finer.

    - Two classes: 2 gamma-bounded range, hence gamma^2/2-zCDP. Proof: on a lattice with s = gamma per step and
      tau = tanh(s/2), a class d >= 0 steps behind wins (ties even) with probability T(d) = e^(-ds) (1 + d tau)/2. One
      step changes the logit of T by at most s, because that is (1 + d tau)(1 + (d+1) tau) e^(-ds) (1 + e^-s) <= 2,
      an equality at d = 0 whose left side falls with d. A moved vote changes d by two votes, so losses span 2 gamma.
    - More classes, whole votes: choosing the maximum is post-processing of the noisy counts, of which a moved vote
      changes two, by one each: two Laplace mechanisms of gamma, hence gamma^2-zCDP. That gamma^2/2 holds here too is
      supported by enumeration and unproven; take Gumbel noise for it.
    """

    def __init__(self, gamma: Amount, *, test: ThresholdTest | None = None) -> None:
        self.gamma, self.test = exact_positive(gamma, "gamma"), test
        self._finer = finer_steps(1 / self.gamma)
        self._noise = randomness.carry_laplace(2**self._finer / self.gamma)

    def event(self, ballot: Ballot) -> Event:
        """Bounded range for two classes, otherwise the noise on the counts that are moved."""
        whom, grid = ballot.neighbours, Fraction(1, 2**self._finer)
        if ballot.classes == 2:
            return ExponentialEvent(whom, 2 * self.gamma * ballot.moved)
        if not ballot.whole_votes:
            return LaplaceEvent(whom, Fraction(2 * ballot.moved), 1 / self.gamma, grid, ballot.classes)
        one = whom if ballot.moved == 1 else Neighbours(relation=ballot.relation)
        both = RepeatedEvent(one, LaplaceEvent(one, Fraction(1), 1 / self.gamma, grid), 2)
        return both if ballot.moved == 1 else GroupEvent(whom, both, ballot.moved)

    def curve(self, ballot: Ballot, orders: Floats) -> Floats:
        """For two classes also the exact worst case over all whole votes."""
        proven = super().curve(ballot, orders)
        if ballot.classes == 2 and ballot.moved == 1 and ballot.whole_votes:
            return np.minimum(proven, two_class_laplace_curve(float(self.gamma), orders, self.rounding(1)))
        return proven

    def rounding(self, teachers: int) -> float:  # noqa: ARG002
        """One step, times gamma: the logarithm of a Laplace tail falls no faster."""
        return math.ldexp(float(self.gamma), -self._finer)

    def log_law(self, counts: Floats) -> Floats:
        """In closed form for two classes, otherwise by quadrature between the kinks."""
        return laplace_law(counts, float(self.gamma))

    def published(self) -> Bound:
        """The moments of 2017."""
        return LaplaceBound(float(self.gamma))

    def draw(self, votes: Votes, source: Source) -> Integers:
        """Add exact discrete noise and take the largest."""
        noise = randomness.discrete_laplace(self._noise, size=votes.counts.size, source=source)
        return noisy_argmax(in_steps(votes, self._finer) + noise.reshape(votes.counts.shape), source)

    def __repr__(self) -> str:
        return f"LaplaceNoisyMax(gamma {in_words(self.gamma)})"


class GaussianNoisyMax(Aggregator):
    """The class with most votes after Gaussian noise of standard deviation sigma on every count.

    Promise: (sqrt(2)/sigma)-Gaussian DP for one moved vote, which changes two counts by one each; the noise is an
    exact deviate rounded to a fine lattice, and choosing the maximum is post-processing.
    """

    def __init__(self, sigma: Amount, *, test: ThresholdTest | None = None) -> None:
        self.sigma, self.test = exact_positive(sigma, "sigma"), test
        self._finer = finer_steps(self.sigma)
        self._noise = randomness.carry_gaussian(self.sigma * 2**self._finer)

    def event(self, ballot: Ballot) -> Event:
        """Gaussian noise with l2 sensitivity sqrt(2) for every moved vote."""
        return GaussianEvent(ballot.neighbours, _ROOT_OF_TWO * ballot.moved, self.sigma)

    def log_law(self, counts: Floats) -> Floats:
        """In closed form for two classes, otherwise by the trapezoidal rule."""
        return gaussian_law(counts, float(self.sigma))

    def rounding(self, teachers: int) -> float:
        """One step, times how fast the logarithm of a normal tail falls there."""
        return gaussian_rounding(float(teachers), self.sigma, self._finer)

    def published(self) -> Bound:
        """The theorem of 2018."""
        return GaussianBound(float(self.sigma))

    def draw(self, votes: Votes, source: Source) -> Integers:
        """Add exact rounded noise and take the largest."""
        noise = randomness.rounded_gaussian(self._noise, size=votes.counts.size, source=source)
        return noisy_argmax(in_steps(votes, self._finer) + noise.reshape(votes.counts.shape), source)

    def __repr__(self) -> str:
        return f"GaussianNoisyMax(sigma {in_words(self.sigma)})"


class ConfidentGaussianMax(GaussianNoisyMax):
    """Gaussian noisy maximum for the queries on which the teachers agree, and no answer on the others.

    A query is answered with noise `sigma2` if its largest count plus noise `sigma1` reaches `threshold`.

    Promise: mu-Gaussian DP with mu^2 = Q/sigma1^2 + 2A/sigma2^2 for Q queries of which A are answered.
    """

    def __init__(self, threshold: Amount, sigma1: Amount, sigma2: Amount) -> None:
        super().__init__(sigma2, test=ThresholdTest(threshold, sigma1))

    def __repr__(self) -> str:
        return f"ConfidentGaussianMax({self.test!r}, sigma {in_words(self.sigma)})"


AGGREGATORS: dict[str, type[Aggregator]] = {
    "gumbel": GumbelNoisyMax,
    "laplace": LaplaceNoisyMax,
    "gaussian": GaussianNoisyMax,
    "confident": ConfidentGaussianMax,
}
"""Ziggurat's own aggregators, by the names that commands and experiments call them."""

_EXAMPLES = {"gumbel": "0.05", "laplace": "0.05", "gaussian": "40", "confident": "200,150,40"}


def aggregator_named(text: str) -> Aggregator:
    """Read gumbel:0.05, laplace:0.05, gaussian:40 or confident:200,150,40."""
    name, _, amounts = text.partition(":")
    if name not in AGGREGATORS:
        raise ParameterError(f"There is no aggregator {name!r}; {nearest(name, AGGREGATORS)}")
    given = [each.strip() for each in amounts.split(",") if each.strip()]
    if len(given) != _EXAMPLES[name].count(",") + 1:
        raise ParameterError(f"Write the aggregator with its amounts, such as {name}:{_EXAMPLES[name]}.")
    return AGGREGATORS[name](*given)
