"""Open a table, whatever holds it."""

from glob import glob, has_magic
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa
from narwhals import dependencies

from ziggurat.data._guess import guessed_schema
from ziggurat.data._schema import Schema
from ziggurat.data._table import OnBadCell, Table, inferred_schema
from ziggurat.data._unit import Unit
from ziggurat.data.engines import DuckDBEngine, DuckDBRelationEngine, Engine, PostgresEngine, SparkEngine
from ziggurat.data.engines._duckdb import is_dataset
from ziggurat.data.engines._text_file import is_text_file
from ziggurat.errors import DataError, EngineError, ParameterError

_POSTGRES_ADDRESSES = ("postgresql://", "postgres://")


def read(
    source: object,
    schema: Schema | str | Path | None = None,
    *,
    unit: Unit | None = None,
    engine: Engine | None = None,
    table: str | None = None,
    on_bad_cell: OnBadCell = "refuse",
) -> Table:
    """Open a table.

    Parameters
    ----------
    source
        A file (.csv, .csv.gz, .tsv, .parquet, .arrow, .feather, or a pattern such as "part-*.parquet"), a
        frame (pandas, Polars, Arrow, DuckDB, Spark or any other that narwhals knows), an address
        ("postgresql://..."), an open psycopg connection, or an engine. Files are not loaded: the engine
        scans them for every question (Parquet is much faster to scan than CSV). A CSV file must begin with a
        header line: its fields are taken for names, and names may appear in errors.
    schema
        A schema, or the path of one; by default only the kinds of the columns are known. With a schema the
        cells of a CSV file are read as it says; without one their kinds are guessed from all cells.
    unit
        What one person contributes; it takes the place of the schema's unit.
    engine
        Where to hold files and frames; by default DuckDB in this process.
    table
        The name of the table, for an address, a connection or an engine.
    on_bad_cell
        "refuse" a table with cells that cannot be read as their kind, or treat them as "missing".

    Returns
    -------
    Table
        Seen through the schema: columns that it does not declare, and identifiers, are out of sight.
    """
    declared = Schema.from_yaml(schema) if isinstance(schema, str | Path) else schema
    holder, relation = _held(source, engine, table)
    if not (isinstance(source, str | Path) and is_text_file(str(source))):
        return _opened(holder, relation, declared or inferred_schema(holder, relation), unit, on_bad_cell)
    try:
        return _opened(holder, relation, declared or guessed_schema(holder, relation), unit, on_bad_cell)
    except EngineError:
        raise DataError(
            f"The file {str(source)!r} cannot be read: it must be UTF-8, have as many fields on every line as in "
            "its header, and double every quotation mark inside quotes."
        ) from None


def _opened(holder: Engine, relation: str, schema: Schema, unit: Unit | None, on_bad_cell: OnBadCell) -> Table:
    declared = schema if unit is None else schema.with_unit(unit)
    return Table(holder, relation, declared, on_bad_cell=on_bad_cell)


def _held(source: object, engine: Engine | None, table: str | None) -> tuple[Engine, str]:
    server = _server(source)
    if server is not None:
        if table is None:
            raise ParameterError("Name the table to read with table='schema.table'.")
        return server, table
    if table is not None:
        raise ParameterError("table= names a table in a database; a file or a frame has none.")
    if dependencies.is_duckdb_relation(source):
        return DuckDBRelationEngine(source), DuckDBRelationEngine.relation_name
    if dependencies.is_pyspark_dataframe(source) or dependencies.is_pyspark_connect_dataframe(source):
        spark: Any = source
        holder: Engine = engine or SparkEngine(spark.sparkSession)
        return holder, holder.attach(source)
    holder = engine or DuckDBEngine()
    return holder, holder.attach(_attachable(source))


def _server(source: object) -> Engine | None:
    if isinstance(source, Engine):
        return source
    if isinstance(source, str) and source.startswith(_POSTGRES_ADDRESSES):
        return PostgresEngine(source)
    if type(source).__module__.startswith("psycopg"):
        connection: Any = source
        return PostgresEngine(connection)
    return None


def _attachable(source: object) -> object:
    if isinstance(source, str | Path):
        return _file(str(source))
    if isinstance(source, pa.RecordBatchReader) or is_dataset(source):
        return source
    table = source if isinstance(source, pa.Table) else _arrow(source)
    if table.num_columns == 0:
        raise DataError("The table has no columns.")
    return table


def _file(path: str) -> str:
    if "://" in path:
        raise DataError("Only files of this machine and postgresql:// addresses can be read; download it first.")
    if not Path(path).exists() and not (has_magic(path) and _matches(path)):
        raise DataError(f"There is no file {path!r}.")
    if Path(path).is_file() and Path(path).stat().st_size == 0:
        raise DataError(f"The file {path!r} is empty.")
    return path


def _matches(pattern: str) -> bool:
    return bool(glob(pattern))  # noqa: PTH207  (Path.glob takes no absolute pattern)


def _arrow(source: object) -> pa.Table:
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError:
        raise DataError(f"A {type(source).__name__} cannot be read; pass a file, a frame or an address.") from None
    try:
        eager = frame.collect(backend="pyarrow") if isinstance(frame, nw.LazyFrame) else frame
        return eager.to_arrow().select(eager.columns)  # a pandas index is not a column
    except Exception:  # noqa: BLE001  (Arrow and the frames quote cells in what they raise)
        reason = _unreadable(frame)
    raise DataError(reason)


def _unreadable(frame: Any) -> str:
    """Name the first column that cannot become Arrow, without the message that quotes its cell."""
    for name in frame.columns if isinstance(frame, nw.DataFrame) else ():
        try:
            frame.select(name).to_arrow()
        except Exception:  # noqa: BLE001
            return f"Column {name!r} mixes values of several types; give it one."
    return "The frame could not be computed or turned into Arrow columns; its own message may quote cells."
