"""The shared draws have exactly the stated law; seeded, false alarms below 1e-6 each."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from ziggurat.local._draw import Exchange, round_down, unlikely
from ziggurat.mechanisms import RandomizedResponse
from ziggurat.randomness import seeded

N = 400_000


@pytest.mark.statistical
@pytest.mark.parametrize("rate", ["0", "0.3", "1", "3"])
def test_an_unlikely_bit_comes_as_often_as_stated_and_five_percent_off_is_rejected(rate):
    ones = int(unlikely(Fraction(rate), N, seeded(rate)).sum())
    expected = 1 / (1 + math.exp(float(rate)))
    assert binomtest(ones, N, expected).pvalue > 1e-6
    assert binomtest(ones, N, expected * 1.05).pvalue < 1e-6


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", "12"])
@pytest.mark.parametrize("answers", [2, 3, 100, 100_000])
def test_an_answer_is_kept_as_often_as_randomised_response_keeps_it(epsilon, answers):
    made = Exchange(Fraction(epsilon), answers)
    assert made.kept == pytest.approx(RandomizedResponse(epsilon, answers).truth, rel=1e-9)
    assert made.kept + (answers - 1) * made.other == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "5", "12"])
@pytest.mark.parametrize("answers", [2, 3, 100, 100_000])
def test_the_odds_never_exceed_the_promise(epsilon, answers):
    """In 60 digits: log((answers - 1) e^t) <= epsilon."""
    import mpmath

    with mpmath.workdps(60):
        lean = Exchange(Fraction(epsilon), answers)._lean
        loss = mpmath.mpf(lean.numerator) / lean.denominator + mpmath.log(answers - 1)
        assert mpmath.mpf(epsilon) - mpmath.mpf(2) ** -39 < loss <= mpmath.mpf(epsilon)


@pytest.mark.statistical
@pytest.mark.parametrize("answers", [3, 40])
def test_exchanged_answers_are_uniform_over_the_others(answers):
    drawn = Exchange(Fraction(1), answers).draw(np.ones(N, dtype=np.int64), seeded(answers))
    others = np.delete(np.bincount(drawn, minlength=answers), 1)
    assert chisquare(others).pvalue > 1e-6
    assert binomtest(int((drawn == 1).sum()), N, Exchange(Fraction(1), answers).kept).pvalue > 1e-6


def test_rates_are_only_ever_rounded_down():
    for rate in (Fraction(1, 3), Fraction(-1, 3), Fraction(2) ** 70):
        assert round_down(rate) <= rate
