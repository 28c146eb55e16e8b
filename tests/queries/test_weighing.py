"""Weighing in this process gives what the engine's own statement gives, for every salt: that one is the oracle."""

import datetime
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as some

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.queries import Catalogue, QuestionPlan, Terms, parse
from ziggurat.queries.answering._execution import Execution
from ziggurat.queries.answering.watching import LeftOut
from ziggurat.queries.answering.weighing import _asked, _held
from ziggurat.queries.answering.weighing._few import find_doublings
from ziggurat.randomness import seeded

DAY = datetime.date
COLUMNS = (
    Column("who", Kind.INTEGER),
    Column("name", Kind.TEXT),
    Column("sex", Kind.CATEGORY, categories=Categories(("f", "m"))),
    Column("size", Kind.INTEGER, bounds=Bounds(0, 2)),
    Column("town", Kind.TEXT),
    Column("day", Kind.DATE),
    Column("age", Kind.INTEGER, bounds=Bounds(-20, 100)),
    Column("cost", Kind.REAL, bounds=Bounds(0.0, 9.5)),
    Column("wealth", Kind.REAL, bounds=Bounds(-1e12, 1e12)),
)
TYPES = (
    pa.int64(), pa.string(), pa.string(), pa.int64(), pa.string(), pa.date32(), pa.int64(), pa.float64(), pa.float64(),
)  # fmt: skip
ROW = some.tuples(
    some.sampled_from([None, 0, 1, 2, -1, 2**63 - 1, -(2**63)]),
    some.sampled_from([None, "", "a", "b", "ab", "日本", "a" * 40, "a" * 39 + "b"]),
    some.sampled_from([None, "f", "m", "?", "F", ""]),
    some.sampled_from([None, 0, 1, 2, 7]),
    some.sampled_from([None, "x", "y", "X", "z" * 30]),
    some.sampled_from([None, DAY(1, 1, 1), DAY(2020, 2, 29), DAY(9999, 12, 31)]),
    some.sampled_from([None, -20, 100, 0, 10**12, -(10**12), 37]),
    some.sampled_from([None, 0.0, -0.0, 9.5, 3.3, math.nan, math.inf, -math.inf, 1e300]),
    some.sampled_from([None, 1e12, -1e12, 1e300, math.nan, 0.1, -7.0]),
)
KEYS = ["", "sex", "size", "town", "day", "sex, size", "town, sex", "size + 1"]
AGGREGATES = (
    "COUNT(*) AS n, COUNT(cost) AS c, SUM(age) AS s, SUM(wealth) AS w, AVG(cost) AS m, VAR_POP(age) AS v, "
    "COUNT(*) FILTER (WHERE age > 30) AS o, COUNT(DISTINCT {unit}) AS u, COUNT(town) AS t"
)


def open_rows(rows, unit="who"):
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(COLUMNS)
    arrays = [pa.array(each, kind, from_pandas=False) for each, kind in zip(cells, TYPES, strict=True)]
    engine = DuckDBEngine()
    named = engine.attach(pa.table(arrays, names=[column.name for column in COLUMNS]))
    return Table(engine, named, Schema(COLUMNS, unit=Unit.person(unit)))


def run(plan, seed, monkeypatch, here):
    """The sums and the rows left out, had here or by the engine's statement."""
    execution = Execution(plan, seeded(seed), None)
    with monkeypatch.context() as patched:
        patched.setattr(DuckDBEngine, "hands_rows", property(lambda _self: here))
        sums = execution._sums([need for need, _ in plan.measured(plan.estimators({}))])
        lost = [execution._watch(each).tolist() for each in plan.watches if isinstance(each, LeftOut)]
    assert (execution._lost is not None) == here
    if plan.selection is None:  # what is not on the public list is in no answer; the engine adds it up all the same
        listed, _ = execution._groups({})
        sums = {group: sums[group] for group in listed if group in sums}
    return sums, lost


def plan_for(table, keys, rows=2, groups=2, source="people", where="", unit="who"):
    text = f"SELECT {keys + ', ' if keys else ''}{AGGREGATES.format(unit=unit)} FROM {source}{where}"
    question = parse(text + (f" GROUP BY {keys}" if keys else ""), Catalogue({"people": table}))
    return QuestionPlan(question, Terms(1, "1e-6", rows_per_unit=rows, groups_per_unit=groups))


