"""Planted canaries: ranks, exposure, and what they show of a promise."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ziggurat.attacks.sequences import Canaries, exposure, score_by_release
from ziggurat.attacks.sequences._canaries import _RankTest
from ziggurat.data import Unit
from ziggurat.errors import ParameterError
from ziggurat.release import Evidence, Gate
from ziggurat.sequences import SequenceDomain, Sequences

DOMAIN = SequenceDomain(tuple("abcdefgh"), longest=10, classes=(0, 1))


def remember(planted, strength):
    """A score of random noise in which what was planted stands out."""
    known, draw = set(planted), np.random.default_rng(5)
    return lambda asked: draw.normal(size=len(asked)) + strength * np.array([each in known for each in asked])


def test_exposure_is_log2_of_the_candidates_less_log2_of_the_rank():
    found = exposure(lambda texts: [len(each) for each in texts], "four", ["a", "abc", "seventh", "e"])
    assert (found.rank, found.among) == (2, 5)
    assert found.bits == pytest.approx(math.log2(5) - 1)


def test_ties_count_as_better_so_that_a_score_that_tells_nothing_exposes_nothing():
    found = exposure(lambda texts: np.zeros(len(texts)), "x", ["y"] * 7)
    assert found.rank == found.among == 8
    assert found.bits == 0


def test_extrapolation_is_marked_and_left_out_unless_asked():
    draw = np.random.default_rng(1)
    scores = dict(enumerate([9.0, *draw.normal(size=500)]))
    asked = exposure(lambda places: [scores[each] for each in places], [0], range(1, 501), extrapolate=True)
    assert asked.bits == pytest.approx(math.log2(501))
    assert asked.extrapolated > 20
    assert exposure(lambda places: np.zeros(len(places)), [0], [1]).extrapolated is None


def test_canaries_are_random_sequences_of_public_symbols_each_among_its_own_candidates():
    made = Canaries.draw(DOMAIN, 3, length=10, candidates=16, random_state=1)
    assert len(made.planted) == 3
    assert [len(each) for each in made.candidates] == [15, 15, 15]
    assert set(made.planted.lengths) == {10}
    assert all(len(set(each.labels.tolist())) == 1 for each in made.candidates)
    texts = {*made.planted.to_texts(), *(text for each in made.candidates for text in each.to_texts())}
    assert len(texts) == 48
    assert Canaries.draw(DOMAIN, 3, length=10, candidates=16, random_state=1).planted.to_texts() == (
        made.planted.to_texts()
    )
    assert Canaries.draw(DOMAIN, 3, length=10, candidates=16).planted.to_texts() != made.planted.to_texts()


def test_planting_adds_every_canary_as_often_as_said_with_owners_of_their_own():
    domain = DOMAIN.with_unit(Unit.person("who"))
    held = Sequences.of(domain, ["ab", "ba"], [0, 1], ["ann", "ann"])
    made = Canaries.draw(domain, 2, length=4, candidates=4, times=3, random_state=2)
    planted = made.plant(held)
    assert len(planted) == 2 + 6
    assert list(planted)[2:5] == [next(iter(made.planted))] * 3
    assert len(set(planted.owners.tolist())) == 3


def test_a_generator_that_copies_its_input_is_caught_and_its_epsilon_refuted():
    made = Canaries.draw(DOMAIN, 6, length=8, candidates=256, random_state=3)
    held = Sequences.of(DOMAIN, ["abab"] * 50, [0] * 50)
    found = made.measure(score_by_release(made.plant(held)), epsilon=1)
    assert [each.rank for each in found.exposures] == [1] * 6
    assert found.verdict
    assert found.lower > 3
    assert "Warning" in found.sentence
    gate = Gate().judge(Evidence({"canaries": found}), guaranteed=True)
    assert gate.refuted


def test_a_generator_that_never_saw_the_canaries_is_not():
    """Seeded; the verdict alarms with a probability of at most 0.025."""
    made = Canaries.draw(DOMAIN, 6, length=8, candidates=256, random_state=4)
    fresh = Canaries.draw(DOMAIN, 300, length=8, candidates=2, random_state=5).planted
    found = made.measure(score_by_release(fresh))
    assert not found.verdict
    assert found.lower == 0
    assert "no more than chance" in found.sentence
    gate = Gate().judge(Evidence({"canaries": found}), guaranteed=False)
    assert not gate.stopped


def test_a_likelihood_that_half_remembers_shows_an_epsilon_that_a_large_promise_allows():
    made = Canaries.draw(DOMAIN, 8, length=8, candidates=128, random_state=6)
    score = remember(made.planted, 3.0)
    small, large = (made.measure(score, epsilon=value) for value in (Fraction(1, 10), 8))
    assert small.verdict
    assert not large.verdict
    assert small.lower == pytest.approx(large.lower, abs=2)
    assert "does not prove it" in large.sentence


def mechanism(ranks, among, epsilon, draw):
    """Ranks by the strongest mechanism that keeps epsilon: the first half is e^epsilon times as likely."""
    low = min(1.0, math.exp(epsilon) * ranks / among)
    return np.where(draw.random(20_000) < low, ranks, among)


@pytest.mark.statistical
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("count", [1, 4])
def test_the_bound_is_a_p_value_for_ranks_that_a_promise_allows(epsilon, count):
    """20,000 seeded draws; each check is 5 standard deviations wide: false alarms below one in a million."""
    draw, among = np.random.default_rng(7), 64
    for rank in (1, 4, 8):
        held = mechanism(rank, among, epsilon, draw).reshape(-1, count)
        chances = [_RankTest(each.tolist(), among, 1, 0.0).bound(epsilon) for each in held[:2000]]
        for level in (0.05, 0.2):
            room = level + 5 * (level * (1 - level) / len(chances)) ** 0.5
            assert np.mean(np.array(chances) <= level) <= room


def test_a_bound_that_forgot_e_to_the_epsilon_is_caught():
    """The negative control of the test above: ranks that epsilon 2 allows are no ranks of epsilon 0."""
    held = mechanism(4, 64, 2.0, np.random.default_rng(7)).reshape(-1, 4)
    chances = np.array([_RankTest(each.tolist(), 64, 1, 0.0).bound(0.0) for each in held[:2000]])
    assert np.mean(chances <= 0.05) > 0.2


@pytest.mark.parametrize(("count", "hits"), [(1, 1), (5, 5), (8, 3), (20, 9)])
def test_the_tail_is_never_below_that_of_independent_canaries(count, hits):
    test = _RankTest([1] * count, 64, 1, 0.0)
    for epsilon, rank in ((0.0, 1), (1.0, 4), (2.0, 2)):
        q = math.exp(epsilon) * rank / 64
        assert test._tail(epsilon, rank, hits) >= stats.binom.sf(hits - 1, count, q) * (1 - 1e-9)


def test_the_lower_bound_is_where_the_chance_is_the_level_and_falls_with_delta_and_repetition():
    test = _RankTest([1, 1, 2, 40], 1024, 1, 0.0)
    shown = test.invert(0.05)
    assert test.bound(shown) == pytest.approx(0.05)
    assert test.bound(shown + 0.01) > 0.05
    assert _RankTest([1, 1, 2, 40], 1024, 1, 0.001).invert(0.05) < shown
    assert _RankTest([1, 1, 2, 40], 1024, 4, 0.0).invert(0.05) == pytest.approx(shown / 4)
    assert _RankTest([3], 1024, 1, 0.0).bound(1.0) == pytest.approx(math.e * 3 / 1024)


def test_the_finding_has_facts_a_sentence_and_a_table():
    made = Canaries.draw(DOMAIN, 2, length=8, candidates=8, random_state=6)
    found = made.measure(remember((), 0.0), epsilon="0.5", delta="0.001")
    facts = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (facts["claimed"], facts["delta"]) == ("1/2", "1/1000")
    assert found.table.column_names == ["rank", "of", "exposure in bits", "extrapolated"]


def test_what_cannot_be_planted_or_scored_is_refused():
    with pytest.raises(ParameterError, match="would be cut"):
        Canaries.draw(DOMAIN, length=11)
    with pytest.raises(ParameterError, match="candidates"):
        Canaries.draw(DOMAIN, length=4, candidates=1)
    with pytest.raises(ParameterError, match="one number"):
        exposure(lambda texts: [1.0], "a", ["b", "c"])
    with pytest.raises(ParameterError, match="one canary"):
        exposure(lambda texts: np.zeros(len(texts)), ["a", "b"], ["c"])
    with pytest.raises(ParameterError, match="level"):
        Canaries.draw(DOMAIN, length=4, candidates=4, random_state=1).measure(remember((), 0.0), level=1.0)
