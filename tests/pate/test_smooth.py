import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import quad
from scipy.stats import norm

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.pate import (
    Aggregator,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    Votes,
    published_curve,
    sanitize,
)
from ziggurat.pate.accounting._smooth import smooth_cost, smooth_sensitivity
from ziggurat.privacy import RenyiEvent, compose
from ziggurat.randomness import seeded

EVERY = [GumbelNoisyMax("0.4"), LaplaceNoisyMax("0.4"), GaussianNoisyMax(3), ConfidentGaussianMax(12, 3, 3)]
CLEAR = Votes([[250, 0]] * 200)
ORDER, BETA = 6.0, 0.03


@pytest.mark.parametrize("made", EVERY, ids=repr)
@settings(max_examples=40, deadline=None)
@given(
    labels=hnp.arrays(np.int64, (20, 5), elements=st.sampled_from([0, 0, 0, 1, 2])),
    votes=hnp.arrays(np.int64, 5, elements=st.integers(0, 2)),
)
def test_one_teacher_changes_the_cost_by_no_more_than_its_smooth_sensitivity(made, labels, votes):
    other = labels.copy()
    other[0] = votes
    mask = np.ones(5, dtype=bool)
    (cost, width), (moved, neighbour) = (
        smooth_sensitivity(made, Votes.from_labels(each, 3), ORDER, BETA, mask) for each in (labels, other)
    )
    assert abs(cost - moved) <= min(width, neighbour) + 1e-12
    assert width <= np.exp(BETA) * neighbour + 1e-12


@pytest.mark.parametrize("made", EVERY, ids=repr)
def test_the_tabulated_cost_is_the_published_one_rounded_up(made):
    votes = Votes([[18, 1, 1], [10, 9, 1], [14, 6, 0], [7, 7, 6]])
    mask = np.array([True, False, True, True]) if made.test is not None else np.ones(4, dtype=bool)
    exact = published_curve(made, votes, mask)(np.array([ORDER]))[0]
    cost, _ = smooth_sensitivity(made, votes, ORDER, BETA, mask)
    assert exact <= cost + 1e-12
    assert cost <= 1.2 * exact + 1e-9


def divergence(mean, spread, order):
    """Rényi divergence of N(0, 1) from N(mean, spread^2), by integration."""
    p, q = norm(0, 1), norm(mean, spread)
    value, _ = quad(lambda x: np.exp(order * p.logpdf(x) + (1 - order) * q.logpdf(x)), -60, 60, limit=400)
    return np.log(value) / (order - 1)


@pytest.mark.parametrize(("order", "beta", "noise"), [(4.0, 0.05, 2.0), (10.0, 0.02, 5.0), (4.9, 0.09, 1.0)])
def test_the_price_of_smooth_noise_bounds_every_pair_of_neighbours(order, beta, noise):
    price = smooth_cost(order, beta, noise)
    found = [divergence(min(1, r) / noise, r, order) for r in np.exp(np.linspace(-beta, beta, 9))]
    assert max(found) <= price * (1 + 1e-9)
    assert found[0] == pytest.approx(price, rel=1e-6)


def test_the_printed_price_is_not_a_bound_near_its_limit():
    order, beta, noise = 4.9, 0.1, 1.0
    printed = order * np.exp(2 * beta) / noise**2 + (beta * order - np.log(1 - 2 * order * beta) / 2) / (order - 1)
    assert divergence(np.exp(-beta) / noise, np.exp(-beta), order) > 2 * printed
    assert smooth_cost(order, beta, noise) > 2 * printed


def test_a_sanitised_cost_is_an_upper_bound_with_the_confidence_stated():
    """A binomial count of 400: fewer than 350 of an expected 380 has probability below 1e-6."""
    exact, _ = smooth_sensitivity(GaussianNoisyMax(40), CLEAR, 10.0, 1 / 40)
    source = seeded("sanitised")
    found = [sanitize(GaussianNoisyMax(40), CLEAR, delta="1e-5", order=10, source=source) for _ in range(400)]
    above = sum(float(each.labels_cost) >= exact for each in found)
    assert 350 <= above < 400
    assert len({each.labels_cost for each in found}) > 100


def test_the_release_of_the_number_is_charged_besides():
    found = sanitize(GaussianNoisyMax(40), CLEAR, delta="1e-5", order=10, source=seeded(1))
    assert isinstance(found.event, RenyiEvent)
    assert found.origin == "seeded"
    price = compose(found.event).renyi(np.array([10.0])).epsilons[0]
    assert 0 < price < 1
    assert float(found.epsilon) > float(found.labels_cost) + price


def test_where_teachers_agree_the_sanitised_epsilon_beats_the_data_independent_one():
    made, votes = GaussianNoisyMax(40), Votes([[250, 0]] * 2000)
    found = sanitize(made, votes, delta="1e-5", order=10, source=seeded(2))
    assert found.epsilon < compose(made.planned(votes.ballot, 2000)).approximate("1e-5").epsilon


@pytest.mark.parametrize(
    "options",
    [{"order": 1}, {"order": 0}, {"beta": 1}, {"noise": 0}, {"confidence": 1}, {"confidence": "0.4"}, {"delta": 0}],
)
def test_what_cannot_be_promised_is_refused(options):
    with pytest.raises(ParameterError):
        sanitize(GaussianNoisyMax(40), CLEAR, **{"delta": "1e-5", "order": 10, **options})


class Unpublished(Aggregator):
    event = log_law = draw = None


def test_an_aggregator_without_a_published_account_cannot_be_sanitised():
    with pytest.raises(PrivacyError, match="data-independent"):
        smooth_sensitivity(Unpublished(), CLEAR, ORDER, BETA)
