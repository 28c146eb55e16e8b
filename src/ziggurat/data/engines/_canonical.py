"""One Arrow form for the answers of every engine.

Integers are int64 (decimal128(38, 0) when one does not fit), reals and decimals with a fraction float64, text
string, booleans bool, dates date32, timestamps timestamp[us] in UTC without a zone. Nested types pass unchanged.
"""

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds

WIDE_INTEGER = pa.decimal128(38, 0)


def canonical(table: pa.Table) -> pa.Table:
    """Return the same table with every column in its canonical type."""
    columns = [canonical_column(column) for column in table.columns]
    return pa.Table.from_arrays(columns, names=table.column_names)


def canonical_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the same cells in their canonical type."""
    given = column.type
    if kinds.is_dictionary(given):
        return canonical_column(column.cast(given.value_type))
    if kinds.is_integer(given) or (kinds.is_decimal(given) and given.scale <= 0):
        return _integers(column)
    if kinds.is_decimal(given):
        # Arrow's own cast multiplies by 0.1 and misses the nearest float; parsing the digits does not.
        return column.cast(pa.string()).cast(pa.float64())
    if kinds.is_timestamp(given):
        return _timestamps(column)
    target = _simple_target(given)
    return column if target is None else column.cast(target)


def _simple_target(given: pa.DataType) -> pa.DataType | None:
    if kinds.is_floating(given):
        return pa.float64()
    if kinds.is_large_string(given) or kinds.is_string_view(given):
        return pa.string()
    return pa.date32() if kinds.is_date(given) else None


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    given = column.type
    if given == pa.int64():
        return column
    if (given == WIDE_INTEGER or kinds.is_signed_integer(given)) and not column.null_count:
        chunks = [_as_int64(chunk) for chunk in column.chunks]
        return column if any(chunk is None for chunk in chunks) else pa.chunked_array(chunks, pa.int64())
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(WIDE_INTEGER)


def _as_int64(chunk: pa.Array) -> pa.Array | None:
    """Integers, or decimals without a fraction, none missing, in 64 bits; None if one does not fit.

    It is what Arrow's cast gives, without its compute functions, which take longer to load than most answers.
    """
    width = min(chunk.type.bit_width, 64) // 8
    words = np.frombuffer(chunk.buffers()[1] or b"", dtype=f"<i{width}").reshape(-1, chunk.type.bit_width // 8 // width)
    words = words[chunk.offset : chunk.offset + len(chunk)].astype(np.int64)
    # A decimal has 128 bits: its upper half must do no more than extend the sign of the lower one.
    if (words[:, 1:] != words[:, :1] >> 63).any():
        return None
    return pa.Array.from_buffers(pa.int64(), len(words), [None, pa.py_buffer(words[:, 0].copy())])


def _timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type.tz is not None:
        column = column.cast(pa.timestamp("us", tz="UTC"), safe=False)
    return column.cast(pa.timestamp("us"), safe=False)