@pytest.mark.parametrize("few", [0, 100_000])
@pytest.mark.parametrize("unit", ["who", "name"])
@settings(max_examples=12, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
@given(
    rows=some.lists(ROW, max_size=60), keys=some.sampled_from(KEYS), seed=some.integers(0, 9),
    limits=some.tuples(some.integers(1, 4), some.integers(1, 3)), where=some.sampled_from(["", " WHERE age > 0"]),
)  # fmt: skip
def test_what_is_weighed_here_is_what_the_engine_weighs(few, unit, rows, keys, seed, limits, where):
    plan = plan_for(open_rows(rows, unit), keys, *limits, where=where, unit=unit)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(_held, "_FEW", few)  # 0: compiled from the first row on
        assert run(plan, seed, patched, True) == run(plan, seed, patched, False)


def many_rows(rows=40_000, units=3_000):
    draw = np.random.default_rng(5)
    return [
        (int(who), f"person {who}" * (1 + int(who) % 3), "fm?"[draw.integers(3)], int(draw.integers(4)),
         f"t{draw.integers(9)}", DAY(2020, 1, 1 + int(draw.integers(9))), int(draw.integers(-50, 150)),
         float(draw.uniform(-1, 11)), float(draw.normal(0, 1e11)))
        for who in draw.integers(0, units, rows) ** 2 // units
    ]  # fmt: skip


@pytest.mark.parametrize("unit", ["who", "name"])
@pytest.mark.parametrize("keys", ["", "town, sex, size"])
def test_units_that_are_weighed_in_parts_add_up_to_the_same(unit, keys, monkeypatch):
    table = open_rows(many_rows(), unit)
    plan = plan_for(table, keys, 3, 4, unit=unit)
    asked = run(plan, 1, monkeypatch, False)
    monkeypatch.setattr(_asked, "_MEMORY", 2**19)
    monkeypatch.setattr(_held, "_FEW", 500)
    assert run(plan, 1, monkeypatch, True) == asked


def test_a_unit_with_more_rows_than_there_is_room_for_is_weighed_by_the_engine(monkeypatch):
    rows = [(1, "a", "f", 1, "x", None, 5, 1.0, 1.0)] * 5_000
    plan = plan_for(open_rows(rows), "sex")
    asked = run(plan, 1, monkeypatch, False)
    monkeypatch.setattr(_asked, "_MEMORY", 2**14)
    execution = Execution(plan, seeded(1), None)
    assert execution._sums([need for need, _ in plan.measured(plan.estimators({}))]) == asked[0]
    assert execution._lost is None


def test_rows_are_met_once_even_where_listed_groups_are_the_same_to_the_engine(monkeypatch):
    import duckdb

    connection = duckdb.connect()
    connection.sql("SET default_collation = 'NOCASE'")
    connection.sql("CREATE TABLE people AS SELECT 1 AS who, 'A' AS sex FROM range(7)")
    columns = (Column("who", Kind.INTEGER), Column("sex", Kind.CATEGORY, categories=Categories(("a", "A"))))
    table = Table(DuckDBEngine(connection), "people", Schema(columns, unit=Unit.person("who")))
    question = parse("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", Catalogue({"people": table}))
    plan = QuestionPlan(question, Terms(1, rows_per_unit=9, groups_per_unit=2))
    sums, lost = run(plan, 1, monkeypatch, True)
    assert sum(values[0] for values in sums.values()) == 7
    assert sum(lost[0]) == 1


def test_a_bound_that_is_not_kept_here_is_caught(monkeypatch):
    table = open_rows(many_rows(400, 30))
    plan = plan_for(table, "town", 1, 1)
    monkeypatch.setattr(_held.UnitGroups, "find_kept", lambda self, _most: np.ones(self.starts.size, dtype=bool))
    assert run(plan, 1, monkeypatch, True) != run(plan, 1, monkeypatch, False)


def test_what_is_told_of_the_statement_does_not_depend_on_the_rows(monkeypatch):
    plans = [plan_for(open_rows(many_rows(rows, units)), "sex") for rows, units in ((10, 5), (5_000, 500), (9_000, 1))]
    monkeypatch.setattr(_asked, "_MEMORY", 2**16)  # the second is weighed in parts, the third by the engine
    told = [plan.run(seeded(1)).statements for plan in plans]
    assert told[0] == told[1] == told[2]


def test_rows_lost_are_put_into_doublings():
    assert find_doublings(np.array([0, 1, 2, 3, 4, 7, 8, 2**19, 2**40]), 20).tolist() == [0, 1, 2, 2, 3, 3, 4, 20, 20]
