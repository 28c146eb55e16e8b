"""What a promise about people says of one secret bit: by exact laws of small mechanisms, and never more."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from ziggurat.attacks.questions import BitPromise
from ziggurat.privacy import Relation


def geometric(epsilon: float, centre: int, reach: int = 60) -> np.ndarray:
    """The law of a count with discrete Laplace noise, its tails gathered at the ends."""
    places = np.arange(-reach, reach + 1)
    law = np.exp(-epsilon * np.abs(places - centre))
    return law / law.sum()


def best_guess(with_it: np.ndarray, without: np.ndarray, share: float) -> float:
    """How often the best guess is right, by what it sees."""
    return float(np.maximum(share * with_it, (1 - share) * without).sum())


@pytest.mark.parametrize("share", [0.5, 0.6, 0.9])
@pytest.mark.parametrize("epsilon", ["0.2", "1", "3"])
def test_no_guess_from_a_count_of_people_with_the_secret_is_right_more_often(share, epsilon):
    held = BitPromise.of(epsilon)
    reached = best_guess(geometric(float(epsilon), 1), geometric(float(epsilon), 0), share)
    assert reached <= held.largest(share) + 1e-9
    if share == 0.5:
        assert reached == pytest.approx(held.balanced, abs=1e-6)  # and it is reached
        weaker = BitPromise.of(Fraction(epsilon) * Fraction(9, 10))
        assert reached > weaker.largest(share)  # the control: a promise of a tenth less would be broken


def test_counts_by_the_secret_itself_need_twice_the_epsilon():
    """`GROUP BY ill` tells two counts that a flipped bit moves; epsilon alone does not bound it, 2 epsilon does."""
    one, none = geometric(1.0, 1), geometric(1.0, 0)
    with_it, without = np.outer(one, none).ravel(), np.outer(none, one).ravel()
    reached = best_guess(with_it, without, 0.5)
    assert reached > BitPromise.of(1).balanced
    assert reached <= BitPromise.of(1, counts_secret_only=False).balanced
    assert BitPromise.of(1, relation=Relation.REPLACE_ONE, counts_secret_only=False) == BitPromise(
        Fraction(1), Fraction(0)
    )


def test_delta_adds_what_it_says():
    """With probability delta the bit leaves as it is, and else by randomised response."""
    for epsilon, delta, share in product((0.5, 1.0), (0.01, 0.2), (0.5, 0.7)):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        tell, lie = (1 - delta) * truth, (1 - delta) * (1 - truth)
        reached = best_guess(np.array([delta, 0, tell, lie]), np.array([0, delta, lie, tell]), share)
        held = BitPromise.of(Fraction(epsilon), Fraction(str(delta)))
        assert reached <= held.largest(share) + 1e-12
        if share == 0.5:
            assert reached == pytest.approx((math.exp(epsilon) + delta) / (1 + math.exp(epsilon)))


def test_delta_for_any_question_is_rounded_up():
    held = BitPromise.of(1, "1e-6", counts_secret_only=False)
    assert held.epsilon == 2
    assert 1 + math.e < float(held.delta * 1_000_000) < (1 + math.e) * (1 + 1e-8)
