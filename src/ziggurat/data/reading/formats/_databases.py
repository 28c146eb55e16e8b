"""Databases that others opened or an address names: SQLAlchemy, ADBC, SQLite, and any stream of Arrow."""

from typing import Any

import pyarrow as pa

from ziggurat.data.reading.formats._duckdb_files import load_duckdb
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.reading.formats._sqlite import choose_table, load_connection, load_rows, load_sqlite
from ziggurat.data.schema import FileLayout
from ziggurat.errors import MissingExtraError, ParameterError

_SQLITE, _DUCKDB = "sqlite:///", "duckdb:///"
_WEB = ("http", "https", "ftp", "s3", "gs", "gcs", "az", "abfs", "abfss", "hdfs", "file", "ssh", "sftp")
_FAILED = "The database could not be read; its own message is withheld because it may quote cells."


def load_database(data: object, table: str = "") -> LoadedFile | None:
    """Return a table of a database, or the rows of a stream of Arrow; None if `data` is neither.

    Parameters
    ----------
    data
        An address (`sqlite:///clinic.db`, `duckdb:///clinic.duckdb`, or any that SQLAlchemy knows), an engine or a
        connection of SQLAlchemy, a connection or a cursor of ADBC, a connection of sqlite3, or an object that streams
        Arrow (`__arrow_c_stream__`). A cursor gives the answer of what it executed last.
    table
        Which table, if there are several.
    """
    if isinstance(data, str):
        return _load_address(data, table) if "://" in data else None
    module = type(data).__module__.partition(".")[0]
    if module == "sqlalchemy":
        return withhold_reason(lambda: _load_alchemy(data, table), _FAILED)
    if module == "sqlite3":
        connection: Any = data
        return withhold_reason(lambda: load_connection(connection, table, "the database"), _FAILED)
    if any(each.__module__.startswith("adbc_driver_manager") for each in type(data).__mro__):
        return withhold_reason(lambda: LoadedFile(_adbc_reader(data, table)), _FAILED)
    return _load_stream(data)


def _load_address(address: str, table: str) -> LoadedFile | None:
    for scheme, load in ((_SQLITE, load_sqlite), (_DUCKDB, load_duckdb)):
        if address.startswith(scheme):
            return load(address.removeprefix(scheme), FileLayout(table=table))
    if address.partition("://")[0].lower() in _WEB:
        return None
    try:
        import sqlalchemy
    except ImportError:
        raise MissingExtraError(
            "Addresses of databases other than PostgreSQL, SQLite and DuckDB need SQLAlchemy; add it and the "
            "database's driver with: pip install sqlalchemy."
        ) from None
    engine = withhold_reason(lambda: sqlalchemy.create_engine(address), _unknown(address))
    try:
        return withhold_reason(lambda: _load_alchemy(engine, table), _FAILED)
    finally:
        engine.dispose()


def _unknown(address: str) -> str:
    return (
        f"SQLAlchemy cannot open an address that begins with {address.partition('://')[0]!r}; check it, and add the "
        "driver that it names."
    )


def _load_alchemy(data: Any, table: str) -> LoadedFile:
    import sqlalchemy

    if isinstance(data, sqlalchemy.Engine):
        with data.connect() as connection:
            return _load_alchemy(connection, table)
    if not isinstance(data, sqlalchemy.Connection):
        raise ParameterError("Of SQLAlchemy's objects an engine or a connection can be read; pass one of these.")
    known = sqlalchemy.inspect(data)
    schema, _, name = table.rpartition(".")
    names = [*known.get_table_names(schema or None), *known.get_view_names(schema or None)]
    chosen = choose_table(names, name, "the database")
    quoted = data.dialect.identifier_preparer.quote
    place = f"{quoted(schema)}.{quoted(chosen)}" if schema else quoted(chosen)
    answer = data.execute(sqlalchemy.text(f"SELECT * FROM {place}"))  # noqa: S608  (a name that is there, quoted)
    return load_rows(list(answer.keys()), answer.fetchall(), table or chosen)


def _adbc_reader(data: Any, table: str) -> Any:
    """All rows of a table, or what a cursor answers."""
    cursor = data.cursor() if hasattr(data, "cursor") else data
    if table:
        place = ".".join('"' + part.replace('"', '""') + '"' for part in table.split("."))
        cursor.execute(f"SELECT * FROM {place}")  # noqa: S608  (quoted)
    elif cursor is not data:
        raise ParameterError("Name the table to read: table='schema.table', or --table on the command line.")
    return cursor.fetch_arrow_table()


def _load_stream(data: object) -> LoadedFile | None:
    if not hasattr(data, "__arrow_c_stream__") or _is_frame(data):
        return None
    failed = "The stream of Arrow could not be read; its own message may quote cells."
    return LoadedFile(withhold_reason(lambda: pa.RecordBatchReader.from_stream(data).read_all(), failed))


def _is_frame(data: Any) -> bool:
    """Whether it is Arrow's own, or a frame that narwhals knows."""
    if isinstance(data, pa.Table | pa.RecordBatchReader | pa.RecordBatch) or "narwhals" in type(data).__module__:
        return True
    import narwhals

    try:
        narwhals.from_native(data)
    except TypeError:
        return False
    except Exception:  # noqa: BLE001, S110  (said in its own words by who reads frames)
        pass
    return True
