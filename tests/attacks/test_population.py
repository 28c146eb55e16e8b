"""Uniques of the population: estimated from samples of populations whose truth is known."""

from collections import Counter

import numpy as np
import pytest
from scipy.integrate import quad

from ziggurat.attacks import population_uniques
from ziggurat.attacks.tables._population import expected_inverse_sizes
from ziggurat.errors import ParameterError


def sampled(sizes, fraction, seed):
    """Sample each person of a population of classes alike; return class sizes in the sample, and the true uniques."""
    kept = np.random.default_rng(seed).binomial(sizes, fraction)
    return {int(size): many for size, many in Counter(kept[kept > 0].tolist()).items()}, int((sizes == 1).sum())


def pitman_population(people, alpha, theta, seed):
    """The Chinese restaurant process, whose tables are a population by Pitman's formula."""
    generator, owner, first, tables = np.random.default_rng(seed), [0], [True], 1
    for seated in range(1, people):
        opens = generator.random() < (theta + alpha * tables) / (theta + seated)
        guest = int(generator.integers(seated))
        while first[guest] and generator.random() < alpha:  # a table weighs its size less alpha
            guest = int(generator.integers(seated))
        owner.append(tables if opens else owner[guest])
        first.append(bool(opens))
        tables += bool(opens)
    return np.bincount(owner)


@pytest.fixture(scope="module")
def restaurant():
    return pitman_population(60_000, 0.5, 200.0, 7)


def snb_population(classes, shape, mean, seed):
    return 1 + np.random.default_rng(seed).negative_binomial(shape, shape / (shape + mean), classes)


def test_pitmans_formula_finds_the_uniques_of_its_own_population(restaurant):
    sizes, truth = sampled(restaurant, 0.1, 3)
    found = population_uniques(sizes, 0.1)
    assert found.model == "pitman"
    assert found.expected == pytest.approx(truth, rel=0.1)


def test_the_slide_negative_binomial_finds_the_uniques_of_its_own_population():
    population = snb_population(30_000, 0.5, 3.0, 4)
    sizes, truth = sampled(population, 0.3, 5)
    assert population_uniques(sizes, 0.3).snb == pytest.approx(truth, rel=0.05)


def test_zayatz_is_near_where_the_sample_is_large():
    sizes, truth = sampled(snb_population(30_000, 0.5, 3.0, 6), 0.8, 7)
    assert population_uniques(sizes, 0.8).zayatz == pytest.approx(truth, rel=0.05)


def test_no_estimator_sees_that_everybody_has_a_twin(restaurant):
    sizes, truth = sampled(2 * restaurant, 0.1, 3)
    assert truth == 0
    assert population_uniques(sizes, 0.1).expected > 1000  # a limit that the guide states


def test_the_rule_takes_pitman_for_small_samples_and_the_smaller_of_two_for_large(restaurant):
    sizes, _ = sampled(restaurant, 0.3, 9)
    found = population_uniques(sizes, 0.3)
    assert found.expected == min(found.zayatz, found.snb)
    assert population_uniques(sizes, 0.1).model == "pitman"


def test_at_the_edge_of_pitmans_formula_the_estimate_is_ewens():
    population = snb_population(30_000, 0.5, 3.0, 4)
    sizes, truth = sampled(population, 0.02, 5)
    assert population_uniques(sizes, 0.02).pitman == pytest.approx(truth, rel=0.15)


def test_a_full_sample_and_one_without_uniques_need_no_model():
    assert population_uniques({1: 3, 2: 1}, 1).expected == 3
    assert population_uniques({2: 5}, 0.1).expected == 0


def test_a_sample_of_nothing_but_uniques_still_gets_an_estimate():
    found = population_uniques({1: 50}, 0.05)
    assert (found.pitman, found.snb, found.model) == (None, None, "zayatz")
    assert 0 < found.expected <= found.population


@pytest.mark.parametrize("size", [1, 3, 48, 60, 400])
def test_the_expected_risk_is_the_integral_that_defines_it(size):
    # One size only, so that no parameter can be fitted: alpha = theta = 0, E[1/F] = integral of E[t^(F - 1)].
    fraction = 0.05
    ends = [1 - fraction, 1 - fraction / size]
    wanted = quad(lambda t: t ** (size - 1) * (fraction / (1 - (1 - fraction) * t)) ** size, 0, 1, points=ends)[0]
    assert expected_inverse_sizes({size: 1}, fraction)[0] == pytest.approx(wanted, rel=1e-6)


def test_the_expected_risk_of_a_sample_is_that_in_its_population(restaurant):
    kept = np.random.default_rng(11).binomial(restaurant, 0.1)
    sizes = dict(sorted(Counter(kept[kept > 0].tolist()).items()))
    estimate = sum(
        f * many * risk for (f, many), risk in zip(sizes.items(), expected_inverse_sizes(sizes, 0.1), strict=True)
    )
    truth = (kept[kept > 0] / restaurant[kept > 0]).sum()
    assert estimate == pytest.approx(truth, rel=0.1)


@pytest.mark.parametrize(("sizes", "fraction"), [({}, 0.1), ({0: 3}, 0.1), ({1: -1}, 0.1), ({1: 1}, 0), ({1: 1}, True)])
def test_bad_input_is_refused(sizes, fraction):
    with pytest.raises(ParameterError):
        population_uniques(sizes, fraction)
