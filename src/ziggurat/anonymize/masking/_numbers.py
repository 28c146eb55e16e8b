"""Columns of numbers as the techniques compute with them: reals, and which of them are there."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.anonymize.masking._technique import as_column
from ziggurat.errors import DataError

Reals = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool]

_LARGEST = 1e150  # beyond it squares overflow
_LARGEST_WHOLE = 2.0**53  # beyond it a real no longer tells neighbouring whole numbers apart


def is_number(given: pa.DataType) -> bool:
    """Return whether a type holds numbers."""
    return bool(kinds.is_integer(given) or kinds.is_floating(given) or kinds.is_decimal(given))


def check_number(column: pa.ChunkedArray, name: str, technique: str) -> None:
    """Refuse a column that does not hold numbers; one of nothing but missing cells will do."""
    if not (is_number(column.type) or kinds.is_null(column.type)):
        raise DataError(f"Column {name!r} does not hold numbers, which {technique} needs.")


def reals(column: pa.ChunkedArray, name: str, technique: str) -> tuple[Reals, Truths]:
    """Return the cells as reals and whether each is a finite number; the others are 0."""
    check_number(column, name, technique)
    cast = column.cast(pa.float64(), safe=False)
    values = np.array(pc.fill_null(cast, np.nan).to_numpy(), dtype=np.float64)
    there = np.isfinite(values)
    values[~there] = 0.0
    if np.abs(values).max(initial=0.0) > (_LARGEST_WHOLE if kinds.is_integer(column.type) else _LARGEST):
        raise DataError(f"Column {name!r} holds numbers too large to compute with; {technique} would spoil them.")
    return values, there


def column_of(values: Reals, there: Truths, like: pa.DataType) -> pa.ChunkedArray:
    """Return a column of these values, missing where they are not there: whole numbers if `like` is, else reals.

    Whole numbers are rounded to the nearest; one that leaves its type or 2**53 comes out as that end.
    """
    if not kinds.is_integer(like):
        return as_column(pa.array(values, type=pa.float64(), mask=~there))
    low, high = _ends(like)
    whole = np.clip(np.rint(values), max(low, -_LARGEST_WHOLE), min(high, _LARGEST_WHOLE))
    return as_column(pa.array(whole.astype(np.int64), mask=~there).cast(like))


def _ends(like: pa.DataType) -> tuple[float, float]:
    limits = np.iinfo(like.to_pandas_dtype())
    return float(limits.min), float(limits.max)
