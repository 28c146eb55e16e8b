"""Open a table, whatever holds it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from ziggurat.data._table import OnBadCell, Share, Table, infer_schema
from ziggurat.data.engines import (
    DuckDBEngine,
    DuckDBRelationEngine,
    Engine,
    PostgresEngine,
    SparkEngine,
    files_named,
    is_dataset,
    is_text_file,
)
from ziggurat.data.reading._frames import arrow_table, check_names
from ziggurat.data.reading._guess import guess_schema
from ziggurat.data.reading._later import LaterTable
from ziggurat.data.reading._unit_warning import warn_of_people
from ziggurat.data.schema import Schema, Unit
from ziggurat.errors import DataError, ParameterError

_POSTGRES_ADDRESSES = ("postgresql://", "postgres://")


def read(
    data: object,
    schema: Schema | Mapping[str, Any] | str | Path | None = None,
    *,
    unit: Unit | str | None = None,
    engine: Engine | None = None,
    table: str | None = None,
    on_bad_cell: OnBadCell = "refuse",
    unreadable: Share = 0,
    later: bool = False,
) -> Table:
    """Open a table.

    Parameters
    ----------
    data
        A file (.csv, .csv.gz, .tsv, .parquet, .arrow, .feather), a frame (pandas, Polars, Arrow, DuckDB, Spark or
        any other that narwhals knows), an address ("postgresql://..."), an open psycopg connection, or an engine.
        The name of a file is taken literally; only if there is no such file is one with `*` or `?` a pattern,
        such as "part-*.parquet". A file is checked whole here, every line and every cell, so that no question
        fails later because of a row: what is wrong is said with its line and column, never with the cell. Text
        files are then held by the engine as they were checked; Parquet and Arrow files are scanned for every
        question, and refused if they have changed since. A CSV file must begin with a header line: its fields
        are taken for names, and names may appear in errors. A moment with a time zone has the date of that
        zone; where only the moment is kept (most databases, Parquet files without an Arrow schema), that of UTC
        or of the session that you hand in.
    schema
        A schema, its form as a dictionary, or the path of one; by default only the kinds of the columns are
        known, and columns that no kind describes are left out. With a schema the cells of a CSV file are read
        as it says; without one their kinds, and marks such as "NA" for missing, are guessed from all cells.
    unit
        What one person contributes; it takes the place of the schema's unit. The name of a column stands for
        the person whom it tells apart: unit="patient" is unit=Unit.person("patient"). Without it and without a
        schema, a column that seems to tell people apart, and in which values repeat, is worth a `UnitWarning`;
        unit="row" says that every row is somebody else.
    engine
        Where to hold files and frames; by default DuckDB in this process.
    table
        The name of the table, for an address, a connection or an engine.
    on_bad_cell
        "refuse" a table with cells that cannot be read as their kind, or treat them as "missing".
    unreadable
        Which share of the cells of a column may be unreadable before the table is refused, such as "0.01"; those
        cells count as missing.
    later
        Open a file, and look at cells, only when the table is first made `ready`, as every release does before it is
        paid for; a file then needs a schema, by which questions about it are planned before a row is read.

    Returns
    -------
    Table
        Seen through the schema: columns that it does not declare, and identifiers, are out of sight.
    """
    declared, per = _schema(schema), _unit(unit)
    if later and isinstance(data, str | Path) and _server(data) is None and declared is not None:
        seen, place = declared if per is None else declared.with_unit(per), engine or DuckDBEngine()
        if isinstance(place, DuckDBEngine):
            options: dict[str, Any] = {"engine": place, "on_bad_cell": on_bad_cell, "unreadable": unreadable}
            return LaterTable(place, seen, lambda: read(data, seen, **options))
    holder, relation = _hold(data, engine, table)
    if declared is None:
        is_text = isinstance(data, str | Path) and is_text_file(str(data))
        declared = (guess_schema if is_text else infer_schema)(holder, relation)
    seen = declared if per is None else declared.with_unit(per)
    opened = Table(holder, relation, seen, on_bad_cell=on_bad_cell, unreadable=unreadable, later=later)
    if schema is None and per is None and not later:
        warn_of_people(opened)
    return opened


def _schema(given: object) -> Schema | None:
    if isinstance(given, str | Path):
        return Schema.from_yaml(given)
    if isinstance(given, Mapping):
        return Schema.from_dict(given)
    if given is None or isinstance(given, Schema):
        return given
    raise ParameterError("The schema must be a Schema, a dictionary or the path of a YAML file.")


def _unit(given: object) -> Unit | None:
    if isinstance(given, str):
        return Unit.row() if given == "row" else Unit.person(given)
    if given is None or isinstance(given, Unit):
        return given
    raise ParameterError("The unit must be a Unit or the name of the column that tells persons apart.")


def _hold(data: object, engine: Engine | None, table: str | None) -> tuple[Engine, str]:
    server = _server(data)
    if server is not None:
        if table is None:
            raise ParameterError("Name the table to read: table='schema.table', or --table on the command line.")
        return server, table
    if table is not None:
        raise ParameterError(
            "A table is named (by table=, or --table on the command line) in a database; a file or a frame has none."
        )
    held = None if isinstance(data, str | Path | pa.Table) else _hold_elsewhere(data, engine)
    if held is not None:
        return held
    holder = engine or DuckDBEngine()
    return holder, holder.attach(_attachable(data))


def _hold_elsewhere(data: object, engine: Engine | None) -> tuple[Engine, str] | None:
    from narwhals import dependencies

    if dependencies.is_duckdb_relation(data):
        return DuckDBRelationEngine(data), DuckDBRelationEngine.relation_name
    if dependencies.is_pyspark_dataframe(data) or dependencies.is_pyspark_connect_dataframe(data):
        spark: Any = data
        holder: Engine = engine or SparkEngine(spark.sparkSession)
        return holder, holder.attach(data)
    return None


def _server(data: object) -> Engine | None:
    if isinstance(data, Engine):
        return data
    if isinstance(data, str) and data.startswith(_POSTGRES_ADDRESSES):
        return PostgresEngine(data)
    if type(data).__module__.startswith("psycopg"):
        connection: Any = data
        return PostgresEngine(connection)
    return None


def _attachable(data: object) -> object:
    if isinstance(data, str | Path):
        return _file(str(data))
    if isinstance(data, pa.RecordBatchReader) or is_dataset(data):
        return data
    if isinstance(data, pa.Table):
        check_names(data.column_names)
    return data if isinstance(data, pa.Table) else arrow_table(data)


def _file(path: str) -> str:
    if "://" in path:
        raise DataError("Only files of this machine and postgresql:// addresses can be read; download it first.")
    files = files_named(path)
    if not files:
        raise DataError(f"There is no file {path!r}.")
    for file in files:
        if Path(file).is_file() and Path(file).stat().st_size == 0:
            raise DataError(f"The file {file!r} is empty.")
    return path
