"""Closed forms of single mechanisms: hockey-stick, Rényi and conversion curves.

Notation: for neighbours with output laws P and Q, delta(eps) = sup_S P(S) - e^eps Q(S), and the Rényi divergence of
order a is log(E_Q[(P/Q)^a]) / (a - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from ziggurat._lazy import deferred
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy.accounting._amounts import float_below, upper_rational

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = deferred("numpy")

Array: TypeAlias = "npt.NDArray[np.float64]"
"""Floats, many at once."""

# No delta below this is ever claimed: floats end near here, and noise that reaches everywhere is never exactly pure.
SMALLEST_DELTA = 1e-300
# Half the distance from 1 to the next float: the relative error of one rounded operation.
UNIT = 2.0**-53
# What a Gaussian delta is rounded up by; see `gaussian_delta`.
_GAUSSIAN_SLACK = 1e-10


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Tight delta of mu-Gaussian DP: Phi(a) - e^eps Phi(b), a = mu/2 - eps/mu, b = a - mu (Balle & Wang 2018).

    As e^eps phi(b) = phi(a), this is phi(a) (R(-a) - R(-b)) with the Mills ratio R, which does not overflow. It is
    rounded up by a part in 1e10. a is off by 2 (mu + eps/mu) units of round-off, hence the logarithm by |a| + 1 times
    as much; where that, or a difference that loses more than three digits, would show, more digits are taken.
    """
    from scipy.special import erfcx

    a = mu / 2 - epsilon / mu
    first, second = (float(erfcx(x / math.sqrt(2))) for x in (-a, mu - a))
    vague = (abs(a) + 1) * (mu + epsilon / mu) > 1e5
    if vague or not math.isfinite(first) or first - second < 1e-3 * first:
        return _gaussian_delta_precisely(epsilon, mu)
    log_value = -a * a / 2 - math.log(2) + math.log(first - second) + _GAUSSIAN_SLACK
    return max(math.exp(min(log_value, 0.0)), SMALLEST_DELTA)


def _gaussian_delta_precisely(epsilon: float, mu: float) -> float:
    import mpmath

    digits = 40 + 2 * max(0, -math.floor(math.log10(mu))) + 2 * max(0, math.ceil(math.log10(1 + epsilon / mu)))
    with mpmath.workdps(digits):
        eps, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        value = mpmath.ncdf(m / 2 - eps / m) - mpmath.exp(eps) * mpmath.ncdf(-m / 2 - eps / m)
        return min(max(float(value * (1 + _GAUSSIAN_SLACK)), SMALLEST_DELTA), 1.0)


def gaussian_epsilon(delta: float, mu: float) -> float:
    """Smallest epsilon at which mu-Gaussian DP has at most `delta`."""
    if gaussian_delta(0.0, mu) <= delta:
        return 0.0
    upper = mu * mu / 2 + mu * math.sqrt(2 * math.log(1 / delta))
    return smallest_where(lambda epsilon: gaussian_delta(epsilon, mu) <= delta, 0.0, upper)


@lru_cache(maxsize=512)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """Largest mu for which mu-Gaussian DP implies (epsilon, delta)-DP: the analytic Gaussian calibration."""
    if delta <= 0:
        raise ParameterError("Gaussian noise needs a delta greater than 0; use Laplace noise for delta 0.")
    if delta > 1 - 1e-12:
        raise ParameterError("A delta this close to 1 promises nothing; choose a small one, such as 1e-6.")
    high = 1.0
    while gaussian_delta(epsilon, high) <= delta:
        high *= 2
    return 1 / smallest_where(lambda scale: gaussian_delta(epsilon, 1 / scale) <= delta, 1 / high, 4 / high)


