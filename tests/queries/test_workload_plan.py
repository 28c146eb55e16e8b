"""What a plan says before any data are read: the promise, the error, the improvement."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Unit
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.mechanisms import Laplace
from ziggurat.privacy import GaussianEvent, LaplaceEvent, event_from_dict, gaussian_mu
from ziggurat.queries import Workload
from ziggurat.queries.workloads import _noise as noise
from ziggurat.queries.workloads._estimate import answers, estimate_components
from ziggurat.queries.workloads._strategy import contributions, total_energies, variances

SCHEMA = Schema(
    (
        Column("x", Kind.INTEGER, bounds=Bounds(0, 10)),
        Column("c", Kind.CATEGORY, categories=Categories(("a", "b", "c"))),
        Column("b", Kind.BOOLEAN),
    )
)
MIXED = Workload(SCHEMA).all_ranges("x", weight=2).prefixes("x", by=["b"]).marginal("c", "b").marginal("x", "c").total()
NOISES = [{"epsilon": "0.7"}, {"epsilon": "0.7", "delta": "1e-6"}]


def dense_measurements(plan):
    """Every histogram as a matrix over the joint domain, with the variance of its noise."""
    space = plan.measurement.space
    for levels, mechanism in zip(plan.measurement.measured, plan.mechanisms, strict=True):
        matrix = np.ones((1, 1))
        for chain, level in zip(space.chains, levels, strict=True):
            count = chain.blocks[level]
            matrix = np.kron(matrix, np.kron(np.eye(count), np.ones((1, chain.size // count))))
        yield matrix, noise.variance(mechanism)


def dense_queries(plan, group):
    """The queries of a group as a matrix over the joint domain; the cells beyond the public ones are in none."""
    matrix = np.ones((1, 1))
    for name, chain in zip(plan.measurement.space.columns, plan.measurement.space.chains, strict=True):
        if name not in group.factors:
            rows = np.ones((1, chain.size))
        elif group.factors[name] is None:
            rows = np.eye(chain.size)[: plan.workload.cells[name].size]
        else:
            places, ranges = np.arange(chain.size), group.factors[name]
            rows = ((places >= ranges.lows[:, None]) & (places < ranges.highs[:, None])).astype(float)
        matrix = np.kron(matrix, rows)
    return matrix


def sizes_of(plan):
    return {name: cells.size for name, cells in plan.workload.cells.items()}


def in_schema_order(group):
    return list(group.columns) == sorted(group.columns, key=SCHEMA.names.index)


@pytest.mark.parametrize("options", NOISES)
def test_variances_and_answers_are_those_of_dense_least_squares(options):
    plan = MIXED.plan(Unit(), **options)
    measured = list(dense_measurements(plan))
    information = sum(matrix.T @ matrix / variance for matrix, variance in measured)
    inverse = np.linalg.pinv(information)
    noisy = [np.random.default_rng(place).normal(size=len(matrix)) for place, (matrix, _) in enumerate(measured)]
    solved = inverse @ sum(m.T @ y / v for (m, v), y in zip(measured, noisy, strict=True))
    space = plan.measurement.space
    shaped = [
        y.reshape([space.chains[place].blocks[levels[place]] for place in space.support(levels)])
        for y, levels in zip(noisy, plan.measurement.measured, strict=True)
    ]
    parts = estimate_components(plan.measurement, shaped, plan._weights, plan._eigenvalues)
    sizes = sizes_of(plan)
    for group in filter(in_schema_order, plan._groups):
        queries = dense_queries(plan, group)
        exactly = np.einsum("ij,jk,ik->i", queries, inverse, queries)
        ours = np.broadcast_to(variances(space, group, plan._eigenvalues), group.shape(plan.workload.cells)).ravel()
        np.testing.assert_allclose(ours, exactly, rtol=1e-8)
        np.testing.assert_allclose(answers(space, group, parts, sizes).ravel(), queries @ solved, atol=1e-8)


@pytest.mark.parametrize("options", NOISES)
def test_shares_cannot_be_improved_by_moving_five_per_cent(options):
    plan = MIXED.plan(Unit(), **options)
    power = 2 if "delta" not in options else 1
    space, shares = plan.measurement.space, np.array(plan.measurement.shares)
    components = space.components(plan._groups)
    energies = total_energies(space, plan._groups, components, sizes_of(plan))
    adds = contributions(space, components, plan.measurement.measured)

    def error(given):
        return float(np.sum(energies / (adds @ (given / given.sum()) ** power)))

    for place in range(len(shares)):
        for factor in (0.95, 1.05):
            moved = shares.copy()
            moved[place] *= factor
            assert error(moved) >= error(shares) * (1 - 1e-6)


def test_the_epsilons_of_the_histograms_add_up_to_what_was_allowed():
    plan = MIXED.plan(Unit(), "0.7")
    spent = plan.guarantee().epsilon
    assert Fraction(7, 10) * (1 - Fraction(1, 10**6)) < spent <= Fraction(7, 10)
    assert all(isinstance(event, LaplaceEvent) for event in plan.event.events)
    assert event_from_dict(plan.event.to_dict()) == plan.event


def test_the_squares_of_mu_add_up_to_what_was_allowed():
    plan = MIXED.plan(Unit(), 1, "1e-6")
    assert all(isinstance(event, GaussianEvent) for event in plan.event.events)
    total = sum((event.sensitivity / event.sigma) ** 2 for event in plan.event.events)
    assert float(total) == pytest.approx(gaussian_mu(1, 1e-6) ** 2, rel=1e-6)
    assert 0.9999 < float(plan.guarantee("1e-6").epsilon) <= 1


def test_several_rows_of_a_person_move_every_histogram_by_so_many():
    plan = MIXED.plan(Unit.person("who"), 1, rows_per_unit=3)
    assert plan.sensitivity == 3
    assert {(event.sensitivity, event.coordinates) for event in plan.event.events} == {(3, 3)}
    alone = MIXED.plan(Unit(), 1)
    assert plan.expected_error == pytest.approx(3 * alone.expected_error, rel=0.01)


def test_disjoint_ranges_are_measured_as_they_are():
    plan = Workload(SCHEMA).ranges("x", [(0, 2), (3, 4), (7, 10)]).plan(Unit(), "0.5")
    assert plan.strategy == "one histogram: x"
    assert plan.expected_error == pytest.approx(math.sqrt(noise.laplace_variance(2)))
    assert plan.improvement == pytest.approx(1)


def test_small_marginals_come_from_their_joint_histogram():
    """Three two-way marginals at epsilon/3 each are worse than one joint histogram at epsilon (Laplace)."""
    plan = Workload(SCHEMA).marginals(2, ["c", "b"]).marginal("c").marginal("b").plan(Unit(), 1)
    assert plan.strategy == "one histogram: c x b"
    assert plan.improvement > 1.5


def test_all_ranges_improve_on_one_by_one_and_on_noisy_cells():
    wide = Schema((Column("x", Kind.INTEGER, bounds=Bounds(0, 255)),))
    plan = Workload(wide).all_ranges("x").plan(Unit(), 1)
    cells = math.sqrt(noise.laplace_variance(1) * 258 / 3)
    assert plan.improvement > 100
    assert plan.expected_error < cells / 1.2


def test_gaussian_marginals_come_close_to_the_optimum_of_residual_planning():
    """The least loss over all eigenvalues (Xiao et al. 2023, Theorem 3): (sum of sqrt(loss x cost))^2."""
    names = [f"c{i}" for i in range(6)]
    wide = Schema(tuple(Column(name, Kind.INTEGER, bounds=Bounds(0, 3 + i)) for i, name in enumerate(names)))
    plan = Workload(wide).marginals(2).plan(Unit(), 1, "1e-6")
    space = plan.measurement.space
    components = space.components(plan._groups)
    loss = total_energies(space, plan._groups, components, sizes_of(plan))
    cost = [
        math.prod(chain.size - 1 for chain, level in zip(space.chains, a, strict=True) if level) for a in components
    ]
    least = float(np.sum(np.sqrt(loss * np.array(cost)))) ** 2
    ours = float(np.sum(loss / (contributions(space, components, plan.measurement.measured) @ plan.measurement.shares)))
    assert least <= ours < 1.1 * least


RANGE = st.tuples(st.integers(0, 10), st.integers(0, 10)).map(lambda ends: (min(ends), max(ends)))


@settings(max_examples=25, deadline=None)
@given(
    ranges=st.lists(RANGE, min_size=1, max_size=8),
    extra=st.sets(st.sampled_from(["c", "b", "total", "x"])),
    gaussian=st.booleans(),
)
@example(ranges=[(0, 1), (1, 3), (3, 4)], extra=set(), gaussian=True)  # disjoint ranges, which are best asked alone
def test_together_is_hardly_ever_worse_than_one_by_one(ranges, extra, gaussian):
    asked = Workload(SCHEMA).ranges("x", ranges)
    for name in sorted(extra):
        asked = asked.total() if name == "total" else asked.marginal(name)
    plan = asked.plan(Unit(), "0.1", "1e-6" if gaussian else 0)
    assert plan.improvement > 0.97


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("row", 1), "Say whom to protect"),
        ((Unit.person("who"), 1), "rows_per_unit"),
        ((Unit(), 0), "epsilon"),
        ((Unit(), 1, 0, "gaussian"), "delta above 0"),
        ((Unit(), 1, "1e-6", "laplace"), "delta above 0"),
        ((Unit(), 1, 0, "cauchy"), "'laplace' or 'gaussian'"),
        ((Unit(), 1, 0, None, 2), "leave rows_per_unit out"),
        ((Unit.person("who"), 1, 0, None, 0), "rows_per_unit"),
    ],
)
def test_a_plan_refuses_what_it_cannot_promise(arguments, says):
    unit, epsilon, *rest = arguments
    named = dict(zip(("delta", "noise", "rows_per_unit"), rest, strict=False))
    with pytest.raises(ParameterError, match=says):
        MIXED.plan(unit, epsilon, **named)


def test_gaussian_noise_promises_nothing_at_delta_zero():
    with pytest.raises(PrivacyError, match="delta"):
        MIXED.plan(Unit(), 1, "1e-6").guarantee()


@pytest.mark.parametrize("width", [0.2, 0.7, 1, 3.5])
def test_variances_of_noise_agree_with_their_sums(width):
    values = np.arange(-200, 201)
    weights = np.exp(-np.abs(values) / width)
    assert noise.laplace_variance(width) == pytest.approx(float(values**2 @ weights / weights.sum()), rel=1e-9)
    cells = np.array([math.erf((v + 0.5) / width / 2**0.5) - math.erf((v - 0.5) / width / 2**0.5) for v in values]) / 2
    assert noise.gaussian_variance(width) == pytest.approx(float(values**2 @ cells), rel=1e-6, abs=1e-12)


def test_products_of_levels_cover_every_component_that_is_asked():
    plan = MIXED.plan(Unit(), 1)
    depths = [chain.depth for chain in plan.measurement.space.chains]
    assert set(plan._eigenvalues) <= set(product(*(range(depth + 1) for depth in depths)))
    assert min(plan._eigenvalues.values()) > 0
    assert all(isinstance(each, Laplace) for each in plan.mechanisms)
