"""Records as rows of numbers and back, by what the public schema says and nothing else.

Nothing is learned from the data here: a number is scaled by its public bounds, a category becomes one place for each
entry of its public list. So encoding is a public function, and decoding is post-processing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.data.schema import Column, Kind, Schema
from ziggurat.errors import DataError, SchemaError

Matrix = npt.NDArray[np.float64]
"""Rows of numbers."""
Labels = npt.NDArray[np.int64]
"""The class of each row, as its place in the list of classes."""

_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Field:
    """One column and the places it takes in a row of numbers."""

    column: Column
    start: int
    width: int

    @property
    def places(self) -> slice:
        """Where the column stands in a row."""
        return slice(self.start, self.start + self.width)

    @property
    def listed(self) -> bool:
        """Whether the values come from a public list, not from a public range."""
        return self.column.kind in (Kind.CATEGORY, Kind.BOOLEAN)

    @property
    def entries(self) -> int:
        """How many entries the public list has."""
        return len(self.column.public_categories().values)

    def codes(self, cells: pa.ChunkedArray) -> Labels:
        """The number of each cell in the public list; -1 where it is missing or not listed."""
        found = pc.index_in(self.to_numbers(cells), value_set=self._list())
        return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)

    def cells(self, codes: Labels) -> pa.Array:
        """The cells with these numbers in the public list."""
        taken = self._list().take(pa.array(codes))
        return taken.cast(pa.bool_()) if self.column.kind is Kind.BOOLEAN else taken

    def scale(self, cells: pa.ChunkedArray) -> Matrix:
        """Each cell as a share of the public range, clipped to it; the middle where it is missing."""
        lower, upper = self.ends
        numbers = np.asarray(
            pc.fill_null(self.to_numbers(cells).cast(pa.float64()), np.nan).to_numpy(), dtype=np.float64
        )
        shares = (np.clip(numbers, lower, upper) - lower) / ((upper - lower) or 1.0)
        return np.asarray(np.where(np.isnan(shares), 0.5, shares))

    def unscale(self, shares: Matrix) -> pa.Array:
        """The cells with these shares of the public range."""
        lower, upper = self.ends
        numbers = lower + np.clip(shares, 0.0, 1.0) * (upper - lower)
        if self.column.kind is Kind.REAL:
            return pa.array(numbers)
        whole = np.rint(numbers).astype(np.int64)
        if self.column.kind is Kind.INTEGER:
            return pa.array(whole)
        return pa.array((whole - _EPOCH).astype(np.int32)).cast(pa.date32())

    @property
    def ends(self) -> tuple[float, float]:
        """The public bounds as numbers; dates count days."""
        bounds = self.column.public_bounds()
        lower, upper = (_number(end) for end in (bounds.lower, bounds.upper))
        return lower, upper

    def _list(self) -> pa.Array:
        return pa.array(list(self.column.public_categories().values))

    def to_numbers(self, cells: pa.ChunkedArray) -> pa.ChunkedArray:
        """Give truth values and dates as whole numbers; other cells are as they are."""
        if self.column.kind is Kind.BOOLEAN:
            return cells.cast(pa.int64())
        if self.column.kind is Kind.DATE:
            return pc.add(cells.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _EPOCH)
        return cells


def _number(end: Any) -> float:
    return float(end.toordinal()) if isinstance(end, date) else float(end)


class Encoding:
    """How the columns of a schema become rows of numbers between 0 and 1."""

    def __init__(self, schema: Schema | Mapping[str, Any], without: Sequence[str] = ()) -> None:
        self.schema = schema if isinstance(schema, Schema) else Schema.from_dict(schema)
        self.fields = tuple(self._lay_out([each for each in self.schema.columns if each.name not in without]))
        if not self.fields:
            raise SchemaError("No column is left to learn from; name at least one more in 'columns'.")

    @staticmethod
    def _lay_out(columns: Sequence[Column]) -> list[Field]:
        fields: list[Field] = []
        start = 0
        for column in columns:
            width = _width(column)
            fields.append(Field(column, start, width))
            start += width
        return fields

    @property
    def width(self) -> int:
        """How many numbers one record takes."""
        return sum(field.width for field in self.fields)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return tuple(field.column.name for field in self.fields)

    def encode(self, table: pa.Table) -> Matrix:
        """Turn records into rows of numbers between 0 and 1."""
        rows = np.zeros((table.num_rows, self.width))
        for field in self.fields:
            cells = column_of(table, field.column.name)
            if field.column.kind is Kind.CATEGORY:
                codes = field.codes(cells)
                known = np.flatnonzero(codes >= 0)
                rows[known, field.start + codes[known]] = 1.0
            elif field.listed:
                rows[:, field.start] = field.codes(cells).clip(0)
            else:
                rows[:, field.start] = field.scale(cells)
        return rows

    def decode(self, rows: Matrix) -> pa.Table:
        """Turn rows of numbers into the records they are nearest to."""
        return pa.table({field.column.name: _decode(field, rows[:, field.places]) for field in self.fields})


def _decode(field: Field, places: Matrix) -> pa.Array:
    if field.column.kind is Kind.CATEGORY:
        return field.cells(places.argmax(axis=1).astype(np.int64))
    if field.listed:
        return field.cells((places[:, 0] >= 0.5).astype(np.int64))
    return field.unscale(places[:, 0])


def _width(column: Column) -> int:
    if column.kind is Kind.TEXT:
        raise SchemaError(f"Column {column.name!r} is free text, which has no public list; leave it out of 'columns'.")
    if column.kind is Kind.CATEGORY:
        return len(column.public_categories().values)
    if column.kind is not Kind.BOOLEAN:
        column.public_bounds()
    return 1


def column_of(table: pa.Table, name: str) -> pa.ChunkedArray:
    """The column of this name, or a sentence that says it is not there."""
    if name not in table.column_names:
        raise DataError(f"The table has no column {name!r}; pass the table that belongs to the schema.")
    return table[name]


def labels_of(table: pa.Table, target: str) -> Labels:
    """The 0/1 target column as numbers; a missing one is refused."""
    cells = column_of(table, target)
    if not pa.types.is_boolean(cells.type) or cells.null_count:
        raise DataError(f"The target column {target!r} must hold true or false in every row.")
    return np.asarray(cells.cast(pa.int64()).to_numpy(), dtype=np.int64)
