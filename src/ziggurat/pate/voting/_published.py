"""The accounts of the PATE papers, as published: data-independent, and data-dependent through one number q.

q bounds the probability that the winner is not the class with most votes. The data-dependent bounds hold for the
direction D(P(votes) || P(neighbour)) only, and their values depend on private votes: they are for comparison, and for
`sanitize`. Papernot et al., ICLR 2017 (Laplace) and ICLR 2018 (Gaussian).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from scipy.special import log_ndtr

from ziggurat.pate.voting._laws import log_laplace_miss, log_sum
from ziggurat.pate.voting._votes import Floats
from ziggurat.privacy import Amount, exact_delta, exact_positive, whole_number


class Bound(ABC):
    """A published account of one query, as a function of how far every other class lies behind the best.

    One moved vote changes every one of those gaps by at most 2. `gaps` are in votes, queries x other classes.
    """

    @abstractmethod
    def log_miss(self, gaps: Floats) -> Floats:
        """Logarithm of how likely a class this far behind overtakes the best."""

    @abstractmethod
    def independent(self, orders: Floats) -> Floats:
        """Rényi curve that holds for all votes."""

    @abstractmethod
    def informed(self, log_q: Floats, orders: Floats) -> Floats:
        """Rényi curve, queries x orders, that holds where the best class misses with at most q; infinite elsewhere."""

    def log_union(self, gaps: Floats) -> Floats:
        """Logarithm of the sum over the other classes, which bounds q."""
        return log_sum(self.log_miss(gaps))

    def log_q(self, log_union: Floats) -> Floats:
        """Logarithm of a bound on q."""
        return log_union

    def dependent(self, log_union: Floats, classes: int, orders: Floats) -> Floats:
        """Rényi curve, queries x orders: the data-dependent bound, never above the data-independent one.

        q is at most 1 - 1/classes: the best class wins at least as often as any other.
        """
        informed = self.informed(np.minimum(self.log_q(log_union), math.log1p(-1 / classes)), orders)
        return np.minimum(np.maximum(informed, 0.0), self.independent(orders))


class LaplaceBound(Bound):
    """Laplace noise of scale 1/gamma: min{2 gamma^2 l (l+1), 2 gamma l, the bound by q} at the moment l = order - 1."""

    def __init__(self, gamma: float) -> None:
        self.gamma = gamma

    def log_miss(self, gaps: Floats) -> Floats:
        """(2 + u) e^-u / 4 at u = gamma gap, exact for two classes."""
        return log_laplace_miss(self.gamma * gaps)

    def independent(self, orders: Floats) -> Floats:
        """2 gamma^2 order, which is 2 gamma^2 l (l+1) over l, and 2 gamma."""
        return np.minimum(2 * self.gamma**2 * orders, 2 * self.gamma)

    def informed(self, log_q: Floats, orders: Floats) -> Floats:
        """log[(1-q) ((1-q)/(1 - e^(2 gamma) q))^l + q e^(2 gamma l)] / l, where q <= 1/(e^(2 gamma) + 1)."""
        shift, q, moment = 2 * self.gamma, log_q[:, None], orders - 1
        with np.errstate(invalid="ignore", divide="ignore"):
            kept = (moment + 1) * _log_rest(q) - moment * _log_rest(q + shift)
            value = np.logaddexp(kept, q + shift * moment) / moment
        return np.asarray(np.where(q <= -np.logaddexp(shift, 0), value, np.inf))


class EndpointBound(LaplaceBound):
    """The tightest bound that follows from 2 gamma-DP and q alone: the larger of its two extreme cases.

    That it grows with q was checked numerically, not proven.
    """

    def informed(self, log_q: Floats, orders: Floats) -> Floats:
        """The larger of the two extreme neighbours, where q <= 1/(e^(2 gamma) + 1)."""
        shift, q, moment = 2 * self.gamma, log_q[:, None], orders - 1
        with np.errstate(invalid="ignore", divide="ignore"):
            ends = [
                np.logaddexp((moment + 1) * _log_rest(q) - moment * _log_rest(q + s), q - s * moment)
                for s in (shift, -shift)
            ]
        return np.asarray(np.where(q <= -np.logaddexp(shift, 0), np.maximum(*ends) / moment, np.inf))


class GumbelBound(LaplaceBound):
    """Gumbel noise: gamma^2/2-zCDP by its bounded range; by q the theorem of 2017, which needs only 2 gamma-DP."""

    def log_miss(self, gaps: Floats) -> Floats:
        """Odds e^(-gamma gap) against the best class."""
        return -self.gamma * gaps

    def log_q(self, log_union: Floats) -> Floats:
        """Exact: of the odds r against the best class, q = r/(1 + r)."""
        return log_union - np.logaddexp(log_union, 0)

    def independent(self, orders: Floats) -> Floats:
        """gamma^2 order / 2 (Cesar & Rogers 2021), and 2 gamma."""
        return np.minimum(self.gamma**2 * orders / 2, 2 * self.gamma)


class GaussianBound(Bound):
    """Gaussian noise: order / sigma^2, and Theorem 6 of the 2018 paper with its choice of mu_1 and mu_2.

    A threshold test with noise sigma_1 is the case of two classes, sigma = sqrt(2) sigma_1 and a gap of twice the
    distance to the threshold.
    """

    def __init__(self, sigma: float) -> None:
        self.sigma = sigma

    def log_miss(self, gaps: Floats) -> Floats:
        """erfc(gap / (2 sigma)) / 2."""
        return np.asarray(log_ndtr(-gaps / (math.sqrt(2) * self.sigma)))

    def independent(self, orders: Floats) -> Floats:
        """The Gaussian mechanism with l2 sensitivity sqrt(2)."""
        return orders / self.sigma**2

    def informed(self, log_q: Floats, orders: Floats) -> Floats:
        """log[(1-q) A^(order-1) + q B^(order-1)] / (order-1), infinite where a condition of the theorem fails."""
        q, variance, moment = log_q[:, None], self.sigma**2, orders - 1
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            mu2 = self.sigma * np.sqrt(-q)
            mu1 = mu2 + 1
            limit = (mu2 - 1) * mu2 / variance - mu2 * np.log(mu1 / (mu1 - 1) * mu2 / (mu2 - 1))
            log_a = _log_rest(q) - _log_rest((q + mu2 / variance) * (mu2 - 1) / mu2)
            log_b = mu1 / variance - q / (mu1 - 1)
            value = np.logaddexp(_log_rest(q) + moment * log_a, q + moment * log_b) / moment
            holds = (orders < mu1) & (mu2 > 1) & (-q > mu2 / variance) & (q <= limit)
        return np.asarray(np.where(holds, value, np.inf))


def _log_rest(log_q: Floats) -> Floats:
    """log(1 - q); no number where q is above 1."""
    return np.asarray(np.log1p(-np.exp(log_q)))


def printed_laplace_epsilon(queries: int, gamma: Amount, delta: Amount) -> float:
    """4 T gamma^2 + 2 gamma sqrt(2 T ln(1/delta)), a printed closed form: valid, but its first term is twice too large.

    The least over real orders is 2 T gamma^2 + 2 gamma sqrt(2 T ln(1/delta)).
    """
    count, rate = whole_number(queries, "queries"), float(exact_positive(gamma, "gamma"))
    slack = -math.log(float(exact_positive(exact_delta(delta), "delta")))
    return 4 * count * rate**2 + 2 * rate * math.sqrt(2 * count * slack)
