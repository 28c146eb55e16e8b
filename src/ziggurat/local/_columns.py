"""Values as people hold them, in whatever form, as one Arrow column or one array; rows of bytes as text."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.errors import DataError

Bytes = npt.NDArray[np.uint8]
Floats = npt.NDArray[np.float64]


def as_column(values: Any) -> pa.Array:
    """Give a list, an array or a series as an Arrow array, with NaN as missing; refuse anything else unseen."""
    if isinstance(values, (str, bytes, dict)):
        raise DataError("The values must be a list, an array or a series, one entry for each record.")
    try:
        return _combine(_arrow(values))
    except Exception:  # noqa: BLE001  (Arrow and the frames quote cells in what they raise)
        reason = "The values must be a list, an array or a series of one kind, one entry for each record."
    raise DataError(reason)


def _arrow(values: Any) -> Any:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    if isinstance(values, (list, tuple, np.ndarray)):
        return pa.array(values, from_pandas=True)
    return nw.from_native(values, series_only=True).to_arrow()


def _combine(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def as_numbers(values: Any) -> Floats:
    """Give numbers as floats, NaN where missing; truth values and text are refused."""
    column = as_column(values)
    if kinds.is_null(column.type):
        return np.full(len(column), np.nan)
    if not (kinds.is_integer(column.type) or kinds.is_floating(column.type) or kinds.is_decimal(column.type)):
        raise DataError("The values must be numbers.")
    return np.array(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)


def fill_missing(numbers: Floats, missing: bool, stand_in: float) -> Floats:
    """Put the public stand-in where values are missing, or refuse them."""
    absent = np.isnan(numbers)
    if not missing and bool(absent.any()):
        raise DataError(
            "Some values are missing; fill them in, or send a public value in their place with missing=True, or "
            "--missing on the command line."
        )
    return np.where(absent, stand_in, numbers)


def to_hexadecimal(rows: Bytes) -> pa.Array:
    """Give each row as text of two digits per byte, so that any file format carries it."""
    text = pa.py_buffer(np.ascontiguousarray(rows).tobytes().hex().encode())
    ends = np.arange(len(rows) + 1, dtype=np.int64) * 2 * rows.shape[1]
    return pa.LargeStringArray.from_buffers(len(rows), pa.py_buffer(ends), text)


def from_hexadecimal(column: Any, width: int) -> Bytes:
    """Read rows of `width` bytes back; anything else is refused."""
    try:
        text = as_column(column).cast(pa.large_string())
        fits = text.null_count == 0 and bool(
            pc.all(pc.equal(pc.binary_length(text), 2 * width)).as_py() in (True, None)
        )
        if fits:
            joined = bytes.fromhex("".join(text.to_pylist()))
            return np.frombuffer(joined, dtype=np.uint8).reshape(len(text), width)
    except (pa.ArrowException, ValueError):
        pass
    raise DataError("The reports are no hexadecimal text of the expected length; they belong to another collection.")
