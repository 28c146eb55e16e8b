import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ziggurat.errors import PrivacyError
from ziggurat.pate import (
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    ThresholdTest,
    Votes,
    answer_probabilities,
    exact_curve,
    least_epsilon,
)
from ziggurat.pate.voting import ExactCosts
from ziggurat.pate.voting._exact import divergence, one_vote_moves, two_class_laplace_curve
from ziggurat.pate.voting._laws import laplace_law

ORDERS = np.array([1.5, 2.0, 9.0, 40.0])
STEPS = [GumbelNoisyMax("0.3"), LaplaceNoisyMax("0.3"), GaussianNoisyMax(4), ThresholdTest(6, 2)]

GOLDEN = {
    "pate.moment.exact.200_50.l8": 0.00047532915439093567,
    "pate.lnmax.pure.replace.n250": 0.09307955715542622,
    "pate.rdp.exact2.l1": 0.002496410698803482,
    "pate.rdp.exact2.l8": 0.08798719327773893,
    "pate.eps_tight.exactrdp2.cks": 8.058479620797748,
    "pate.q.union5.tie": 0.8,
}


def all_neighbours(row):
    """Every move of one vote, written out."""
    for giver, taker in itertools.permutations(range(len(row)), 2):
        if row[giver]:
            moved = list(row)
            moved[giver] -= 1
            moved[taker] += 1
            yield moved


def brute_force(step, row, order):
    """One query, one move, one direction at a time, in plain sums."""
    here, worst = np.exp(step.log_law(np.array([row], dtype=float))[0]), 0.0
    for other in all_neighbours(row):
        there = np.exp(step.log_law(np.array([other], dtype=float))[0])
        for p, q in ((here, there), (there, here)):
            worst = max(worst, float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1)))
    return worst


@pytest.mark.data
def test_the_values_here_are_those_of_the_oracle_file(oracles):
    assert {key: oracles[key] for key in GOLDEN} == GOLDEN


@given(hnp.arrays(np.int64, (2, 4), elements=st.integers(0, 3)))
def test_no_move_of_a_vote_is_left_out(rows):
    rows = -np.sort(-rows, axis=1)
    owner, moved = one_vote_moves(rows)
    for i, row in enumerate(rows):
        wanted = {tuple(sorted(other)) for other in all_neighbours(row.tolist())}
        assert {tuple(sorted(other)) for other in moved[owner == i].tolist()} == wanted


@pytest.mark.parametrize("step", STEPS, ids=repr)
def test_the_exact_cost_is_the_worst_of_every_move_both_ways(step):
    rows = [[7, 2, 1], [4, 3, 3], [10, 0, 0], [5, 5, 0], [2, 7, 1]]
    costs = ExactCosts(step, Votes(rows)).each(ORDERS)
    expected = [[brute_force(step, row, order) for order in ORDERS] for row in rows]
    assert costs == pytest.approx(np.array(expected), rel=1e-7, abs=1e-9)
    assert np.array_equal(costs[0], costs[4])


@pytest.mark.parametrize("step", STEPS, ids=repr)
@settings(max_examples=25, deadline=None)
@given(labels=hnp.arrays(np.int64, (12, 6), elements=st.integers(0, 3)))
def test_the_exact_cost_never_exceeds_what_holds_for_all_votes(step, labels):
    votes = Votes.from_labels(labels, 4)
    costs = ExactCosts(step, votes)
    limit = step.curve(votes.ballot, ORDERS)
    assert np.all(costs.each(ORDERS) <= limit)
    assert costs.total(ORDERS) == pytest.approx(costs.each(ORDERS).sum(axis=0))


@pytest.mark.parametrize("step", [LaplaceNoisyMax("0.05"), GumbelNoisyMax("0.05"), GaussianNoisyMax(20)], ids=repr)
def test_the_proven_curve_holds_without_being_used_as_a_cap(step):
    """All votes of 30 teachers on three classes: no exact divergence passes the proven curve."""
    rows = np.array([(a, b, 30 - a - b) for a in range(31) for b in range(31 - a) if a >= b >= 30 - a - b])
    owner, moved = one_vote_moves(rows)
    here, there = step.log_law(rows[owner].astype(float)).T, step.log_law(moved.astype(float)).T
    limit = step.curve(Votes(rows).ballot, ORDERS)
    for order, most in zip(ORDERS, limit, strict=True):
        assert max(divergence(here, there, order).max(), divergence(there, here, order).max()) <= most


def test_the_exact_moment_of_a_clear_vote():
    here, lower, higher = laplace_law(np.array([[200.0, 50], [199, 51], [201, 49]]), 0.05)
    moments = [8 * divergence(here[:, None], there[:, None], 9.0)[0] for there in (lower, higher)]
    assert max(moments) == pytest.approx(GOLDEN["pate.moment.exact.200_50.l8"], abs=1e-13)


def test_the_pure_epsilon_of_two_classes_approaches_but_never_reaches_two_gamma():
    law = laplace_law(np.array([[float(n), 250.0 - n] for n in range(251)]), 0.05)
    worst = float(np.abs(np.diff(law, axis=0)).max())
    assert worst == pytest.approx(GOLDEN["pate.lnmax.pure.replace.n250"], abs=1e-11)


@pytest.mark.parametrize("moment", [1, 8])
def test_the_worst_two_class_vote_costs_a_quarter_of_what_is_published(moment):
    cost = moment * two_class_laplace_curve(0.05, np.array([moment + 1.0]))[0]
    assert cost == pytest.approx(GOLDEN[f"pate.rdp.exact2.l{moment}"], abs=3e-10)
    assert cost < 0.251 * 2 * 0.05**2 * moment * (moment + 1)


def test_the_tight_epsilon_of_two_classes():
    def curve(orders):
        return 1000 * two_class_laplace_curve(0.05, orders)

    assert least_epsilon(curve, "1e-5", conversion="classic").epsilon == pytest.approx(8.814, abs=5e-4)
    assert least_epsilon(curve, "1e-5").epsilon == pytest.approx(GOLDEN["pate.eps_tight.exactrdp2.cks"], abs=1e-6)


def test_soft_votes_have_no_exact_cost_here():
    soft = Votes.from_probabilities(np.full((3, 2, 2), 0.5), "rounded")
    with pytest.raises(PrivacyError, match="argmax"):
        ExactCosts(GumbelNoisyMax("0.1"), soft)


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "rows", "parameters", "exact", "most"),
    [("mnist", 640, (200, 150, 40), 0.946, 0.95), ("adult", 1500, (300, 200, 40), 0.977, 0.98)],
)
def test_the_exact_cost_of_confident_gnmax_on_the_authors_votes(request, name, rows, parameters, exact, most):
    votes: Votes = request.getfixturevalue(name).take(np.arange(rows))
    made = ConfidentGaussianMax(*parameters)
    found = least_epsilon(exact_curve(made, votes, answer_probabilities(made, votes)), "1e-5").epsilon
    assert found == pytest.approx(exact, abs=5e-4)
    assert found <= most


@pytest.mark.data
def test_the_exact_cost_of_lnmax_on_the_hundred_queries_of_the_student(mnist, used_by_student):
    curve = exact_curve(LaplaceNoisyMax("0.1"), mnist.take(used_by_student), np.ones(100))
    found = least_epsilon(curve, "1e-5").epsilon
    assert found == pytest.approx(0.795, abs=5e-4)
    assert found <= 0.80
