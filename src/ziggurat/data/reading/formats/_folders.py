"""Folders of files of one kind; parts of a path such as `year=2020` are columns, as Hive and Spark write them."""

from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from sqlglot import exp

from ziggurat.data.engines import DuckDBEngine, is_text_file, table_named
from ziggurat.data.reading.formats._loaded import LoadedFile, withhold_reason
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError
from ziggurat.wording import count_noun, list_names

_FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc"}
_NULL = "__HIVE_DEFAULT_PARTITION__"


def load_folder(path: str, layout: FileLayout) -> LoadedFile:
    """Return the table that the files of a folder hold together.

    Files and folders whose name begins with `_` or `.` do not count. All others must have one ending, and the same
    columns. Parquet and Arrow files are scanned for every question, and text files are read as if they were one.

    Parameters
    ----------
    path
        Of the folder.
    layout
        Not used: files of a folder must be plain.
    """
    del layout
    files = _files(Path(path))
    endings = sorted({_ending(file) for file in files})
    if not files:
        raise DataError(f"{path!r} is a folder; name the files in it, such as {path + '/*' + Path(path).suffix!r}.")
    if len(endings) > 1:
        raise DataError(
            f"The folder {path!r} holds files of several kinds, {list_names(endings)}; keep those of one table in a "
            "folder of their own."
        )
    notes = (f"{count_noun(len(files), 'file')} of the folder read as one table.",)
    if endings[0] in _FORMATS:
        return LoadedFile(_dataset(path, files, _FORMATS[endings[0]]), notes=notes)
    if not is_text_file(f"x{endings[0]}"):
        raise DataError(f"The folder {path!r} holds no files of Parquet, Arrow or text; name a file in it.")
    return LoadedFile(_texts(path, files, endings[0]), loose=True, notes=notes)


def _files(folder: Path) -> list[Path]:
    if any((folder / log).is_dir() for log in ("_delta_log", ".hoodie")):
        raise DataError(
            f"The folder {str(folder)!r} is a Delta or Hudi table, whose log says which files count; export it as "
            "Parquet first."
        )
    found = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    return [each for each in found if not any(part[0] in "._" for part in each.relative_to(folder).parts)]


def _ending(file: Path) -> str:
    name = file.name.lower()
    packed = ".gz" if name.endswith(".gz") else ""
    return Path(name.removesuffix(".gz")).suffix + packed


def _dataset(path: str, files: list[Path], form: str) -> Any:
    from pyarrow import dataset

    names = [str(file) for file in files]
    broken = f"The files of the folder {path!r} cannot be read together; is one damaged, or of other columns?"
    base: dict[str, Any] = {"format": form, "partitioning": "hive", "partition_base_dir": path}
    made = withhold_reason(lambda: dataset.dataset(names, **base), broken)
    schemas = withhold_reason(lambda: {each.path: each.physical_schema for each in made.get_fragments()}, broken)
    first = next(iter(schemas.values()))
    for file, schema in schemas.items():
        if not schema.equals(first):
            raise DataError(f"The file {file!r} has other columns, or other types, than the first of its folder.")
    return made


def _texts(path: str, files: list[Path], ending: str) -> Any:
    flat = all(file.parent == Path(path) for file in files)
    if flat and not set("*?") & set(path):
        return f"{path.rstrip('/')}/*{ending}"
    keys = [_keys(file.relative_to(path)) for file in files]
    if any(each.keys() != keys[0].keys() for each in keys):
        raise DataError(f"The folders in {path!r} do not all name the same keys, such as year=2020; sort them alike.")
    tables = [_with_keys(file, known) for file, known in zip(files, keys, strict=True)]
    for file, table in zip(files, tables, strict=True):
        if table.column_names != tables[0].column_names:
            raise DataError(f"The file {str(file)!r} has other columns than the first of its folder.")
    return pa.concat_tables(tables)


def _keys(inside: Path) -> dict[str, str | None]:
    pairs = [part.partition("=") for part in inside.parts[:-1] if "=" in part]
    return {unquote(name): None if value == _NULL else unquote(value) for name, _, value in pairs}


def _with_keys(file: Path, keys: dict[str, str | None]) -> pa.Table:
    with DuckDBEngine() as engine:
        table = engine.query(exp.select("*").from_(table_named(engine.attach(str(file)))))
    for name, value in keys.items():
        if name.lower() in {each.lower() for each in table.column_names}:
            raise DataError(f"The file {str(file)!r} has a column {name!r}, and so has its folder; rename one.")
        table = table.append_column(name, pa.array([value] * table.num_rows, pa.string()))
    return table
