from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.randomness import (
    bernoulli,
    bernoulli_exp,
    carry_gaussian,
    carry_laplace,
    carry_rate,
    discrete_gaussian,
    discrete_laplace,
    exponential_choice,
    geometric,
    permute_and_flip,
    rounded_gaussian,
    seeded,
    uniform_below,
)

TERM = 2**50
SMALL = st.fractions(Fraction(1, TERM), TERM, max_denominator=TERM).filter(lambda f: f.numerator <= TERM)
ANY = st.builds(Fraction, st.integers(1, 2**200), st.integers(1, 2**200))
SCALED = [geometric, discrete_laplace, discrete_gaussian, rounded_gaussian]


@given(SMALL)
def test_what_fits_is_carried_exactly(value: Fraction) -> None:
    assert carry_laplace(value) == carry_gaussian(value) == carry_rate(value) == value


@pytest.mark.parametrize("carry", [carry_laplace, carry_gaussian])
@given(value=ANY)
def test_a_scale_is_rounded_up_by_at_most_two_to_the_minus_49(carry, value: Fraction) -> None:
    if value > TERM:
        with pytest.raises(ParameterError):
            carry(value)
        return
    carried = carry(value)
    assert max(carried.numerator, carried.denominator) <= TERM
    assert value <= carried <= max(value * (1 + Fraction(1, 2**49)), Fraction(1, TERM))


@given(ANY)
def test_a_rate_is_rounded_down_by_at_most_two_to_the_minus_49(value: Fraction) -> None:
    if value < Fraction(1, TERM):
        with pytest.raises(ParameterError):
            carry_rate(value)
        return
    carried = carry_rate(value)
    assert max(carried.numerator, carried.denominator) <= TERM
    assert min(value * (1 - Fraction(1, 2**49)), Fraction(TERM)) <= carried <= value


@pytest.mark.parametrize("carry", [carry_laplace, carry_gaussian, carry_rate])
@pytest.mark.parametrize("value", [0, Fraction(-1, 3), 0.1, "1", None, True, float("nan")])
def test_no_rounding_of_what_is_no_scale(carry, value: object) -> None:
    with pytest.raises(ParameterError):
        carry(value)


@pytest.mark.parametrize("sample", SCALED)
@given(value=st.one_of(st.fractions(max_value=0), st.fractions(min_value=TERM + 1), st.floats(), st.text()))
def test_scales_outside_the_limits_are_refused(sample, value: object) -> None:
    with pytest.raises(ParameterError):
        sample(value, source=seeded(1))


@pytest.mark.parametrize("sample", SCALED)
@given(value=SMALL)
@settings(deadline=None)  # the first example may compile
def test_any_scale_within_the_limits_is_drawn(sample, value: Fraction) -> None:
    assert abs(sample(value, size=3, source=seeded(1))).max() < 2**62


@given(st.one_of(st.integers(max_value=0), st.integers(min_value=2**62 + 1), st.floats(), st.just(True)))
def test_uniform_bounds_outside_the_limits_are_refused(n: object) -> None:
    with pytest.raises(ParameterError):
        uniform_below(n, source=seeded(1))


@given(st.one_of(st.fractions().filter(lambda p: not 0 <= p <= 1), st.floats(), st.just(Fraction(1, 2**62 + 1))))
def test_probabilities_outside_the_limits_are_refused(p: object) -> None:
    with pytest.raises(ParameterError):
        bernoulli(p, source=seeded(1))


@pytest.mark.parametrize("x", [Fraction(-1, 9), 2**62 + 1, Fraction(1, TERM + 1), 0.5])
def test_exponents_outside_the_limits_are_refused(x: object) -> None:
    with pytest.raises(ParameterError):
        bernoulli_exp(x, source=seeded(1))


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip])
@pytest.mark.parametrize("rate", [0, -1, 0.5, Fraction(1, TERM + 1), TERM + 1])
def test_rates_outside_the_limits_are_refused(choose, rate: object) -> None:
    with pytest.raises(ParameterError):
        choose([0, 1], rate, source=seeded(1))


@pytest.mark.parametrize("size", [-1, 1.5, True, "3"])
def test_impossible_sizes_are_refused(size: object) -> None:
    with pytest.raises(ParameterError):
        discrete_laplace(1, size=size, source=seeded(1))


def test_a_source_must_be_given() -> None:
    with pytest.raises(ParameterError):
        discrete_laplace(1, source=None)
