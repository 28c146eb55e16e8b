"""Two private tables meet on the person, or it is said why they do not."""

from typing import Any

import pyarrow as pa
import pytest
from invented_visits import SCHEMA, open_rows

from ziggurat.data import Bounds, Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.people import join_people
from ziggurat.errors import DataError, ParameterError, SchemaError

ROWS = [
    ("p1", None, "a", 20.0, 1.0, 1, True),
    ("p1", None, "b", 21.0, 2.0, 2, None),
    ("p2", None, "c", 22.0, 3.0, 3, None),
]


def _labs(kind: str = "text", people: Any = ("p1", "p3"), engine: Any = None, name: str = "labs") -> Table:
    columns = {"who": {"kind": kind}, "BMI": {"kind": "real", "bounds": [1, 2]}, "hb": {"kind": "integer"}}
    rows = pa.table({"who": list(people), "BMI": [1.5] * len(people), "hb": list(range(len(people)))})
    return read(rows, {"name": name, "unit": {"person": "who"}, "columns": columns}, engine=engine)


def test_several_rows_of_the_first_table_stay_and_meet_the_one_of_the_second() -> None:
    rows = join_people(open_rows(ROWS), _labs()).table.raw.rows().to_pylist()
    assert [(row["patient"], row["ward"], row["hb"]) for row in rows] == [
        ("p1", "a", 0),
        ("p1", "b", 0),
        ("p2", "c", None),
    ]


def test_a_name_of_both_gets_the_name_of_the_second_whatever_its_case() -> None:
    made = join_people(open_rows(ROWS), _labs())
    assert made.schema.names[-2:] == ("BMI_labs", "hb")
    assert made.schema["BMI_labs"].bounds == Bounds(1.0, 2.0)
    assert join_people(open_rows(ROWS), _labs(name="")).schema.names[-2] == "BMI_right"
    assert join_people(open_rows(ROWS), _labs(), name="second").schema.names[-2] == "BMI_second"


def test_a_name_that_is_taken_twice_gets_a_number() -> None:
    schema = SCHEMA + "  bmi_labs: {kind: text}\n"
    left = open_rows(ROWS).raw.rows().append_column("bmi_labs", pa.array(["x"] * 3))
    assert join_people(read(left, schema), _labs()).schema.names[-2] == "BMI_labs_2"


def test_the_unit_of_the_result_is_the_person_of_the_first() -> None:
    made = join_people(open_rows(ROWS), _labs(), "outer")
    assert made.table.unit.column == "patient"
    assert made.table.raw.rows().column("patient").to_pylist() == ["p1", "p1", "p2", "p3"]


def test_tables_of_one_engine_are_joined_there() -> None:
    engine = DuckDBEngine()
    left = read(open_rows(ROWS).raw.rows(), SCHEMA, engine=engine)
    assert join_people(left, _labs(engine=engine)).engine is engine


def test_several_rows_in_the_second_table_are_refused_with_the_remedy() -> None:
    with pytest.raises(DataError, match="ziggurat table reshape"):
        join_people(open_rows(ROWS), _labs(people=("p1", "p1")))


def test_people_of_another_kind_are_refused() -> None:
    with pytest.raises(
        SchemaError, match="'patient' of the first table is text and column 'who' of the second integer"
    ):
        join_people(open_rows(ROWS), _labs("integer", (1, 2)))


def test_another_way_to_join_is_refused() -> None:
    with pytest.raises(ParameterError, match="did you mean 'outer'"):
        join_people(open_rows(ROWS), _labs(), "outter")  # type: ignore[arg-type]


def test_two_engines_are_refused_in_a_sentence() -> None:
    import duckdb

    other = duckdb.connect()
    relation = other.sql("SELECT 'p1' AS who, 1.5 AS hb")
    table = read(relation, unit="who")
    with pytest.raises(DataError, match="two engines; open both in one"):
        join_people(open_rows(ROWS), table)
