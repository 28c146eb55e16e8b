"""Mistakes that are easy to make, planted: the audit that passes the honest privatisers catches each of them."""

from fractions import Fraction

import numpy as np
import pytest

from ziggurat.local import CountNoise, RecordChoice, Response, UnaryEncoding, VectorNoise
from ziggurat.mechanisms import TruncatedGeometric, empirical_epsilon
from ziggurat.randomness import seeded

N = 150_000


def forgot_the_number_of_answers():
    made = Response(1, 6)
    made._exchange._lean = Fraction(1)
    return made, (0, 5), lambda sent: sent


def spent_epsilon_on_both_bits():
    made = UnaryEncoding(1, 6)
    made._held = made._others = Fraction(1)
    return made, (0, 5), lambda sent: sent[:, 0]


def took_a_count_to_move_by_one():
    made = CountNoise(1, 0, 6)
    made._noisy = TruncatedGeometric.within(0, 6, 1, coordinates=1)
    return made, (0, 6), lambda sent: sent


def left_out_the_sum_of_the_weights():
    made = RecordChoice(1, 6)
    made._rate = Fraction(1)
    return made, (0, 5), lambda sent: sent


def trusted_the_sender_with_the_norm():
    made = VectorNoise(1, 2)
    made._shrunk = lambda matrix: matrix
    return made, ([3.0, 0.0], [-3.0, 0.0]), lambda sent: np.floor(sent[:, 0])


BUGS = [
    forgot_the_number_of_answers,
    spent_epsilon_on_both_bits,
    took_a_count_to_move_by_one,
    left_out_the_sum_of_the_weights,
    trusted_the_sender_with_the_norm,
]


@pytest.mark.statistical
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_a_planted_bug_is_caught(bug):
    made, pair, look = bug()
    source = seeded(bug.__name__)
    draws = [look(made.privatize(np.array([record] * N), source).value) for record in pair]
    assert float(made.guarantee().epsilon) <= 1 < empirical_epsilon(*draws, confidence=1 - 1e-6)


@pytest.mark.statistical
def test_the_same_vectors_are_safe_once_they_are_shrunk():
    made, source = VectorNoise(1, 2), seeded("shrunk")
    pair = ([3.0, 0.0], [-3.0, 0.0])
    draws = [np.floor(made.privatize(np.array([row] * N), source).value[:, 0]) for row in pair]
    assert empirical_epsilon(*draws, confidence=1 - 1e-6) <= 1
