"""Statistical tests here use seeded draws, so they are repeatable; under fresh seeds each would raise a false
alarm with probability below 1e-6."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import chisquare

from ziggurat.data import Unit
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.mechanisms import DiscreteGaussian, Gaussian, Laplace, TruncatedGeometric
from ziggurat.mechanisms._lattice import l1_steps, l2_steps, to_steps
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.randomness import secure, seeded

N = 400_000
X = np.arange(-400, 401)
COUNTS = {"values": "integers", "coordinates": 1}
REAL = [Laplace(1, 10, coordinates=1), Gaussian(1, 10, coordinates=1)]


def laplace_law(scale: float) -> np.ndarray:
    return math.tanh(0.5 / scale) * np.exp(-np.abs(X) / scale)


def discrete_gaussian_law(sigma: float) -> np.ndarray:
    weights = np.exp(-(X**2) / (2 * sigma**2))
    return weights / weights.sum()


def rounded_gaussian_law(sigma: float) -> np.ndarray:
    return ndtr((X + 0.5) / sigma) - ndtr((X - 0.5) / sigma)


def fit(draws: np.ndarray, law: np.ndarray) -> float:
    """p-value that integer draws follow a law on X; cells with small expectation are pooled."""
    counts = np.bincount(np.clip(draws, X[0], X[-1]) - X[0], minlength=X.size)
    expected = law / law.sum() * draws.size
    big = expected >= 25
    pooled = np.append(counts[big], counts[~big].sum()), np.append(expected[big], expected[~big].sum())
    return chisquare(*pooled).pvalue


MADE = [
    (Laplace(1, 3, **COUNTS), Laplace(1, "3.15", **COUNTS), laplace_law(3)),
    (Laplace(1, "1/2", **COUNTS), Laplace(1, "0.525", **COUNTS), laplace_law(0.5)),
    (Gaussian(1, "3.73", **COUNTS), Gaussian(1, "3.9165", **COUNTS), rounded_gaussian_law(3.73)),
    (DiscreteGaussian(1, 5, coordinates=1), DiscreteGaussian(1, "5.25", coordinates=1), discrete_gaussian_law(5)),
]


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("right", "off", "law"), MADE, ids=lambda item: repr(item) if not isinstance(item, np.ndarray) else ""
)
def test_noise_has_the_stated_law_and_five_percent_off_is_rejected(right, off, law):
    zeros = np.zeros(N, dtype=np.int64)
    assert fit(right.release(zeros, seeded("right")).value, law) > 1e-6
    assert fit(off.release(zeros, seeded("off")).value, law) < 1e-12


@pytest.mark.statistical
@pytest.mark.parametrize("made", REAL, ids=repr)
def test_real_noise_has_the_stated_spread_and_five_percent_off_is_rejected(made):
    x = made.release(np.full(N, 0.3), seeded("real")).value - 0.3
    second, fourth = (200.0, 24e4) if isinstance(made, Laplace) else (100.0, 3e4)
    error = math.sqrt((fourth - second**2) / N)
    assert abs(np.mean(x**2) - second) < 5 * error
    assert abs(np.mean((1.05 * x) ** 2) - second) > 5 * error


@pytest.mark.statistical
@pytest.mark.parametrize("confidence", ["0.5", "0.9", "0.99"])
@pytest.mark.parametrize("made", [item[0] for item in MADE] + REAL, ids=repr)
def test_the_error_interval_covers_as_often_as_it_says_and_not_much_more(made, confidence):
    true = np.zeros(N, dtype=np.int64) if made.values == "integers" else np.full(N, 0.1)
    half, wanted = float(made.half_width(confidence)), float(confidence)
    error = np.abs(made.release(true, seeded(confidence)).value - true)
    slack = 5 * math.sqrt(wanted * (1 - wanted) / N)
    assert np.mean(error <= half) >= wanted - slack
    narrower = half - 1 if made.values == "integers" else half * 0.98
    assert np.mean(error <= narrower) < wanted + slack


def test_laplace_calibration_is_exact_on_integers():
    made = Laplace.calibrated("0.1", values="integers")
    assert (made.epsilon, made.scale) == (Fraction(1, 10), 10)


@pytest.mark.parametrize("coordinates", [1, 4, 100])
def test_real_calibration_counts_the_rounding_in_the_sensitivity(coordinates):
    made = Laplace.calibrated("0.1", "1/3", coordinates=coordinates)
    assert made.event.sensitivity > Fraction(1, 3)
    assert made.epsilon <= Fraction(1, 10)
    assert made.epsilon > Fraction(1, 10) * (1 - Fraction(1, 10**6))


def test_gaussian_calibration_is_the_analytic_one():
    made = Gaussian.calibrated(1, "1e-5", values="integers")
    assert float(made.sigma) == pytest.approx(3.730631634815942, rel=1e-7)
    assert compose(made.event).approximate("1e-5").epsilon <= 1
    assert float(made.sigma) < 4.8448


def test_calibration_goes_both_ways():
    for made in (Laplace.for_error(10), Gaussian.for_error(10), DiscreteGaussian.for_error(10)):
        assert Fraction(19, 2) < made.half_width() <= 10
    assert Laplace.for_error(30, values="integers").epsilon < Fraction(11, 100)


def test_zcdp_calibration_of_the_discrete_gaussian():
    made = DiscreteGaussian.calibrated("0.1", 3)
    assert Fraction(1, 10) * (1 - Fraction(1, 10**9)) < made.rho <= Fraction(1, 10)


def test_the_truncated_geometric_stays_in_its_range_at_no_cost():
    made = TruncatedGeometric.within(0, 10, "0.1", coordinates=1)
    values = made.release(np.full(2000, 5), seeded(1)).value
    assert values.min() == 0
    assert values.max() == 10
    assert made.guarantee().epsilon == Fraction(1, 10)
    assert made.release(3, seeded(2)).value in range(11)


def test_results_say_whether_they_may_be_published():
    made = Laplace.calibrated(1)
    assert made.release(1.0).origin == "secure"
    assert not made.release(1.0, secure()).rehearsal
    assert made.release(1.0, seeded(1)).rehearsal


def test_a_rehearsal_repeats_and_a_release_does_not():
    made = Laplace.calibrated("0.01")
    assert made.release(1.0, seeded(5)).value == made.release(1.0, seeded(5)).value
    assert len({made.release(1.0).value for _ in range(5)}) == 5


def test_unit_and_relation_travel_with_the_event():
    whom = Neighbours(Unit.person("patient"), Relation.REPLACE_ONE)
    made = Gaussian.calibrated(1, "1e-6", neighbours=whom)
    assert made.event.neighbours == whom
    assert "patient" in str(made.guarantee("1e-6"))


@given(st.floats(-1e6, 1e6), st.floats(0, 1e3), st.integers(-30, 10))
def test_rounding_to_the_grid_never_moves_neighbours_further_than_counted(x, gap, exponent):
    grid = Fraction(2) ** exponent
    y = x + gap
    moved = to_steps(y, grid) - to_steps(x, grid)
    assert moved <= l1_steps(Fraction(y) - Fraction(x), grid, 1) if y > x else moved == 0


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=8), st.integers(-20, 3))
def test_rounding_vectors_never_moves_them_further_than_counted(pairs, exponent):
    grid = Fraction(2) ** exponent
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    moved = [int(item) for item in to_steps(a, grid) - to_steps(b, grid)]
    l1 = sum(abs(Fraction(x) - Fraction(y)) for x, y in pairs)
    l2_squared = sum((Fraction(x) - Fraction(y)) ** 2 for x, y in pairs)
    assert sum(map(abs, moved)) <= l1_steps(l1, grid, len(pairs)) if l1 else not any(moved)
    root = Fraction(math.isqrt(math.ceil(l2_squared * 4**60)) + 1, 2**60)
    assert sum(item**2 for item in moved) <= l2_steps(root, grid, len(pairs)) ** 2


@given(st.floats(-1e9, 1e9, width=64), st.integers(-20, 5))
def test_scalars_and_arrays_round_alike(x, exponent):
    grid = Fraction(2) ** exponent
    assert to_steps(x, grid) == int(to_steps(np.array([x]), grid)[0])


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, True, "7", None, [math.nan], [[1.0], None]])
def test_values_that_are_no_finite_numbers_are_refused_without_being_shown(bad):
    with pytest.raises(ParameterError) as caught:
        Laplace.calibrated(1).release(bad)
    assert "nan" not in str(caught.value)
    assert "7" not in str(caught.value)


def test_a_float_is_not_taken_for_an_integer():
    with pytest.raises(ParameterError, match="integers"):
        Laplace.calibrated(1, values="integers").release(3.5)


@settings(max_examples=60)
@given(st.sampled_from([0, -1, math.nan, math.inf, "x", None, True, "1/0"]), st.integers(0, 5))
def test_impossible_parameters_are_refused(bad, which):
    makers = [
        lambda: Laplace.calibrated(bad),
        lambda: Laplace.calibrated(1, bad),
        lambda: Gaussian.calibrated(bad, "1e-5"),
        lambda: DiscreteGaussian.calibrated(bad),
        lambda: Laplace.for_error(bad),
        lambda: Laplace(1, bad, values="integers"),
    ]
    with pytest.raises(ParameterError):
        makers[which]()


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, math.nan])
def test_impossible_confidence_is_refused(confidence):
    with pytest.raises(ParameterError):
        Laplace.calibrated(1).half_width(confidence)


@pytest.mark.parametrize("delta", [0, 1, -0.1, math.nan])
def test_gaussian_noise_needs_a_delta(delta):
    with pytest.raises(ParameterError):
        Gaussian.calibrated(1, delta)


@settings(max_examples=40, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 10**6), max_value=50),
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
)
def test_laplace_never_promises_less_than_asked(epsilon, sensitivity):
    made = Laplace.calibrated(epsilon, sensitivity)
    assert epsilon * (1 - Fraction(1, 1000)) < made.epsilon <= epsilon


@pytest.mark.parametrize("make", [Laplace, Gaussian])
def test_integers_change_by_at_least_one_and_have_no_grid(make):
    with pytest.raises(ParameterError, match="at least 1"):
        make("1/2", 1, values="integers")
    with pytest.raises(ParameterError, match="at least 1"):
        DiscreteGaussian("1/2", 1)
    with pytest.raises(ParameterError, match="grid"):
        make(1, 1, values="integers", grid="1/2")
    assert make(1, 1, grid="1/2").grid == Fraction(1, 2)


@pytest.mark.parametrize("bad", [np.array(["integers", "reals"]), None, 1, "whole", ["reals"]])
def test_a_kind_of_values_that_is_no_word_is_refused(bad):
    with pytest.raises(ParameterError, match="values"):
        Laplace(1, 1, values=bad)


def test_gaussian_noise_says_its_mu_and_asks_for_a_delta():
    made = Gaussian(1, 4, values="integers")
    assert made.mu == Fraction(1, 4)
    assert compose(made.event).gaussian().mu == 0.25
    for mechanism in (made, DiscreteGaussian(1, 4)):
        with pytest.raises(PrivacyError, match=r"guarantee\(delta=\.\.\.\)"):
            mechanism.guarantee()


def test_the_truncated_geometric_is_made_by_its_range():
    for make in (TruncatedGeometric.calibrated, TruncatedGeometric.for_error):
        with pytest.raises(ParameterError, match="within"):
            make(1)
    made = TruncatedGeometric.within(np.int64(-5), np.int8(5), 1, "1.5")
    assert (made.epsilon, made.scale, type(made.lower)) == (1, 1, int)
    assert made.release(2**62, seeded(1)).value == 5


@pytest.mark.parametrize(("lower", "upper"), [(False, True), (0, 1.5), (5, 5), (6, 5), (None, 5), (0, 2**70), ("0", 5)])
def test_an_impossible_range_is_refused(lower, upper):
    with pytest.raises(ParameterError, match="lower"):
        TruncatedGeometric(lower, upper)
