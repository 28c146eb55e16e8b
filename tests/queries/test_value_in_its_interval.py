"""No answer lies outside its own interval: not an empty group's, nor one of few rows, whatever the seed and shape."""

import datetime
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit, read
from ziggurat.local import Frequencies, Mean
from ziggurat.queries import Answer, Catalogue, Estimate, QuestionPlan, Terms, parse
from ziggurat.queries.answering._execution import Execution
from ziggurat.randomness import seeded

COLUMNS = (
    Column("person", Kind.INTEGER),
    Column("sex", Kind.CATEGORY, categories=Categories(("f", "m", "x"))),
    Column("town", Kind.TEXT),
    Column("age", Kind.INTEGER, bounds=Bounds(-3, 110)),
    Column("cost", Kind.REAL, bounds=Bounds(-0.7, 499.3)),
    Column("seen", Kind.DATE, bounds=Bounds(datetime.date(2020, 1, 1), datetime.date(2020, 12, 31))),
)
AGGREGATES = {
    "COUNT(*)": {},
    "COUNT(age)": {},
    "COUNT(*) FILTER (WHERE age > 50)": {},
    "COUNT(DISTINCT person)": {},
    "COUNT(DISTINCT age)": {},
    "SUM(age)": {},
    "SUM(cost)": {},
    "AVG(age)": {},
    "AVG(cost)": {},
    "VAR_SAMP(age)": {},
    "VAR_POP(cost)": {},
    "STDDEV(cost)": {},
    "MEDIAN(cost)": {},
    "MEDIAN(age)": {},
    "MEDIAN(seen)": {},
    "SUM(income)": {"learn": ("income",)},
    "AVG(income)": {"learn": ("income",)},
}
SHAPES = {"none": 0, "few": 7, "all alike": 40, "out of bounds": 60, "all missing": 50, "named": 300}
SEEDS = 2


def rows(shape: str) -> pa.Table:
    draw, size = np.random.default_rng(3), SHAPES[shape]
    far = 20 if shape == "out of bounds" else 1
    ages = np.full(size, 110) if shape == "all alike" else draw.integers(-3, 111, size) * far
    costs = np.full(size, 499.3) if shape == "all alike" else draw.uniform(-0.7, 499.3, size) * far
    hidden = np.full(size, shape == "all missing") | (draw.random(size) < 0.05)
    days = [datetime.date(2020, 1, 1) + datetime.timedelta(int(day)) for day in draw.integers(0, 366, size)]
    return pa.table(
        {
            "person": draw.integers(0, max(size // 3, 1), size),
            "sex": pa.array(draw.choice(["f", "m"], size), pa.string()),
            "town": pa.array(draw.choice(["A", "B"], size), pa.string()),
            "age": pa.array(ages, pa.int64(), mask=hidden),
            "cost": pa.array(costs, pa.float64(), mask=hidden),
            "seen": pa.array(days, pa.date32(), mask=hidden),
            "income": pa.array(costs * 100, pa.float64(), mask=hidden),
        }
    )


@cache
def held(shape: str, unit: Unit) -> Table:
    return read(rows(shape), Schema((*COLUMNS, Column("income", Kind.REAL)), unit))


def planned(table: Table, sql: str, epsilon: str, delta: str = "0", **terms: Any) -> QuestionPlan:
    grouped = {"groups_per_unit": 2} if "GROUP" in sql else {}
    limits = {} if table.unit.is_row else {"rows_per_unit": 2, **grouped}
    return QuestionPlan(parse(sql, Catalogue({"t": table}, {})), Terms(epsilon, delta, **limits, **terms))


def outside(answer: Answer) -> list[Estimate]:
    every = [each for column in answer.estimates.values() for each in column]
    assert every
    return [each for each in every if each.low is not None and not each.low <= each.value <= each.high]


@pytest.mark.parametrize("shape", [each for each in SHAPES if each != "named"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
@pytest.mark.parametrize("unit", [Unit(), Unit.person("person")], ids=["row", "person"])
def test_every_aggregate_lies_in_its_interval(unit: Unit, aggregate: str, shape: str) -> None:
    opened, terms = held(shape, unit), AGGREGATES[aggregate]
    alone = planned(opened, f"SELECT {aggregate} AS v FROM t", "0.05", **terms)
    grouped = planned(opened, f"SELECT sex, {aggregate} AS v FROM t GROUP BY sex", "0.5", **terms)
    for seed in range(SEEDS):
        assert not outside(Execution(alone, seeded(seed), None).answer())
    assert not outside(Execution(grouped, seeded(SEEDS), None).answer())


@pytest.mark.parametrize("seed", range(8))
def test_counts_of_groups_that_are_named_lie_in_their_interval(seed: int) -> None:
    sql = "SELECT town, COUNT(*) AS n, AVG(age) AS m FROM t GROUP BY town"
    plan = planned(held("named", Unit()), sql, "1", "0.01")
    assert not outside(Execution(plan, seeded(seed), None).answer())


def test_a_count_is_left_below_0_and_its_interval_reaches_down_to_it() -> None:
    plan = planned(held("none", Unit()), "SELECT COUNT(*) AS v FROM t", "0.05")
    values: list[Any] = [Execution(plan, seeded(seed), None).answer().estimates["v"][0] for seed in range(20)]
    below = [each for each in values if each.value < 0]
    assert below
    assert all(each.low == each.value <= 0 <= each.high for each in below)
    assert all(each.low >= 0 for each in values if each.value >= 0)


def test_reports_lie_in_their_interval() -> None:
    counts, ends = np.array([-4.0, 12.0, 3.0]), (np.zeros(3), np.full(3, 10.0))
    found = Frequencies(10, Fraction(1, 2), False, ("a", "b", "c"), counts, *ends)
    assert (found.low <= found.counts).all()
    assert (found.counts <= found.high).all()
    assert found.interval("c") == (0.0, 10.0)
    mean = Mean(10, Fraction(1, 2), False, 7.0, 0.0, 5.0)
    assert (mean.low, mean.high) == (0.0, 7.0)
