"""Rounding to the grid is exact for every kind of number, saturates instead of failing, and shows nothing."""

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.mechanisms import DiscreteGaussian, Gaussian, Laplace, RandomizedResponse, Selection
from ziggurat.mechanisms._lattice import MOST_STEPS, from_steps, to_steps
from ziggurat.randomness import seeded


def reference(value, grid):
    """floor(x/grid + 1/2) in rationals, clamped."""
    steps = math.floor(Fraction(value) / grid + Fraction(1, 2))
    return min(max(steps, -MOST_STEPS), MOST_STEPS)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
@given(st.data(), st.integers(-80, 80))
def test_integer_arrays_round_exactly_on_every_grid(kind, data, exponent):
    info = np.iinfo(kind)
    values = [info.min, info.max, *data.draw(st.lists(st.integers(info.min, info.max), max_size=5))]
    grid = Fraction(2) ** exponent
    steps = to_steps(np.array(values, dtype=kind), grid)
    assert steps.dtype == np.int64
    assert steps.tolist() == [reference(value, grid) for value in values]
    assert steps.tolist() == [to_steps(value, grid) for value in values]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(-1100, 1100))
def test_float_arrays_and_floats_round_exactly_on_every_grid(values, exponent):
    grid = Fraction(2) ** exponent
    expected = [reference(value, grid) for value in values]
    assert to_steps(np.array(values), grid).tolist() == expected
    assert [to_steps(value, grid) for value in values] == expected


def test_neighbouring_integers_stay_neighbours_far_out():
    """Through float64 these two would be 256 steps apart."""
    near, far = (to_steps(np.array([2**59 + 64 + i]), Fraction(1, 2))[0] for i in (0, 1))
    assert far - near == 2


@given(st.integers(-(2**80), 2**80), st.integers(0, 2**70), st.integers(-5, 5))
def test_saturation_moves_no_two_values_further_apart(x, gap, exponent):
    grid = Fraction(2) ** exponent
    assert 0 <= to_steps(x + gap, grid) - to_steps(x, grid) <= math.ceil(Fraction(gap) / grid)


def test_extreme_integers_do_not_wrap():
    large = np.array([2**63], dtype=np.uint64)
    assert Laplace(1, 1, values="integers").release(large, seeded(1)).value[0] > 2**60
    assert Laplace(1, 1).release(large, seeded(1)).value[0] > 0
    assert Laplace(1, 1, values="integers").release(np.array([-(2**63)]), seeded(1)).value[0] < -(2**60)
    for values in (np.array([2**62, 2**60], dtype=np.uint64), [2**63, 2**60], [2**70, -5], [-(2**63), 2**60]):
        assert Selection(1).release(values, seeded(1)).value == int(np.argmax(values))


def test_large_values_saturate_instead_of_failing():
    made = Laplace.calibrated(1, "1e-9")
    assert made.limit < 2500
    for value in (2500.0, np.array([2500.0]), 10**400, sys.float_info.max):
        assert made.release(value, seeded(1)).value == pytest.approx(float(made.limit))
    assert made.release(-2500.0, seeded(1)).value == pytest.approx(-float(made.limit))


def test_results_beyond_the_largest_float_are_the_largest_float():
    most = sys.float_info.max
    made = Laplace("1e300", "1e300")
    shown = {made.release(sign * most, seeded(seed)).value for seed in range(20) for sign in (1, -1)}
    assert max(shown) == most
    assert min(shown) == -most
    assert from_steps(np.array([MOST_STEPS, -MOST_STEPS, 0]), Fraction(2) ** 1000).tolist() == [most, -most, 0.0]


@pytest.mark.parametrize(
    "bad",
    [
        np.longdouble(5),
        np.array([5], dtype=np.longdouble),
        np.array([5 + 0j]),
        5j,
        np.array([5, None], dtype=object),
        [2**70, None],
        np.array([True]),
        np.ma.masked_array([5.0, 6.0], mask=[False, True]),
        np.ma.masked,
        np.array(math.nan),
    ],
    ids=lambda item: type(item).__name__,
)
def test_kinds_that_would_lose_something_are_refused(bad):
    for made in (Laplace.calibrated(1, coordinates=1), Laplace.calibrated(1, values="integers", coordinates=1)):
        with pytest.raises(ParameterError) as caught:
            made.release(bad)
        assert "5" not in str(caught.value)


def test_masked_answers_and_scores_are_refused():
    masked = np.ma.masked_array([0, 1], mask=[False, True])
    for mechanism in (RandomizedResponse(1), Selection(1)):
        with pytest.raises(ParameterError, match="mask"):
            mechanism.release(masked)


def test_arrays_without_dimensions_are_numbers_and_empty_ones_stay_empty():
    whole = Laplace.calibrated(1, values="integers")
    assert isinstance(whole.release(np.array(5), seeded(1)).value, int)
    assert isinstance(Laplace.calibrated(1).release(np.array(5.5), seeded(1)).value, float)
    for made in (whole, DiscreteGaussian(1, 1), Gaussian(1, 1, values="integers")):
        empty = made.release([], seeded(1)).value
        assert (empty.dtype, empty.shape) == (np.int64, (0,))


@pytest.mark.parametrize(
    "make",
    [
        lambda **options: Laplace.calibrated(1, **options),
        lambda **options: Laplace.calibrated(1, values="integers", **options),
        lambda **options: Gaussian(1, 1, **options),
        lambda **options: DiscreteGaussian(1, 1, **options),
    ],
)
def test_arrays_need_the_number_of_coordinates_that_one_unit_can_change(make):
    with pytest.raises(ParameterError, match=r"state coordinates=.*histogram"):
        make().release(np.array([1, 2]), seeded(1))
    assert make(coordinates=1).release(np.array([1, 2]), seeded(1)).value.shape == (2,)
    assert make(coordinates=np.int64(2)).release([[1, 2], [3, 4]], seeded(1)).value.shape == (2, 2)
    assert make().release([7], seeded(1)).value.shape == (1,)


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2", [1]])
def test_impossible_coordinates_are_refused(bad):
    for make in (Laplace, Gaussian, DiscreteGaussian):
        with pytest.raises(ParameterError, match="coordinates"):
            make(1, 1, coordinates=bad)


def test_many_coordinates_get_a_finer_grid_rather_than_more_noise():
    laplace, gaussian = Laplace.calibrated(1, 1, coordinates=10**7), Gaussian(1, 4, coordinates=10**7)
    assert laplace.scale < Fraction(1001, 1000)
    assert gaussian.event.sensitivity < 1 + Fraction(1, 10**5)
    # Finer steps leave less room; there must be enough for tens of millions of units.
    assert laplace.limit > 10**7
