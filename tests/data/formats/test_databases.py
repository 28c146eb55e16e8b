"""Databases that others opened, and streams of Arrow, are read as they are."""

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.data import read
from ziggurat.data.reading.formats import load_database
from ziggurat.errors import DataError, ParameterError

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": None}]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "t.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE one (a INTEGER, b TEXT)")
        connection.executemany("INSERT INTO one VALUES (:a, :b)", ROWS)
    connection.close()
    return path


class Stream:
    """Streams Arrow and is no frame."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return pa.table({"a": [1, 2], "b": ["x", None]}).__arrow_c_stream__(requested_schema)


def test_an_engine_and_a_connection_of_sqlalchemy(file: Path) -> None:
    sqlalchemy = pytest.importorskip("sqlalchemy")
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    assert read(engine, table="one").raw.rows().to_pylist() == ROWS
    with engine.connect() as connection:
        assert read(connection).raw.rows().to_pylist() == ROWS
        with pytest.raises(DataError, match="no table 'secret' in the database"):
            read(connection, table="secret")
    assert read(f"sqlite+pysqlite:///{file}").raw.rows().to_pylist() == ROWS
    engine.dispose()


def test_an_address_that_nobody_knows_shows_no_password() -> None:
    pytest.importorskip("sqlalchemy")
    with pytest.raises(DataError, match="begins with 'nonsense'") as caught:
        read("nonsense://me:secret@host/db", table="one")
    assert "secret" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_connection_and_a_cursor_of_adbc(file: Path) -> None:
    dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi")
    with dbapi.connect(str(file)) as connection:
        assert read(connection, table="one").raw.rows().to_pylist() == ROWS
        with pytest.raises(ParameterError, match="Name the table"):
            read(connection)
        with connection.cursor() as cursor:
            cursor.execute("SELECT a FROM one")
            assert read(cursor).raw.rows().to_pylist() == [{"a": 1}, {"a": 2}]


def test_a_connection_of_sqlite(file: Path) -> None:
    connection = sqlite3.connect(file)
    assert read(connection).raw.rows().to_pylist() == ROWS
    connection.close()


def test_a_stream_of_arrow() -> None:
    assert read(Stream()).raw.rows().to_pylist() == ROWS
    assert load_database(pa.table({"a": [1]})) is None
    reader = pa.table({"a": [1, 2], "b": ["x", None]}).to_reader()
    assert read(reader).raw.rows().to_pylist() == ROWS
