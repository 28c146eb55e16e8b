"""Adding or removing one person, with all their rows, changes that person's row of the result and no other."""

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invented_visits import Row, draw_rows, open_rows
from sqlglot import exp

from ziggurat.data import Table, read
from ziggurat.data.engines import scramble
from ziggurat.data.people import _reshape, join_people, reshape_people
from ziggurat.data.people._windows import named, ordered

EVERYTHING = {
    "visits": "count()",
    "filled": "count(bmi)",
    "on_a": "count(ward=a)",
    "cost_sum": "sum(cost)",
    "tests_sum": "sum(tests)",
    "bmi_mean": "mean(bmi)",
    "day_min": "first(day)",
    "bmi_max": "max(bmi)",
    "bmi_latest": "latest(bmi)",
    "ward_mode": "mode(ward)",
    "wards": "distinct(ward)",
    "any_smoker": "any(smoker)",
    "all_smoker": "all(smoker)",
}
PEOPLE = ("p0", "p1", "p2", "p3")
CELLS = st.tuples(
    st.sampled_from([*PEOPLE, None]),
    st.sampled_from([None, datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]),
    st.sampled_from([None, "a", "b", "c"]),
    st.sampled_from([None, 5.0, 22.5, 30.1]),
    st.sampled_from([None, 0.1, 0.2, 0.7, 900.0]),
    st.sampled_from([None, 1, 2, 99]),
    st.sampled_from([None, True, False]),
)


def _reshape_rows(rows: list[Row], keep: Any) -> list[dict[str, Any]]:
    made = reshape_people(open_rows(rows), keep, "day", EVERYTHING, most=3)
    return pa.Table.from_batches(made.batches(), made.arrow_schema).to_pylist()


def _without(rows: list[Row], person: str) -> list[Row]:
    return [row for row in rows if row[0] != person]


def _differences(rows: list[Row], keep: Any) -> int:
    """How many people change somebody else's row, or leave other than one row, when they go."""
    whole = _reshape_rows(rows, keep)
    found = 0
    for person in {row[0] for row in rows} - {None}:
        found += _reshape_rows(_without(rows, person), keep) != [row for row in whole if row["patient"] != person]
        found += sum(row["patient"] == person for row in whole) != 1
    return found


@given(rows=st.lists(CELLS, max_size=8), keep=st.sampled_from(["latest", "first", None]))
@settings(max_examples=25)
def test_a_person_changes_exactly_one_row(rows: list[Row], keep: Any) -> None:
    assert _differences(rows, keep) == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_person_among_many_changes_exactly_one_row(seed: int) -> None:
    assert _differences(draw_rows(seed, 120, 9), "latest") == 0


def test_lots_drawn_by_the_place_in_the_table_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    number = exp.Window(this=exp.RowNumber()).as_("number")
    monkeypatch.setattr(_reshape._Reshaping, "_alike", lambda _: [number.copy()])
    lots = ordered([scramble([named("number")], 7)])
    monkeypatch.setattr(_reshape, "row_order", lambda *_, **__: [each.copy() for each in lots])
    rows = [row for row in draw_rows(1, 120, 9) if row[0] is not None]
    kept = {name: each for name, each in EVERYTHING.items() if "mode" not in each}
    monkeypatch.setitem(globals(), "EVERYTHING", kept)
    assert _differences(rows, "latest") > 0


def test_a_sum_of_reals_has_the_same_bits_whoever_else_is_there() -> None:
    draw = np.random.default_rng(5)
    people = draw.integers(0, 20, 200_000)
    cost = draw.random(200_000) * 500
    schema = {
        "unit": {"person": "who"},
        "columns": {"who": {"kind": "integer"}, "cost": {"kind": "real", "bounds": [0, 500]}},
    }
    wanted = {"total": "sum(cost)", "mean": "mean(cost)"}

    def totals(kept: Any) -> list[dict[str, Any]]:
        table = read(pa.table({"who": people[kept], "cost": cost[kept]}), schema)
        return reshape_people(table, aggregates=wanted, most=20_000).table.raw.rows().to_pylist()

    shuffled = draw.permutation(len(people))
    alone = [row for row in totals(slice(None)) if row["who"] == 3]
    assert totals(people == 3) == alone
    assert totals(shuffled) == totals(slice(None))
    assert alone[0]["total"] == pytest.approx(cost[people == 3].sum(), rel=1e-13)


def _labs(rows: list[tuple[str, float]]) -> Table:
    schema = {
        "name": "labs",
        "unit": {"person": "pid"},
        "columns": {"pid": {"kind": "text"}, "bmi": {"kind": "real"}},
    }
    pids, values = zip(*rows, strict=True) if rows else ((), ())
    return read(pa.table({"pid": pa.array(pids, pa.string()), "bmi": pa.array(values, pa.float64())}), schema)


@given(
    rows=st.lists(CELLS, max_size=5),
    labs=st.dictionaries(st.sampled_from(PEOPLE), st.sampled_from([1.0, 2.0]), max_size=4),
    how=st.sampled_from(["left", "inner", "outer"]),
)
@settings(max_examples=15)
def test_a_person_of_two_tables_changes_their_own_rows_alone(rows: list[Row], labs: dict[str, float], how: Any) -> None:
    def joined(kept: list[Row], lab: dict[str, float]) -> list[dict[str, Any]]:
        made = join_people(open_rows(kept), _labs(list(lab.items())), how)
        return pa.Table.from_batches(made.batches(), made.arrow_schema).to_pylist()

    whole = joined(rows, labs)
    for person in PEOPLE:
        left = joined(_without(rows, person), {name: value for name, value in labs.items() if name != person})
        assert left == [row for row in whole if row["patient"] != person]


@pytest.mark.parametrize(("how", "most"), [("left", 1), ("inner", 1), ("outer", 1)])
def test_with_one_row_each_a_person_has_at_most_one_row_of_both(how: Any, most: int) -> None:
    patients = reshape_people(open_rows(draw_rows(3, 60, 9)), "latest", "day").table
    rows = join_people(patients, _labs([(f"p{each}", 1.0) for each in range(5, 12)]), how).table.raw.rows().to_pylist()
    seen = [row["patient"] for row in rows]
    assert all(seen.count(person) == most for person in seen)
