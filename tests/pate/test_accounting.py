import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ziggurat.data import Unit
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.pate import (
    Aggregator,
    Ballot,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    Votes,
    account,
    least_epsilon,
    published_curve,
)
from ziggurat.privacy import PureEvent, compose, gaussian_epsilon
from ziggurat.randomness import seeded

EVERY = [GumbelNoisyMax("0.05"), LaplaceNoisyMax("0.05"), GaussianNoisyMax(20), ConfidentGaussianMax(9, 30, 20)]


def accounted(made, ballot, queries=1000, delta="1e-5", **options):
    if made.test is not None:
        options.setdefault("answered", queries)
    return account(made, ballot, queries=queries, delta=delta, **options)


def test_the_published_epsilon_is_more_than_twice_the_tight_one():
    found = accounted(LaplaceNoisyMax("0.05"), Ballot(2))
    assert float(found.published) == pytest.approx(20.174271293851465, rel=1e-8)
    assert float(found.record.epsilon) == pytest.approx(8.058479620797748, rel=1e-7)
    assert found.record.route == "exact"
    assert float(accounted(LaplaceNoisyMax("0.05"), Ballot(5), 900, "1e-6").published) == pytest.approx(
        20.2696, abs=5e-5
    )


@pytest.mark.parametrize(("queries", "delta", "closed"), [(1000, "1e-5", 8.837), (900, "1e-6", 9.009782654635398)])
def test_gumbel_noise_has_the_closed_form_for_any_number_of_classes(queries, delta, closed):
    made = GumbelNoisyMax("0.05")
    curve = least_epsilon(lambda orders: queries * made.curve(Ballot(5), orders), delta, conversion="classic")
    assert curve.epsilon == pytest.approx(closed, abs=5e-4)
    assert float(accounted(made, Ballot(5), queries, delta).record.epsilon) < closed - 0.6


def test_more_than_two_classes_with_laplace_noise_cost_what_is_proven_and_no_less():
    """Optimal composition of the pure promise is 17.787; two noisy counts as two mechanisms prove 11.348."""
    pure = compose(PureEvent(Ballot(3).neighbours, "0.1"))
    assert float(compose(*[pure.event] * 1000).approximate("1e-5").epsilon) == pytest.approx(17.787, abs=5e-4)
    found = accounted(LaplaceNoisyMax("0.05"), Ballot(3))
    assert float(found.record.epsilon) == pytest.approx(11.348, abs=5e-4)


def test_gaussian_noise_composes_as_gaussian_dp():
    found = accounted(ConfidentGaussianMax(200, 150, 40), Ballot(10), 640, answered=286)
    mu = (640 / 150**2 + 2 * 286 / 40**2) ** 0.5
    assert float(found.record.epsilon) == pytest.approx(gaussian_epsilon(1e-5, mu), rel=1e-8)
    assert found.record.epsilon < found.published


@pytest.mark.parametrize("made", EVERY, ids=repr)
@settings(max_examples=10, deadline=None)
@given(labels=hnp.arrays(np.int64, (10, 4), elements=st.integers(0, 2)), mask=hnp.arrays(np.bool_, 4))
def test_no_data_dependent_epsilon_exceeds_its_data_independent_one(made, labels, mask):
    votes = Votes.from_labels(labels, 3)
    found = account(made, votes, delta="1e-5", answered=mask if made.test is not None else None)
    assert found.private_published.reveal_to_steward() <= found.published
    assert found.private_exact.reveal_to_steward() <= found.record.epsilon


def test_with_no_consensus_the_published_accounts_are_equal():
    """formulas.md 1, run B."""
    found = account(LaplaceNoisyMax("0.05"), Votes([[125, 125]] * 1000), delta="1e-5")
    assert found.private_published.reveal_to_steward() == pytest.approx(float(found.published), rel=1e-8)


