"""No error shows a cell: not in its text, its arguments, its causes, its traceback or the log.

Every provocation plants the same value in a cell and makes something fail on it.
"""

import gzip
import logging
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sqlglot import exp, select

from ziggurat.data import Column, Schema, read
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, SparkEngine
from ziggurat.errors import EngineError, ZigguratError

CANARY = "CANARY-7f3a"
NUMBER = 9_087_654_321_987_654_321
SCHEMA = Schema((Column("x", "integer"),))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _everything(error: BaseException, log: str) -> str:
    links = [f"{link} {link!r} {link.args}" for link in _chain(error)]
    return "\n".join([*links, *traceback.format_exception(error), log])


def _assert_silent(call: Callable[[], object], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(ZigguratError) as caught:
        call()
    shown = _everything(caught.value, caplog.text)
    assert CANARY not in shown
    assert str(NUMBER) not in shown
    assert "7f3a" not in shown


def _file(folder: Path, name: str, text: str | bytes) -> Path:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder / name


def _failing_reader() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x": [1]})
        raise ValueError(CANARY)

    return pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())


def _failing_lazy() -> pl.LazyFrame:
    return pl.LazyFrame({"x": ["1", CANARY]}).with_columns(pl.col("x").cast(pl.Int64))


FROM_FILES_AND_FRAMES: dict[str, Callable[[Path], object]] = {
    "a bad cell in CSV": lambda folder: read(_file(folder, "a.csv", f"x,y\n{CANARY},1\n"), SCHEMA),
    "no header": lambda folder: read(_file(folder, "b.csv", f"{CANARY},y\n1,2\n"), SCHEMA),
    "no header, doubled": lambda folder: DuckDBEngine().attach(_file(folder, "b.csv", f"{CANARY},{CANARY}\n1,2\n")),
    "no header, numbers": lambda folder: read(_file(folder, "b.csv", f"{CANARY},{NUMBER}\n1,2\n")),
    "a ragged line": lambda folder: read(_file(folder, "c.csv", "x,y\n1,2\n" * 3 + f"{CANARY},2,3,4\n")).raw.rows(),
    "an open quote": lambda folder: read(_file(folder, "d.csv", f'x,y\n"{CANARY},2\n1,2\n"a"b"c,1\n')).raw.rows(),
    "not UTF-8": lambda folder: read(_file(folder, "e.csv", b"x\n" + CANARY.encode() + b"\xff\xfe\x81\n")).raw.rows(),
    "not Parquet": lambda folder: read(_file(folder, "f.parquet", CANARY)),
    "not Feather": lambda folder: read(_file(folder, "g.feather", CANARY)),
    "not gzip": lambda folder: read(_file(folder, "h.csv.gz", CANARY)),
    "a mixed pandas column": lambda _: read(pd.DataFrame({"x": pd.Series([1, CANARY], dtype=object)})),
    "a pandas column of long integers": lambda _: read(pd.DataFrame({"x": [NUMBER * 10**9, 1]})),
    "a wide decimal without a schema": lambda _: read(pa.table({"x": pa.array([NUMBER * 10], pa.decimal128(38, 0))})),
    "decimals of 256 bits": lambda _: read(pa.table({"x": pa.array([NUMBER * 10**30], pa.decimal256(70, 0))})),
    "Latin-1 behind the cell": lambda folder: read(
        _file(folder, "i.csv", f"x,y\n{CANARY},ü\n".encode("latin-1")), encoding="utf-8"
    ),
    "an open quote in the header": lambda folder: read(_file(folder, "j.csv", f'"{CANARY},y\n1,2\n')),
    "half a gzip file": lambda folder: read(_file(folder, "k.csv.gz", gzip.compress(f"x\n{CANARY}\n".encode())[:-9])),
    "a line too long": lambda folder: read(_file(folder, "l.csv", f"x\n{CANARY}{'z' * 3_000_000}\n")),
    "a failing lazy frame": lambda _: read(_failing_lazy()),
    "a failing reader": lambda _: read(_failing_reader()).raw.rows(),
    "text declared integer": lambda _: read(pa.table({"x": [CANARY]}), SCHEMA),
    "a number too large": lambda _: read(pa.table({"x": [str(NUMBER) + "0"]}), SCHEMA),
    "a wide decimal": lambda _: read(pa.table({"x": pa.array([NUMBER * 10], pa.decimal128(38, 0))}), SCHEMA).raw.rows(),
}


