"""The health centre of the thesis, and the model behind it."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.privacy import (
    CostModel,
    GaussianAtRisk,
    LaplaceAtRisk,
    Money,
    Stakeholders,
    published_cheapest,
)
from ziggurat.privacy.cost._published import _ratio

CENTRE = CostModel(Stakeholders(100, Money(5500, "USD")))
MIXED = CostModel(
    [
        Stakeholders(100, Money(5500, "USD"), name="staff"),
        Stakeholders(10, Money(90_000, "USD"), Money(1000, "USD"), "2", "patients"),
    ]
)


def test_the_budget_of_the_health_centre_is_74434_41_and_printed_rounded_down():
    assert CENTRE.budget("0.5") == CENTRE.budget("0.5", "nearest") == Money("74434.41", "USD")
    assert CENTRE.budget("0.5", "down") == Money("74434.40", "USD")


@pytest.mark.filterwarnings("ignore::ziggurat.privacy.NotAGuaranteeWarning")
def test_the_published_minimum_comes_out():
    found = published_cheapest(CENTRE, "0.5")
    assert found.epsilon == pytest.approx(0.2741152835575902, abs=1e-8)
    assert found.budget == Money("37805.86", "USD")
    assert found.saving == Money("36628.55", "USD")


def test_equation_8_21_has_its_root_at_the_published_minimum():
    x = mpmath.mpf("0.2741152835575902")
    assert float(1 / x - mpmath.log(1 - (1 - mpmath.exp(x)) / x**2)) == pytest.approx(2, abs=1e-10)


def test_the_exact_minimum_saves_nine_per_cent_not_half():
    found = CENTRE.cheapest("0.5", direction="nearest")
    assert found.epsilon == pytest.approx(0.2858391026661568, abs=1e-8)
    assert found.budget == Money("67978.95", "USD")
    assert CENTRE.cheapest("0.5").budget == Money("67978.96", "USD")
    assert found.error <= Money("0.01", "USD")


@pytest.mark.statistical
def test_simulated_releases_cost_what_is_expected_and_not_what_was_published():
    """Compensation drawn for 400,000 releases; 5.2 standard errors, so a false alarm has probability below 3e-7."""
    epsilon, level, draws = 0.2858391, 0.5, 400_000
    noise = np.random.default_rng(9).laplace(size=draws)
    kept = np.abs(np.abs(noise - level) - np.abs(noise)) <= epsilon
    low, high = (float(CENTRE.owed(Fraction(x))) for x in (epsilon, level))
    mean, margin = np.where(kept, low, high).mean(), 5.2 * (high - low) * math.sqrt(0.25 / draws)
    assert abs(mean - float(CENTRE.at_risk(level, epsilon).amount)) < margin
    assert abs(mean - float(CENTRE.at_risk(level, epsilon, _ratio(level, epsilon, 1)).amount)) > margin


def test_the_budget_is_not_convex_where_lemma_13_says_so():
    def budget(x):
        return mpmath.exp(-mpmath.mpf(1) / 10) - (1 - mpmath.exp(-x)) / (1 - mpmath.exp(-10)) * (
            mpmath.exp(-mpmath.mpf(1) / 10) - mpmath.exp(-1 / x)
        )

    assert float(mpmath.diff(budget, 5, 2)) == pytest.approx(-0.010689262310006345, abs=1e-9)


@pytest.mark.parametrize("level", [0.1, 0.5, 3.0, 10.0])
@pytest.mark.parametrize("model", [CENTRE, MIXED])
def test_no_point_of_a_dense_scan_is_cheaper_than_the_minimum(model, level):
    found, noise, left = model.cheapest(level), LaplaceAtRisk(level), model._saving_from(level)
    grid = np.linspace(level / 2000, level * 0.9999, 2000)
    saved = [noise.confidence(x) * left(x) for x in grid]
    floor = float(model.owed(Fraction(level))) - max(saved)
    assert float(found.budget.amount) <= floor + 0.011 + 1e-7 * floor


def test_a_confidence_with_a_jump_is_minimised_too():
    """A staircase is not convex, and has its best point at a step."""
    found = CENTRE.cheapest("0.5", lambda x: 0.0 if x < 0.1 else 0.3 if x < 0.4 else 0.35)
    assert found.epsilon == pytest.approx(0.1, abs=1e-6)
    assert found.confidence == 0.3


def test_any_mechanism_can_be_priced_by_its_confidence():
    noise = GaussianAtRisk("0.25")
    found = CENTRE.cheapest(1, lambda x: noise.confidence(x))
    assert CENTRE.budget(1) - found.budget == found.saving > Money(0, "USD")


@given(st.fractions(Fraction(1, 100), 1000))
def test_compensation_lies_between_the_least_and_the_whole_and_grows_with_epsilon(epsilon):
    least, most = Money(10_000, "USD"), Money(1_450_000, "USD")
    assert least <= MIXED.budget(epsilon) <= most
    assert MIXED.owed(epsilon) < MIXED.owed(epsilon * 2)


def test_the_printed_equation_8_19_exceeds_the_whole_where_ours_does_not():
    group = Stakeholders(1, Money(100, "EUR"), Money(40, "EUR"))
    assert 40 + 100 * math.exp(-1 / 50) > 100
    assert CostModel(group).budget(50) < Money(100, "EUR")


def test_the_largest_promise_inverts_the_budget():
    person = CostModel(Stakeholders(1, Money(5500, "USD")))
    share = _ratio(0.5, 0.274, 1)
    assert person.largest_promise(Money("378.0586", "USD"), "0.5", share) == pytest.approx(0.2739999398230009, abs=1e-9)
    assert person.largest_promise(Money(5000, "USD"), "0.5", share) == 0.5


def test_the_error_bounds_the_level_of_the_noise_from_below():
    found = CENTRE.levels(Money(100_000, "USD"), 2)
    assert found.lowest == 0.5
    assert CENTRE.budget(found.highest) <= Money(100_000, "USD")
    assert CENTRE.budget(found.highest * 1.0001) > Money(100_000, "USD")
    assert CENTRE.levels(Money(550_000, "USD"), 2).highest == math.inf


def test_an_impossible_constraint_says_what_binds_and_by_how_much():
    with pytest.raises(PrivacyError, match=r"costs 74,434\.41 USD, 24,434\.41 USD too much.*error at least 2\.398"):
        CENTRE.levels(Money(50_000, "USD"), 2)
    with pytest.raises(PrivacyError, match=r"The budget binds: 10,000\.00 USD are owed .* 9,000\.00 USD more"):
        MIXED.levels(Money(1000, "USD"), 2)
    with pytest.raises(PrivacyError, match=r"The budget binds.*short by at least 37,117\.21 USD"):
        CENTRE.largest_promise(Money(100, "USD"), "0.5", "0.5")


def test_the_cheapest_epsilon_does_not_depend_on_a_common_compensation_but_on_one_groups():
    alike = MIXED.sensitivity_to_compensation("0.5", ("0.5", 2))
    assert alike["0.5"].epsilon == pytest.approx(alike["2"].epsilon, abs=1e-8)
    alone = MIXED.sensitivity_to_compensation("0.5", ("0.5", 2), group="patients")
    assert alone["2"].epsilon > alone["0.5"].epsilon + 1e-4


@settings(max_examples=30)
@given(st.one_of(st.none(), st.booleans(), st.just("x"), st.floats(max_value=0), st.just(math.nan)))
def test_bad_epsilons_are_refused(value):
    for call in (CENTRE.budget, CENTRE.cheapest, lambda x: CENTRE.at_risk(1, x)):
        with pytest.raises(ParameterError):
            call(value)


def test_other_bad_input_is_refused():
    euro = Stakeholders(1, Money(1, "EUR"))
    for call in (
        lambda: CostModel([]),
        lambda: CostModel([euro, Stakeholders(1, Money(1, "USD"))]),
        lambda: Stakeholders(0, Money(1, "EUR")),
        lambda: Stakeholders(1, 5500),
        lambda: Stakeholders(1, Money(1, "EUR"), Money(2, "EUR")),
        lambda: Stakeholders(1, Money(1, "EUR"), Money(1, "USD")),
        lambda: Stakeholders(1, Money(1, "EUR"), rate=0),
        lambda: CENTRE.at_risk("0.5", 1),
        lambda: CENTRE.at_risk(1, "0.5", 1.5),
        lambda: CENTRE.levels(Money(1, "EUR"), 2),
        lambda: CENTRE.cheapest(1, lambda _: math.nan),
        lambda: CENTRE.cheapest(1, lambda _: 1.5),
        lambda: CENTRE.sensitivity_to_compensation(1, group="nobody"),
    ):
        with pytest.raises(ParameterError):
            call()
