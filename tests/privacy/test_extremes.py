"""Bounds stay bounds at the edges: tiny and huge amounts, many events, foreign number types."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import MixedNeighboursError, ParameterError, PrivacyError, ZigguratError
from ziggurat.privacy import (
    ApproximateEvent,
    ComposedEvent,
    GaussianEvent,
    GroupEvent,
    LaplaceEvent,
    Neighbours,
    ParallelEvent,
    PureEvent,
    RandomizedResponseEvent,
    Relation,
    RenyiEvent,
    RepeatedEvent,
    SampledGaussianEvent,
    Spent,
    UnboundedEvent,
    as_replace_one,
    compose,
    event_from_dict,
    event_from_json,
    exact,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_mu,
    make_filter,
    profile,
)

ONE = Neighbours()
SWAP = Neighbours(relation=Relation.REPLACE_ONE)


def true_gaussian_delta(epsilon: float, mu: float) -> mpmath.mpf:
    with mpmath.workdps(400):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(1e-12, 1e-100), (1e-9, 1e-16), (1e-15, 1e-16), (1e-9, 1e-100), (1.0, 1e-300), (50.0, 1e-6), (1e-6, 0.3)],
)
def test_gaussian_calibration_holds_to_a_part_in_a_billion(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert true_gaussian_delta(epsilon, mu) <= delta * (1 + 1e-9)


@pytest.mark.parametrize(("delta", "mu"), [(1e-300, 1e-12), (1e-5, 1e-8), (0.4, 3.0), (1e-12, 40.0)])
def test_gaussian_epsilon_holds_to_a_part_in_a_billion(delta, mu):
    assert true_gaussian_delta(gaussian_epsilon(delta, mu), mu) <= delta * (1 + 1e-9)


@given(st.floats(1e-12, 50), st.floats(1e-6, 20))
@settings(max_examples=60, deadline=None)
def test_gaussian_delta_is_exact_to_nine_digits(epsilon, mu):
    expected = float(true_gaussian_delta(epsilon, mu))
    assert gaussian_delta(epsilon, mu) == pytest.approx(max(expected, 1e-300), rel=1e-9)


def test_every_delta_route_counts_the_events_own_delta():
    event = ApproximateEvent(ONE, "0.1", "0.4")
    routes = compose(event, GaussianEvent(ONE, 1, 10)).delta_routes(3)
    assert len(compose(event).delta_routes(5)) == 5
    assert all(bound >= Fraction(2, 5) for bound in [*routes.values(), *compose(event).delta_routes(5).values()])


@pytest.mark.parametrize("event", [GaussianEvent(ONE, 1, 2), LaplaceEvent(ONE, 1, 5), ApproximateEvent(ONE, 1, "1e-7")])
def test_epsilon_and_delta_agree_on_every_route(event):
    account = compose(event, event)
    for route, epsilon in account.routes("1e-5").items():
        if epsilon > 0 and route in account.delta_routes(epsilon):
            assert account.delta_routes(epsilon)[route] <= Fraction(1, 10**5) * (1 + Fraction(1, 1000)), route


def test_many_tiny_events_do_not_vanish_in_round_off():
    """Laplace noise of epsilon 1e-8, 1e16 times, is about rho 1/2: 4.73 at delta 1e-5."""
    for event in (LaplaceEvent(ONE, 1, 10**8), PureEvent(ONE, "1e-8")):
        found = compose(RepeatedEvent(ONE, event, 10**16)).routes("1e-5")
        assert all(float(epsilon) > 4.72 for epsilon in found.values()), found


def test_gaussian_noise_is_never_called_pure():
    assert compose(GaussianEvent(ONE, 1, 1)).delta(100).delta > 0


def test_numpy_numbers_are_read_exactly_and_never_wrap():
    assert exact(np.int32(7)) == 7
    assert exact(np.float32(0.1)) == Fraction(1, 10)
    assert profile(GaussianEvent(ONE, np.int32(50_000), np.int32(70_001))).rho == Fraction(50_000, 70_001) ** 2 / 2
    assert profile(LaplaceEvent(ONE, np.int8(100), 1)).rho == 5000
    assert RepeatedEvent(ONE, PureEvent(ONE, 1), np.int64(3)).count == 3


def test_a_relation_given_as_text_is_the_relation():
    text = Neighbours(relation="replace-one")
    assert text == SWAP
    with pytest.raises(MixedNeighboursError):
        ParallelEvent(text, (PureEvent(text, 1),))
    with pytest.raises(ParameterError):
        Neighbours(relation="banana")
    with pytest.raises(ParameterError):
        Neighbours("row")


def test_a_filter_refuses_events_about_others():
    spent = Spent().plus(PureEvent(ONE, "0.1"))
    with pytest.raises(MixedNeighboursError):
        make_filter(1).admits(PureEvent(SWAP, "0.1"), spent)


@pytest.mark.parametrize(
    "event",
    [
        SampledGaussianEvent(ONE, "0.5", "0.01"),
        SampledGaussianEvent(ONE, "0.5", "0.0001"),
        SampledGaussianEvent(ONE, "0.01", 1, 10**9),
        RepeatedEvent(ONE, PureEvent(ONE, "1e-8"), 10**9),
        GroupEvent(ONE, ApproximateEvent(ONE, "1e-9", "1e-12"), 10**8),
        PureEvent(ONE, "1e300"),
        GaussianEvent(ONE, 1, "1e-200"),
        GaussianEvent(ONE, 1, "1e200"),
        GroupEvent(ONE, ApproximateEvent(ONE, 100, "1e-6"), 10),
        RepeatedEvent(ONE, PureEvent(ONE, 1), 10**300),
        RandomizedResponseEvent(SWAP, 800),
    ],
    ids=lambda event: event.to_json()[:60],
)
def test_extreme_events_are_accounted_for_or_refused_at_once(event):
    try:
        assert compose(event).approximate("1e-5").epsilon >= 0
    except PrivacyError:
        assert not make_filter(1, "1e-5").admits(event, Spent())


@pytest.mark.parametrize(
    "make",
    [
        lambda: compose(None),
        lambda: compose([PureEvent(ONE, 1)]),
        lambda: RepeatedEvent(ONE, "x", 2),
        lambda: GroupEvent(ONE, 5),
        lambda: ComposedEvent(ONE, 5),
        lambda: ParallelEvent(ONE, [PureEvent(ONE, 1)], may_move=0),
        lambda: PureEvent(None, 1),
        lambda: UnboundedEvent(ONE, {}),
        lambda: RenyiEvent(ONE, "23", ("1", "2")),
        lambda: event_from_json(None),
        lambda: event_from_dict({**ComposedEvent(ONE, ()).to_dict(), "events": 5}),
        lambda: compose(PureEvent(ONE, 1)).renyi([0.5]),
        lambda: compose(PureEvent(ONE, 1)).renyi([math.nan]),
        lambda: compose(PureEvent(ONE, 1)).loss(0),
        lambda: compose(RandomizedResponseEvent(SWAP, 800)).loss(),
        lambda: gaussian_mu(1.0, 1.0),
        lambda: as_replace_one(SampledGaussianEvent(ONE, "0.1", 1)),
    ],
)
def test_what_makes_no_sense_is_refused_by_our_own_errors(make):
    with pytest.raises(ZigguratError):
        make()


def test_deeply_nested_records_are_refused_in_words():
    event = PureEvent(ONE, 1).to_dict()
    for _ in range(2000):
        event = {"kind": "repeated", "neighbours": ONE.to_dict(), "event": event, "count": 1}
    with pytest.raises(ZigguratError):
        event_from_dict(event)


def test_a_curve_is_used_at_its_own_orders():
    assert compose(RenyiEvent(ONE, ("1.005",), ("0.1",))).approximate("1e-5").epsilon > 0


@pytest.mark.parametrize(
    ("epsilon", "shown"), [("0.0001", "1.00011"), ("0.01", "1.011"), ("1", "2.72"), (1000, "e^1000")]
)
def test_sentences_never_state_less_than_was_proven(epsilon, shown):
    assert f" {shown} times" in compose(PureEvent(ONE, epsilon)).pure().sentence()


def test_a_failure_probability_is_always_shown():
    account = compose(ApproximateEvent(ONE, 1, "0.25"))
    assert "0.25" in str(account.zcdp())
    assert "0.25" in str(account.renyi())
    assert str(compose(GaussianEvent(ONE, 1, 3)).gaussian()).startswith("≈0.333334")
