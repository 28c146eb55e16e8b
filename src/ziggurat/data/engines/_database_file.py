"""Tables of DuckDB files, seen where they are."""

from dataclasses import dataclass

import duckdb

from ziggurat.errors import DataError


@dataclass(frozen=True)
class DatabaseTable:
    """A table of a DuckDB file.

    Parameters
    ----------
    path
        Of the file; it is opened for reading only, and its rows stay there.
    table
        The name of the table, or "schema.table".
    """

    path: str
    table: str


def tables_in(path: str) -> list[str]:
    """Return the names of the tables and views of a DuckDB file, those outside its main schema as "schema.table".

    Parameters
    ----------
    path
        Of the file.
    """
    with duckdb.connect(":memory:") as connection:
        try:
            connection.execute(f"ATTACH {_quoted(path)} AS held (READ_ONLY)")
            return [_name(*row) for row in _tables(connection)]
        except duckdb.Error:
            pass
    raise DataError(f"The file {path!r} is damaged, in use or no DuckDB file; close what writes to it and try again.")


def show_table(connection: duckdb.DuckDBPyConnection, held: DatabaseTable, name: str) -> None:
    """Make a table of a DuckDB file visible in a connection under a name, without a copy.

    Parameters
    ----------
    connection
        Where to see it.
    held
        Which file and table.
    name
        A new one, of a view.
    """
    schema, _, table = held.table.rpartition(".")
    parts = [f"{name}_file", schema or "main", table]
    place = ".".join('"' + part.replace('"', '""') + '"' for part in parts)
    connection.execute(f'ATTACH {_quoted(held.path)} AS "{name}_file" (READ_ONLY)')
    connection.execute(f'CREATE VIEW "{name}" AS FROM {place}')


def _tables(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    asked = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = 'held' ORDER BY ALL"
    return [(str(schema), str(table)) for schema, table in connection.execute(asked).fetchall()]


def _name(schema: str, table: str) -> str:
    return table if schema == "main" else f"{schema}.{table}"


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "''") + "'"
