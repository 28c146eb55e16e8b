"""Statistical tests here use seeded draws; under fresh seeds each would err with probability below 1e-6."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest

from ziggurat.errors import MixedNeighboursError, ParameterError
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
