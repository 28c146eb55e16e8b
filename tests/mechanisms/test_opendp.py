"""Every mechanism beside OpenDP's: the same law, the same price, the same error.

OpenDP draws from its own secure source, so these tests are not seeded; each errs with probability below 1e-7.
"""

import math
from fractions import Fraction

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import chi2_contingency

from ziggurat.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PartitionSelection,
    RandomizedResponse,
    Selection,
    TopK,
    TruncatedGeometric,
)
from ziggurat.privacy import Relation, compose
from ziggurat.randomness import seeded

dp.enable_features("contrib", "honest-but-curious")

INTEGER = (dp.atom_domain(T=int), dp.absolute_distance(T=int))
SCORES = (dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int))
N = 20_000


def same_law(ours: np.ndarray, theirs: np.ndarray) -> float:
    """p-value that two samples come from one law; values rarer than about 1 in 500 are pooled by rank."""
    edges = np.unique(np.quantile(np.concatenate([ours, theirs]), np.linspace(0, 1, 41)))
    bins = np.append(edges, np.inf)
    counts = np.array([np.histogram(side, bins)[0] for side in (ours, theirs)])
    return chi2_contingency(counts[:, counts.sum(axis=0) > 0]).pvalue


def vector(make, norm, scale):
    space = dp.vector_domain(dp.atom_domain(T=int)), norm
    return np.array(make(*space, scale=scale)([0] * N))


def zeros():
    return np.zeros(10 * N, dtype=np.int64)


@pytest.mark.statistical
def test_laplace_has_the_same_law_price_and_error():
    ours = Laplace(1, 7, values="integers", coordinates=1)
    theirs = vector(dp.m.make_laplace, dp.l1_distance(T=int), 7.0)
    draws = ours.release(zeros(), seeded("opendp")).value
    assert same_law(draws, theirs) > 1e-7
    assert same_law(draws, np.round(theirs * 1.1)) < 1e-7
    assert float(ours.epsilon) == pytest.approx(dp.m.make_laplace(*INTEGER, scale=7.0).map(1))
    assert int(ours.half_width()) == math.floor(dp.discrete_laplacian_scale_to_accuracy(7.0, 0.05))


@pytest.mark.statistical
def test_the_discrete_gaussian_has_the_same_law_price_and_error():
    ours = DiscreteGaussian(1, 7, coordinates=1)
    theirs = vector(dp.m.make_gaussian, dp.l2_distance(T=float), 7.0)
    draws = ours.release(zeros(), seeded("opendp")).value
    assert same_law(draws, theirs) > 1e-7
    assert same_law(draws, np.round(theirs * 1.1)) < 1e-7
    assert float(ours.rho) == pytest.approx(dp.m.make_gaussian(*INTEGER, scale=7.0).map(1))
    assert int(ours.half_width()) == int(dp.discrete_gaussian_scale_to_accuracy(7.0, 0.05)) - 1


def test_real_noise_has_the_same_error():
    assert float(Laplace(1, 3).half_width()) == pytest.approx(dp.laplacian_scale_to_accuracy(3.0, 0.05), rel=1e-5)
    assert float(Gaussian(1, 3).half_width()) == pytest.approx(dp.gaussian_scale_to_accuracy(3.0, 0.05), rel=1e-5)


@pytest.mark.statistical
def test_the_truncated_geometric_has_the_same_law_and_price():
    bounded = dp.m.make_geometric(*INTEGER, scale=3.0, bounds=(0, 10))
    ours = TruncatedGeometric(0, 10, 1, 3, coordinates=1)
    draws = ours.release(np.full(10 * N, 4), seeded("opendp")).value
    assert same_law(draws, np.array([bounded(4) for _ in range(N)])) > 1e-7
    assert float(ours.epsilon) == pytest.approx(bounded.map(1))


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("method", "measure"),
    [("permute-and-flip", dp.max_divergence()), ("gumbel", dp.zero_concentrated_divergence())],
)
def test_selection_has_the_same_law_and_price(method, measure):
    ours, source = Selection(1, method=method), seeded("opendp")
    theirs = dp.m.make_noisy_max(*SCORES, measure, scale=2.0)
    scores = [10, 9, 7, 3]
    mine = np.array([ours.release(scores, source).value for _ in range(N)])
    assert same_law(mine, np.array([theirs(scores) for _ in range(N)])) > 1e-7
    claim = ours.guarantee().epsilon if method == "permute-and-flip" else compose(ours.event).zcdp().rho
    assert float(claim) == pytest.approx(theirs.map(1))


def test_top_k_has_the_same_price():
    theirs = dp.m.make_noisy_top_k(*SCORES, dp.max_divergence(), k=2, scale=2.0)
    assert float(TopK(2, 2).guarantee().epsilon) == pytest.approx(theirs.map(1))


@pytest.mark.statistical
def test_randomised_response_has_the_same_law_and_price():
    ours = RandomizedResponse(1, 3)
    theirs = dp.m.make_randomized_response([0, 1, 2], ours.truth)
    assert theirs.map(1) == pytest.approx(1.0, rel=1e-9)
    assert ours.event.neighbours.relation is Relation.REPLACE_ONE
    draws = ours.release(np.full(10 * N, 1), seeded("opendp")).value
    assert same_law(draws, np.array([theirs(1) for _ in range(N)])) > 1e-7


@pytest.mark.parametrize("delta", ["1e-4", "1e-7"])
def test_partition_selection_has_the_same_price(delta):
    """OpenDP names what is strictly above its threshold, so its threshold is ours less one."""
    ours = PartitionSelection(1, delta)
    space = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)), dp.l01inf_distance(dp.absolute_distance(T=int))
    epsilon, spent = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=ours.threshold - 1).map((1, 1, 1))
    assert (float(ours.event.epsilon), spent <= float(delta)) == (pytest.approx(epsilon), True)
    _, lower = dp.m.make_laplace_threshold(*space, scale=1.0, threshold=ours.threshold - 2).map((1, 1, 1))
    assert lower > float(Fraction(delta))
