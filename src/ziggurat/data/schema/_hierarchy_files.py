"""Hierarchies on disk: one row for each value, in the manner of ARX, or the hierarchies of many columns in one file."""

import csv
import gzip
import io
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ziggurat.data.engines import mark_text, unmark_text
from ziggurat.data.schema._kind_texts import cell_reads_as
from ziggurat.data.schema._known import INT64_LOWER, INT64_UPPER, Hierarchy, Kind, Value, choose, write_value
from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.files import write_text
from ziggurat.wording import count_noun, nearest

if TYPE_CHECKING:
    from ziggurat.data.schema._schema import Schema

_DELIMITERS = (";", "\t", ",")
_LONG_FORM = ["attribute", "level0"]
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_TRIED = (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.BOOLEAN)


class _Row(NamedTuple):
    line: int
    fields: list[str]


def read_hierarchy(path: str | Path, kind: Kind | str | None = None, *, column: str | None = None) -> Hierarchy:
    """Read the hierarchy of one column from a CSV file.

    Parameters
    ----------
    path
        A file without header in UTF-8, possibly compressed (.gz), with one row for each value: the value, then its
        labels from the most to the least specific, separated by semicolons, tabs or commas, such as `34;30-39;*`.
        A file of many columns, as `read_hierarchies` takes it, will do as well.
    kind
        What the values are; by default the narrowest of integer, real, date, boolean and text that fits them all.
    column
        Which hierarchy to take from a file of many columns.

    Raises
    ------
    DataError
        In one sentence with the number of the line, which never quotes what stands there.
    """
    file, rows = str(path), _rows(path)
    if _is_long_form(rows):
        return _build(_of_column(rows, column, file), kind, file)
    return _build(rows, kind, file)


def read_hierarchies(path: str | Path, kinds: Mapping[str, Kind | str] | None = None) -> dict[str, Hierarchy]:
    """Read the hierarchies of many columns from one CSV file.

    Parameters
    ----------
    path
        A file in UTF-8, possibly compressed (.gz), with the header `attribute,level0,level1,...` and one row for each
        value of each column; the fields beyond a column's depth are blank. A file of a single hierarchy, as
        `read_hierarchy` takes it, is that of the column after which the file is named.
    kinds
        What the values of a column are; by default the narrowest kind that fits them all.
    """
    file, rows = str(path), _rows(path)
    found = _by_column(rows, file) if _is_long_form(rows) else {Path(path).name.split(".")[0]: rows}
    given = kinds or {}
    return {name: _build(each, given.get(name), file) for name, each in found.items()}


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, mode: int | None = None) -> None:
    """Write a hierarchy as `read_hierarchy` reads it and ARX does, separated by semicolons, whole or not at all.

    Parameters
    ----------
    hierarchy
        What to write; its values may be those of the data.
    path
        A file for text, such as age.csv.
    mode
        The permissions of the file, such as 0o600 for what only its owner may read.
    """
    if Path(path).suffix == ".gz":
        raise ParameterError("A hierarchy is written as plain text; choose a name that ends in .csv.")
    rows = (
        (mark_text(value) if isinstance(value, str) else write_value(value), *map(mark_text, labels))
        for value, labels in hierarchy.levels.items()
    )
    write_text(path, "".join(";".join(map(_quote, row)) + "\n" for row in rows), mode=mode)


# A mark of the byte order counts as one only outside quotation marks.
_AWKWARD = re.compile(r'[;"\r\n]|\A\ufeff')


def _quote(field: str) -> str:
    return '"' + field.replace('"', '""') + '"' if _AWKWARD.search(field) else field


def _rows(path: str | Path) -> list[_Row]:
    """The filled rows of a file, split by the first delimiter that splits them all alike, or else most of them."""
    text, splits, troubles = _text(path), [], []
    for delimiter in _DELIMITERS:
        try:
            splits.append(_split_rows(text, delimiter, str(path)))
        except DataError as trouble:
            troubles.append(trouble)
            continue
        if _evenness(splits[-1]) == 1:
            return splits[-1]
    if not splits:
        raise troubles[0]
    rows = max(splits, key=_evenness)
    if not rows:
        raise DataError(f"{path} is empty; a hierarchy has a row for each value, such as 34;30-39;*")
    return rows


def _evenness(rows: list[_Row]) -> float:
    """The share of the rows with the most frequent number of fields, if that is more than one."""
    widths = Counter(len(row.fields) for row in rows if len(row.fields) > 1)
    return max(widths.values(), default=0) / max(len(rows), 1)


def _split_rows(text: str, delimiter: str, file: str) -> list[_Row]:
    rows, line = [], 1
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            if fields:
                rows.append(_Row(line, list(map(unmark_text, fields))))
            line = reader.line_num + 1
    except csv.Error:
        raise DataError(f"{file}, line {line}: this is not CSV; check the quotation marks.") from None
    return rows


