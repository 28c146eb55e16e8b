"""Scores are judged exactly: p-values never too small, however few the people and whatever ties there are."""

import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ziggurat.attacks.models import RankedArea, judge_scores
from ziggurat.errors import ParameterError

TINY = "1/1000"  # promised of models that keep nothing of anybody, which keep any promise


def splits(people: int, members: int) -> list[np.ndarray]:
    """Every choice of members."""
    return [np.isin(np.arange(people), chosen) for chosen in combinations(range(people), members)]


def exceeds(chances: list[float], weights: list[float] | None = None) -> bool:
    """Whether p-values are at most x more often than x, for any x."""
    values, each = np.array(chances), np.full(len(chances), 1 / len(chances)) if weights is None else np.array(weights)
    return any(each[values <= x].sum() > x * (1 + 1e-9) for x in np.unique(values))


@settings(max_examples=40)
@given(st.lists(st.integers(0, 4), min_size=4, max_size=8), st.data())
def test_p_values_over_all_splits_are_at_most_x_with_probability_x(scores: list[int], data: st.DataObject) -> None:
    known = np.array(scores, float)
    members = data.draw(st.integers(1, len(known) - 1))
    judged = [
        judge_scores("x", known[inside], known[~inside], random_split=True, epsilon=TINY)
        for inside in splits(len(known), members)
    ]
    for rule in ("even", "surest"):
        assert not exceeds([getattr(each, rule).chance for each in judged])
    assert not exceeds([each.chance for each in judged])
    assert not exceeds([each.bound.chance for each in judged if each.bound is not None])


@settings(max_examples=15)
@given(st.lists(st.integers(0, 3), min_size=4, max_size=7), st.sampled_from([0.3, 0.5]))
def test_with_coins_the_bound_is_exact_too(scores: list[int], kept_back: float) -> None:
    """All draws of coins; where they leave nobody in or out there is nothing to judge, and no alarm."""
    known, chances, weights = np.array(scores, float), [1.0], [0.0]
    for members in range(1, len(known)):
        for inside in splits(len(known), members):
            parts = (known[inside], known[~inside])
            found = judge_scores("x", *parts, random_split=True, epsilon=TINY, kept_back=kept_back)
            assert found.bound is not None
            chances.append(found.bound.chance)
            weights.append((1 - kept_back) ** members * kept_back ** (len(known) - members))
    weights[0] = 1 - sum(weights)
    assert not exceeds(chances, weights)


def test_scores_that_know_the_members_exceed() -> None:
    """The control of both tests above: where scores look at who is a member, p-values are small far too often."""
    judged = [judge_scores("x", np.ones(4), np.zeros(4), random_split=True, epsilon=TINY) for _inside in splits(8, 4)]
    assert exceeds([each.even.chance for each in judged])
    assert exceeds([each.chance for each in judged])
    assert exceeds([each.bound.chance for each in judged if each.bound is not None])


def test_constant_scores_tell_nothing() -> None:
    found = judge_scores("x", np.ones(50), np.ones(70), random_split=True, epsilon="1")
    assert (found.area.rate, found.verdict, found.chance) == (0.5, False, 1.0)
    assert found.bound is not None
    assert found.bound.lower == 0
    assert found.readings == ()
    assert json.loads(json.dumps(found.to_dict()))["tried"] == 1


def test_a_tie_at_the_top_is_named_as_a_whole_or_not_at_all() -> None:
    """As a 1-NN gives them: all members and two thirds of the others have the largest score."""
    members, others = np.ones(90), np.repeat([1.0, 0.0], [60, 30])
    found = judge_scores("x", members, others, random_split=True)
    assert (found.even.attack.hits, found.even.control.hits) == (90, 60)
    assert found.verdict
    assert found.surest.attack.hits == 0  # a hundredth cannot be told from the rest
    swapped = judge_scores("x", np.repeat([1.0, 0.0], [60, 30]), np.ones(90), random_split=True)
    assert not swapped.verdict


def test_too_few_people_get_no_verdict_and_given_groups_none_at_all() -> None:
    few = judge_scores("x", np.arange(10.0) + 20, np.arange(10.0), random_split=True)
    assert few.verdict is None
    assert "too few" in few.sentence
    rows = (np.arange(100.0) + 90, np.arange(100.0))
    assert judge_scores("x", *rows, random_split=True).verdict
    given_groups = judge_scores("x", *rows, random_split=False, epsilon="1")
    assert given_groups.verdict is None
    assert given_groups.bound is None
    assert "no verdict" in given_groups.sentence


def test_more_attacks_tried_make_a_verdict_harder() -> None:
    rows = (np.arange(100.0) + 60, np.arange(100.0))
    once, often = (judge_scores("x", *rows, random_split=True, epsilon="0.1", tried=tried) for tried in (1, 8))
    assert often.chance == pytest.approx(8 * once.chance)
    assert once.bound is not None
    assert often.bound is not None
    assert often.bound.chance == pytest.approx(8 * once.bound.chance)
    assert often.bound.lower < once.bound.lower


def test_scores_must_be_numbers_of_somebody() -> None:
    for bad in ([], [np.nan], [[1.0]]):
        with pytest.raises(ParameterError):
            judge_scores("x", bad, [1.0], random_split=True)


@pytest.mark.statistical
def test_the_interval_of_the_area_covers_it_as_often_as_it_says() -> None:
    """400 draws; 95 % intervals miss so often with probability below 1e-6. Halved, as the control, they miss more."""
    draw, runs, shift = np.random.default_rng(3), 400, 0.8
    true, least = stats.norm.cdf(shift / np.sqrt(2)), stats.binom.ppf(1e-6, 400, 0.95)
    found = [RankedArea.of(draw.normal(shift, 1, 80), draw.normal(0, 1, 120)) for _ in range(runs)]
    assert sum(each.low <= true <= each.high for each in found) >= least
    halved = [abs(true - each.rate) <= (each.high - each.low) / 4 for each in found]
    assert sum(halved) < least
