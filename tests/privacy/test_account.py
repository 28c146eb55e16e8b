import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import MixedNeighboursError, PrivacyError
from ziggurat.privacy import (
    ApproximateEvent,
    DiscreteGaussianEvent,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    ParallelEvent,
    PureEvent,
    RandomizedResponseEvent,
    Relation,
    RenyiEvent,
    RepeatedEvent,
    SampledGaussianEvent,
    UnboundedEvent,
    ZeroConcentratedEvent,
    as_replace_one,
    compose,
    gaussian_delta,
    gaussian_mu,
)
from ziggurat.privacy.accounting import _curves as curves

ONE = Neighbours()
SWAP = Neighbours(relation=Relation.REPLACE_ONE)
TENTH = LaplaceEvent(ONE, 1, 10)


def brute(shift: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """Two shifted discrete Laplace laws, written out."""
    x = np.arange(-int(40 * scale), int(40 * scale) + shift + 1)
    norm = math.tanh(0.5 / scale)
    return norm * np.exp(-np.abs(x) / scale), norm * np.exp(-np.abs(x - shift) / scale)


def test_pure_sums_are_exact_rationals():
    assert compose(*[TENTH] * 10).pure().epsilon == 1
    assert compose(*[PureEvent(ONE, "1/3")] * 3).pure().epsilon == 1


@pytest.mark.parametrize(("shift", "scale"), [(1, 1.0), (3, 2.5), (7, 10.0), (40, 10.0)])
def test_discrete_laplace_delta_equals_the_sum_over_outputs(shift, scale):
    p, q = brute(shift, scale)
    for epsilon in np.linspace(-0.5, shift / scale * 1.1, 23):
        by_sum = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        ours = curves.discrete_laplace_delta(np.array([epsilon]), Fraction(shift), Fraction(scale))[0]
        assert ours == pytest.approx(by_sum, abs=1e-12)


@pytest.mark.parametrize(("shift", "scale"), [(1, 1.0), (3, 2.5), (7, 10.0)])
@pytest.mark.parametrize("order", [1.01, 1.5, 2.0, 5.0, 32.0])
def test_discrete_laplace_renyi_equals_the_sum_over_outputs(shift, scale, order):
    a = mpmath.exp(-1 / mpmath.mpf(scale))
    terms = mpmath.nsum(lambda x: a ** (order * abs(x) + (1 - order) * abs(x - shift)), [-4000, 4000])
    expected = mpmath.log((1 - a) / (1 + a) * terms) / (order - 1)
    ours = curves.discrete_laplace_renyi(Fraction(shift), Fraction(scale), np.array([order]))[0]
    assert ours == pytest.approx(float(expected), rel=1e-9)


def test_the_continuous_curve_would_understate_discrete_noise():
    """Negative control: between lattice points the discrete delta is above 1 - e^((eps - eps0)/2)."""
    ours = curves.discrete_laplace_delta(np.array([0.0]), Fraction(1), Fraction(1))[0]
    assert ours > 1 - math.exp(-0.5) + 0.05


@pytest.mark.parametrize(("epsilon", "mu"), [(1.0, 0.268), (0.5, 1.0), (8.0, 0.5), (3.0, 3.0), (20.0, 2.0)])
def test_gaussian_delta_equals_arbitrary_precision(epsilon, mu):
    with mpmath.workdps(50):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        expected = mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)
        assert gaussian_delta(epsilon, mu) == pytest.approx(float(expected), rel=1e-9)


def test_zcdp_conversion_equals_a_fine_scan_of_its_orders():
    rho, epsilon = 0.05, 1.0
    a = 1 + np.geomspace(1e-3, 1e3, 400_000)
    log_delta = (a - 1) * (a * rho - epsilon) + a * np.log1p(-1 / a) - np.log(a - 1)
    assert curves.zcdp_delta(epsilon, rho) == pytest.approx(math.exp(log_delta.min()), rel=1e-6)
    assert curves.zcdp_epsilon(curves.zcdp_delta(epsilon, rho), rho) == pytest.approx(epsilon, rel=1e-9)


def test_every_route_bounds_the_exact_gaussian_one():
    event = GaussianEvent(ONE, 1, 2)
    exact = curves.gaussian_epsilon(1e-6, 0.5)
    for route, epsilon in compose(event).routes("1e-6").items():
        assert float(epsilon) >= exact * (1 - 1e-12), route


def test_the_tightest_route_is_taken_and_named():
    few, many = compose(TENTH), compose(*[TENTH] * 200)
    assert few.approximate(0).route == "sum"
    assert many.approximate("1e-6").route == "loss"
    assert many.approximate("1e-6").epsilon < min(20, many.routes("1e-6")["zcdp"])
    assert compose(GaussianEvent(ONE, 1, 4), ZeroConcentratedEvent(ONE, "0.1")).approximate("1e-6").route == "zcdp"


def test_sampled_gaussian_matches_the_published_accountants():
    """libraries.md: q=.01, sigma=1, 1000 steps, delta=1e-5 gives 1.828 by loss distributions and 2.101 by Rényi."""
    found = compose(SampledGaussianEvent(ONE, "0.01", 1, 1000)).routes("1e-5")
    assert float(found["loss"]) == pytest.approx(1.828, abs=0.002)
    assert float(found["renyi"]) == pytest.approx(2.101, abs=0.01)


