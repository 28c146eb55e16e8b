"""Choices against their exact laws; a true sampler fails a test with probability 1e-9 (seeds are fixed)."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from ziggurat.errors import ParameterError
from ziggurat.randomness import (
    exponential_choice,
    exponential_choices,
    permute_and_flip,
    sample_without_replacement,
    seeded,
    shuffle,
)

N = 10**6
GAPS = np.array([3, 0, 1, 1, 6])
RATE = Fraction(2, 5)
FIVE_PERCENT_MORE = Fraction(21, 20)


def _exponential(gaps: np.ndarray, rate: Fraction) -> np.ndarray:
    weights = np.exp(-float(rate) * gaps)
    return weights / weights.sum()


def _permute_and_flip(gaps: np.ndarray, rate: Fraction) -> np.ndarray:
    """By enumeration of every order."""
    accept, chances = np.exp(-float(rate) * gaps), np.zeros(gaps.size)
    orders = list(permutations(range(gaps.size)))
    for order in orders:
        reached = 1.0
        for i in order:
            chances[i] += reached * accept[i] / len(orders)
            reached *= 1 - accept[i]
    return chances


@pytest.mark.statistical
@pytest.mark.parametrize(("choose", "law"), [(exponential_choice, _exponential), (permute_and_flip, _permute_and_flip)])
def test_a_choice_has_its_law(unequal, choose, law) -> None:
    counts = np.bincount(choose(GAPS, RATE, size=N, source=seeded("choice")), minlength=GAPS.size)
    assert not unequal(counts, law(GAPS, RATE))
    assert unequal(counts, law(GAPS, RATE * FIVE_PERCENT_MORE))


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip])
def test_one_good_candidate_among_many_is_found(choose) -> None:
    gaps = np.full(200_000, 10**6)
    gaps[4321] = 0
    assert choose(gaps, Fraction(1), source=seeded("needle")) == 4321


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip])
def test_the_largest_gaps_do_not_wrap(choose) -> None:
    gaps = np.array([2**63 - 1, 0, 2**63 - 1])
    assert set(choose(gaps, Fraction(2**50 - 1, 2**50), size=1000, source=seeded(1)).tolist()) == {1}
    assert set(choose(gaps.astype(np.uint64), Fraction(2**50), size=1000, source=seeded(1)).tolist()) == {1}


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip])
@pytest.mark.parametrize(
    "gaps", [np.array([]), np.array([0.0, 1.0]), np.array([[0, 1]]), np.array([-1, 0]), np.array([1, 2])]
)
def test_gaps_that_are_none_are_refused(choose, gaps: np.ndarray) -> None:
    with pytest.raises(ParameterError):
        choose(gaps, Fraction(1), source=seeded(1))


def test_a_choice_by_rows_is_the_same_choice_of_each_row() -> None:
    once = exponential_choice(GAPS, RATE, size=5000, source=seeded("rows"))
    assert exponential_choices(np.tile(GAPS, (5000, 1)), RATE, source=seeded("rows")).tolist() == once.tolist()
    gaps = np.full((300, 7), 10**6)
    gaps[np.arange(300), np.arange(300) % 7] = 0
    assert exponential_choices(gaps, 1, source=seeded(1)).tolist() == [i % 7 for i in range(300)]
    assert exponential_choices(np.zeros((0, 3), dtype=int), 1, source=seeded(1)).size == 0


@pytest.mark.parametrize(
    "gaps", [np.array([0, 1]), np.zeros((2, 0), int), np.array([[0.0]]), np.array([[0, 1], [2, 1]])]
)
def test_rows_of_gaps_that_are_none_are_refused(gaps: object) -> None:
    with pytest.raises(ParameterError):
        exponential_choices(gaps, 1, source=seeded(1))


@pytest.mark.statistical
def test_every_order_is_equally_likely(unequal) -> None:
    source = seeded("orders")
    drawn = [tuple(shuffle(4, source=source).tolist()) for _ in range(50_000)]
    counts = np.array([drawn.count(order) for order in permutations(range(4))])
    assert counts.sum() == 50_000
    assert not unequal(counts, np.full(24, 1 / 24))
    counts[0] += 500  # one order 24% too frequent: 1% of all draws
    assert unequal(counts, np.full(24, 1 / 24))


@pytest.mark.statistical
@pytest.mark.parametrize(("n", "k"), [(5, 2), (4, 3), (3, 3)])
def test_every_ordered_sample_is_equally_likely(unequal, n: int, k: int) -> None:
    source = seeded("samples")
    drawn = [tuple(sample_without_replacement(n, k, source=source).tolist()) for _ in range(20_000)]
    possible = list(permutations(range(n), k))
    counts = np.array([drawn.count(sample) for sample in possible])
    assert counts.sum() == 20_000
    assert not unequal(counts, np.full(len(possible), 1 / len(possible)))


@pytest.mark.parametrize(("n", "k"), [(0, 0), (1, 1), (10, 0), (2**40, 1000), (1000, 999), (1000, 500)])
def test_a_sample_has_no_repeats_and_stays_in_range(n: int, k: int) -> None:
    drawn = sample_without_replacement(n, k, source=seeded(1))
    assert drawn.size == np.unique(drawn).size == k
    assert k == 0 or (drawn.min() >= 0 and drawn.max() < n)


@pytest.mark.parametrize(("n", "k"), [(3, 4), (-1, 0), (3, -1), (2.5, 1), (3, True), (2**41, 1)])
def test_impossible_samples_are_refused(n: int, k: int) -> None:
    with pytest.raises(ParameterError):
        sample_without_replacement(n, k, source=seeded(1))