@pytest.mark.parametrize("provocation", FROM_FILES_AND_FRAMES)
def test_reading_shows_no_cell(provocation: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _assert_silent(lambda: FROM_FILES_AND_FRAMES[provocation](tmp_path), caplog)


@pytest.fixture(
    params=[
        "duckdb",
        pytest.param("spark", marks=pytest.mark.spark),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def planted(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, str]]:
    """An engine and a relation in it with the text and the number to look out for."""
    table = pa.table({"x": [CANARY], "n": [NUMBER]})
    if request.param == "postgres":
        uri = request.getfixturevalue("postgres_uri")
        _plant_in_postgres(uri)
        engine: Engine = PostgresEngine(uri)
        name = "planted"
    else:
        engine = DuckDBEngine() if request.param == "duckdb" else SparkEngine(request.getfixturevalue("spark_session"))
        name = engine.attach(table)
    with engine:
        yield engine, name


def _plant_in_postgres(uri: str) -> None:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS planted")
        connection.execute("CREATE TABLE planted (x text, n bigint)")
        connection.execute("INSERT INTO planted VALUES (%s, %s)", (CANARY, NUMBER))


_X, _N = exp.column("x"), exp.column("n")
QUERIES: dict[str, exp.Expr] = {
    "text to integer": exp.cast(_X, "BIGINT"),
    "text to real": exp.cast(_X, "DOUBLE"),
    "text to date": exp.cast(_X, "DATE"),
    "text to boolean": exp.cast(_X, "BOOLEAN"),
    "integer too wide": exp.cast(_N, "INT"),
    "integer overflow": exp.Mul(this=_N, expression=_N.copy()),
    "decimal overflow": exp.cast(_N, "DECIMAL(5, 0)"),
}


@pytest.mark.parametrize("provocation", QUERIES)
def test_a_failing_query_shows_no_cell(
    planted: tuple[Engine, str], provocation: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine, name = planted
    query = select(QUERIES[provocation].copy().as_("y")).from_(name)
    _assert_silent(lambda: engine.query(query), caplog)


def test_a_failing_query_names_its_column_and_the_engine(planted: tuple[Engine, str]) -> None:
    engine, name = planted
    with pytest.raises(
        EngineError, match=rf"A query over column 'x' failed in {engine.title} \((?!TypeError)\w+\); its own message"
    ):
        engine.query(select(QUERIES["text to integer"].copy().as_("y")).from_(name))


def test_bad_cells_are_counted_not_shown(planted: tuple[Engine, str], caplog: pytest.LogCaptureFixture) -> None:
    engine, name = planted
    _assert_silent(lambda: read(engine, SCHEMA, table=name), caplog)


def test_the_watchman_sees_a_cell_that_is_shown(caplog: pytest.LogCaptureFixture) -> None:
    def careless() -> None:
        try:
            int(CANARY)
        except ValueError:
            raise EngineError("something failed") from None

    with pytest.raises(AssertionError):
        _assert_silent(careless, caplog)


@pytest.mark.postgres
@pytest.mark.parametrize(
    "address", ["postgresql://u:{}@127.0.0.1:1/db", "postgresql://u:{}@[/db", "postgres://u:p@{}/x y"]
)
def test_a_failed_login_shows_no_password(address: str, caplog: pytest.LogCaptureFixture) -> None:
    pytest.importorskip("psycopg")
    _assert_silent(lambda: read(address.format(CANARY), table="t"), caplog)


def test_reports_for_the_steward_hold_counts_not_cells() -> None:
    data: dict[str, Any] = {"x": [CANARY, "a"], "n": [NUMBER, 1]}
    text = "columns:\n  x: {kind: category, categories: [a]}\n  n: {kind: integer, bounds: [0, 9]}\n"
    table = read(pa.table(data), Schema.from_yaml(text))
    shown = f"{table!r} {table.engine!r} {table.describe().to_pylist()} {[str(each) for each in table.validate()]}"
    assert "1 cell is not among the categories" in shown
    assert CANARY not in shown
    assert str(NUMBER) not in shown
