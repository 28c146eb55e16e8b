"""Money: exact decimals with a currency."""

from __future__ import annotations

import decimal
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import total_ordering
from typing import Literal

from ziggurat.errors import ParameterError
from ziggurat.privacy.accounting import Amount, exact

Direction = Literal["up", "down", "nearest"]

_TURNS: dict[str, Callable[[Fraction], int]] = {"up": math.ceil, "down": math.floor, "nearest": round}
# Sums and products of amounts stay exact: whatever would need more digits than these raises.
_WHOLLY = decimal.Context(prec=400, traps=[decimal.Inexact])


@total_ordering
@dataclass(frozen=True)
class Money:
    """An exact amount of one currency; adding or comparing two currencies raises.

    >>> 3 * Money("0.10", "EUR")
    Money('0.3', 'EUR')
    >>> str(Money.parse("5500 EUR"))
    '5,500.00 EUR'
    """

    amount: Decimal
    currency: str

    def __post_init__(self) -> None:
        if not isinstance(self.currency, str) or not re.fullmatch(r"[A-Z]{3}", self.currency):
            raise ParameterError("A currency is three capital letters, such as EUR.")
        object.__setattr__(self, "amount", _decimal(self.amount))

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read '5500 EUR' or 'EUR 5,500.00'."""
        parts = text.replace(",", "").split() if isinstance(text, str) else []
        if len(parts) != 2:
            raise ParameterError("Write money as an amount and a currency, such as '5500 EUR'.")
        amount, currency = parts if parts[1].isalpha() else parts[::-1]
        return cls(_decimal(amount), currency)

    @classmethod
    def from_fraction(cls, amount: Fraction, currency: str, direction: Direction = "up", places: int = 2) -> Money:
        """Round an exact rational to `places` decimals in the stated direction."""
        if direction not in _TURNS:
            raise ParameterError("Round money 'up', 'down' or to the 'nearest'.")
        return cls(Decimal(_TURNS[direction](amount * 10**places)).scaleb(-places, _WHOLLY), currency)

    def rounded(self, direction: Direction = "up", places: int = 2) -> Money:
        """Round to `places` decimals in the stated direction; compensation is rounded up."""
        return Money.from_fraction(Fraction(self.amount), self.currency, direction, places)

    def same(self, other: Money) -> None:
        """Raise unless `other` is money of the same currency."""
        if not isinstance(other, Money):
            raise ParameterError("Money can only be added to, or compared with, money.")
        if other.currency != self.currency:
            raise ParameterError(
                f"{other.currency} cannot be combined with {self.currency}; convert one of them first."
            )

    def __add__(self, other: Money) -> Money:
        self.same(other)
        return Money(_WHOLLY.add(self.amount, other.amount), self.currency)

    def __sub__(self, other: Money) -> Money:
        self.same(other)
        return Money(_WHOLLY.subtract(self.amount, other.amount), self.currency)

    def __mul__(self, factor: int | Decimal) -> Money:
        if isinstance(factor, bool) or not isinstance(factor, (int, Decimal)):
            raise ParameterError("Money is multiplied by a whole number or a Decimal, which keep it exact.")
        return Money(_WHOLLY.multiply(self.amount, Decimal(factor)), self.currency)

    __rmul__ = __mul__

    def __lt__(self, other: Money) -> bool:
        self.same(other)
        return self.amount < other.amount

    def __str__(self) -> str:
        places = max(2, -int(self.amount.as_tuple().exponent))
        return f"{self.amount:,.{places}f} {self.currency}"

    def __repr__(self) -> str:
        return f"Money('{self.amount}', '{self.currency}')"


def _decimal(value: Amount) -> Decimal:
    """Read an amount that is a decimal; a third of a euro is not one."""
    amount = exact(value, "amount")
    try:
        return _WHOLLY.divide(Decimal(amount.numerator), Decimal(amount.denominator))
    except decimal.Inexact:
        raise ParameterError("An amount of money must be a decimal, such as 5500 or 12.50; round it first.") from None
