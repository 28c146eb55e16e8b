"""Which class wins: the exact law of a noisy maximum, in logarithms.

With noise of density f and distribution function F on every count, class j wins with probability
P_j = int f(x - n_j) prod_{k != j} F(x - n_k) dx. All terms of the quadratures below are positive, so even the smallest
probabilities keep all but the last digits. Classes are interchangeable, hence rows that are permutations of each other
are computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from ziggurat.pate.voting._votes import Floats

Rule = Callable[[Floats], tuple[Floats, Floats]]
Curve = Callable[[Floats], Floats]

_CELLS_AT_ONCE = 512
# The trapezoidal rule converges like exp(-2 (pi w / h)^2) for a bump of width w, which for noisy maxima is above
# sigma/3; what lies beyond nine sigmas of all counts is e^-40 of the whole.
_STEP = 0.25
_REACH = 9.0
_PANEL_NODES = 6


def log_sum(terms: Floats, axis: int = -1) -> Floats:
    """Logarithm of the sum of exponentials along an axis."""
    top = terms.max(axis=axis, keepdims=True)
    return np.asarray(np.log(np.exp(terms - top).sum(axis=axis)) + np.squeeze(top, axis))


def gumbel_law(counts: Floats, gamma: float) -> Floats:
    """Log-probabilities of the exponential mechanism, P_j proportional to exp(gamma n_j)."""
    return np.asarray(gamma * counts - log_sum(gamma * counts)[:, None])


def gaussian_law(counts: Floats, sigma: float) -> Floats:
    """Log-probabilities of the maximum with N(0, sigma^2) on every count; for two classes in closed form."""
    if counts.shape[1] == 2:
        return np.asarray(log_ndtr((counts - counts[:, ::-1]) / (sigma * math.sqrt(2))))
    return by_quadrature(
        counts / sigma, _trapezoid, lambda t: -t * t / 2 - math.log(2 * math.pi) / 2, lambda t: np.asarray(log_ndtr(t))
    )


def laplace_law(counts: Floats, gamma: float) -> Floats:
    """Log-probabilities of the maximum with Laplace noise of scale 1/gamma; for two classes in closed form."""
    scaled = counts * gamma
    if counts.shape[1] == 2:
        return _from_loser(scaled[:, 0] - scaled[:, 1], log_laplace_miss(np.abs(scaled[:, 0] - scaled[:, 1])))
    return by_quadrature(scaled, _panels(counts.shape[1]), lambda t: -np.abs(t) - math.log(2), _log_laplace_cdf)


def log_laplace_miss(gap: Floats) -> Floats:
    """Log-probability that the difference of two standard Laplace deviates exceeds `gap` >= 0: (2 + u) e^-u / 4."""
    return np.asarray(np.log1p(gap / 2) - gap - math.log(2))


def _from_loser(lead: Floats, log_miss: Floats) -> Floats:
    """Put together the law of two classes from the one that is behind; a tie is even."""
    log_hit = np.log1p(-np.exp(log_miss))
    ahead = lead >= 0
    return np.stack([np.where(ahead, log_hit, log_miss), np.where(ahead, log_miss, log_hit)], axis=1)


def _log_laplace_cdf(t: Floats) -> Floats:
    below = np.minimum(t, 0) - math.log(2)
    return np.asarray(np.where(t < 0, below, np.log1p(-np.exp(-np.abs(t)) / 2)))


def by_quadrature(counts: Floats, rule: Rule, log_density: Curve, log_cdf: Curve) -> Floats:
    """Log-probabilities of the maximum with any noise; `rule` gives nodes and log-weights that fit all the counts."""
    ranked = np.argsort(-counts, axis=1, kind="stable")
    rows, place = np.unique(np.take_along_axis(counts, ranked, axis=1), axis=0, return_inverse=True)
    some = max(1, _CELLS_AT_ONCE // counts.shape[1])
    laws = [_one_batch(rows[i : i + some], rule, log_density, log_cdf) for i in range(0, len(rows), some)]
    out = np.empty_like(counts)
    np.put_along_axis(out, ranked, np.concatenate(laws)[place.ravel()], axis=1)
    return out


def _one_batch(rows: Floats, rule: Rule, log_density: Curve, log_cdf: Curve) -> Floats:
    values, place = np.unique(rows, return_inverse=True)
    nodes, log_weights = rule(values)
    t = nodes - values[:, None]
    below = log_cdf(t)
    own = log_density(t) - below + log_weights
    cells = place.reshape(rows.shape)
    return log_sum(own[cells] + below[cells].sum(axis=1, keepdims=True))


def _trapezoid(values: Floats) -> tuple[Floats, Floats]:
    nodes = np.arange(values[0] - _REACH, values[-1] + _REACH + _STEP, _STEP)
    return nodes, np.full(nodes.size, math.log(_STEP))


def _panels(classes: int) -> Rule:
    """Gauss-Legendre between the kinks of Laplace densities; the tails are polynomials in e^-|x|, and exact."""
    half, half_weight = np.polynomial.legendre.leggauss(_PANEL_NODES)
    tail, tail_weight = np.polynomial.legendre.leggauss((classes + 1) // 2 + 1)
    z, log_z_weight = (tail + 1) / 2, np.log(tail_weight / 2)

    def rule(values: Floats) -> tuple[Floats, Floats]:
        pieces = math.ceil((values[-1] - values[0]) * classes)
        edges = np.unique(np.concatenate([values, np.linspace(values[0], values[-1], pieces + 1)]))
        middle, width = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
        inner = (middle[:, None] + width[:, None] * half).ravel()
        inner_weight = (np.log(width)[:, None] + np.log(half_weight)).ravel()
        outer = log_z_weight - np.log(z)
        nodes = np.concatenate([values[0] + np.log(z), inner, values[-1] - np.log(z)])
        return nodes, np.concatenate([outer, inner_weight, outer])

    return rule
