from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.privacy import (
    ApproximateEvent,
    GaussianEvent,
    LaplaceEvent,
    Neighbours,
    PureEvent,
    Spent,
    UnboundedEvent,
    compose,
    gaussian_mu,
    make_filter,
)

ONE = Neighbours()


def run(filter_, events):
    """Admit events one after another; return how many went through."""
    spent, admitted = Spent(), 0
    for event in events:
        if filter_.admits(event, spent):
            spent, admitted = spent.plus(event), admitted + 1
    return admitted


def test_ten_tenths_fit_one_and_not_a_grain_more():
    events = [PureEvent(ONE, "0.1")] * 10 + [PureEvent(ONE, "1e-30")]
    assert run(make_filter(1), events) == 10


def test_rho_allows_more_small_questions_than_addition():
    events = [LaplaceEvent(ONE, 1, 200)] * 2000
    assert run(make_filter(1, "1e-6", "sum"), events) == 200
    assert run(make_filter(1, "1e-6", "zcdp"), events) > 1500


def test_whatever_the_zcdp_rule_admits_is_within_the_budget():
    filter_, event = make_filter(1, "1e-6", "zcdp"), LaplaceEvent(ONE, 1, 50)
    admitted = run(filter_, [event] * 400)
    assert compose(*[event] * admitted).approximate("1e-6").epsilon <= 1


def test_the_gaussian_rule_suits_gaussian_questions():
    events = [GaussianEvent(ONE, 1, 60)] * 1000
    by_mu, by_rho = (run(make_filter(1, "1e-5", rule), events) for rule in ("gaussian", "zcdp"))
    assert by_mu > by_rho > 100
    assert compose(*events[:by_mu]).approximate("1e-5").epsilon <= 1


@pytest.mark.parametrize("rule", ["sum", "zcdp", "gaussian"])
def test_a_first_question_may_take_the_whole_budget_and_ends_it(rule):
    sigma = Fraction(1 / gaussian_mu(1.0, 1e-5)) * Fraction(100001, 100000)
    filter_, whole = make_filter(1, "1e-5", rule), GaussianEvent(ONE, 1, sigma)
    assert filter_.admits(whole, Spent())
    assert not filter_.admits(PureEvent(ONE, "1e-20"), Spent().plus(whole))


def test_own_deltas_may_use_half_of_delta_only():
    filter_ = make_filter(5, "1e-6", "zcdp")
    assert run(filter_, [ApproximateEvent(ONE, "0.1", "1e-7")] * 10) == 5
    assert run(make_filter(5, "1e-6", "sum"), [ApproximateEvent(ONE, "0.1", "1e-7")] * 11) == 10


def test_a_release_without_a_promise_is_never_admitted():
    assert not make_filter(100, "0.5").admits(UnboundedEvent(ONE), Spent())


@pytest.mark.parametrize(("delta", "rule"), [(0, "zcdp"), (0, "gaussian"), ("1e-6", "magic")])
def test_a_rule_that_does_not_fit_is_refused(delta, rule):
    with pytest.raises(ParameterError):
        make_filter(1, delta, rule)


@given(st.lists(st.fractions(min_value=Fraction(1, 1000), max_value=2), max_size=40), st.sampled_from(["sum", "zcdp"]))
def test_the_share_used_never_passes_one_while_questions_are_admitted(costs, rule):
    filter_, spent = make_filter(3, "1e-6", rule), Spent()
    for cost in costs:
        event = PureEvent(ONE, cost)
        if filter_.admits(event, spent):
            spent = spent.plus(event)
            assert filter_.share_used(spent) <= 1
