"""One Arrow form for the answers of every engine.

Integers are int64 (decimal128(38, 0) when one does not fit), reals and decimals with a fraction float64, text
string, booleans bool, dates date32, timestamps timestamp[us] in UTC without a zone. Nested types pass unchanged.
"""

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
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid:
        return column.cast(WIDE_INTEGER)


def _timestamps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if column.type.tz is not None:
        column = column.cast(pa.timestamp("us", tz="UTC"), safe=False)
    return column.cast(pa.timestamp("us"), safe=False)
