from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import ParameterError
from ziggurat.privacy import Money


def test_money_is_exact():
    assert Money(0.1, "EUR") + Money("0.2", "EUR") == Money("0.3", "EUR")
    assert 3 * Money("0.10", "EUR") == Money(Decimal("0.3"), "EUR")
    assert str(Money("1234567.5", "EUR")) == "1,234,567.50 EUR"


@given(st.decimals(-(10**12), 10**12, places=6), st.integers(0, 10**6))
def test_sums_and_products_lose_nothing(amount, factor):
    money = Money(amount, "EUR")
    assert Fraction((money * factor).amount) == Fraction(amount) * factor
    assert money - money == Money(0, "EUR")


def test_rounding_has_a_stated_direction():
    amount = Money("74434.40578", "USD")
    assert [str(amount.rounded(way)) for way in ("up", "down", "nearest")] == [
        "74,434.41 USD",
        "74,434.40 USD",
        "74,434.41 USD",
    ]
    assert Money("-0.005", "EUR").rounded("up") == Money(0, "EUR")


def test_money_is_read_from_words():
    assert Money.parse("5500 EUR") == Money.parse("EUR 5,500.00") == Money(5500, "EUR")


def test_currencies_do_not_mix():
    for call in (
        lambda: Money(1, "EUR") + Money(1, "USD"),
        lambda: Money(1, "EUR") < Money(1, "USD"),
        lambda: Money(1, "EUR") >= Money(1, "USD"),
    ):
        with pytest.raises(ParameterError, match="USD cannot be combined with EUR"):
            call()
    assert Money(1, "EUR") != Money(1, "USD")


@pytest.mark.parametrize("amount", ["1/3", "nan", "inf", float("nan"), None, True, "x"])
def test_amounts_that_are_no_decimals_are_refused(amount):
    with pytest.raises(ParameterError):
        Money(amount, "EUR")


def test_other_bad_input_is_refused():
    for call in (
        lambda: Money(1, "eur"),
        lambda: Money(1, None),
        lambda: Money.parse("5500"),
        lambda: Money(1, "EUR") * 0.5,
        lambda: Money(1, "EUR") + 1,
        lambda: Money(1, "EUR").rounded("sideways"),
    ):
        with pytest.raises(ParameterError):
            call()