def smallest_where(holds: Callable[[float], bool], low: float, high: float) -> float:
    """Bisect for the smallest argument at which a monotone condition holds; the result satisfies it.

    It stops a part in 1e13 above the true point, which is on the safe side.
    """
    for _ in range(1100):
        if holds(high):
            break
        low, high = high, 2 * high + 1e-300
    else:
        raise PrivacyError("These amounts are outside what can be accounted for.")
    while high - low > 1e-13 * high:
        middle = math.sqrt(low * high) if low > 0 and high > 4 * low else (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def pure_renyi(epsilon: float, orders: Array) -> Array:
    """Rényi curve that no epsilon-DP mechanism exceeds: that of binary randomised response."""
    log_p, log_q = -np.logaddexp(0, -epsilon), -np.logaddexp(0, epsilon)
    both = np.logaddexp(orders * log_p + (1 - orders) * log_q, orders * log_q + (1 - orders) * log_p)
    return _safely(both, np.abs(orders * log_q), orders, epsilon)


def _safely(log_moment: Array, size: Array, orders: Array, epsilon: float) -> Array:
    """Turn a log moment into a divergence: its round-off, relative to terms of `size`, is added before dividing.

    For small epsilon that sum is all round-off, so the proven bounds a eps^2/2 and eps cap it.
    """
    computed = (log_moment + 4e-15 * (1 + size)) / (orders - 1)
    return np.asarray(np.minimum(np.minimum(computed, orders * epsilon**2 / 2), epsilon))


@lru_cache(maxsize=4096)
def pure_mu_squared(epsilon: Fraction) -> Fraction | None:
    """Square of the least mu such that epsilon-DP implies mu-Gaussian DP; None beyond floating range.

    The trade-off function of randomised response runs straight from (0, 1) to its fixed point at
    1/(1 + e^eps) and on to (1, 0). The Gaussian one with the same fixed point is convex and shares the end points,
    so it lies below: mu = -2 Phi^-1(1/(1 + e^eps)) (Dong, Roth & Su 2022, Section 2). For tiny epsilon the quantile
    is replaced by its series, bounded from above.
    """
    if epsilon > 600:
        return None
    eps = float(epsilon)
    if eps < 1e-3:
        return upper_rational(math.pi / 2 * (eps * (1 + eps * eps)) ** 2)
    return upper_rational((2 * NormalDist().inv_cdf(1 / (1 + math.exp(eps)))) ** 2)


def discrete_laplace_delta(epsilon: Array, shift: Fraction, scale: Fraction) -> Array:
    """Tight delta of discrete Laplace noise, both arguments in steps of the lattice.

    With a = e^(-1/scale) and the largest integer m < (shift - scale eps)/2 the best set is {x <= m}, so for
    -shift <= scale eps < shift: delta = 1 - a^(m+1)/(1+a) - e^eps a^(shift-m)/(1+a). The discrete curve is the chord
    interpolation of the continuous one, hence slightly above it: the continuous form would not be a bound.
    """
    rate, width = float(1 / scale), float(shift)
    top = width * rate
    inside = np.clip(epsilon, -top, top)
    m = np.maximum(np.ceil((width - inside / rate) / 2) - 1, 0.0)
    # (1 - e^eps a^(shift-m)) + a (1 - a^m), over 1 + a: nothing cancels, and the exponent is rounded up.
    gap = np.maximum(rate * (width - m) - inside, 0.0) + 8 * UNIT * (top + np.abs(inside))
    value = (
        (-np.expm1(-gap) - math.exp(-rate) * np.expm1(-rate * m)) / (1 + math.exp(-rate)) * (1 + 16 * UNIT * (1 + top))
    )
    value = np.where(epsilon >= top, 0.0, value)
    return np.asarray(np.where(epsilon <= -top, -np.expm1(np.minimum(epsilon, 0)), np.clip(value, 0, 1)))


def discrete_laplace_renyi(shift: Fraction, scale: Fraction, orders: Array) -> Array:
    """Rényi curve of discrete Laplace noise by summing the geometric series exactly.

    sum_x P^a Q^(1-a) with P centred at 0 and Q at D: the tails x <= 0 and x >= D are geometric, and between them the
    terms are exp((-(a x) - (1-a)(D-x)) / scale), geometric in x with ratio e^(-(2a-1)/scale).
    """
    rate, width = float(1 / scale), float(shift)
    log_norm = math.log(math.tanh(rate / 2))
    log_tail = -math.log(-math.expm1(-rate))
    left = log_tail + (orders - 1) * rate * width
    right = log_tail - orders * rate * width
    ratio = (2 * orders - 1) * rate
    count = width - 1
    middle = (orders - 1) * rate * width - ratio + _log_geometric(ratio, count)
    total = np.logaddexp(np.logaddexp(left, right), middle) if count > 0 else np.logaddexp(left, right)
    return _safely(log_norm + total, np.abs(left) + abs(log_norm), orders, rate * width)


def _log_geometric(ratio: Array, count: float) -> Array:
    """Give log(1 + r + ... + r^(count-1)) for r = e^(-ratio)."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(-ratio * count)) - np.log(-np.expm1(-ratio)))


def zcdp_delta(epsilon: float, rho: float) -> float:
    """Best delta that rho-zCDP implies at epsilon, rounded up (Canonne, Kamath & Steinke 2020, Corollary 13).

    delta = inf over a > 1 of exp((a-1)(a rho - eps)) (1 - 1/a)^a / (a - 1), here in b = a - 1, so that nothing cancels
    near 1. Every b gives a bound; the search only looks for a good one.
    """
    if rho == 0:
        return 0.0

    def terms(gap: float) -> list[float]:
        return [gap * (1 + gap) * rho, -gap * epsilon, gap * math.log(gap), -(1 + gap) * math.log1p(gap)]

    centre = max((epsilon + rho) / (2 * rho), 1.0)
    low, high = 1e-9, 2 * centre + 9
    for _ in range(120):
        third = (high - low) / 3
        if sum(terms(low + third)) < sum(terms(high - third)):
            high -= third
        else:
            low += third
    found = terms((low + high) / 2)
    log_delta = sum(found) + 8 * UNIT * sum(map(abs, found))
    return max(math.exp(min(log_delta, 0.0)) * (1 + 4 * UNIT), SMALLEST_DELTA)


def zcdp_epsilon(delta: float, rho: float) -> float:
    """Smallest epsilon that rho-zCDP implies at `delta` > 0."""
    upper = rho + 2 * math.sqrt(rho * math.log(1 / delta))
    return smallest_where(lambda epsilon: zcdp_delta(epsilon, rho) <= delta, 0.0, upper)


@lru_cache(maxsize=512)
def zcdp_rho(epsilon: Fraction, delta: Fraction) -> float:
    """Largest rho for which rho-zCDP implies (epsilon, delta)-DP."""
    wanted, slack = float_below(epsilon), float_below(delta)
    inverse = smallest_where(lambda x: zcdp_delta(wanted, 1 / x) <= slack, 0.0, 1 / max(wanted, 1e-12) ** 2)
    return 1 / inverse


def renyi_to_epsilon(orders: Array, curve: Array, delta: float) -> float:
    """Convert a Rényi curve: min over a of r(a) + log(1 - 1/a) - log(delta a)/(a - 1), at least 0, rounded up.

    Canonne, Kamath & Steinke 2020, Proposition 12; at each order it is a valid bound, so the least one is.
    """
    parts = curve, _log_share(orders), -math.log(delta) / (orders - 1), -np.log(orders) / (orders - 1)
    return max(float(np.min(_add_upwards(*parts))), 0.0)


def renyi_to_delta(orders: Array, curve: Array, epsilon: float) -> float:
    """Convert a Rényi curve to the least delta it proves at `epsilon`, rounded up."""
    gap = orders - 1
    values = _add_upwards(gap * curve, -gap * epsilon, gap * _log_share(orders), -np.log(orders))
    return max(math.exp(min(float(np.min(values)), 0.0)) * (1 + 4 * UNIT), SMALLEST_DELTA)


def _log_share(orders: Array) -> Array:
    """log(1 - 1/a), as a difference that is exact near 1, where the order minus 1 is."""
    return np.asarray(np.log(orders - 1) - np.log(orders))


def _add_upwards(*terms: Array) -> Array:
    """Add terms, each right to a few units of round-off, and what these may amount to."""
    return np.asarray(sum(terms) + 16 * UNIT * sum(np.abs(term) for term in terms))
