"""Numbers and vectors: no bias at the edges, and nothing leaves that was not bounded first."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.local import CountNoise, RecordLaplace, VectorNoise
from ziggurat.randomness import seeded


def transition(lower, upper, epsilon):
    """The law of the truncated geometric mechanism, by summing the tails of the noise."""
    a = math.exp(-epsilon / (upper - lower))
    law = np.zeros((upper - lower + 1,) * 2)
    for x in range(lower, upper + 1):
        for z in range(lower - 3000, upper + 3001):
            law[x - lower, min(max(z, lower), upper) - lower] += (1 - a) / (1 + a) * a ** abs(z - x)
    return law


@pytest.mark.parametrize(("lower", "upper", "epsilon"), [(0, 1, 0.5), (0, 4, 1.0), (-3, 5, 2.0), (10, 12, 6.0)])
def test_the_mean_is_unbiased_for_every_record_also_at_the_edges(lower, upper, epsilon):
    made, law = CountNoise(epsilon, lower, upper), transition(lower, upper, epsilon)
    numbers = np.arange(lower, upper + 1)
    each = np.array([made.estimate([number]).value for number in numbers])
    assert law @ each == pytest.approx(numbers, abs=1e-6)


def test_reading_the_cut_reports_as_they_are_would_be_biased():
    law = transition(0, 4, 1.0)
    assert abs(law[0] @ np.arange(5)) > 1


@pytest.mark.parametrize(("upper", "epsilon"), [(1, 0.5), (4, 1.0), (8, 3.0)])
def test_the_histogram_is_unbiased_for_every_record(upper, epsilon):
    made, law = CountNoise(epsilon, 0, upper), transition(0, upper, epsilon)
    each = np.array([made.histogram([number]).counts for number in range(upper + 1)])
    assert law @ each == pytest.approx(np.eye(upper + 1), abs=1e-6)


@pytest.mark.statistical
def test_the_intervals_of_a_histogram_hold_the_truth_in_94_of_100_of_1000_runs():
    made, people = CountNoise(4, 0, 4), np.repeat(np.arange(5), [90, 60, 30, 20, 0])
    reports = made.privatize(np.tile(people, 1000), seeded("bars")).value.reshape(1000, -1)
    found = [made.histogram(each) for each in reports]
    truth = np.bincount(people, minlength=5)
    held = np.array([(each.low <= truth) & (truth <= each.high) for each in found])
    assert np.all(held.mean(axis=0) >= 0.94)


def test_a_histogram_of_too_many_numbers_is_refused():
    made = CountNoise(1, 0, 5000)
    with pytest.raises(ParameterError, match="1,000"):
        made.histogram(made.privatize([1, 2]))


@pytest.mark.parametrize("made", [CountNoise(60, 0, 9), RecordLaplace(60, 0, 9)], ids=repr)
def test_numbers_outside_are_moved_to_the_bounds(made):
    people = [-1e300, float("-inf"), 1e300, float("inf")]
    assert np.round(made.privatize(people, seeded(1)).value) == pytest.approx([0, 0, 9, 9], abs=1)


@pytest.mark.parametrize("kind", [CountNoise, RecordLaplace])
def test_a_missing_number_is_sent_as_the_middle(kind):
    reports = kind(60, 0, 10, missing=True).privatize([None] * 200, seeded(2))
    assert np.mean(reports.value) == pytest.approx(5, abs=0.2)


def test_fractions_are_no_counts_and_are_refused_unseen():
    with pytest.raises(DataError, match="whole") as caught:
        CountNoise(1, 0, 9).privatize([1.0, 2.7182])
    assert "2.7" not in str(caught.value)


@pytest.mark.parametrize(
    ("lower", "upper"), [(1, 1), (2, 1), ("x", 2), (None, 1), (float("nan"), 1), (0, float("inf"))]
)
def test_bounds_that_are_none_are_refused(lower, upper):
    for kind in (CountNoise, RecordLaplace):
        with pytest.raises(ZigguratError):
            kind(1, lower, upper)
    with pytest.raises(ParameterError, match="far from 0"):
        RecordLaplace(1, "1e20", "100000000000000000001")


@given(
    st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3), min_size=1, max_size=4)
)
def test_every_vector_is_inside_the_ball_before_noise_is_added_exactly(rows):
    made = VectorNoise(1, 3, norm="0.7")
    for row in made._shrunk(made._read(np.array(rows))):
        assert sum(abs(Fraction(float(entry))) for entry in row) <= Fraction(7, 10)


def test_vectors_inside_the_ball_stay_as_they_are():
    made, inside = VectorNoise(1, 3), np.array([[0.5, -0.25, 0.125], [0.0, 0.0, 0.0]])
    assert np.array_equal(made._shrunk(inside), inside)


@pytest.mark.parametrize("dimension", [1, 3, 500])
def test_the_scale_is_twice_the_norm_over_epsilon_and_hardly_more(dimension):
    made = VectorNoise("0.5", dimension, norm=3)
    assert 12 <= made.event.scale < 12 * (1 + Fraction(1, 10**5))
    assert (made.event.coordinates, made.epsilon <= Fraction(1, 2)) == (dimension, True)


def test_the_promise_is_about_a_row_however_many_rows_there_are():
    made = VectorNoise(1, 2)
    few, many = (made.privatize(np.zeros((n, 2)), seeded(1)) for n in (1, 1000))
    assert few.event == many.event


@pytest.mark.parametrize("bad", [np.zeros(3), np.zeros((2, 4)), [["a", "b", "c"]], np.zeros((2, 3), dtype=complex)])
def test_a_matrix_of_another_shape_is_refused(bad):
    with pytest.raises(ZigguratError):
        VectorNoise(1, 3).privatize(bad)


def test_sums_are_means_times_people():
    made = CountNoise(60, 0, 9)
    found = made.estimate(made.privatize([1, 2, 3], seeded(1)))
    assert (found.total, found.low * 3, found.high * 3) == pytest.approx((6, 6, 6))
