"""Facts as JSON holds them."""

from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest

from ziggurat.plain import fields_to_plain, to_plain


class Colour(Enum):
    RED = "red"


@dataclass
class Facts:
    amount: Fraction
    days: tuple[date, ...]
    inner: object = None
    secret: str = field(default="s", repr=False)


class Own:
    def to_dict(self) -> dict[str, str]:
        return {"own": "way"}


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Fraction(1, 3), "1/3"),
        (Fraction(2), "2"),
        (Colour.RED, "red"),
        ({1: (Fraction(1, 2), None)}, {"1": ["1/2", None]}),
        (np.array([[1, 2]]), [[1, 2]]),
        (Own(), {"own": "way"}),
        ("text", "text"),
        (True, True),
    ],
)
def test_a_value_is_exact_and_plain(value: object, plain: object) -> None:
    assert to_plain(value) == plain


def test_fields_nest_in_their_order_and_hidden_ones_stay_out() -> None:
    made = fields_to_plain(Facts(Fraction(1, 7), (date(2024, 2, 29),), Facts(Fraction(1), (), Own())))
    inner = {"amount": "1", "days": [], "inner": {"own": "way"}}
    assert made == {"amount": "1/7", "days": ["2024-02-29"], "inner": inner}
    assert list(made) == ["amount", "days", "inner"]
