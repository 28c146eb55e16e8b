"""Privacy at risk as published (Dandekar's thesis, chapter 8; PoPETs 2021): to reproduce, never to promise.

Theorem 3 takes |f(x) - z| and |f(y) - z| for independent. They are functions of the same noise, so the theorem does
not hold, nor do Corollaries 1 and 2, equation 8.8 and what rests on them. Lemma 11 (a distribution function is
1-Lipschitz) is false too, and equation 8.17 falls with it. Every function here warns and says how far its value lies
from the exact one.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy.accounting import (
    Amount,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    smallest_where,
    whole_number,
)
from ziggurat.privacy.at_risk import LaplaceAtRisk
from ziggurat.privacy.cost._cost import Cheapest, CostModel


class NotAGuaranteeWarning(UserWarning):
    """A published formula was used whose result is not a guarantee."""


def _warn(what: str) -> None:
    warnings.warn(f"As published, and not a guarantee: {what}", NotAGuaranteeWarning, stacklevel=3)


def published_confidence(level: Amount, epsilon: Amount, dimensions: int = 1) -> float:
    """Theorem 3: P(T <= epsilon)/P(T <= level) with T of the Bessel-K distribution. Not a guarantee.

    For one dimension it is (1 - e^-epsilon)/(1 - e^-level).
    """
    top, bound, k = exact_epsilon(level, "level"), exact_epsilon(epsilon), whole_number(dimensions, "dimensions")
    value = _ratio(float(top), float(bound), k)
    true = LaplaceAtRisk(top, k).confidence(bound)
    _warn(f"Theorem 3 gives confidence {value:.4f} where {true:.4f} can be proven.")
    return value


def _ratio(level: float, epsilon: float, dimensions: int) -> float:
    return 1.0 if epsilon >= level else _bessel(epsilon, dimensions) / _bessel(level, dimensions)


def _bessel(x: float, dimensions: int) -> float:
    """P(T <= x): for a whole number of dimensions t^(n-1/2) K_(n-1/2)(t) is e^-t times a polynomial.

    So T is a mixture of Gamma laws of shapes 1 to n with weights (n-1+j)!/(j! (n-1)!) 2^-(n-1+j), j = n - shape.
    """
    if dimensions == 1:
        return -math.expm1(-x)
    from scipy.special import gammainc, gammaln

    n = dimensions
    j = np.arange(n)
    log_weights = gammaln(n + j) - gammaln(j + 1) - gammaln(n) - (n - 1 + j) * math.log(2)
    return float(np.exp(log_weights) @ gammainc(n - j, x))


def published_confidence_by_series(level: Amount, epsilon: Amount, dimensions: int = 1) -> float:
    """Corollary 1: the same by the hypergeometric 1F2, which must be read as regularised. Not a guarantee."""
    import mpmath

    top, bound, k = exact_epsilon(level, "level"), exact_epsilon(epsilon), whole_number(dimensions, "dimensions")
    if bound > top:
        raise ParameterError("Corollary 1 is about an epsilon up to the level of the noise.")

    def part(x: float) -> mpmath.mpf:
        half, z = mpmath.mpf(1) / 2, mpmath.mpf(x) ** 2 / 4
        first = mpmath.hyp1f2(half, 3 * half - k, 3 * half, z) * mpmath.rgamma(3 * half - k) * mpmath.rgamma(3 * half)
        second = mpmath.hyp1f2(k, half + k, k + 1, z) * mpmath.rgamma(half + k) * mpmath.rgamma(k + 1)
        return first * mpmath.sqrt(mpmath.pi) * mpmath.mpf(4) ** k * x - 2 * second * mpmath.mpf(x) ** (
            2 * k
        ) * mpmath.gamma(k)

    with mpmath.workdps(50):
        value = float(part(float(bound)) / part(float(top)))
    true = LaplaceAtRisk(top, k).confidence(bound)
    _warn(f"Corollary 1 gives confidence {value:.4f} where {true:.4f} can be proven.")
    return value


def published_epsilon(level: Amount, confidence: Amount, dimensions: int = 1) -> float:
    """Equation 8.8 (one dimension), or Theorem 3 solved for epsilon. Not a guarantee."""
    top, wanted = exact_epsilon(level, "level"), float(exact_confidence(confidence))
    k = whole_number(dimensions, "dimensions")
    if k == 1:
        value = -math.log1p(wanted * math.expm1(-float(top)))
    else:
        value = smallest_where(lambda x: _ratio(float(top), x, k) >= wanted, 0.0, float(top))
    true = LaplaceAtRisk(top, k).epsilon(confidence)
    _warn(f"equation 8.8 gives epsilon {value:.4f} where {true:.4f} can be proven.")
    return value


def published_level(epsilon: Amount, confidence: Amount, dimensions: int = 1) -> float:
    """Section 8.4.1: the level of noise that Theorem 3 would allow for (epsilon, confidence). Not a guarantee."""
    bound, wanted = float(exact_epsilon(epsilon)), float(exact_confidence(confidence))
    k = whole_number(dimensions, "dimensions")
    if _bessel(bound, k) >= wanted:
        raise PrivacyError("Theorem 3 would allow any level here, even no noise; ask for more confidence.")
    value = smallest_where(lambda x: _ratio(x, bound, k) <= wanted, bound, 2 * bound)
    true = float(LaplaceAtRisk.noise_for(epsilon, confidence, coordinates=k).level)
    _warn(f"Theorem 3 allows noise of level {value:.4f} where {true:.4f} can be proven.")
    return value


def published_combined_confidence(
    level: Amount, epsilon: Amount, sampled: Amount, ratio: Amount = 1, dimensions: int = 1
) -> float:
    """Equation 8.17: P(T <= epsilon)/P(T <= ratio level) times `sampled` (gamma_2). Not a guarantee.

    `ratio` is eta, the true sensitivity over the sampled one, which nobody who samples can know.
    """
    top, bound, k = exact_epsilon(level, "level"), exact_epsilon(epsilon), whole_number(dimensions, "dimensions")
    share, eta = exact_confidence(sampled, "sampled"), exact_positive(ratio, "ratio")
    value = _ratio(float(eta * top), float(bound), k) * float(share)
    true = LaplaceAtRisk(eta * top, k).confidence(bound) * float(share)
    _warn(f"equation 8.17 gives confidence {value:.4f}; with the exact first factor it would be {true:.4f}.")
    return value


def published_sampled_confidence(confidence: Amount, accuracy: Amount, samples: int) -> float:
    """Equation 8.9: gamma_2 (1 - 2 e^(-2 rho^2 n)); its proof forgets that F may lie rho below. Not a guarantee."""
    share, rho = float(exact_confidence(confidence)), float(exact_confidence(accuracy, "accuracy"))
    n = whole_number(samples, "samples")
    value = share * (1 - 2 * math.exp(-2 * rho * rho * n))
    true = max((share - rho) * -math.expm1(-2 * rho * rho * n), 0.0)
    _warn(f"equation 8.9 gives {value:.4f}, the corrected bound is {true:.4f}.")
    return value


def probabilistic_tolerance(accuracy: Amount, samples: int) -> float:
    """Equation 8.18: 1 - 2 e^(-2 rho^2 n), the chance that an empirical distribution is within rho everywhere."""
    rho = float(exact_confidence(accuracy, "accuracy"))
    return max(1 - 2 * math.exp(-2 * rho * rho * whole_number(samples, "samples")), 0.0)


def samples_for(tolerance: Amount, accuracy: Amount) -> int:
    """Figure 8.3: the samples needed for a tolerance; they grow as the square of 1/accuracy, not exponentially."""
    alpha, rho = float(exact_confidence(tolerance, "tolerance")), float(exact_confidence(accuracy, "accuracy"))
    return math.ceil(math.log(2 / (1 - alpha)) / (2 * rho * rho))


def published_cheapest(model: CostModel, level: Amount, dimensions: int = 1) -> Cheapest:
    """Equations 8.20 and 8.21: the cheapest epsilon when Theorem 3 were true. Not a guarantee.

    Found by the same search as `CostModel.cheapest`: Lemma 13 (convexity) is false for levels above 1.105.
    """
    top, k = exact_epsilon(level, "level"), whole_number(dimensions, "dimensions")
    found = model.cheapest(top, lambda x: _ratio(float(top), x, k), direction="nearest")
    true = model.cheapest(top)
    _warn(f"Theorem 3 gives a budget of {found.budget} where {true.budget} can be justified.")
    return found


def published_overlap(first: Amount, second: Amount) -> float:
    """Lemma 3: the overlap of two Laplace densities of these levels. True, and it says nothing about privacy."""
    one, two = sorted((float(exact_epsilon(first)), float(exact_epsilon(second))), reverse=True)
    _warn("the overlap of two noises is no statement about privacy, so there is no exact value to compare with.")
    if one == two:
        return 1.0
    place = math.log(one / two) / (one - two)
    return 1 - (math.exp(-place * two) - math.exp(-place * one))
