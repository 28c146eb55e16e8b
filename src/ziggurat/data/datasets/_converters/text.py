"""Read delimited text exactly: every field as text first, then each column cast to its declared type."""

import io
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from ziggurat.errors import DataError


def decode_lines(content: bytes) -> list[str]:
    """Return the lines that are not blank, without their ends; bytes that are no UTF-8 become U+FFFD.

    Only line feeds (with or without a carriage return) end a line: attack strings hold stranger ones.
    """
    lines = content.decode("utf-8", errors="replace").split("\n")
    return [line for line in (each.removesuffix("\r") for each in lines) if line]


def read_fields(
    content: bytes, *, delimiter: str = ",", names: Sequence[str] | None = None, quoted: bool = True
) -> pa.Table:
    """Return a table of strings.

    Parameters
    ----------
    content
        The file.
    delimiter
        One character between fields.
    names
        Column names; None takes them from the first line.
    quoted
        Whether fields may be wrapped in double quotes.
    """
    read = csv.ReadOptions(column_names=names, use_threads=False)
    parse = csv.ParseOptions(delimiter=delimiter, quote_char='"' if quoted else False, ignore_empty_lines=True)
    header = list(names) if names else _header(content, delimiter)
    convert = csv.ConvertOptions(column_types={name: pa.string() for name in header}, strings_can_be_null=False)
    return csv.read_csv(io.BytesIO(content), read, parse, convert)


def cast_columns(table: pa.Table, types: Mapping[str, pa.DataType], *, missing: str | None = None) -> pa.Table:
    """Return the columns named in `types`, in that order, trimmed and cast.

    Parameters
    ----------
    table
        A table of strings.
    types
        Column names and the types they are cast to; a value that does not fit raises.
    missing
        The code that stands for a missing value, if any.
    """
    absent = [name for name in types if name not in table.column_names]
    if absent:
        raise DataError(f"The file has no column {absent[0]!r}.")
    columns = {name: _cast(table[name], kind, missing) for name, kind in types.items()}
    return pa.table(columns)


def _cast(column: pa.ChunkedArray, kind: pa.DataType, missing: str | None) -> pa.ChunkedArray:
    text = pc.utf8_trim_whitespace(column)
    if missing is not None:
        text = pc.if_else(pc.equal(text, missing), pa.scalar(None, pa.string()), text)
    if pa.types.is_integer(kind):
        return _whole(text, kind)
    return text.cast(kind)


def _whole(text: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Cast to an integer also what is written with a decimal point, as long as nothing follows it."""
    return text.cast(pa.float64()).cast(kind)


def _header(content: bytes, delimiter: str) -> list[str]:
    first = content.split(b"\n", 1)[0].decode("utf-8-sig").strip()
    return [name.strip('"') for name in first.split(delimiter)]
