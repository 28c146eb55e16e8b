"""Statistical tests here use seeded draws; under fresh seeds each would err with probability below 1e-6."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.mechanisms import Selection, TopK
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.randomness import seeded

SCORES = [10, 9, 7, 3]
N = 20_000


def exponential_law(scores, rate):
    weights = np.exp(-rate * (max(scores) - np.array(scores)))
    return weights / weights.sum()


def permute_and_flip_law(scores, rate):
    """Written out over all orders."""
    law = np.zeros(len(scores))
    accept = np.exp(-rate * (max(scores) - np.array(scores)))
    for order in itertools.permutations(range(len(scores))):
        reached = 1.0
        for i in order:
            law[i] += reached * accept[i]
            reached *= 1 - accept[i]
    return law / math.factorial(len(scores))


def chosen(mechanism, scores=SCORES, n=N, seed="choose"):
    source = seeded(seed)
    return np.bincount([mechanism.release(scores, source).value for _ in range(n)], minlength=len(scores))


@pytest.mark.statistical
@pytest.mark.parametrize(("method", "law"), [("gumbel", exponential_law), ("permute-and-flip", permute_and_flip_law)])
def test_choices_follow_their_law_and_another_epsilon_is_rejected(method, law):
    counts = chosen(Selection(1, method=method))
    assert chisquare(counts, law(SCORES, 0.5) * N).pvalue > 1e-6
    assert chisquare(counts, law(SCORES, 0.6) * N).pvalue < 1e-6


@pytest.mark.statistical
def test_the_maximum_with_laplace_noise_follows_its_law():
    """Against a plain simulation with floats."""
    rng = seeded("reference").simulation()
    steps = np.arange(-300, 301)
    law = np.exp(-np.abs(steps) / 2) * math.tanh(0.25)
    noise = rng.choice(steps, p=law / law.sum(), size=(400_000, 4))
    noisy = np.array(SCORES) + noise
    winners = noisy == noisy.max(axis=1, keepdims=True)
    share = (winners / winners.sum(axis=1, keepdims=True)).mean(axis=0)
    assert chisquare(chosen(Selection(1, method="laplace")), share * N).pvalue > 1e-6


def test_the_factor_two_is_there_unless_scores_are_monotone():
    """formulas.md 3: without it the mechanism is 2 epsilon-DP. Neighbours (1, 0) and (0, 1) attain the ratio."""
    law = exponential_law([1, 0], float(Selection(1)._rate)), exponential_law([0, 1], float(Selection(1)._rate))
    assert math.log(law[0][0] / law[1][0]) == pytest.approx(0.5)
    assert Selection(1, monotone=True)._rate == 1
    assert Selection(1)._rate == Fraction(1, 2)


@pytest.mark.parametrize("method", ["permute-and-flip", "gumbel", "laplace"])
def test_the_choice_stays_within_the_stated_shortfall(method):
    mechanism = Selection("0.5", method=method)
    bound = mechanism.shortfall(30, "0.9")
    scores = [100] + [100 - int(bound) - 1] * 29
    assert chosen(mechanism, scores, 2000)[0] / 2000 > 0.87


def test_real_scores_are_rounded_on_the_safe_side():
    mechanism = Selection(1, "0.001")
    assert mechanism.grid < Fraction(1, 10**8)
    assert mechanism.release([0.2, 0.9, 0.1], seeded(1)).value == 1


def test_top_k_gives_distinct_candidates_best_first_and_splits_epsilon():
    mechanism = TopK(3, 30, method="gumbel")
    assert mechanism.release([0, 500, 1000, 250, 10], seeded(2)).value == [2, 1, 3]
    assert mechanism.guarantee().epsilon == 30
    assert compose(mechanism.event).zcdp().rho == 3 * Fraction(100, 8)


@pytest.mark.parametrize("scores", [[], 3, [math.nan, 1.0], [math.inf], [[1, 2]], ["a"], None])
def test_scores_that_cannot_be_used_are_refused(scores):
    with pytest.raises(ParameterError):
        Selection(1).release(scores)


def test_top_k_needs_enough_candidates():
    with pytest.raises(ParameterError, match="lower k"):
        TopK(3, 1).release([1, 2])
    with pytest.raises(ParameterError):
        TopK(0, 1)
    with pytest.raises(ParameterError):
        Selection(1, method="magic")


def test_monotone_scores_are_for_added_or_removed_units_only():
    replaced = Neighbours(relation=Relation.REPLACE_ONE)
    with pytest.raises(MixedNeighboursError, match="monotone"):
        Selection(1, monotone=True, neighbours=replaced)
    with pytest.raises(MixedNeighboursError, match="monotone"):
        TopK(2, 1, monotone=True, neighbours=replaced)
    with pytest.raises(ParameterError, match="monotone"):
        Selection(1, monotone="no")
    assert Selection(1, neighbours=replaced).event.neighbours == replaced


def test_an_epsilon_too_small_is_refused_at_once():
    for make in (Selection, lambda epsilon: TopK(2, epsilon), lambda epsilon: Selection(epsilon, method="laplace")):
        with pytest.raises(ParameterError, match="epsilon is too small"):
            make("1e-16")
    assert Selection("1e-14").release([1, 2], seeded(1)).value in (0, 1)


@pytest.mark.parametrize("bad", [None, math.nan, "x", 0, -1, 2.5, True])
def test_impossible_numbers_of_candidates_are_refused(bad):
    for mechanism in (Selection(1), TopK(2, 1)):
        with pytest.raises(ParameterError, match="candidates"):
            mechanism.shortfall(bad)


@pytest.mark.parametrize("method", ["permute-and-flip", "gumbel", "laplace"])
def test_the_shortfall_grows_with_the_logarithm_of_any_number_of_candidates(method):
    mechanism = Selection(1, method=method)
    factor = 4 if method == "laplace" else 2
    assert mechanism.shortfall(10**400) - mechanism.shortfall(10**200) == pytest.approx(
        factor * 200 * math.log(10), abs=factor
    )
    assert mechanism.shortfall(np.int64(1)) == 0
    assert mechanism.shortfall(2, 1 - Fraction(1, 10**400)) > 1800


@pytest.mark.parametrize("bad", [np.array(["gumbel", "laplace"]), None, 1, ["gumbel"]])
def test_a_method_that_is_no_word_is_refused(bad):
    with pytest.raises(ParameterError, match="method"):
        Selection(1, method=bad)
