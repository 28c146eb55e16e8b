"""Engines with the means to put a table into them, and what contracts share with processes that they have killed."""

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, SparkEngine

sys.path.insert(0, str(Path(__file__).parent))

Load = Callable[[pa.Table], str]
_names = itertools.count(1)
_POSTGRES_TYPES = {
    pa.int64(): "bigint",
    pa.int32(): "integer",
    pa.float64(): "double precision",
    pa.float32(): "real",
    pa.string(): "text",
    pa.bool_(): "boolean",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.decimal128(9, 2): "numeric(9, 2)",
    pa.decimal128(38, 10): "numeric(38, 10)",
    pa.list_(pa.string()): "text[]",
}


@pytest.fixture(
    params=[
        "duckdb",
        pytest.param("spark", marks=pytest.mark.spark),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ]
)
def held(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, Load]]:
    """Every engine in turn, and how a table gets into it."""
    if request.param == "postgres":
        uri = request.getfixturevalue("postgres_uri")
        with PostgresEngine(uri) as engine:
            yield engine, lambda table: _into_postgres(uri, table)
    else:
        engine = _local_engine(request)
        with engine:
            yield engine, engine.attach


def _local_engine(request: pytest.FixtureRequest) -> Engine:
    if request.param == "duckdb":
        return DuckDBEngine()
    return SparkEngine(request.getfixturevalue("spark_session"))


def _into_postgres(uri: str, table: pa.Table) -> str:
    import psycopg

    name = f"contract_{next(_names)}"
    fields = ", ".join(f'"{field.name}" {_POSTGRES_TYPES[field.type]}' for field in table.schema)
    with psycopg.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
        cursor.execute(f'CREATE TABLE "{name}" ({fields})')
        with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
            for row in zip(*(_copied(column) for column in table.columns), strict=True):
                copy.write_row(row)
    return name


def _copied(column: pa.ChunkedArray) -> list[Any]:
    if column.type != pa.date32():
        return column.to_pylist()
    # As text, because PostgreSQL has dates that Python has not.
    return [None if day is None else str(np.datetime64(day, "D")) for day in column.cast(pa.int32()).to_pylist()]
