"""Open a table, whatever holds it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from ziggurat.data._table import OnBadCell, Share, Table, infer_schema
from ziggurat.data.engines import (
    DELIMITERS,
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
from ziggurat.data.reading._later import LaterTable
from ziggurat.data.reading._totals import note_totals
from ziggurat.data.reading._unit_warning import warn_of_people
from ziggurat.data.reading.formats import LoadedFile, handles_file, load_database, load_file
from ziggurat.data.reading.guessing import Conventions, Guess, guess_schema, looks_like_data
from ziggurat.data.schema import Column, FileLayout, Kind, Schema, Unit
from ziggurat.errors import DataError, ParameterError

_POSTGRES_ADDRESSES = ("postgresql://", "postgres://")
_SPARK = "spark:"


def read(
    data: object,
    schema: Schema | Mapping[str, Any] | str | Path | None = None,
    *,
    unit: Unit | str | None = None,
    engine: Engine | None = None,
    table: str | None = None,
    sheet: str = "",
    on_bad_cell: OnBadCell = "refuse",
    unreadable: Share = 0,
    later: bool = False,
    encoding: str = "",
    delimiter: str = "",
    quote: str | None = None,
    header: bool | None = None,
    names: Sequence[str] = (),
    skip: int | None = None,
    skip_last: int = 0,
    decimal: str = "",
    thousands: str | None = None,
    date_format: str = "",
    missing: Sequence[str] = (),
) -> Table:
    """Open a table.

    Parameters
    ----------
    data
        A file, a frame (pandas, Polars, Arrow, DuckDB, Spark or any other that narwhals knows), an address
        ("postgresql://...", "spark:/data/visits/" for files that Spark reads, "spark:" for its own tables), an open
        psycopg connection, or an engine. Files are text (.csv, .tsv, .txt and the like, packed or not),
        workbooks (.xlsx, .xls, .ods), Stata, SPSS, SAS and R, Parquet, Arrow, JSON lines, SQLite,
        DuckDB, or a folder of parts. The name of a file is taken literally; only if there is no such file is one with
        `*` or `?` a pattern, such as "part-*.parquet". A file is checked whole here, every line and every cell, so
        that no question fails later because of a row: what is wrong is said with its line and column, never with the
        cell. Text files are then held by the engine as they were checked; Parquet and Arrow files are scanned for
        every question, and refused if they have changed since. The fields of a header are taken for names, and names
        may appear in errors. A moment with a time zone has the date of that zone; where only the moment is kept (most
        databases, Parquet files without an Arrow schema), that of UTC or of the session that you hand in.
    schema
        A schema, its form as a dictionary, or the path of one; by default only the kinds of the columns are
        known, and columns that no kind describes are left out. With a schema the cells of a text file are read
        as it says; without one their kinds, how they are written, and marks such as "NA" for missing, are guessed
        from all cells.
    unit
        What one person contributes; it takes the place of the schema's unit. The name of a column stands for
        the person whom it tells apart: unit="patient" is unit=Unit.person("patient"). Without it and without a
        schema, a column that seems to tell people apart, and in which values repeat, is worth a `UnitWarning`;
        unit="row" says that every row is somebody else.
    engine
        Where to hold files and frames; by default DuckDB in this process.
    table
        The name of the table, for an address, a connection or an engine, and in a file that holds several: SQLite,
        DuckDB, R.
    sheet
        The name or the number of the sheet, in a workbook that has several with cells.
    on_bad_cell
        "refuse" a table with cells that cannot be read as their kind, or treat them as "missing".
    unreadable
        Which share of the cells of a column may be unreadable before the table is refused, such as "0.01"; those
        cells count as missing.
    later
        Open a file, and look at cells, only when the table is first made `ready`, as every release does before it is
        paid for; a file then needs a schema, by which questions about it are planned before a row is read.
    encoding, delimiter, quote, header, names, skip, skip_last
        How a text file or a sheet holds its table, where that is not found out rightly: see `FileLayout`. They go
        before what the schema says.
    decimal, thousands, date_format, missing
        How cells are written, in every column of which the schema does not say it: see `Notation`. `missing` are
        texts that stand for a missing value in every column.

    Returns
    -------
    Table
        Seen through the schema: columns that it does not declare, and identifiers, are out of sight. Its `notes` say
        how a file was read.
    """
    declared, per = _schema(schema), _unit(unit)
    told = Conventions(decimal, thousands, date_format, tuple(missing))
    given = FileLayout(encoding, delimiter, quote, header, tuple(names), skip, skip_last, sheet, table or "")
    if declared is not None:
        declared = told.apply(declared if per is None else declared.with_unit(per))
    checks: dict[str, Any] = {"on_bad_cell": on_bad_cell, "unreadable": unreadable}
    if later and isinstance(data, str | Path) and _server(data) is None and declared is not None:
        place = engine or (DuckDBEngine() if _spark_path(data, engine) is None else SparkEngine())
        seen = _remember(declared, given)
        if isinstance(place, DuckDBEngine | SparkEngine):
            return LaterTable(place, seen, lambda: read(data, seen, engine=place, **checks))
    held = _hold(data, engine, table, _layout(declared, given), declared is not None)
    if declared is None:
        guessed = _describe(held, told, header is True, on_bad_cell == "missing")
        declared = guessed.schema if per is None else guessed.schema.with_unit(per)
        noted = note_totals(held.engine, held.relation, guessed.schema) if held.loose else ()
        held = replace(held, reasons=guessed.reasons, notes=(*held.notes, *noted))
    how: dict[str, Any] = {"notes": held.notes, "reasons": held.reasons}
    opened = Table(held.engine, held.relation, declared, later=later, **how, **checks)
    if schema is None and per is None and not later:
        warn_of_people(opened)
    return opened


@dataclass(frozen=True)
class _Held:
    """A table in its engine, what its file says of it, and how it was read."""

    engine: Engine
    relation: str
    columns: tuple[Column, ...] | None = None
    loose: bool = False
    notes: tuple[str, ...] = ()
    layout: FileLayout | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)


def _layout(declared: Schema | None, given: FileLayout) -> FileLayout:
    """What was told, and where nothing was, what the schema remembers."""
    return given if declared is None else replace(declared.file or FileLayout(), **_told(given))


def _remember(declared: Schema, given: FileLayout) -> Schema:
    known = declared.file or FileLayout()
    return replace(declared, file=replace(known, **_told(given))) if given.is_told else declared


def _told(layout: FileLayout) -> dict[str, Any]:
    told = {each.name: getattr(layout, each.name) for each in fields(layout)}
    return {name: value for name, value in told.items() if value != getattr(FileLayout(), name)}


def _describe(held: _Held, told: Conventions, header_is_told: bool, lenient: bool) -> Guess:
    """What a file says of its columns, or what their types say; loose cells of text are guessed."""
    if held.columns is not None:
        return Guess(told.apply(Schema(held.columns, file=held.layout)))
    inferred = infer_schema(held.engine, held.relation)
    if not held.loose:
        return Guess(replace(told.apply(inferred), file=held.layout))
    if not header_is_told and looks_like_data(inferred.names):
        count = len(inferred.names)
        raise DataError(
            f"The first line of the file looks like data: say header=False (--header none) and, if you like, the "
            f"{count} names of its columns (--names), or header=True (--header first) if it is the header."
        )
    if not header_is_told and len(inferred.names) == 1 and re.search(r"\S {2,}\S", inferred.names[0]):
        raise DataError(
            "The file has one column, and gaps in its header: columns of fixed width are not read; export it with a "
            "separator such as ';', or say header=True (--header first) if it is one column."
        )
    typed = [each for each in inferred.columns if each.kind is not Kind.TEXT]
    left_out = set(held.engine.columns(held.relation)).difference(inferred.names)
    comma = held.layout is not None and held.layout.delimiter == ";"
    guessed = guess_schema(held.engine, held.relation, typed, left_out, told=told, comma=comma, lenient=lenient)
    return replace(guessed, schema=replace(guessed.schema, file=_shown(held.layout)))


def _shown(layout: FileLayout | None) -> FileLayout | None:
    """What is worth remembering of a layout: what is usual, and a delimiter that a header shows, are not."""
    if layout is None or (layout.delimiter in DELIMITERS and replace(layout, delimiter="") == FileLayout()):
        return None
    return layout


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


def _hold(data: object, engine: Engine | None, table: str | None, layout: FileLayout, is_known: bool) -> _Held:
    server = _server(data)
    if server is not None:
        if table is None:
            raise ParameterError("Name the table to read: table='schema.table', or --table on the command line.")
        return _Held(server, table)
    path = _spark_path(data, engine)
    if path is not None:
        return _hold_in_spark(path, engine, table, layout)
    loaded = _load(data, layout)
    if loaded is not None and not isinstance(loaded.data, str):
        return _hold_loaded(loaded, engine, layout)
    if table is not None:
        raise ParameterError(
            "A table is named (by table=, or --table on the command line) in a database; a file or a frame has none."
        )
    given = data if loaded is None else loaded.data
    elsewhere = None if isinstance(given, str | Path | pa.Table) else _hold_elsewhere(given, engine)
    if elsewhere is not None:
        return _Held(*elsewhere)
    holder = engine or DuckDBEngine()
    is_text = isinstance(given, str | Path) and is_text_file(str(given))
    # With a schema nothing is found out from rows: how others are read must not depend on somebody's.
    relation = holder.attach(_attachable(given), layout.settle() if is_known else layout)
    notes = (*(loaded.notes if loaded is not None else ()), *holder.notes(relation))
    return _Held(holder, relation, None, is_text, notes, holder.layout(relation))


def _load(data: object, layout: FileLayout) -> LoadedFile | None:
    """What a file of its own format, a database or a stream holds; None for text, Parquet, Arrow and frames."""
    if isinstance(data, str | Path) and handles_file(str(data)):
        return load_file(str(data), layout)
    return load_database(data, layout.table)


def _hold_loaded(loaded: LoadedFile, engine: Engine | None, layout: FileLayout) -> _Held:
    holder = engine or DuckDBEngine()
    relation = holder.attach(loaded.data)
    kept = layout if layout.is_told else None
    return _Held(holder, relation, loaded.columns, loaded.loose, loaded.notes, kept)


def _hold_elsewhere(data: object, engine: Engine | None) -> tuple[Engine, str] | None:
    from narwhals import dependencies

    if dependencies.is_duckdb_relation(data):
        return DuckDBRelationEngine(data), DuckDBRelationEngine.relation_name
    if dependencies.is_pyspark_dataframe(data) or dependencies.is_pyspark_connect_dataframe(data):
        spark: Any = data
        holder: Engine = engine or SparkEngine(spark.sparkSession)
        return holder, holder.attach(data)
    return None


def _spark_path(data: object, engine: Engine | None) -> str | None:
    """The files that Spark reads where they are: those of a spark: address, or any if it is to hold them."""
    if isinstance(data, str) and data.startswith(_SPARK):
        if engine is not None and not isinstance(engine, SparkEngine):
            raise ParameterError("A spark: address is read by Spark; leave the engine out, or pass a SparkEngine.")
        return data.removeprefix(_SPARK)
    if not isinstance(engine, SparkEngine) or not isinstance(data, str | Path):
        return None
    path = str(data)
    return path if Path(path).is_dir() or path.lower().endswith(".parquet") or is_text_file(path) else None


def _hold_in_spark(path: str, engine: Engine | None, table: str | None, layout: FileLayout) -> _Held:
    if path.startswith("//"):
        raise ParameterError(
            "spark:// names a cluster and no table: say it by ZIGGURAT_SPARK, and the table as spark:/path, or as "
            "spark: with table= (--table)."
        )
    if table is not None:
        raise ParameterError("A folder has no tables; name one of Spark's own with the address spark: and table=.")
    holder = engine or SparkEngine()
    relation = holder.attach(path, replace(layout, table=""))
    known = holder.layout(relation)
    return _Held(holder, relation, None, known is not None, holder.notes(relation), known)


def _server(data: object) -> Engine | None:
    if isinstance(data, Engine):
        return data
    if isinstance(data, str) and data == _SPARK:
        return SparkEngine()
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
        raise DataError("Only files of this machine, postgresql:// and spark: can be read; download it first.")
    files = files_named(path)
    if not files:
        raise DataError(f"There is no file {path!r}.")
    for file in files:
        if Path(file).is_file() and Path(file).stat().st_size == 0:
            raise DataError(f"The file {file!r} is empty.")
    return path
