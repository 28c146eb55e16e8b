"""Privacy-loss distributions, made and composed by dp_accounting."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ziggurat.privacy._curves import discrete_laplace_delta

# Losses are rounded up to multiples of this step (pessimistically), so it costs tightness, never correctness.
STEP = 1e-4


def gaussian_loss(mu: float, step: float) -> Any:
    """Loss distribution of Gaussian noise with sensitivity over sigma equal to `mu`."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=step)


def sampled_gaussian_loss(sampling: float, multiplier: float, steps: int, step: float) -> Any:
    """Loss distribution of the Poisson-sampled Gaussian mechanism, `steps` times."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    once = pld.from_gaussian_mechanism(multiplier, sampling_prob=sampling, value_discretization_interval=step)
    return once if steps == 1 else once.self_compose(steps)


def approximate_loss(epsilon: float, delta: float, step: float) -> Any:
    """Loss distribution that dominates every (epsilon, delta)-DP mechanism."""
    from dp_accounting.pld import common
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, delta), step)


def randomized_response_loss(epsilon: float, categories: int, step: float) -> Any:
    """Loss distribution of randomised response over several categories."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    noise = categories / (categories - 1 + math.exp(epsilon))
    return pld.from_randomized_response(noise, categories, value_discretization_interval=step)


def discrete_laplace_loss(shift: Fraction, scale: Fraction, step: float) -> Any:
    """Loss distribution of discrete Laplace noise on any lattice, by connecting the dots of its exact curve.

    dp_accounting's own constructor walks over every lattice step of the sensitivity, which a fine grid forbids.
    """
    from dp_accounting.pld import pld_pmf
    from dp_accounting.pld import privacy_loss_distribution as pld

    edge = math.ceil(float(shift / scale) / step)
    deltas = discrete_laplace_delta(np.arange(-edge, edge + 1, dtype=np.float64) * step, shift, scale)
    pmf = pld_pmf.create_pmf_pessimistic_connect_dots_fixed_gap(step, -edge, edge, np.minimum.accumulate(deltas))
    return pld.PrivacyLossDistribution(pmf)


def discrete_gaussian_loss(sensitivity: int, sigma: float, step: float) -> Any:
    """Loss distribution of scalar discrete Gaussian noise."""
    from dp_accounting.pld import privacy_loss_distribution as pld

    return pld.from_discrete_gaussian_mechanism(
        sigma, sensitivity, value_discretization_interval=step, use_connect_dots=True
    )