def test_only_answered_queries_pay_for_answers():
    votes, made = Votes([[250, 0]] * 4 + [[130, 120]] * 4), ConfidentGaussianMax(200, 50, 40)
    none, some, every = (
        account(made, votes, delta="1e-5", answered=np.arange(8) < n).private_exact.reveal_to_steward()
        for n in (0, 4, 8)
    )
    assert none <= some < every


def test_the_certificate_shows_nothing_that_depends_on_the_votes():
    votes, made = Votes([[20, 5], [13, 12]]), LaplaceNoisyMax("0.1")
    found = account(made, votes, delta="1e-5", organisation=Unit.of("clinic", "organisation"), teachers_owned=3)
    other = account(
        made, Votes([[25, 0], [25, 0]]), delta="1e-5", organisation=found.organisation.neighbours.unit, teachers_owned=3
    )
    assert json.dumps(found.to_dict()) == json.dumps(other.to_dict())
    assert str(found) == str(other)
    hidden = f"{found.private_exact.reveal_to_steward():.6f}"[:7]
    assert hidden not in repr(found)


def test_record_and_organisation_stand_side_by_side():
    found = accounted(
        GumbelNoisyMax("0.05"), Ballot(5), 100, organisation=Unit.of("clinic", "organisation"), teachers_owned=4
    )
    assert found.record.neighbours.unit == Unit()
    assert found.organisation.neighbours.unit.name == "organisation"
    assert compose(found.event).zcdp().rho == Fraction(100, 800)
    assert found.organisation.epsilon > 2 * found.record.epsilon
    assert "organisation: (" in str(found)


def test_labels_and_their_account_agree():
    made, votes = ConfidentGaussianMax(30, 5, 5), Votes([[40, 0, 0], [14, 13, 13], [0, 0, 40]])
    labels = made.release(votes, seeded(1))
    found = account(made, votes, delta="1e-6", answered=labels.answered)
    assert found.event == labels.event
    assert found.answers == int(labels.answered.sum())


def test_soft_votes_have_no_exact_account():
    soft = Votes.from_probabilities(np.full((5, 2, 2), 0.5), "rounded")
    found = account(GumbelNoisyMax("0.1"), soft, delta="1e-5")
    assert found.private_exact is None
    assert found.private_published is not None


class Unpublished(Aggregator):
    def event(self, ballot):
        return PureEvent(ballot.neighbours, "0.1")

    def log_law(self, counts):
        return np.full(counts.shape, -np.log(counts.shape[1]))

    def draw(self, votes, source):
        return np.zeros(len(votes), dtype=np.int64)


def test_an_aggregator_without_a_published_account_has_the_others():
    found = account(Unpublished(), Votes([[3, 2]]), delta="1e-5")
    assert found.published is None
    assert found.private_published is None
    assert found.private_exact.reveal_to_steward() < float(found.record.epsilon) <= 0.1
    with pytest.raises(PrivacyError, match="exact account"):
        published_curve(Unpublished(), Votes([[3, 2]]), np.ones(1))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"answered": 1},
        {"answered": [1, 0]},
        {"answered": [True]},
        {"answered": [True, True], "queries": 2},
        {"answered": [True, True], "delta": 0},
        {"answered": [True, True], "delta": 2},
        {"answered": [True, True], "organisation": Unit.of("c", "clinic"), "teachers_owned": 0},
    ],
)
def test_an_account_that_cannot_be_made_is_refused(options):
    with pytest.raises((ParameterError, PrivacyError)):
        account(ConfidentGaussianMax(3, 2, 2), Votes([[3, 2], [4, 1]]), **{"delta": "1e-5", **options})


@pytest.mark.parametrize("orders", [[], [1.0], [0.5, 2], [[2.0]], [np.inf], [np.nan]])
def test_orders_must_be_above_one(orders):
    with pytest.raises(ParameterError, match="orders"):
        least_epsilon(lambda x: x, "1e-5", orders=orders)
