"""A promised epsilon is refuted by guesses about people kept back by coins: never too often, and when it should be."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from ziggurat.attacks import Guesses, Share, epsilon_bound
from ziggurat.attacks._guesses import judge
from ziggurat.errors import ParameterError

PEOPLE, RUNS = 200, 2_000


def guesses(inside: np.ndarray, said: np.ndarray) -> Guesses:
    """Who of those inside, and of those who are not, is said to be inside."""
    attack, control = (Share(int(said[part].sum()), int(part.sum())) for part in (inside, ~inside))
    return judge(attack, control, Share(0, 1))


def refuted(epsilon: str, delta: str, kept_back: float, true_epsilon: float, true_delta: float = 0.0) -> int:
    """How often a promise is refuted at 5 %, when each person's coin leaves by randomised response.

    With probability `true_delta` a person's coin leaves as it is; otherwise it is told truly with odds e^true_epsilon,
    which is (true_epsilon, true_delta)-DP about adding or removing each person.
    """
    draw = np.random.default_rng(5)
    truth = math.exp(true_epsilon) / (1 + math.exp(true_epsilon))
    found = 0
    for _ in range(RUNS):
        inside = draw.random(PEOPLE) >= kept_back
        told = np.where(draw.random(PEOPLE) < true_delta + (1 - true_delta) * truth, inside, ~inside)
        made = guesses(inside, told)
        found += (
            epsilon_bound("rr", made, people=PEOPLE, kept_back=kept_back, epsilon=epsilon, delta=delta).chance <= 0.05
        )
    return found


@pytest.mark.statistical
@pytest.mark.parametrize("kept_back", [0.5, 0.1])
def test_a_promise_that_holds_is_refuted_at_most_as_often_as_the_level_says(kept_back: float) -> None:
    """Randomised response reaches its epsilon exactly, so that nothing is slack; the control promises too little."""
    most = stats.binom.isf(1e-6, RUNS, 0.05)
    assert refuted("1", "0", kept_back, 1.0) <= most
    assert refuted("1", "0.0005", kept_back, 1.0, 0.0005) <= most
    assert refuted("0.3", "0", kept_back, 1.0) > 2 * most


def test_the_bound_is_the_epsilon_at_which_the_chance_is_the_level() -> None:
    made = judge(Share(80, 100), Share(15, 100), Share(0, 1))
    found = epsilon_bound("x", made, people=200, kept_back=0.5, epsilon="1")
    assert found.right == Share(80, 95)
    again = epsilon_bound("x", made, people=200, kept_back=0.5, epsilon=Fraction(found.lower))
    assert again.chance == pytest.approx(0.05, rel=1e-6)
    odds = stats.beta.ppf(0.05, 80, 16)
    assert found.lower == pytest.approx(math.log(odds / (1 - odds)))
    assert "at least 1.19 is shown, and 1 was promised" in found.sentence
    assert found.lower > 1 > 0.05 > found.chance


def test_delta_loosens_and_uneven_coins_count() -> None:
    made = judge(Share(180, 180), Share(2, 20), Share(0, 1))
    plain = epsilon_bound("x", made, people=200, kept_back=0.1, epsilon="0.5")
    loose = epsilon_bound("x", made, people=200, kept_back=0.1, epsilon="0.5", delta="1e-3")
    assert loose.chance == pytest.approx(plain.chance + 200 * 0.1 * 0.9 * 1e-3)
    assert loose.lower < plain.lower
    # Taken for fair coins, the same guesses would show an epsilon that nobody has: most people are in anyway.
    assert epsilon_bound("x", made, people=200, kept_back=0.5, epsilon="0.5").lower > plain.lower + 2


def test_nothing_is_shown_by_nothing() -> None:
    made = judge(Share(0, 100), Share(0, 100), Share(0, 1))
    found = epsilon_bound("x", made, people=200, kept_back=0.5, epsilon="1")
    assert (found.chance, found.lower) == (1.0, 0.0)
    assert "does not prove it either" in found.sentence
    assert found.table.num_rows == 2
    assert json.loads(json.dumps(found.to_dict()))["claimed"] == "1"


def test_guesses_about_some_of_the_people_only_are_refused() -> None:
    made = judge(Share(10, 100), Share(0, 90), Share(0, 1))
    with pytest.raises(ParameterError, match="all people"):
        epsilon_bound("x", made, people=200, kept_back=0.5, epsilon="1")
    for share in (0.0, 1.0):
        with pytest.raises(ParameterError, match="above 0"):
            epsilon_bound("x", made, people=190, kept_back=share, epsilon="1")
