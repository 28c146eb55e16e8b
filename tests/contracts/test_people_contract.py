"""One row for each person, and two tables in one, are the same on DuckDB, Spark and PostgreSQL."""

import datetime
import math
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import Schema, Table
from ziggurat.data.engines import Engine
from ziggurat.data.people import join_people, reshape_people

Load = Callable[[pa.Table], str]
SCHEMA = Schema.from_yaml("""
name: visits
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  name: {kind: text, role: identifier}
  at: {kind: date}
  ward: {kind: category, categories: [a, B, ä], role: quasi-identifier}
  bmi: {kind: real, bounds: [10, 60], missing: [-9]}
  cost: {kind: real, bounds: [0, 500], role: sensitive}
  tests: {kind: integer, bounds: [-5, 10]}
  smoker: {kind: boolean}
""")
EVERYTHING = {
    "visits": "count()",
    "filled": "count(bmi)",
    "on_a": "count(ward=a)",
    "sober": "count(smoker=false)",
    "cost_sum": "sum(cost)",
    "tests_sum": "sum(tests)",
    "bmi_mean": "mean(bmi)",
    "tests_mean": "mean(tests)",
    "bmi_min": "min(bmi)",
    "tests_max": "max(tests)",
    "at_min": "first(at)",
    "bmi_latest": "latest(bmi)",
    "smoker_first": "first(smoker)",
    "ward_mode": "mode(ward)",
    "smoker_mode": "mode(smoker)",
    "wards": "distinct(ward)",
    "smoker_any": "any(smoker)",
    "smoker_all": "all(smoker)",
}


def _moment(day: int, hour: int = 0) -> datetime.datetime:
    return datetime.datetime(2024, 1, day, hour)


VISITS = [
    ("p1", "Ann", _moment(3, 8), "a", 22.5, 12.35, 3, True),
    ("p1", "Ann", _moment(3, 9), "B", -9.0, 12.35, 20, None),
    ("p1", "Ann", None, "B", 99.0, 900.0, -9, False),
    ("p2", "Bo", _moment(1), "ä", math.nan, 0.1, 1, False),
    ("p2", "Bo", _moment(1), "a", math.nan, 0.2, 2, False),
    ("p2", "Bo", _moment(1), "B", math.nan, None, 2, False),
    (None, "Nobody", _moment(9), "a", 30.0, 1.0, 1, True),
    ("p3", None, None, None, None, None, None, None),
]
FIELDS = [
    ("patient", pa.string()),
    ("name", pa.string()),
    ("at", pa.timestamp("us")),
    ("ward", pa.string()),
    ("bmi", pa.float64()),
    ("cost", pa.float64()),
    ("tests", pa.int64()),
    ("smoker", pa.bool_()),
]


def _visits() -> pa.Table:
    cells = list(zip(*VISITS, strict=True))
    arrays = [pa.array(cell, kind, from_pandas=False) for cell, (_, kind) in zip(cells, FIELDS, strict=True)]
    return pa.Table.from_arrays(arrays, names=[name for name, _ in FIELDS])


def _plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """NaN as text, so that it equals itself."""
    odd = [{k: "nan" if isinstance(v, float) and math.isnan(v) else v for k, v in row.items()} for row in rows]
    return [dict(row) for row in odd]


@pytest.fixture
def visits(held: tuple[Engine, Load]) -> Table:
    engine, load = held
    return Table(engine, load(_visits()), SCHEMA)


def test_the_latest_row_stays_with_every_column_and_moments_count_with_their_time(visits: Table) -> None:
    made = reshape_people(visits, "latest", "at")
    assert [list(row.values()) for row in _plain(pa.Table.from_batches(made.batches()).to_pylist())] == [
        ["p1", "Ann", datetime.date(2024, 1, 3), "B", -9.0, 12.35, 20, None],
        ["p2", "Bo", datetime.date(2024, 1, 1), "ä", "nan", 0.1, 1, False],
        ["p3", None, None, None, None, None, None, None],
    ]
    assert made.count_exactly() == {"rows": 8, "people": 3, "rows_of_nobody": 1}


def test_the_first_row_stays_and_ties_go_to_the_smallest_cells_byte_by_byte(visits: Table) -> None:
    found = pa.Table.from_batches(reshape_people(visits, "first", "at").batches())
    assert found.column("ward").to_pylist() == ["a", "B", None]


def test_every_aggregate_is_the_same(visits: Table) -> None:
    made = reshape_people(visits, by="at", aggregates=EVERYTHING, most=2)
    rows = {row.pop("patient"): row for row in pa.Table.from_batches(made.batches()).to_pylist()}
    assert rows["p1"] == {
        "visits": 2,
        "filled": 2,
        "on_a": 1,
        "sober": 1,
        "cost_sum": 524.7,
        "tests_sum": 8,
        "bmi_mean": 41.25,
        "tests_mean": 8 / 3,
        "bmi_min": 22.5,
        "tests_max": 10,
        "at_min": datetime.date(2024, 1, 3),
        "bmi_latest": 22.5,
        "smoker_first": True,
        "ward_mode": "B",
        "smoker_mode": False,
        "wards": 2,
        "smoker_any": True,
        "smoker_all": False,
    }
    assert (rows["p2"]["ward_mode"], rows["p2"]["cost_sum"], rows["p2"]["wards"]) == ("B", 0.3, 2)
    counts = {"visits": 1, "filled": 0, "on_a": 0, "sober": 0, "wards": 0}
    assert rows["p3"] == dict.fromkeys(EVERYTHING) | counts


def test_two_tables_meet_on_the_person(held: tuple[Engine, Load]) -> None:
    engine, load = held
    patients = Table(engine, load(_visits().slice(0, 1)), SCHEMA)
    labs = Schema.from_yaml("""
name: labs
unit: {person: who}
columns: {who: {kind: text}, bmi: {kind: real, bounds: [0, 99]}}
""")
    other = Table(engine, load(pa.table({"who": ["p1", "p9", None], "bmi": [20.5, 21.5, 1.0]})), labs)
    found = {}
    for how in ("left", "inner", "outer"):
        made = join_people(patients, other, how)  # type: ignore[arg-type]
        rows = pa.Table.from_batches(made.batches()).select(["patient", "bmi_labs", "cost"]).to_pylist()
        found[how] = [tuple(row.values()) for row in rows]
    assert found["left"] == found["inner"] == [("p1", 20.5, 12.35)]
    assert found["outer"] == [("p1", 20.5, 12.35), ("p9", 21.5, None)]
    assert made.count_exactly() == {"rows": 1, "rows_of_second": 3, "people": 2, "rows_of_nobody": 1}