def _text(path: str | Path) -> str:
    content = _content(Path(path))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    raise DataError(f"{path}, line {line}: this is not UTF-8; save the file in that encoding.")


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (OSError, EOFError, ValueError, zlib.error):
        raise DataError(f"The hierarchy file {str(path)!r} does not exist or cannot be read.") from None


def _is_long_form(rows: list[_Row]) -> bool:
    return rows[0].fields[:2] == _LONG_FORM


def _of_column(rows: list[_Row], column: str | None, file: str) -> list[_Row]:
    found = _by_column(rows, file)
    if column is None and len(found) == 1:
        return next(iter(found.values()))
    if column is None:
        raise DataError(f"{file} holds the hierarchies of {len(found)} columns; say of which.")
    if column not in found:
        raise DataError(f"{file} holds no hierarchy of column {column!r}; {nearest(column, found)}")
    return found[column]


def _by_column(rows: list[_Row], file: str) -> dict[str, list[_Row]]:
    _require_even(rows, file)
    found: dict[str, list[_Row]] = {}
    for line, (name, *fields) in rows[1:]:
        while len(fields) > 1 and not fields[-1]:
            fields.pop()
        found.setdefault(name, []).append(_Row(line, fields))
    if not found:
        raise DataError(f"{file} has a header but no rows; give a row for each value of each column.")
    return found


def _require_even(rows: list[_Row], file: str) -> None:
    width = len(rows[0].fields)
    if width < 2:
        raise DataError(f"{file}, line {rows[0].line}: a value needs at least one label, as in 34;30-39;*")
    for line, fields in rows:
        if len(fields) != width:
            raise DataError(
                f"{file}, line {line}: this row has {count_noun(len(fields), 'field')} but line {rows[0].line} has "
                f"{width}; give every value the same number of labels."
            )


def _build(rows: list[_Row], kind: Kind | str | None, file: str) -> Hierarchy:
    _require_even(rows, file)
    values = _guess_values(rows, file) if kind is None else _read(rows, choose(Kind, kind, "kind"), file)
    levels: dict[Value, tuple[str, ...]] = {}
    for (line, fields), value in zip(rows, values, strict=True):
        if value in levels:
            raise DataError(f"{file}, line {line}: this value stands in an earlier line too; list every value once.")
        levels[value] = tuple(fields[1:])
    try:
        return Hierarchy(levels)
    except SchemaError as error:
        raise DataError(f"{file}: {error}") from None


def _guess_values(rows: list[_Row], file: str) -> list[Value]:
    for kind in _TRIED:
        if all(cell_reads_as(row.fields[0], kind) for row in rows):
            with suppress(DataError):  # a number that is infinite
                return _read(rows, kind, file)
    return [row.fields[0] for row in rows]


def _read(rows: list[_Row], kind: Kind, file: str) -> list[Value]:
    values: list[Value] = []
    try:
        for row in rows:
            values.append(_value(row.fields[0], kind))  # noqa: PERF401  (how many were read tells the line)
    except ValueError:
        raise DataError(f"{file}, line {rows[len(values)].line}: the value cannot be read as {kind}.") from None
    return values


def _value(text: str, kind: Kind) -> Value:
    """The value that a text stands for; a ValueError if it stands for none of this kind."""
    if kind in (Kind.TEXT, Kind.CATEGORY):
        return text
    if kind is Kind.DATE:
        return date.fromisoformat(text.strip())
    if kind is Kind.BOOLEAN:
        if text.strip().lower() not in _TRUTH:
            raise ValueError
        return _TRUTH[text.strip().lower()]
    number = int(_plain_number(text)) if kind is Kind.INTEGER else float(_plain_number(text))
    if not (INT64_LOWER <= number <= INT64_UPPER if kind is Kind.INTEGER else math.isfinite(number)):
        raise ValueError
    return number


def _plain_number(text: str) -> str:
    # Python also reads 1_000 and the digits of other scripts, which no engine does.
    if "_" in text or not text.isascii():
        raise ValueError
    return text


def hierarchies_in(places: Iterable[str | Path], schema: "Schema") -> dict[str, Hierarchy]:
    """Read the hierarchies in files and folders: one file for each column, named after it, or one for many."""
    kinds = {column.name: column.storage for column in schema.columns}
    found: dict[str, Hierarchy] = {}
    for file in _files(places):
        held = {name: tree for name, tree in read_hierarchies(file, kinds).items() if name in kinds}
        if not held:
            raise DataError(
                f"{str(file)!r} holds no hierarchy of a column of the table; name the file after the column."
            )
        found |= held
    return found


def _files(places: Iterable[str | Path]) -> Iterator[Path]:
    for place in places:
        path = Path(place)
        if not path.is_dir():
            yield path
            continue
        files = sorted(each for each in path.iterdir() if each.name.lower().endswith(_ENDINGS))
        if not files:
            raise DataError(f"There is no .csv file in the folder {str(place)!r}.")
        yield from files
