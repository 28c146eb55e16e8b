"""Columns of cells that each have a type of their own, as workbooks, JSON lines and SQLite hold them."""

import math
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa

from ziggurat.data.schema import INT64_LOWER, INT64_UPPER
from ziggurat.errors import DataError

_NUMBERS, _DAYS = {int, float, Decimal}, {date, datetime}
_BYTES = {bytes, bytearray, memoryview}


def column_of(name: str, cells: Sequence[object]) -> pa.Array:
    """Return cells as one Arrow column of the narrowest type that holds all of them; mixed ones become text.

    Numbers that are all whole become integers, moments that are all midnight dates, times of day and lengths of time
    text such as 14:35:00, and numbers beside text are written as a person would: 12, not 12.0. Bytes stay bytes, which
    no kind of column describes. NaN is missing.

    Parameters
    ----------
    name
        Of the column, for errors.
    cells
        None where there is none.
    """
    filled = [None if isinstance(cell, float) and math.isnan(cell) else cell for cell in cells]
    types = {type(cell) for cell in filled if cell is not None}
    try:
        return _typed(filled, types)
    except (pa.ArrowException, OverflowError, ValueError, UnicodeError):
        pass
    raise DataError(f"Column {name!r} holds a value that no column can; turn its cells into text or numbers.")


def write_cell(cell: object) -> str:
    """Return a cell as a person would write it."""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return write_number(cell)
    if isinstance(cell, datetime):
        return cell.isoformat(" ") if _has_time(cell) else cell.date().isoformat()
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, time):
        return cell.isoformat("auto" if cell.microsecond else "seconds")
    return write_duration(cell.total_seconds()) if isinstance(cell, timedelta) else str(cell)


def write_number(number: float) -> str:
    """Return a number with every digit it has, and no fraction where it is whole: 12, 12.5, 1e+300."""
    return str(int(number)) if is_whole(number) and abs(number) < 1e18 else repr(number)


def write_duration(seconds: float) -> str:
    """Return a length of time as hours, minutes and seconds: 26:10:00."""
    whole, rest = divmod(abs(round(seconds * 1_000_000)), 1_000_000)
    shown = f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{'-' if seconds < 0 else ''}{shown}" + (f".{rest:06}".rstrip("0") if rest else "")


def is_whole(number: float | Decimal) -> bool:
    """Return whether a number is a whole one of 64 bits."""
    return math.isfinite(number) and number == int(number) and INT64_LOWER <= number <= INT64_UPPER


def _typed(cells: list[object], types: set[type]) -> pa.Array:
    if types == {bool}:
        return pa.array(cells, pa.bool_())
    if types and types <= _NUMBERS:
        return _numbers(cells)
    if types and types <= _DAYS:
        return _moments(cells)
    if types & _BYTES:
        return pa.array([None if cell is None else _as_bytes(cell) for cell in cells], pa.binary())
    return pa.array([None if cell is None else write_cell(cell) for cell in cells], pa.string())


def _numbers(cells: list[object]) -> pa.Array:
    given = [cell for cell in cells if cell is not None]
    if all(is_whole(cell) for cell in given):  # type: ignore[arg-type]
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())  # type: ignore[call-overload]
    if any(isinstance(cell, int) and not is_whole(cell) for cell in given):  # more digits than a number here keeps
        return pa.array([None if cell is None else write_cell(cell) for cell in cells], pa.string())
    return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())  # type: ignore[arg-type]


def _moments(cells: list[object]) -> pa.Array:
    if any(isinstance(cell, datetime) and cell.tzinfo is not None for cell in cells):
        cells = [cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell for cell in cells]
    if not any(isinstance(cell, datetime) and _has_time(cell) for cell in cells):
        return pa.array([cell.date() if isinstance(cell, datetime) else cell for cell in cells], pa.date32())
    return pa.array([_as_moment(cell) for cell in cells], pa.timestamp("us"))


def _as_moment(cell: object) -> object:
    return datetime.combine(cell, time()) if isinstance(cell, date) and not isinstance(cell, datetime) else cell


def _has_time(cell: datetime) -> bool:
    return cell.time() != time()


def _as_bytes(cell: object) -> bytes:
    return bytes(cell) if isinstance(cell, bytes | bytearray | memoryview) else write_cell(cell).encode()
