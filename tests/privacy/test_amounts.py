import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.privacy import exact, exact_delta, exact_epsilon, in_words


def test_a_float_means_the_decimal_a_person_reads():
    assert exact(0.1) == exact("0.1") == exact(Decimal("0.1")) == Fraction(1, 10)


def test_ten_tenths_are_one():
    assert sum(exact(0.1) for _ in range(10)) == 1


@pytest.mark.parametrize(
    "bad", ["", "abc", "1/0", "nan", "inf", math.nan, math.inf, -math.inf, True, None, [], "1e999"]
)
def test_what_is_not_a_finite_number_is_refused_in_one_sentence(bad):
    with pytest.raises(ParameterError) as caught:
        exact(bad, "epsilon")
    assert str(caught.value).startswith("epsilon")
    assert str(caught.value).count(". ") == 0


@pytest.mark.parametrize("bad", [0, "0", -1, "-1e-9"])
def test_epsilon_must_be_positive(bad):
    with pytest.raises(ParameterError, match="greater than 0"):
        exact_epsilon(bad)


@pytest.mark.parametrize("bad", [1, "1.0", -0.1, 2])
def test_delta_must_lie_in_the_unit_interval_without_one(bad):
    with pytest.raises(ParameterError, match="less than 1"):
        exact_delta(bad)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_of_a_sensible_size_reads_back_as_itself(value):
    if value and not 1e-300 <= abs(value) < 1e301:
        with pytest.raises(ParameterError, match="too large or too small"):
            exact(value)
    else:
        assert float(exact(value)) == value


@given(st.integers(), st.integers(1, 2**5000))
def test_whatever_is_accepted_can_be_written_and_read_back(numerator, denominator):
    try:
        amount = exact(Fraction(numerator, denominator))
    except ParameterError:
        return
    assert exact(str(amount)) == amount


@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**9))
def test_words_never_understate_an_amount(amount):
    shown = in_words(amount)
    assert Fraction(shown.removeprefix("≈")) >= amount
    if not shown.startswith("≈"):
        assert Fraction(shown) == amount
