"""Tables as other libraries hold them, with the types kept: a day stays a day, and whole numbers stay whole."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from ziggurat._lazy import deferred
from ziggurat.errors import MissingExtraError

if TYPE_CHECKING:
    import narwhals as nw
    import polars as pl
    import pyarrow as pa
else:
    nw = deferred("narwhals")


class GivenAsFrame:
    """What can be had as a frame of pandas, Polars, DuckDB or Spark, because it can be had as an Arrow table."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Give it as an Arrow table."""

    def to_pandas(self) -> Any:
        """Give it as a pandas frame, in types that know missing whole numbers, truth values and days."""
        return make_pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Give it as a Polars frame."""
        return make_polars(self.to_arrow())

    def to_duckdb(self, connection: Any = None) -> Any:
        """Give it as a relation of a DuckDB connection, by default of DuckDB's own."""
        return make_duckdb(self.to_arrow(), connection)

    def to_spark(self, session: Any) -> Any:
        """Give it as a frame of a Spark session."""
        return make_spark(self.to_arrow(), session)


def make_pandas(table: pa.Table) -> Any:
    """Give a table as a pandas frame: whole numbers and truth values may be missing, days are Arrow's.

    Parameters
    ----------
    table
        Of Arrow.
    """
    import pyarrow as pa

    pandas = _require("pandas")
    held = {pa.bool_(): pandas.BooleanDtype(), pa.date32(): pandas.ArrowDtype(pa.date32())}
    whole = {pa.int8(): "Int8", pa.int16(): "Int16", pa.int32(): "Int32", pa.int64(): "Int64", pa.uint64(): "UInt64"}
    types = held | {arrow: pandas.api.types.pandas_dtype(name) for arrow, name in whole.items()}
    return table.to_pandas(types_mapper=types.get)


def make_polars(table: pa.Table) -> pl.DataFrame:
    """Give a table as a Polars frame.

    Parameters
    ----------
    table
        Of Arrow.
    """
    _require("polars")
    frame: pl.DataFrame = nw.from_native(table, eager_only=True).to_polars()
    return frame


def make_duckdb(table: pa.Table, connection: Any = None) -> Any:
    """Give a table as a relation of DuckDB.

    Parameters
    ----------
    table
        Of Arrow.
    connection
        Where it shall live; by default DuckDB's own connection.
    """
    duckdb = _require("duckdb")
    return (duckdb.default_connection() if connection is None else connection).from_arrow(table)


def make_spark(table: pa.Table, session: Any) -> Any:
    """Give a table as a frame of Spark: row by row, in the types of its columns.

    Parameters
    ----------
    table
        Of Arrow, and small enough for the driver.
    session
        A Spark session.
    """
    _require("pyspark")
    from pyspark.sql.pandas.types import from_arrow_schema

    return session.createDataFrame([tuple(row.values()) for row in table.to_pylist()], from_arrow_schema(table.schema))


def _require(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        pass
    raise MissingExtraError(f"The library {name!r} is not installed; install it with 'pip install {name}'.")
