"""Rows of units as PostgreSQL packs them: many rows in one cell, of numbers in their own bytes.

All numbers of a row are joined before rows are, so that no cell can come to stand in another row, and a row of which
anything is missing is absent whole. The texts that tell units apart have no fixed length; they come beside, with
their lengths, in the encoding of the database: as bytes, which nobody has to be able to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ziggurat.errors import EngineError

PACKED_BY_SORTING = ("SET LOCAL enable_hashagg = off",)
"""So that one part is packed after the other: side by side, all of them would lie in the memory of the server."""

_PARTS = 256
# By the number of a type (catalogue pg_type): how the server writes it, how NumPy reads that, what Arrow calls it.
_SENT = {
    16: ("boolsend", "i1", pa.int8()),
    20: ("int8send", ">i8", pa.int64()),
    21: ("int2send", ">i2", pa.int16()),
    23: ("int4send", ">i4", pa.int32()),
    1082: ("date_send", ">i4", pa.int32()),
}
_TEXT = 25


class RowPacking:
    """How the answer of a query is packed, and unpacked again.

    Parameters
    ----------
    described
        The columns of the answer: the unit first.
    """

    def __init__(self, described: Sequence[Any]) -> None:
        codes = [column.type_code for column in described]
        self.names = [column.name for column in described]
        self._is_text = codes[0] == _TEXT
        numbers = codes[1:] if self._is_text else codes
        self.possible = all(code in _SENT for code in numbers)
        self._sent = [_SENT.get(code, _SENT[20]) for code in numbers]
        fields = [(str(place), kind) for place, (_, kind, _) in enumerate(self._sent)]
        self._row = np.dtype(fields)

    @property
    def empty(self) -> pa.Table:
        """No rows, in the types that rows will have; the unit is NULL of no type if none of them can be packed."""
        kinds = [arrow for _, _, arrow in self._sent]
        kinds = [pa.binary(), *kinds] if self._is_text else kinds
        if not self.possible:
            kinds[0] = pa.null()
        return pa.table([pa.array([], kind) for kind in kinds], names=self.names)

    def wrap(self, statement: str) -> str:
        """Return the statement that packs the rows of another."""
        columns = [f"column_{place}" for place in range(len(self.names))]
        numbers = columns[1:] if self._is_text else columns
        row = " || ".join(f"{send}({name})" for name, (send, _, _) in zip(numbers, self._sent, strict=True))
        packed = [f"string_agg({row}, ''::bytea)"]
        if self._is_text:
            letters = "convert_to(column_0, getdatabaseencoding())"
            packed += [f"string_agg(int4send(octet_length({letters})), ''::bytea)", f"string_agg({letters}, ''::bytea)"]
        part = f"hashtextextended(column_0::text, 0) & {_PARTS - 1}"
        named = ", ".join(columns)
        return (
            f"SELECT {', '.join(packed)} FROM ({statement}) AS asked ({named}) "  # noqa: S608
            f"GROUP BY {part}"
        )

    def unpack(self, found: Sequence[bytes]) -> pa.Table:
        """Return the rows of one part."""
        rows = np.frombuffer(found[0], dtype=self._row)
        columns = [_number(rows[str(place)], arrow) for place, (_, _, arrow) in enumerate(self._sent)]
        if self._is_text:
            columns.insert(0, _texts(found[1], found[2], len(rows)))
        return pa.Table.from_arrays(columns, names=self.names)


def _number(cells: Any, arrow: pa.DataType) -> pa.Array:
    held = np.ascontiguousarray(cells, dtype=cells.dtype.newbyteorder("="))
    return pa.Array.from_buffers(arrow, len(held), [None, pa.py_buffer(held)])


def _texts(lengths: bytes, letters: bytes, rows: int) -> pa.Array:
    sizes = np.frombuffer(lengths, dtype=">i4")
    ends = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=ends[1:])
    if len(sizes) != rows or int(ends[-1]) != len(letters):
        raise EngineError("PostgreSQL handed over units that do not belong to their rows.")
    return pa.Array.from_buffers(pa.large_binary(), rows, [None, pa.py_buffer(ends), pa.py_buffer(letters)])
