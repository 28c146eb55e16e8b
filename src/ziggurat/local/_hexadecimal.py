"""Rows of bytes as text, so that any file format carries them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.errors import DataError
from ziggurat.local._columns import as_column

Bytes = npt.NDArray[np.uint8]


def to_hexadecimal(rows: Bytes) -> pa.Array:
    """Give each row as text of two digits per byte."""
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
