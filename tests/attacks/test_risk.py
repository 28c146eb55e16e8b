"""Risk: class sizes, prosecutor, journalist and marketer, from one grouped count."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ziggurat.attacks import risk
from ziggurat.data import Column, Hierarchy, Kind, Role, Schema, read
from ziggurat.errors import DataError, ParameterError, SchemaError

DATA = os.environ.get("ZIGGURAT_DATA", "")
TINY = pa.table({"sex": ["f", "f", "f", "m", "m", "m"], "age": [20, 20, 30, 30, 30, 40]})


def test_the_figures_of_a_tiny_table_are_those_counted_by_hand():
    found = risk(TINY, ["sex", "age"])  # classes: 2, 1, 2, 1
    assert (found.rows, found.classes, found.uniques) == (6, 4, 2)
    assert found.sizes == {1: 2, 2: 2}
    assert found.prosecutor.average == pytest.approx(4 / 6)
    assert found.prosecutor.highest == 1
    assert risk(TINY, ["sex", "age"], threshold=0.5).prosecutor.above == pytest.approx(2 / 6)
    assert found.prosecutor.above == 1
    assert found.marketer == found.prosecutor.average
    assert "2 of 6 people (33.3%)" in found.sentence


@pytest.mark.skipif(not DATA, reason="needs the folder named by ZIGGURAT_DATA")
@pytest.mark.data
def test_the_untouched_adult_table_has_the_known_risk():
    table = parquet.read_table(Path(DATA) / "arx_adult.parquet")
    found = risk(table, table.column_names)
    assert found.uniques == 15_512
    assert f"{found.unique_share:.4f}" == "0.5143"
    assert f"{found.prosecutor.average:.4f}" == "0.6466"
    assert f"{found.prosecutor.above:.4f}" == "0.7781"


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([None, "a", "b"])), min_size=1, max_size=40))
def test_pandas_counts_the_same(rows):
    frame = pd.DataFrame(rows, columns=["x", "y"])
    sizes = frame.groupby(["x", "y"], dropna=False).size()
    found = risk(pa.table({"x": [x for x, _ in rows], "y": pa.array([y for _, y in rows], pa.string())}), ["x", "y"])
    assert found.sizes == sizes.value_counts().to_dict()
    assert found.prosecutor.average == pytest.approx(len(sizes) / len(frame))
    assert found.prosecutor.above == pytest.approx(sizes[sizes < 5].sum() / len(frame))


def test_a_population_table_gives_the_journalists_risk():
    population = pa.table({"sex": ["f"] * 8 + ["m"] * 4, "age": [20] * 4 + [30] * 4 + [30] * 2 + [40] * 2})
    found = risk(TINY, ["sex", "age"], population=population)
    assert found.journalist.basis == "population"
    assert found.journalist.highest == pytest.approx(1 / 2)  # classes of 4, 4, 2 and 2 people
    assert found.marketer == pytest.approx((2 / 4 + 1 / 4 + 2 / 2 + 1 / 2) / 6)
    assert found.beyond_population == 0


def test_generalised_labels_are_looked_up_in_a_raw_population():
    released = pa.table({"age": ["20-29", "20-29", "30-39", "*"]})
    population = pa.table({"age": [21, 22, 23, 24, 33, 34]})
    assert risk(released, ["age"], population=population).journalist.highest == pytest.approx(1 / 2)
    tree = Hierarchy({age: (f"{age // 10}0s",) for age in (21, 22, 33)})
    named = pa.table({"age": ["20s", "30s"]})
    assert risk(named, ["age"], population=population, hierarchies={"age": tree}).marketer == pytest.approx(3 / 4)


def test_people_beyond_the_population_table_count_with_the_tables_own_classes():
    found = risk(TINY, ["sex", "age"], population=TINY.slice(0, 1))
    assert found.beyond_population == 6
    assert found.journalist.average == found.prosecutor.average


def test_the_estimated_journalist_is_weaker_than_the_prosecutor_and_equal_at_a_full_sample():
    generator = np.random.default_rng(1)
    table = pa.table({"x": generator.geometric(0.01, 3000)})
    found = risk(table, ["x"], sampling_fraction=0.1)
    assert found.journalist.basis == "estimate"
    assert found.journalist.average < found.prosecutor.average / 3
    assert risk(table, ["x"], sampling_fraction=1).marketer == pytest.approx(found.prosecutor.average)


def test_roles_of_the_schema_name_the_quasi_identifiers():
    columns = (Column("sex", Kind.TEXT, Role.QUASI_IDENTIFIER), Column("age", Kind.INTEGER))
    assert risk(read(TINY, Schema(columns))).quasi_identifiers == ("sex",)


@pytest.mark.parametrize(
    ("names", "options", "error"),
    [
        (None, {}, ParameterError),
        ([], {}, ParameterError),
        (["sex", "sex"], {}, ParameterError),
        (["sxe"], {}, SchemaError),
        (["sex"], {"threshold": 0}, ParameterError),
        (["sex"], {"threshold": "high"}, ParameterError),
        (["sex"], {"sampling_fraction": 1.5}, ParameterError),
        (["sex"], {"population": pa.table({"age": [1]})}, SchemaError),
        (["sex"], {"hierarchies": {"age": Hierarchy({1: ("*",)})}, "population": TINY}, ParameterError),
    ],
)
def test_bad_input_is_refused_in_a_sentence(names, options, error):
    with pytest.raises(error, match=r"\.$|\?$"):
        risk(TINY, names, **options)


def test_an_empty_table_is_refused():
    with pytest.raises(DataError, match="no rows"):
        risk(TINY.slice(0, 0), ["sex"])


@pytest.mark.spark
def test_spark_gives_the_same_figures(spark_session):
    frame = spark_session.createDataFrame(TINY.to_pandas())
    assert risk(read(frame), ["sex", "age"]) == risk(TINY, ["sex", "age"])


@pytest.mark.postgres
def test_postgresql_gives_the_same_figures(postgres_uri):
    import psycopg

    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("CREATE TABLE risky (sex TEXT, age BIGINT)")
        for row in TINY.to_pylist():
            connection.execute("INSERT INTO risky VALUES (%s, %s)", (row["sex"], row["age"]))
        assert risk(read(connection, table="risky"), ["sex", "age"]) == risk(TINY, ["sex", "age"])
        connection.execute("DROP TABLE risky")
