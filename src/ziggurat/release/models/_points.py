"""The points at which a served model is asked: which columns they have, and how cells become numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Kind, Role, Schema, Table, Unit
from ziggurat.data.encoding import Encoding, Field
from ziggurat.data.expressions import null_if_missing
from ziggurat.errors import ArtefactError, DataError, ParameterError, SchemaError, ZigguratError
from ziggurat.release.models._task import Floats, Task, TaskRows

if TYPE_CHECKING:
    import pyarrow as pa

_NUMBERS = (Kind.INTEGER, Kind.REAL, Kind.DATE)


@dataclass(frozen=True)
class Points(Shown):
    """The columns that a served model looks at, and the label it names, if any; all by the public schema.

    Every column is scaled to [0, 1] by its public bounds or takes a place for each public category, as in `Task`. A
    missing cell of the table becomes the middle of its range; questions must be complete and within the bounds.

    Parameters
    ----------
    schema
        Public bounds and categories.
    columns
        What is looked at. A density needs them named, and they must be numbers or dates; with a label they may be left
        out, for every column that a `Task` looks at.
    label
        What is to be predicted; empty for a density.
    """

    schema: Schema
    columns: tuple[str, ...] = ()
    label: str = ""

    def __post_init__(self) -> None:
        if self.label:
            _ = self.task.encoding
            return
        if not self.columns:
            raise ParameterError("Name the columns of the density, such as --column age.")
        for name in self.columns:
            column = self.schema[name]
            if column.role is Role.IDENTIFIER or column.kind not in _NUMBERS:
                raise SchemaError(f"Column {name!r} is no number or date, so it has no density; leave it out.")
            column.public_bounds()

    @property
    def task(self) -> Task:
        """What is learned, where there is a label."""
        return Task(self.schema, self.label, self.columns)

    @cached_property
    def encoding(self) -> Encoding:
        """How the columns become rows of numbers."""
        if self.label:
            return self.task.encoding
        return Encoding(self.schema, without=[name for name in self.schema if name not in self.columns])

    @property
    def volume(self) -> float:
        """What the public ranges of all columns multiply to: a density per unit is one per share divided by it."""
        return math.prod((field.ends[1] - field.ends[0]) or 1.0 for field in self.encoding.fields if not field.listed)

    @property
    def asked_schema(self) -> Schema:
        """What a table of questions needs: the columns that are looked at, a row each."""
        return replace(self.schema, columns=tuple(field.column for field in self.encoding.fields), unit=Unit())

    def rows(self, table: Table, *, units: bool = False, least: int = 1) -> TaskRows:
        """Read a table to learn from; what comes back is raw, for a method to protect."""
        if self.label:
            return self.task.rows(table, units=units, least=least)
        unit = table.unit.column if units else None
        cells = _cells(table, [*self.encoding.names, *([unit] if unit is not None else [])], least)
        whose = None if unit is None else np.asarray(cells[unit].to_numpy(zero_copy_only=False))
        return TaskRows(self.encoding.encode(cells), None, whose)

    def questions(self, table: Table) -> tuple[pa.Table, Floats]:
        """Read a table of questions: its cells, and the points they are.

        Raises
        ------
        DataError
            If a question is incomplete, or lies outside the public bounds or lists.
        """
        cells = _cells(table, list(self.encoding.names))
        for field in self.encoding.fields:
            _require_inside(field, cells)
        return cells, self.encoding.encode(cells)

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON; it holds nothing but what is public, and of the schema no other columns."""
        named = (*self.encoding.names, *([self.label] if self.label else []))
        used = replace(self.schema, columns=tuple(self.schema[name] for name in named), unit=Unit())
        return {"schema": used.to_dict(), "columns": list(self.encoding.names), "label": self.label}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        try:
            return cls(Schema.from_dict(held["schema"]), tuple(held["columns"]), held["label"])
        except (KeyError, TypeError, ZigguratError):
            raise ArtefactError("The description of the model's columns is damaged; restore a copy.") from None


def _cells(table: Table, names: list[str], least: int = 1) -> pa.Table:
    cells = table.query(table.select(*(null_if_missing(table.schema[name]) for name in names)))
    if cells.num_rows < least:
        raise DataError("The table has no rows.")
    return cells


def _require_inside(field: Field, cells: pa.Table) -> None:
    """Refuse what clipping and scaling would answer as if something else had been asked."""
    name = field.column.name
    if cells[name].null_count:
        raise DataError(f"Some questions have no value in column {name!r}; fill them in, or leave them out.")
    if field.listed:
        if bool((field.codes(cells[name]) < 0).any()):
            raise DataError(f"Some questions are not in the public list of column {name!r}; ask for its entries.")
    elif not bool(_inside(field, cells[name]).all()):
        bounds = field.column.public_bounds()
        raise DataError(
            f"Some questions lie outside the public bounds of column {name!r}; ask from {bounds.lower} to "
            f"{bounds.upper}."
        )


def _inside(field: Field, cells: pa.ChunkedArray) -> npt.NDArray[np.bool_]:
    lower, upper = field.ends
    numbers = np.asarray(field.to_numbers(cells).to_numpy(), dtype=np.float64)
    return np.asarray((numbers >= lower) & (numbers <= upper))