def test_parallel_costs_the_worst_part_under_add_or_remove_one():
    event = ParallelEvent(ONE, (PureEvent(ONE, 1), PureEvent(ONE, "1/2")))
    assert compose(event).pure().epsilon == 1


def test_parallel_costs_twice_under_replace_one_when_a_unit_may_move():
    event = ParallelEvent(SWAP, (PureEvent(ONE, 1), PureEvent(ONE, 1)))
    assert compose(event).pure().epsilon == 2


def test_parallel_with_replace_one_parts_is_refused_when_a_unit_may_move():
    with pytest.raises(MixedNeighboursError, match="may move"):
        ParallelEvent(SWAP, (PureEvent(SWAP, 1),))
    assert compose(ParallelEvent(SWAP, (PureEvent(SWAP, 1),) * 2, may_move=False)).pure().epsilon == 1


def test_replacing_one_is_a_group_of_two():
    assert compose(as_replace_one(PureEvent(ONE, 1))).pure().epsilon == 2
    assert compose(as_replace_one(GaussianEvent(ONE, 1, 1))).zcdp().rho == 2
    grown = compose(as_replace_one(ApproximateEvent(ONE, 1, "1e-6"))).approximate("1e-5")
    assert grown.epsilon == 2
    assert compose(as_replace_one(ApproximateEvent(ONE, 1, "1e-6"))).delta(2).delta >= Fraction("1e-6") * (
        1 + Fraction(math.e)
    )


def test_repeating_is_composing_equal_events():
    repeated, listed = compose(RepeatedEvent(ONE, TENTH, 50)), compose(*[TENTH] * 50)
    assert repeated.routes("1e-6") == listed.routes("1e-6")


def test_deltas_of_events_are_subtracted_from_the_allowance():
    event = ApproximateEvent(ONE, 1, "1e-6")
    assert compose(event).approximate("1e-6").epsilon == 1
    with pytest.raises(PrivacyError):
        compose(event, event).approximate("1.5e-6")


def test_an_unbounded_release_has_no_guarantee_at_any_delta():
    with pytest.raises(PrivacyError):
        compose(TENTH, UnboundedEvent(ONE, "anonymised table")).approximate("0.5")
    with pytest.raises(PrivacyError):
        compose(UnboundedEvent(ONE, "anonymised table")).delta(10)


def test_forms_that_are_not_proven_are_refused():
    with pytest.raises(PrivacyError):
        compose(GaussianEvent(ONE, 1, 1)).pure()
    with pytest.raises(PrivacyError):
        compose(DiscreteGaussianEvent(ONE, 1, 1)).gaussian()
    with pytest.raises(PrivacyError):
        compose(RenyiEvent(ONE, (2,), (1,))).zcdp()
    with pytest.raises(PrivacyError):
        compose(DiscreteGaussianEvent(ONE, 1, 1, coordinates=3)).loss()


@pytest.mark.parametrize("epsilon", ["0.0001", "0.01", "0.5", "1", "3", "10"])
def test_pure_privacy_implies_the_gaussian_privacy_claimed(epsilon):
    """Randomised response's trade-off function must lie above the Gaussian one everywhere."""
    from scipy.stats import norm

    eps, mu = float(epsilon), compose(PureEvent(ONE, epsilon)).gaussian().mu
    alpha = np.linspace(1e-9, 1 - 1e-9, 20001)
    response = np.maximum.reduce([1 - np.exp(eps) * alpha, np.exp(-eps) * (1 - alpha), 0 * alpha])
    assert np.all(norm.cdf(norm.ppf(1 - alpha) - mu) <= response + 1e-9)


def test_the_exponential_mechanism_composes_better_than_pure_privacy():
    pure = compose(*[PureEvent(ONE, "0.1")] * 300).approximate("1e-6").epsilon
    assert compose(*[ExponentialEvent(ONE, "0.1")] * 300).approximate("1e-6").epsilon < pure * Fraction(7, 10)


def test_randomized_response_loss_is_its_own():
    loss = compose(RandomizedResponseEvent(SWAP, 1)).loss()
    assert loss.delta(0.5) == pytest.approx((math.e - math.exp(0.5)) / (1 + math.e), abs=2e-4)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.sampled_from(["laplace", "gaussian", "exponential", "approximate"]), min_size=1, max_size=6),
    st.integers(1, 30),
)
def test_more_events_never_cost_less(kinds, weight):
    make = {
        "laplace": LaplaceEvent(ONE, 1, weight),
        "gaussian": GaussianEvent(ONE, 1, weight),
        "exponential": ExponentialEvent(ONE, Fraction(1, weight)),
        "approximate": ApproximateEvent(ONE, Fraction(1, weight), "1e-9"),
    }
    events = [make[kind] for kind in kinds]
    less, more = compose(*events).routes("1e-6"), compose(*events, events[0]).routes("1e-6")
    for route in more.keys() & less.keys():
        assert more[route] >= less[route], route


@given(st.floats(0.01, 20), st.floats(1e-12, 0.3))
def test_gaussian_calibration_is_safe_and_not_wasteful(epsilon, delta):
    mu = gaussian_mu(epsilon, delta)
    assert gaussian_delta(epsilon, mu) <= delta
    assert gaussian_delta(epsilon, mu * (1 + 1e-6)) > delta * (1 - 1e-9)
