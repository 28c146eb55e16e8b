"""A table opens from whatever holds it, and answers the same from each."""

import contextlib
import csv
import datetime
import gzip
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from ziggurat.data import Bounds, Column, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine, PostgresEngine, SparkEngine
from ziggurat.data.expressions import exact_sum
from ziggurat.errors import DataError, EngineError, ParameterError, SchemaError, ZigguratError

DATA = pa.table(
    {
        "who": ["a", "b", "c", "c"],
        "age": pa.array([30, None, 50, 51], pa.int64()),
        "dose": pa.array([0.1, 0.2, None, 1e-7], pa.float64()),
        "land": ["NO", "SE", None, "NO"],
        "seen": pa.array([datetime.date(2024, 2, 29), None, datetime.date(1999, 1, 1), datetime.date(2000, 6, 5)]),
        "ill": pa.array([True, None, False, True]),
        "secret": ["x", "y", "z", "w"],
    }
)
SCHEMA = Schema(
    (
        Column("who", "text", "identifier"),
        Column("age", "integer", bounds=Bounds(0, 120)),
        Column("dose", "real"),
        Column("land", "category"),
        Column("seen", "date"),
        Column("ill", "boolean"),
    ),
    Unit.person("who"),
)
EXPECTED = sorted(tuple(row.values()) for row in DATA.drop_columns("secret").to_pylist())
_names = itertools.count(1)


def _csv(folder: Path) -> object:
    pyarrow.csv.write_csv(DATA, folder / "t.csv")
    return folder / "t.csv"


def _gzipped(folder: Path) -> object:
    _csv(folder)
    (folder / "z.csv.gz").write_bytes(gzip.compress((folder / "t.csv").read_bytes()))
    return str(folder / "z.csv.gz")


def _tsv(folder: Path) -> object:
    pyarrow.csv.write_csv(DATA, folder / "t.tsv", pyarrow.csv.WriteOptions(delimiter="\t"))
    return folder / "t.tsv"


def _parquet(folder: Path) -> object:
    pyarrow.parquet.write_table(DATA, folder / "t.parquet")
    return folder / "t.parquet"


def _parts(folder: Path) -> object:
    for place in range(DATA.num_rows):
        pyarrow.parquet.write_table(DATA.slice(place, 1), folder / f"part-{place}.parquet")
    return str(folder / "part-*.parquet")


def _feather(folder: Path) -> object:
    pyarrow.feather.write_feather(DATA, folder / "t.feather")
    return folder / "t.feather"


def _stream(folder: Path) -> object:
    with pa.ipc.new_stream(folder / "t.arrow", DATA.schema) as writer:
        writer.write_table(DATA)
    return folder / "t.arrow"


def _lent_relation(_: Path) -> object:
    return duckdb.connect().from_arrow(DATA)


SOURCES: dict[str, Callable[[Path], object]] = {
    "csv": _csv,
    "csv.gz": _gzipped,
    "tsv": _tsv,
    "parquet": _parquet,
    "many parquet files": _parts,
    "feather": _feather,
    "arrow stream": _stream,
    "arrow table": lambda _: DATA,
    "arrow reader": lambda _: DATA.to_reader(),
    "arrow dataset": lambda _: pyarrow.dataset.dataset(DATA),
    "pandas": lambda _: DATA.to_pandas(),
    "pandas with arrow types": lambda _: DATA.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda _: pl.from_arrow(DATA),
    "polars lazy": lambda _: pl.from_arrow(DATA).lazy(),
    "polars categorical": lambda _: pl.from_arrow(DATA).with_columns(pl.col("land").cast(pl.Categorical)),
    "duckdb relation": _lent_relation,
}


def _assert_same(table: Table) -> None:
    rows = table.raw.rows()
    assert rows.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.string(), pa.date32(), pa.bool_()]
    assert sorted(tuple(row.values()) for row in rows.to_pylist()) == EXPECTED
    total = table.aggregate(exact_sum(exp.column("age")).as_("total"))
    assert total.to_pylist() == [{"total": 131}]


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_rows(source: str, tmp_path: Path) -> None:
    _assert_same(read(SOURCES[source](tmp_path), SCHEMA))


@pytest.mark.spark
def test_a_spark_frame_gives_the_same_rows(spark_session: Any, tmp_path: Path) -> None:
    _assert_same(read(spark_session.createDataFrame(DATA), SCHEMA))
    engine = SparkEngine(spark_session)
    _assert_same(read(_parquet(tmp_path), SCHEMA, engine=engine))
    _assert_same(read(pl.from_arrow(DATA), SCHEMA, engine=engine))


@pytest.mark.postgres
def test_a_postgres_table_gives_the_same_rows(postgres_uri: str) -> None:
    import psycopg

    name = f"public.read_{next(_names)}"
    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
        fields = "who varchar(3), age smallint, dose float8, land char(2), seen date, ill bool, secret text"
        connection.execute(f"CREATE TABLE {name} ({fields})")
        rows = [tuple(row.values()) for row in DATA.to_pylist()]
        connection.cursor().executemany(f"INSERT INTO {name} VALUES (%s, %s, %s, %s, %s, %s, %s)", rows)
        _assert_same(read(connection, SCHEMA, table=name))
        with PostgresEngine(postgres_uri) as engine:
            _assert_same(read(engine, SCHEMA, table=name))
    _assert_same(read(postgres_uri, SCHEMA, table=name))


