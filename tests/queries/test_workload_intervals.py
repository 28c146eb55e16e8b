"""How far errors reach: never below the true quantile, and at most 1.2 times it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ziggurat.data import Bounds, Column, Kind, Schema, Unit
from ziggurat.mechanisms import Gaussian, Laplace
from ziggurat.queries import Workload
from ziggurat.queries.workloads import _intervals as intervals
from ziggurat.queries.workloads._noise import variance
from ziggurat.queries.workloads._strategy import inverse_table, variances

SCHEMA = Schema((Column("x", Kind.INTEGER, bounds=Bounds(0, 63)), Column("b", Kind.BOOLEAN)))
LEVEL = Fraction(95, 100)


def half_widths(plan, most_laws, miss=0.05):
    errors = intervals.Errors(plan.measurement, plan.mechanisms, plan._weights, miss)
    group, space = plan._groups[0], plan.measurement.space
    deviations = np.sqrt(variances(space, group, plan._eigenvalues))
    return errors.half_widths(group, inverse_table(space, group, plan._eigenvalues), deviations, most_laws)


@pytest.mark.parametrize("epsilon", ["0.05", "0.5", 1, 2])
@pytest.mark.parametrize("level", ["0.5", "0.95", "0.999"])
def test_a_single_histogram_has_the_interval_of_its_noise(epsilon, level):
    plan = Workload(SCHEMA).marginal("b").plan(Unit(), epsilon)
    exact = float(plan.mechanisms[0].half_width(level))
    found = float(half_widths(plan, 1, 1 - float(level))[0])
    assert exact <= found <= max(1.2 * exact, exact + 0.3)


@pytest.mark.parametrize("miss", [1e-10, 1e-16, 1e-30])
def test_intervals_hold_at_confidences_beyond_any_sum(miss):
    plan = Workload(SCHEMA).marginal("b").plan(Unit(), "0.1")
    assert float(half_widths(plan, 1, miss)[0]) >= plan.mechanisms[0].half_width(1 - Fraction(miss))


@pytest.mark.parametrize("options", [{"epsilon": "0.1"}, {"epsilon": "0.5"}, {"epsilon": 1, "delta": "1e-6"}])
@pytest.mark.parametrize("by", [[], ["b"]])
def test_bounds_for_many_laws_are_never_below_the_law_and_at_most_a_fifth_above(options, by):
    plan = Workload(SCHEMA).prefixes("x", by=by).plan(Unit(), **options)
    one_by_one, together = half_widths(plan, 64), half_widths(plan, 1)
    ratio = (together / one_by_one).ravel()
    assert ratio.min() > 1 / 1.03  # the route law by law is itself up to 3% wide
    assert ratio.max() < 1.2


@pytest.mark.parametrize("terms", [1, 2, 5])
def test_the_bound_over_concentrations_holds_for_sums_of_laplace_variables(terms):
    """A sum of n Laplace variables is a normal one whose variance is a gamma variable: integrate over it."""
    reach = float(intervals._quantiles(np.array([1 / terms]), 0.05)[0])
    grid = np.linspace(1e-6, 60, 400_001)
    density = stats.gamma(terms, scale=1 / terms).pdf(grid)
    beyond = np.trapezoid(2 * stats.norm.sf(reach / np.sqrt(grid)) * density, grid)
    assert 0.02 < beyond <= 0.05


def test_the_bound_over_concentrations_is_normal_for_none():
    assert float(intervals._quantiles(np.zeros(1), 0.05)[0]) == pytest.approx(1.95996 * 1.001, rel=1e-4)


def smoothed_tail(mechanism, points):
    """P[|noise + uniform| > x]: linear between the halves."""
    steps = np.arange(0, math.ceil(points[-1]) + 2)
    if isinstance(mechanism, Laplace):
        ratio = math.exp(-1 / float(mechanism.scale))
        knots = np.where(steps == 0, 1.0, 2 * ratio**steps / (1 + ratio))
    else:
        knots = np.where(steps == 0, 1.0, 2 * stats.norm.sf((steps - 0.5) / float(mechanism.sigma)))
    knots[0] = 2 - knots[1]  # the line through (0, 1) and (1/2, P[|noise| >= 1])
    return np.interp(points, steps - 0.5, knots)


@pytest.mark.parametrize("width", ["0.06", "0.2", "0.3", "0.5", "0.7", "1", "1.3", "2", "4", "9", "30"])
def test_integer_noise_plus_a_uniform_deviate_is_dominated_by_continuous_noise(width):
    points = np.linspace(0, 12 * float(width) + 4, 100_001)
    for mechanism in (Laplace(1, width, values="integers"), Gaussian(1, width, values="integers")):
        spread = intervals._dominating(mechanism)
        law = (
            stats.laplace(scale=math.sqrt(spread / 2))
            if isinstance(mechanism, Laplace)
            else stats.norm(scale=spread**0.5)
        )
        assert np.all(smoothed_tail(mechanism, points) <= 2 * law.sf(points) + 1e-12)
        assert spread >= variance(mechanism)


@pytest.mark.parametrize("width", ["0.4", "0.9", "1", "3"])
def test_characteristic_functions_are_those_of_the_probabilities(width):
    points, values = np.linspace(-9, 9, 101), np.arange(-80, 81)
    sigma = float(width)
    laplace = np.exp(-np.abs(values) / sigma)
    normal = stats.norm.cdf((values + 0.5) / sigma) - stats.norm.cdf((values - 0.5) / sigma)
    for kind, law in ((Laplace, laplace / laplace.sum()), (Gaussian, normal)):
        found = np.exp(intervals.log_characteristic(kind(1, width, values="integers"), points))
        np.testing.assert_allclose(found, np.cos(np.outer(points, values)) @ law, atol=1e-7)


def test_noise_that_is_mostly_zero_has_hardly_any_width():
    plan = Workload(SCHEMA).all_ranges("x").plan(Unit(), 10**6)
    assert half_widths(plan, 1).max() < 1e-3
