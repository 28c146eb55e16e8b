"""Which reader takes a file: its ending says, and for databases its first bytes."""

from collections.abc import Callable
from pathlib import Path

from ziggurat.data.engines import Engine
from ziggurat.data.reading.formats._duckdb_files import DUCKDB_FILES, DUCKDB_MAGIC, load_duckdb
from ziggurat.data.reading.formats._folders import load_folder
from ziggurat.data.reading.formats._json_lines import JSON_FILES, load_json
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.reading.formats._r_files import R_FILES, load_r
from ziggurat.data.reading.formats._sqlite import SQLITE_FILES, SQLITE_MAGIC, load_sqlite
from ziggurat.data.reading.formats._statistics import STATISTICS, load_statistics
from ziggurat.data.reading.formats._workbooks import WORKBOOKS, load_workbook
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError

_Reader = Callable[[str, FileLayout], LoadedFile]
_DATABASES = (*SQLITE_FILES, *DUCKDB_FILES, ".db")
_READERS: dict[tuple[str, ...], _Reader] = {
    WORKBOOKS: load_workbook,
    STATISTICS: load_statistics,
    R_FILES: load_r,
    JSON_FILES: load_json,
}

FILE_ENDINGS = (*(ending for endings in _READERS for ending in endings), *_DATABASES)
"""The endings of files that `load_file` reads."""


def handles_file(path: str) -> bool:
    """Return whether `load_file` reads a file of that name: by its ending, or because it is a folder."""
    if "://" in path:  # an address, which may end like a file
        return False
    return path.lower().endswith(FILE_ENDINGS) or _is_folder(path)


def load_file(path: str, layout: FileLayout) -> LoadedFile:
    """Read a file that is no plain text, Parquet or Arrow file, whole.

    Parameters
    ----------
    path
        Of the file, or of a folder of files.
    layout
        What was told of it: sheet, table, header, names, rows to skip, encoding.
    """
    if _is_folder(path):
        return load_folder(path, layout)
    _check(path)
    return _reader_of(path)(path, layout)


def attach_file(engine: Engine, path: str | Path) -> str:
    """Make a file of any format visible to the queries of an engine, and return the name of the relation.

    Parameters
    ----------
    engine
        Where to hold it.
    path
        Of the file.
    """
    name = str(path)
    return engine.attach(load_file(name, FileLayout()).data if handles_file(name) else name)


def _reader_of(path: str) -> _Reader:
    for endings, reader in _READERS.items():
        if path.lower().endswith(endings):
            return reader
    if not path.lower().endswith(_DATABASES):
        raise DataError(f"The file {path!r} has no known ending; use one of {', '.join(FILE_ENDINGS)}.")
    with Path(path).open("rb") as file:
        first = file.read(16)
    if first == SQLITE_MAGIC:
        return load_sqlite
    if first[8:12] == DUCKDB_MAGIC:
        return load_duckdb
    raise DataError(f"The file {path!r} is neither a SQLite nor a DuckDB file, or it is encrypted.")


def _is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def _check(path: str) -> None:
    """Say what is wrong with a file before a reader of others' making says it in its own words."""
    there = withhold_reason(lambda: Path(path).is_file(), f"There is no file {path!r}.")
    if not there:
        raise DataError(f"There is no file {path!r}.")
    if Path(path).stat().st_size == 0:
        raise DataError(f"The file {path!r} is empty.")
    withhold_reason(
        lambda: Path(path).open("rb").close(), f"The file {path!r} cannot be opened; check its permissions."
    )
