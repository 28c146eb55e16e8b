"""Intervals hold what they say they hold, float round-off, extreme confidences and many answers included."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from ziggurat.errors import ParameterError
from ziggurat.mechanisms import DiscreteGaussian, Gaussian, Laplace, PartitionSelection, TopK
from ziggurat.randomness import seeded

FAR = [1 - Fraction(1, 10**n) for n in (16, 40, 240, 260, 400)]


def test_the_rounding_of_the_shown_value_is_in_the_interval():
    """Around 1e9 floats are 1.2e-7 apart, four times the scale: the half width alone covers far too seldom."""
    scale = Fraction(3, 10**8)
    made = Laplace(scale, scale, grid=Fraction(1, 2**31), coordinates=1)
    shown = made.release(np.full(4000, 1e9), seeded("digits")).value
    low, high = made.interval(shown)
    alone = np.abs(shown - 1e9) <= float(made.half_width())
    assert np.mean((low <= 1e9) & (high >= 1e9)) > 0.95
    assert np.mean(alone) < 0.9


@pytest.mark.parametrize("noisy", [1e9, np.float32(1e9), np.float64(0.1), 7, np.int32(7), 2**53 + 1, Fraction(1, 3)])
def test_intervals_are_never_narrower_than_their_half_width(noisy):
    made = Laplace(1, 3)
    centre, half = Fraction(noisy if isinstance(noisy, (int, Fraction)) else float(noisy)), made.half_width()
    low, high = made.interval(noisy)
    assert type(low) is type(high) is float
    assert low <= centre - half < centre + half <= high
    assert high - low <= 2 * float(half) * (1 + 1e-12) + 2 * float(np.spacing(np.float32(1e9)))


def test_a_narrow_float_carries_its_own_last_digit():
    low, high = Laplace(1, 3).interval(np.float32(1e9))
    assert high - low > np.spacing(np.float32(1e9))


def test_whole_numbers_keep_whole_intervals():
    made = Laplace.calibrated("0.1", values="integers", coordinates=1)
    assert made.interval(1284) == (1254.0, 1314.0)
    low, high = made.interval(np.array([1284, 0]))
    assert (low.tolist(), high.tolist()) == ([1254.0, -30.0], [1314.0, 30.0])


def test_intervals_of_arrays_are_those_of_their_entries():
    made = Gaussian(1, 3)
    noisy = np.array([[0.1, -2.5], [1e300, 3e-9]])
    low, high = made.interval(noisy)
    for at in np.ndindex(noisy.shape):
        assert (low[at], high[at]) == made.interval(float(noisy[at]))
    assert made.interval([0.1])[0].shape == (1,)


@pytest.mark.parametrize("bad", [math.nan, math.inf, None, "7", True, [math.nan], np.longdouble(1), 1j, [None]])
def test_intervals_around_what_is_no_number_are_refused(bad):
    with pytest.raises(ParameterError, match="noisy value"):
        Laplace(1, 3).interval(bad)


@pytest.mark.parametrize("confidence", FAR)
def test_laplace_reaches_far_exactly(confidence):
    with mpmath.workdps(500):
        a = mpmath.exp(-mpmath.mpf(1) / 3)
        miss = mpmath.mpf((1 - confidence).numerator) / (1 - confidence).denominator
        least = mpmath.ceil(mpmath.log(miss * (1 + a) / 2) / mpmath.log(a) - 1)
    assert Laplace(1, 3, values="integers").half_width(confidence) == int(least)


@pytest.mark.parametrize("confidence", FAR)
def test_gaussian_noise_reaches_far_exactly(confidence):
    with mpmath.workdps(500):
        miss = mpmath.mpf((1 - confidence).numerator) / (1 - confidence).denominator

        def missed(w):
            return mpmath.erfc((w + mpmath.mpf(1) / 2) / (100 * mpmath.sqrt(2)))

        width = int(Gaussian(1, 100, values="integers").half_width(confidence))
        assert missed(width) <= miss < missed(width - 1)


@pytest.mark.parametrize("confidence", FAR)
@pytest.mark.parametrize("sigma", [1, 20])
def test_the_discrete_gaussian_covers_beyond_twelve_sigma(sigma, confidence):
    width = int(DiscreteGaussian(1, sigma).half_width(confidence))
    with mpmath.workdps(500):
        miss = mpmath.mpf((1 - confidence).numerator) / (1 - confidence).denominator
        weights = [mpmath.exp(-mpmath.mpf(x * x) / (2 * sigma**2)) for x in range(60 * sigma)]
        total = 2 * sum(weights) - 1
        beyond = [2 * sum(weights[w + 1 :]) / total for w in (width, width - max(1, width // 20))]
    assert beyond[0] <= miss < beyond[1]


def test_half_widths_for_many_answers_hold_together():
    made = Laplace.calibrated(1, values="integers", coordinates=1)
    assert made.half_width("0.95", answers=50) == made.half_width("0.999")
    errors = np.abs(made.release(np.zeros((4000, 50), dtype=int), seeded("together")).value)
    together = np.mean(np.all(errors <= int(made.half_width("0.9", answers=50)), axis=1))
    each = np.mean(np.all(errors <= int(made.half_width("0.9")), axis=1))
    assert together > 0.9 - 5 * math.sqrt(0.09 / 4000)
    assert each < 0.1
    assert made.interval(0, "0.9", answers=50)[1] == made.half_width("0.9", answers=50)
    assert PartitionSelection(1, "1e-6").half_width("0.95", answers=50) == made.half_width("0.999")


@pytest.mark.parametrize("bad", [0, -1, None, 1.5, True])
def test_impossible_numbers_of_answers_are_refused(bad):
    with pytest.raises(ParameterError, match="answers"):
        Laplace.calibrated(1).half_width("0.95", answers=bad)


@pytest.mark.parametrize("make", [Laplace, Gaussian, DiscreteGaussian])
@pytest.mark.parametrize("confidence", ["0.05", "0.5", "0.95", FAR[-1]])
def test_calibration_by_error_finds_about_the_widest_noise(make, confidence):
    made = make.for_error(100, confidence=confidence)
    width = made.scale if isinstance(made, Laplace) else made.sigma
    assert made.half_width(confidence) <= 100
    assert make(1, width * Fraction(21, 20)).half_width(confidence) > 100


def test_calibration_by_error_stops_where_the_sampler_does():
    made = Laplace.for_error(2**55, values="integers")
    assert 2**49 < made.scale <= 2**50
    with pytest.raises(ParameterError, match="larger half_width"):
        Gaussian.for_error("1e-9", grid=1)
    with pytest.raises(ParameterError, match="sensitivity"):
        Laplace.for_error(10, 0)


def test_top_k_stays_within_its_shortfall_in_every_place():
    made, scores = TopK(3, 3), np.array([100, 90, 80] + [0] * 17)
    bound = made.shortfall(20, "0.9")
    assert bound >= made.round.shortfall(20, "0.9")
    assert bound == made.round.shortfall(20, Fraction(29, 30))
    source = seeded("places")
    chosen = [scores[made.release(scores, source).value] for _ in range(500)]
    assert np.mean([np.all(item >= scores[:3] - bound) for item in chosen]) > 0.85
    with pytest.raises(ParameterError, match="lower k"):
        made.shortfall(2)
