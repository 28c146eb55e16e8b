"""What Arrow columns become before an engine takes them in.

A timestamp with a time zone is the moment it names; its date is the one on the calendar of that zone. Engines keep the
moment and forget the zone, so the time on the clock of the zone is handed over instead. Parquet files and datasets,
which are not loaded, are seen through a view that does the same.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.types as kinds
from pyarrow import ArrowInvalid, ArrowNotImplementedError

from ziggurat._lazy import deferred
from ziggurat.errors import DataError

if TYPE_CHECKING:
    import pyarrow.compute as pc
else:
    pc = deferred("pyarrow.compute")

_PER_SECOND = {"s": 1, "ms": 1_000}
_FARTHEST = 2**38  # seconds from 1970: past the year 9999 either way, within what engines convert
_OFFSET = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")


def prepare_table(table: pa.Table) -> pa.Table:
    """Return a table whose columns every engine takes in."""
    for place, field in enumerate(table.schema):
        undescribed = _is_of_pandas(field)
        column = _leave_undescribed(table) if undescribed else _column(field.name, table.column(place))
        if column.type != field.type:
            table = table.set_column(place, field.name, column)
    return table


def prepare_batches(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return a reader of the same rows whose columns every engine takes in."""
    target = prepare_table(reader.schema.empty_table()).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in reader:
            yield from prepare_table(pa.Table.from_batches([batch])).to_batches()

    return pa.RecordBatchReader.from_batches(target, batches())


def check_texts(dataset: Any) -> None:
    """Raise DataError unless all text of a dataset is UTF-8; it is scanned once, and nothing is kept."""
    texts = [field.name for field in dataset.schema if _is_text(field.type)]
    for batch in dataset.to_batches(columns=texts) if texts else ():
        prepare_table(pa.Table.from_batches([batch]))


def replacements(schema: pa.Schema) -> dict[str, str]:
    """Return for columns that DuckDB would read without what Arrow knows of them the SQL to read them by."""
    found = {}
    for field in schema:
        cell = '"' + field.name.replace('"', '""') + '"'
        if kinds.is_timestamp(field.type) and field.type.tz not in (None, "UTC"):
            found[field.name] = _local(cell, field.type.tz)
        elif kinds.is_duration(field.type) or _is_of_pandas(field):
            # A file keeps these as bare integers; no kind describes them, here as in a frame.
            found[field.name] = "CAST(NULL AS INTERVAL)"
    return found


def _local(cell: str, zone: str) -> str:
    offset = _OFFSET.fullmatch(zone)
    if offset is None:
        return f"timezone('{zone.replace(chr(39), '')}', {cell})"
    minutes = int(offset[1] + "1") * (60 * int(offset[2]) + int(offset[3]))
    return f"timezone('UTC', {cell}) + to_minutes({minutes})"


def _is_of_pandas(field: pa.Field) -> bool:
    """Whether a column holds periods or intervals of pandas; outside pandas only the field's metadata say so."""
    if isinstance(field.type, pa.BaseExtensionType):
        return bool(field.type.extension_name.startswith("pandas."))
    named: bytes = (field.metadata or {}).get(b"ARROW:extension:name", b"")
    return named.startswith(b"pandas.")


def _leave_undescribed(table: pa.Table) -> pa.ChunkedArray:
    """A column of a type that no kind describes, so that it is refused, or left out, by name."""
    return pa.chunked_array([pa.nulls(table.num_rows, pa.month_day_nano_interval())])


def _column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    given = column.type
    if kinds.is_timestamp(given):
        return _clock_time(name, _within_reach(column))
    if kinds.is_float16(given):
        return column.cast(pa.float32())
    if kinds.is_decimal256(given):
        return _narrow(name, column)
    if _is_text(given):
        _check_text(name, column)
    return column


def _is_text(given: pa.DataType) -> bool:
    given = given.value_type if kinds.is_dictionary(given) else given
    return bool(kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given))


def _check_text(name: str, column: pa.ChunkedArray) -> None:
    """Refuse bytes that are no text here: an engine takes them in, and Python stumbles over them in every answer."""
    try:
        column.validate(full=True)
        return
    except ArrowInvalid:
        pass
    raise DataError(f"Column {name!r} holds text that is not UTF-8; decode it by the encoding that it is in.")


def _within_reach(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Move moments that microseconds cannot express to one past the year 9999, where they count as unreadable."""
    unit = column.type.unit
    if unit in ("us", "ns"):
        return column
    ticks = column.cast(pa.int64())
    end = pa.scalar(_FARTHEST * _PER_SECOND[unit], pa.int64())
    ticks = pc.max_element_wise(pc.min_element_wise(ticks, end, skip_nulls=False), pc.negate(end), skip_nulls=False)
    return ticks.cast(column.type).cast(pa.timestamp("us", tz=column.type.tz))


def _clock_time(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column if column.type.tz is None else pc.local_timestamp(column)
    except (ArrowInvalid, ArrowNotImplementedError):
        pass
    raise DataError(f"The time zone of column {name!r} is not known to this machine; convert the column to UTC.")


def _narrow(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.decimal128(38, column.type.scale))
    except ArrowInvalid:
        pass
    raise DataError(f"Column {name!r} holds decimals of more than 38 digits; round them or turn them into reals.")
