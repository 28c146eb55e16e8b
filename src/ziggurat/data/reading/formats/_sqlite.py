"""SQLite files and connections: one table of them, whole."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa

from ziggurat.data.engines import name_columns
from ziggurat.data.reading.formats._cells import column_of
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError
from ziggurat.wording import list_names, nearest

SQLITE_FILES = (".sqlite", ".sqlite3", ".db3")
"""The endings of SQLite files; .db may be one, too."""
SQLITE_MAGIC = b"SQLite format 3\0"
"""What a SQLite file begins with."""


def load_sqlite(path: str, layout: FileLayout) -> LoadedFile:
    """Return a table of a SQLite file, which is opened for reading only.

    Parameters
    ----------
    path
        Of the file.
    layout
        Which table, if there are several.
    """
    address = f"file:{quote(str(Path(path).absolute()))}?mode=ro"
    broken = f"The file {path!r} is damaged, locked or no SQLite file; check it, or export the table as Parquet."
    with closing(withhold_reason(lambda: sqlite3.connect(address, uri=True), broken)) as connection:
        return withhold_reason(lambda: load_connection(connection, layout.table, f"the file {path!r}"), broken)


def load_connection(connection: sqlite3.Connection, table: str, where: str) -> LoadedFile:
    """Return a table of an open SQLite database.

    Parameters
    ----------
    connection
        To read from; nothing is written.
    table
        Which table; empty if there is only one.
    where
        What to call the database in errors.
    """
    found = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' "
        "ORDER BY name"
    )
    name = choose_table([row[0] for row in found], table, where)
    cursor = connection.execute(f'SELECT * FROM "{name.replace(chr(34), chr(34) * 2)}"')  # noqa: S608
    return load_rows([each[0] for each in cursor.description], cursor.fetchall(), name)


def choose_table(names: Sequence[str], wanted: str, where: str) -> str:
    """Return the table that is meant: the one named, or the only one.

    Parameters
    ----------
    names
        Of the tables there are.
    wanted
        What was named, or nothing.
    where
        What to call their place in errors.
    """
    if not names:
        raise DataError(f"There is no table in {where}.")
    alike = [name for name in names if name.lower() == wanted.lower()]
    if wanted in names or len(alike) == 1:
        return wanted if wanted in names else alike[0]
    if wanted:
        raise DataError(f"There is no table {wanted!r} in {where}; {nearest(wanted, names)}")
    if len(names) > 1:
        raise DataError(f"There are several tables in {where}, {list_names(names)}; name one with table= (--table).")
    return names[0]


def load_rows(names: Sequence[str], rows: Sequence[Sequence[Any]], table: str) -> LoadedFile:
    """Return rows of a database as a table of typed columns.

    Parameters
    ----------
    names
        Of the columns.
    rows
        As the database gave them.
    table
        Which table they are of.
    """
    named, notes = name_columns(names)
    columns = [column_of(name, [row[place] for row in rows]) for place, name in enumerate(named)]
    made = pa.table(dict(zip(named, columns, strict=True)))
    return LoadedFile(made, loose=True, notes=(f"Read from table {table!r}.", *notes))
