"""Ranges hold where numbers underflow, overflow or are rounded: each of these once did not."""

import math

import pytest
from sqlglot import exp

from ziggurat.queries import Catalogue, parse


@pytest.mark.parametrize(
    "expression",
    [
        "POWER(x, -0.5)",
        "POWER(n, -0.5)",
        "POWER(CLAMP(x, 1e-100, 1), 3)",
        "POWER(1e-160, 2)",
        "SQRT(10) * ((-1e-160) * SQRT(0.1))",
        "CLAMP(y, 1e-155, 1e-140) * CLAMP(y, 1e-155, 1e-140)",
        "CLAMP(y, 1e-155, 1.0) / CLAMP(x, 2.0, 3.0)",
        "LEAST(-1, n) / 4611686018427390676",
        "(4611686018427390676 + 4503599627370497) / (9007199254740993 - CLAMP(y, 0, 1))",
    ],
)
def test_a_value_is_finite_and_within_the_range_it_claims(nasty, expression):
    question = parse(f"SELECT COUNT({expression}) AS n FROM people", Catalogue({"people": nasty}))
    value = question.aggregates[0].value
    query = exp.select(value.sql.as_("v")).from_(question.relation.query.subquery("rows"))
    found = [each for each in nasty.engine.query(query).column("v").to_pylist() if each is not None]
    assert all(math.isfinite(each) for each in found)
    assert not value.bounded or all(value.lower <= each <= value.upper for each in found)