@pytest.mark.parametrize("source", ["csv", "parquet", "arrow table", "polars", "duckdb relation"])
def test_without_a_schema_only_the_kinds_are_known(source: str, tmp_path: Path) -> None:
    schema = read(SOURCES[source](tmp_path)).schema
    assert [column.kind.value for column in schema.columns] == [
        "text",
        "integer",
        "real",
        "text",
        "date",
        "boolean",
        "text",
    ]
    assert all(column.bounds is None and column.categories is None for column in schema.columns)


def test_a_pandas_index_is_not_a_column() -> None:
    frame = pd.DataFrame({"a": [1, 2]}, index=["x", "y"])
    assert read(frame).schema.names == ("a",)


def test_the_schema_may_be_a_file(tmp_path: Path) -> None:
    SCHEMA.to_yaml(tmp_path / "s.yaml")
    assert read(DATA, tmp_path / "s.yaml").declared == SCHEMA


def test_a_unit_given_to_read_replaces_that_of_the_schema() -> None:
    assert read(DATA, unit=Unit.person("who")).unit == Unit.person("who")
    assert read(DATA, SCHEMA, unit=Unit.row()).unit == Unit.row()


def test_undeclared_columns_and_identifiers_are_out_of_sight() -> None:
    table = read(DATA, SCHEMA, unit=Unit.row())
    assert "secret" not in table.declared
    assert "who" in table.declared
    assert "who" not in table.schema
    with pytest.raises(SchemaError):
        table.select("who")


def test_the_codes_of_a_csv_file_follow_the_schema(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("zip,code\n01234,1\n00001,2\n")
    schema = Schema.from_yaml(
        "columns:\n  zip: {kind: category}\n  code: {kind: category, categories: [1, 2]}\n",
    )
    assert read(tmp_path / "t.csv", schema).raw.rows().to_pylist()[0] == {"zip": "01234", "code": 1}


def _mixed() -> pd.DataFrame:
    return pd.DataFrame({"a": [1, 2], "b": pd.Series([1, "x"], dtype=object)})


@pytest.mark.parametrize(
    ("call", "kind", "sentence"),
    [
        (lambda _: read("absent.csv"), DataError, "There is no file 'absent.csv'"),
        (lambda _: read("absent-*.parquet"), DataError, "There is no file"),
        (lambda _: read("https://example.org/t.csv"), DataError, "download it first"),
        (lambda folder: read(folder / "empty.csv"), DataError, "is empty"),
        (lambda folder: read(folder / "t.docx"), DataError, "has no known ending"),
        (lambda folder: read(folder / "broken.parquet"), EngineError, "Reading the file"),
        (lambda folder: read(folder / "broken.feather"), EngineError, "Reading the file"),
        (lambda _: read(42), DataError, "A int cannot be read"),
        (lambda _: read(_mixed()), DataError, "Column 'b' mixes values of several types"),
        (lambda _: read(pa.table({})), DataError, "has no columns"),
        (lambda _: read(pd.DataFrame()), DataError, "has no columns"),
        (lambda _: read(pa.table({"a": [[1]]})), SchemaError, "Column 'a' has a type that no kind describes"),
        (lambda _: read(pa.table({"a": [1]}), SCHEMA), SchemaError, "The data have none of the columns"),
        (
            lambda _: read(DATA.rename_columns([*DATA.column_names[:-1], "x"]).drop_columns("age"), SCHEMA),
            SchemaError,
            "'age'",
        ),
        (lambda _: read(DATA, SCHEMA.with_column(Column("agee", "integer"))), SchemaError, "did you mean 'age'?"),
        (lambda _: read(DATA, Schema((Column("dose", "date"),))), SchemaError, "holds real values"),
        (lambda _: read(DATA, Schema((Column("who", "text", "identifier"),))).schema, SchemaError, "is an identifier"),
        (lambda _: read(DATA, table="t"), ParameterError, "a file or a frame has none"),
        (lambda _: read(DuckDBEngine()), ParameterError, "Name the table"),
        (lambda _: read(DuckDBEngine(), table="a..b"), DataError, "is not the name of a table"),
        (lambda _: read(DATA, on_bad_cell="ignore"), ParameterError, "on_bad_cell"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(call: Any, kind: type[Exception], sentence: str, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    for name in ("t.docx", "broken.parquet", "broken.feather"):
        (tmp_path / name).write_text("nonsense")
    with pytest.raises(kind) as caught:
        call(tmp_path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_table_or_our_own_error(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "any.csv"
    file.write_bytes(content)
    with contextlib.suppress(ZigguratError):
        read(file, on_bad_cell="missing").raw.rows()


_CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(_CELL, _CELL), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.sampled_from(",;")
)
def test_any_regular_csv_file_keeps_every_row(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], ending: str, delimiter: str
) -> None:
    file = tmp_path_factory.getbasetemp() / "regular.csv"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator=ending, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerows([("first", "second"), *rows])
    table = read(file, Schema((Column("first", "text"), Column("second", "text"))))
    assert [tuple(row.values()) for row in table.raw.rows().to_pylist()] == rows


def test_the_kinds_of_a_csv_file_are_guessed_from_every_cell(tmp_path: Path) -> None:
    lines = ["i,r,d,b,zip,word,late,none", *["7,1.5,2024-02-29,true,01234,a,1,"] * 3, "-8,nan,,False,99999,,x,"]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    kinds = [column.kind.value for column in read(tmp_path / "t.csv").schema.columns]
    assert kinds == ["integer", "real", "date", "boolean", "text", "text", "text", "text"]
