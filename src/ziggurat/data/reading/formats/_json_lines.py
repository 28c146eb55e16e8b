"""JSON lines, and JSON files that hold one list of flat objects."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from ziggurat.data.engines import name_columns
from ziggurat.data.reading.formats._cells import column_of
from ziggurat.data.reading.formats._loaded import LoadedFile
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError

_LISTS = (".json", ".json.gz")
JSON_FILES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", *_LISTS)
"""The endings of files of JSON."""


def load_json(path: str, layout: FileLayout) -> LoadedFile:
    """Return the table of a file of JSON lines, or of a JSON file that holds a list of objects.

    Every object is a row, and its fields are cells; a field that an object leaves out is missing. Values inside values
    are refused, because a table has no place for them.

    Parameters
    ----------
    path
        Of the file.
    layout
        Only its encoding counts; without one it is UTF-8.
    """
    columns: dict[str, list[Any]] = {}
    for before, (line, row) in enumerate(_objects(path, layout.encoding or "utf-8-sig")):
        _check(path, line, row)
        columns |= {name: [None] * before for name in row if name not in columns}
        for name, cells in columns.items():
            cells.append(row.get(name))
    if not columns:
        raise DataError(f"The file {path!r} holds no row.")
    names, notes = name_columns(list(columns))
    arrays = [column_of(name, cells) for name, cells in zip(names, columns.values(), strict=True)]
    return LoadedFile(pa.table(dict(zip(names, arrays, strict=True))), loose=True, notes=notes)


def _objects(path: str, encoding: str) -> Iterator[tuple[int, Any]]:
    text = _text(path, encoding)
    if path.lower().endswith(_LISTS) and text.lstrip()[:1] == "[":
        yield from enumerate(_parse(path, 0, text), start=1)
        return
    for number, line in enumerate(io.StringIO(text), start=1):
        if line.strip():
            yield number, _parse(path, number, line)


def _text(path: str, encoding: str) -> str:
    try:
        content = gzip.decompress(Path(path).read_bytes()) if path.lower().endswith(".gz") else Path(path).read_bytes()
        return content.decode(encoding)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        reason = f"The file {path!r} is not a complete gzip file; compress it again."
    except OSError:
        reason = f"The file {path!r} cannot be opened; check its permissions."
    except (UnicodeError, LookupError):
        reason = f"The file {path!r} is not {encoding.removesuffix('-sig')}; name its encoding (--encoding)."
    raise DataError(reason)


def _parse(path: str, line: int, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_drop_constant)
    except (ValueError, RecursionError):
        pass
    if path.lower().endswith(_LISTS) and (line == 0 or text.strip() in ("{", "[")):
        raise DataError(f"The file {path!r} is not a list of flat JSON objects; write one object per line (.jsonl).")
    raise DataError(f"Line {line} of {path!r} is not a JSON object; write one on every line.")


def _drop_constant(_: str) -> None:
    """NaN and the infinities are missing."""


def _check(path: str, line: int, row: Any) -> None:
    if not isinstance(row, dict):
        raise DataError(f"Line or element {line} of {path!r} is not a JSON object with the names of its fields.")
    for name, cell in row.items():
        if isinstance(cell, dict | list):
            _refuse_nested(path, line, name)


def _refuse_nested(path: str, line: int, name: str) -> NoReturn:
    raise DataError(
        f"Field {name!r} in line or element {line} of {path!r} holds values inside values, which a table has no place "
        "for; give each its own field."
    )
