"""One form for every dataset, and a digest of what it says rather than of how it is stored."""

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.errors import DataError


def canonical(table: pa.Table) -> pa.Table:
    """Return the same rows with text as plain strings, without dictionaries and without metadata.

    Parameters
    ----------
    table
        Any table of numbers, booleans, text and bytes.
    """
    fields = [pa.field(field.name, _plain_type(field.type)) for field in table.schema]
    return table.cast(pa.schema(fields)).combine_chunks()


def content_digest(table: pa.Table) -> str:
    """Return the SHA-256 of column names, types and values in order.

    Two tables have the same digest if and only if (up to a collision) their canonical forms agree; chunks,
    offsets, dictionaries, file formats and compression do not matter.

    Parameters
    ----------
    table
        Any table that `canonical` accepts.
    """
    plain = canonical(table)
    digest = hashlib.sha256(f"ziggurat table 1\0{plain.num_rows}\0{plain.num_columns}\0".encode())
    for name in plain.column_names:
        _add_column(digest, name, plain[name])
    return digest.hexdigest()


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) else kind


def _add_column(digest: Any, name: str, column: pa.ChunkedArray) -> None:
    digest.update(f"{name}\0{column.type}\0".encode())
    digest.update(np.packbits(column.is_null().to_numpy()).tobytes())
    values = _join_chunks(column)
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        _add_texts(digest, values)
    elif pa.types.is_fixed_size_binary(column.type):
        _add_texts(digest, values.cast(pa.binary()))
    else:
        _add_numbers(digest, values)


def _join_chunks(column: pa.ChunkedArray) -> pa.Array:
    chunks = column.combine_chunks()
    if isinstance(chunks, pa.ChunkedArray):
        return pa.concat_arrays(chunks.chunks) if chunks.num_chunks else pa.array([], column.type)
    return chunks


def _add_texts(digest: Any, values: pa.Array) -> None:
    texts = values.cast(pa.large_binary()).fill_null(b"")
    _, offsets, content = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    digest.update(np.diff(ends).astype("<i8").tobytes())
    if content is not None:
        digest.update(memoryview(content)[ends[0] : ends[-1]])


def _add_numbers(digest: Any, values: pa.Array) -> None:
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    if not (pa.types.is_primitive(values.type) and not pa.types.is_temporal(values.type)):
        raise DataError(f"A column of type {values.type} has no digest; use numbers, text or bytes.")
    filled = values.fill_null(False if pa.types.is_boolean(values.type) else 0)
    numbers = filled.to_numpy(zero_copy_only=False)
    digest.update(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes())
