"""Files of DuckDB, whose tables stay where they are."""

from ziggurat.data.engines import DatabaseTable, tables_in
from ziggurat.data.reading.formats._loaded import LoadedFile
from ziggurat.data.reading.formats._sqlite import choose_table
from ziggurat.data.schema import FileLayout

DUCKDB_FILES = (".duckdb", ".ddb")
"""The endings of DuckDB files; .db may be one, too."""
DUCKDB_MAGIC = b"DUCK"
"""What a DuckDB file holds from its ninth byte on."""


def load_duckdb(path: str, layout: FileLayout) -> LoadedFile:
    """Return a table of a DuckDB file; it is opened for reading only, and no row is copied.

    Parameters
    ----------
    path
        Of the file.
    layout
        Which table, if there are several.
    """
    table = choose_table(tables_in(path), layout.table, f"the file {path!r}")
    return LoadedFile(DatabaseTable(path, table), notes=(f"Read from table {table!r}.",))
