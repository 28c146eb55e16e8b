"""Statistical tests here use seeded draws; under fresh seeds each would err with probability below 1e-6."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

from ziggurat.errors import MixedNeighboursError, ParameterError, PrivacyError
from ziggurat.mechanisms import PartitionSelection, RandomizedResponse
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import seeded


@pytest.mark.statistical
@pytest.mark.parametrize("categories", [2, 3, 10])
def test_the_truth_is_told_as_often_as_stated_and_five_percent_off_is_rejected(categories):
    made = RandomizedResponse(1, categories)
    truth = np.arange(300_000) % categories
    kept = int((made.release(truth, seeded(1)).value == truth).sum())
    expected = math.e / (math.e + categories - 1)
    assert made.truth == pytest.approx(expected)
    assert binomtest(kept, truth.size, expected).pvalue > 1e-6
    assert binomtest(kept, truth.size, expected * 1.05).pvalue < 1e-6


@pytest.mark.statistical
def test_lies_are_uniform_over_the_other_answers():
    from scipy.stats import chisquare

    answers = RandomizedResponse(1, 5).release(np.zeros(200_000, dtype=int), seeded(2)).value
    assert chisquare(np.bincount(answers)[1:]).pvalue > 1e-6


def test_estimates_are_unbiased_and_within_their_interval():
    made = RandomizedResponse(2, 4)
    truth = np.repeat(np.arange(4), [50_000, 30_000, 15_000, 5_000])
    estimate = made.estimate(made.release(truth, seeded(3)).value)
    assert estimate.sum() == pytest.approx(truth.size)
    assert np.all(np.abs(estimate - np.bincount(truth)) <= made.half_width(truth.size, "0.9999"))


def test_calibration_from_the_probability_of_truth():
    made = RandomizedResponse.for_truth("0.75")
    assert made.epsilon == pytest.approx(math.log(3), rel=1e-9)
    assert made.truth <= 0.75


def test_a_single_answer_stays_a_number():
    assert RandomizedResponse(1).release(1, seeded(1)).value in (0, 1)
    assert RandomizedResponse(1).release(True, seeded(1)).value in (0, 1)


@pytest.mark.parametrize("bad", [-1, 2, 0.5, "yes", [0, 9], None])
def test_answers_outside_the_public_list_are_refused(bad):
    with pytest.raises(ParameterError):
        RandomizedResponse(1).release(bad)


def test_a_lone_unit_is_named_with_probability_at_most_delta():
    for groups in (1, 3, 50):
        made = PartitionSelection(1, "1e-6", groups=groups)
        assert 1 - (1 - made.chance_of_naming(1)) ** groups <= 1e-6 * (1 + 1e-9)


def test_the_threshold_is_not_higher_than_needed():
    made = PartitionSelection(1, "1e-6")
    scale = math.exp(-1)
    one_lower = scale ** (made.threshold - 2) / (1 + scale)
    assert one_lower > 1e-6


@pytest.mark.statistical
def test_groups_are_named_as_often_as_stated():
    made = PartitionSelection("0.5", "1e-3")
    named = made.release(dict.fromkeys(range(100000), made.threshold), seeded(4)).value
    expected = made.chance_of_naming(made.threshold)
    assert binomtest(len(named), 100_000, expected).pvalue > 1e-6
    assert binomtest(len(named), 100_000, expected * 1.05).pvalue < 1e-6


def test_the_order_of_named_groups_does_not_follow_their_order_in_the_data():
    made = PartitionSelection(5, "1e-3")
    forward = made.release({"a": 900, "b": 500, "c": 700}, seeded(5)).value
    backward = made.release({"c": 700, "b": 500, "a": 900}, seeded(5)).value
    assert list(forward) == list(backward) == ["a", "b", "c"]


def test_what_is_not_proven_is_refused():
    with pytest.raises(MixedNeighboursError):
        PartitionSelection(1, "1e-6", neighbours=Neighbours(relation=Relation.REPLACE_ONE))
    with pytest.raises(ParameterError, match="delta"):
        PartitionSelection(1, 0)
    with pytest.raises(ParameterError):
        PartitionSelection(1, "1e-6", groups=0)
    with pytest.raises(ParameterError, match="at least one unit"):
        PartitionSelection(1, "1e-6").release({"a": 0})


def test_no_groups_in_gives_no_groups_out():
    assert PartitionSelection(1, "1e-6").release({}).value == {}


def test_the_event_states_what_the_noise_gives():
    made = PartitionSelection("0.3", "1e-6", groups=3)
    assert made.event.epsilon == Fraction(3, 10)
    assert made.half_width() >= 1


def test_adding_or_removing_an_answer_is_not_covered_by_randomised_response():
    with pytest.raises(MixedNeighboursError, match="replace-one"):
        RandomizedResponse(1, neighbours=Neighbours())
    with pytest.raises(MixedNeighboursError, match="replace-one"):
        RandomizedResponse.for_truth("0.75", neighbours=Neighbours())
    with pytest.raises(ParameterError, match="neighbours"):
        RandomizedResponse(1, neighbours="replace-one")


def test_a_unit_with_several_answers_pays_for_each():
    made = RandomizedResponse("0.5", 3, answers_per_unit=4)
    assert made.release([0, 1, 2, 2], seeded(1)).event == made.event
    assert made.guarantee().epsilon == 2
    assert (made.epsilon, made.truth) == (0.5, RandomizedResponse("0.5", 3).truth)
    assert RandomizedResponse("0.5").guarantee().epsilon == Fraction(1, 2)
    with pytest.raises(ParameterError, match="answers_per_unit"):
        RandomizedResponse(1, answers_per_unit=0)


def test_an_epsilon_too_small_for_the_sampler_is_refused_at_once():
    with pytest.raises(ParameterError, match="epsilon is too small"):
        RandomizedResponse("1e-16")


@pytest.mark.parametrize("categories", [2, 3, 1000])
@pytest.mark.parametrize("excess", ["1e-12", "1e-6", "0.2", "0.4", "0.499999"])
def test_the_truth_is_never_told_more_often_than_asked(categories, excess):
    """In 80 digits: e^epsilon / (e^epsilon + k - 1) is at most the probability, and hardly less."""
    asked = Fraction(1, categories) + Fraction(excess)
    made = RandomizedResponse.for_truth(asked, categories)
    with mpmath.workdps(80):
        epsilon = mpmath.mpf(made.event.epsilon.numerator) / made.event.epsilon.denominator
        told = mpmath.exp(epsilon) / (mpmath.exp(epsilon) + categories - 1)
        wanted = mpmath.mpf(asked.numerator) / asked.denominator
        assert told <= wanted
        assert wanted - told < (wanted - mpmath.mpf(1) / categories) * mpmath.mpf("1e-11")


@pytest.mark.parametrize("bad", [0, None, -1, 1, 2.5, "3", 2**63])
def test_impossible_numbers_of_categories_are_refused(bad):
    for make in (lambda: RandomizedResponse.for_truth("0.75", bad), lambda: RandomizedResponse(1, bad)):
        with pytest.raises(ParameterError):
            make()


@pytest.mark.parametrize("bad", [0, -5, None, 2.5, math.nan, True])
def test_impossible_numbers_of_people_are_refused(bad):
    with pytest.raises(ParameterError, match="people"):
        RandomizedResponse(1).half_width(bad)
    with pytest.raises(ParameterError, match="units"):
        PartitionSelection(1, "1e-6").chance_of_naming(bad)


def test_one_answer_or_none_can_be_estimated():
    made = RandomizedResponse(1)
    assert made.estimate(1).sum() == pytest.approx(1)
    assert made.estimate([]).tolist() == [0, 0]
    assert made.release([], seeded(1)).value.tolist() == []


def test_counts_of_groups_may_be_a_series():
    made = PartitionSelection(5, "1e-3")
    assert set(made.release(pd.Series({"Oslo": 5123, "Rome": 4000}), seeded(1)).value) == {"Oslo", "Rome"}
    by_number = made.release(pd.Series([5123, 4000], index=[7, 8]), seeded(1)).value
    assert set(by_number) == {7, 8}
    assert by_number == made.release({7: 5123, 8: np.int32(4000)}, seeded(1)).value
    assert set(made.release({"all": 2**80}, seeded(1)).value) == {"all"}


@pytest.mark.parametrize(
    "counts",
    [
        {"Oslo": 99.9},
        {"Oslo": 99.0},
        {"Oslo": "99"},
        {"Oslo": None},
        {"Oslo": True},
        {"Oslo": np.nan},
        pd.Series({"Oslo": 99.0}),
        pd.Series([99, 98], index=["Oslo", "Oslo"]),
        pd.DataFrame({"Oslo": [99]}),
        pd.Series([99], index=pd.Index([["Oslo"]], dtype=object)),
        ["Oslo", "Oslo", 99],
        [("Oslo", 99)],
        "Oslo 99",
        None,
        99,
    ],
    ids=lambda item: type(item).__name__,
)
def test_counts_that_cannot_be_used_are_refused_without_being_shown(counts):
    with pytest.raises(ParameterError) as caught:
        PartitionSelection(1, "1e-6").release(counts)
    assert "Oslo" not in str(caught.value)
    assert "99" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("delta", [Fraction(1, 10**400), "1e-300", 1 - Fraction(1, 10**400), "0.999999999999999999"])
@pytest.mark.parametrize("groups", [1, np.int64(3), 1000])
def test_extreme_deltas_have_exact_thresholds(delta, groups):
    made = PartitionSelection(1, delta, groups=groups)
    with mpmath.workdps(500):
        rate = mpmath.mpf(made.noise.scale.denominator) / made.noise.scale.numerator
        allowed = mpmath.mpf(made.event.delta.numerator) / made.event.delta.denominator

        def chance(threshold):
            one = mpmath.exp(-rate * (threshold - 1)) / (1 + mpmath.exp(-rate))
            return 1 - (1 - one) ** int(groups)

        assert chance(made.threshold) <= allowed
        assert made.threshold == 2 or chance(made.threshold - 1) > allowed * (1 - mpmath.mpf("1e-8"))


def test_the_promise_of_partition_selection_is_given_at_its_own_delta():
    made = PartitionSelection(1, "1e-6")
    assert (made.guarantee().epsilon, made.guarantee().delta) == (1, Fraction(1, 10**6))
    assert made.guarantee("1e-5").delta == Fraction(1, 10**5)
    with pytest.raises(PrivacyError, match="guarantee\\(delta="):
        made.guarantee(0)
