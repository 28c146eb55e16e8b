"""A table shows what its schema declares, and calls raw access raw."""

import pyarrow as pa
import pytest
from sqlglot import exp

from ziggurat.data import Column, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.expressions import count_where, is_present
from ziggurat.errors import SchemaError

DATA = pa.table({"who": ["a", "b"], "age": [30, 40], "job": ["x", "?"]})
SCHEMA = Schema.from_yaml(
    """
unit: {person: who}
columns:
  who: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [0, 120]}
  job: {kind: category, categories: [x], categories_from: learned, missing: ["?"], description: what they do}
"""
)


def test_a_table_knows_its_unit_engine_and_schema() -> None:
    table = read(DATA, SCHEMA)
    assert table.unit == Unit.person("who")
    assert isinstance(table.engine, DuckDBEngine)
    assert table.schema.names == ("who", "age", "job")
    assert repr(table) == "<Table of 3 columns in DuckDB, unit: one person (column who)>"


def test_describe_shows_public_knowledge_and_hides_learned() -> None:
    rows = {row["name"]: row for row in read(DATA, SCHEMA).describe().to_pylist()}
    assert (rows["age"]["values"], rows["age"]["provenance"]) == ("0 to 120", "public")
    assert (rows["job"]["values"], rows["job"]["provenance"]) == ("", "learned")
    assert rows["job"]["missing"] == "?"
    assert rows["who"]["role"] == "identifier"


def test_raw_rows_are_asked_for_by_name() -> None:
    table = read(DATA, SCHEMA)
    assert table.raw.count_rows() == 2
    assert table.raw.rows(["age"]).to_pydict() == {"age": [30, 40]}
    assert table.raw.rows(limit=1).num_rows == 1
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        table.raw.rows(["agee"])


def test_groups_may_be_expressions() -> None:
    table = read(DATA, SCHEMA)
    key = count_where(is_present(SCHEMA["job"])).as_("filled")
    young = exp.LT(this=exp.column("age"), expression=exp.Literal.number(35)).as_("young")
    answer = table.aggregate(key, group_by=[young])
    assert {(row["young"], row["filled"]) for row in answer.to_pylist()} == {(True, 1), (False, 0)}


def test_a_valid_table_has_no_problems() -> None:
    assert read(DATA, SCHEMA).validate() == []


def test_values_outside_a_hierarchy_are_a_problem() -> None:
    text = "columns:\n  job: {kind: category, hierarchy: {x: ['*']}}\n"
    (problem,) = read(DATA, Schema.from_yaml(text)).validate()
    assert str(problem) == "Column 'job': 1 cell is not among the hierarchy."


def test_several_tables_share_an_engine() -> None:
    with DuckDBEngine() as engine:
        first = read(DATA, SCHEMA, engine=engine)
        second = read(pa.table({"z": [1, 2, 3]}), engine=engine)
        assert (first.raw.count_rows(), second.raw.count_rows()) == (2, 3)


def test_a_relation_in_an_open_connection_can_be_named() -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA clinic; CREATE TABLE clinic.visits AS SELECT 1 AS n")
        engine = DuckDBEngine(connection)
        table = Table(engine, "clinic.visits", Schema((Column("n", "integer"),)))
        engine.close()
        assert table.raw.count_rows() == 1


def test_a_relation_holds_the_columns_that_were_named_and_no_others() -> None:
    table = read(DATA, SCHEMA)
    answer = table.query(exp.select("*").from_(table.relation(["age"])))
    assert answer.to_pydict() == {"age": [30, 40]}
    with pytest.raises(SchemaError, match="did you mean 'age'"):
        table.relation(["agee"])
