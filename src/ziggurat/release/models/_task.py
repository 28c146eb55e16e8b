"""What is learned from a table: which columns are looked at, and which label is to be named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Kind, Role, Schema, Table, Unit
from ziggurat.data.encoding import Encoding, Field
from ziggurat.data.expressions import null_if_missing
from ziggurat.errors import ArtefactError, DataError, ParameterError, SchemaError
from ziggurat.files import write_text
from ziggurat.plain import fields_to_plain

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = "ziggurat/task/1"
_NUMBERS = (Kind.INTEGER, Kind.REAL)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TaskRows(Shown):
    """What a table gives to a task: features, and where they were asked for, labels and units; all of it is raw."""

    features: Floats
    labels: Integers | Floats | None = None
    units: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.features)


@dataclass(frozen=True)
class Task(Shown):
    """Columns, a label and how cells become numbers, all by the public schema; nothing is learned from the data.

    Numbers are scaled by their public bounds, a category takes one place for each entry of its public list, a missing
    cell becomes the middle of its range or no entry. So features are a public function of a row on its own, and
    teachers, queries and students that share a task mean the same by them.

    Parameters
    ----------
    schema
        Public bounds and categories.
    label
        The column to be predicted. Of a category or a truth value the public list gives the classes and their order; a
        number is predicted within its public bounds.
    columns
        What is looked at; by default every column but the label, identifiers, the unit and free text.
    l1
        Whether every row of features is divided by its l1 norm, as in document 001: its vectors then lie in the ball
        to which a student's own curator clips, so that protected queries look like what teachers were trained on.
    """

    schema: Schema
    label: str
    columns: tuple[str, ...] = ()
    l1: bool = False

    def __post_init__(self) -> None:
        listed = self.schema[self.label]
        if listed.kind not in (Kind.CATEGORY, Kind.BOOLEAN, *_NUMBERS):
            raise SchemaError(f"The label {self.label!r} must be a category, a truth value or a number in the schema.")
        if listed.role is Role.IDENTIFIER:
            raise SchemaError(f"The label {self.label!r} is an identifier, which nothing may learn to name.")
        if self.is_number:
            listed.public_bounds()
        elif len(self.classes) < 2:
            raise SchemaError(f"The label {self.label!r} needs at least two public categories.")
        if self.label in self.columns:
            raise ParameterError(f"The label {self.label!r} cannot be looked at, too; leave it out of the columns.")
        for name in self.columns:
            if self.schema[name].role is Role.IDENTIFIER:
                raise SchemaError(f"Column {name!r} is an identifier; leave it out of the columns.")

    @cached_property
    def encoding(self) -> Encoding:
        """How the columns become rows of numbers."""
        chosen = self.columns or tuple(name for name in self.schema if self._is_looked_at(name))
        return Encoding(self.schema, without=[name for name in self.schema if name not in chosen])

    @property
    def is_number(self) -> bool:
        """Whether a number is predicted and not a class."""
        return self.schema[self.label].kind in _NUMBERS

    @property
    def label_bounds(self) -> tuple[float, float]:
        """The public bounds of a number that is predicted."""
        return Field(self.schema[self.label], 0, 1).ends

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes in their public order."""
        listed = self.schema[self.label]
        if self.is_number:
            raise SchemaError(f"The label {self.label!r} must be a category or a truth value in the schema.")
        if listed.kind is Kind.BOOLEAN:
            return ("false", "true")
        return tuple(str(value) for value in listed.public_categories().values)

    @property
    def query_schema(self) -> Schema:
        """What a table of queries needs: the columns that are looked at, a row each, and no label."""
        return replace(self.schema, columns=tuple(field.column for field in self.encoding.fields), unit=Unit())

    @property
    def labelled_schema(self) -> Schema:
        """The same with the label, for a table by which a student is judged."""
        wanted = self.query_schema
        return replace(wanted, columns=(*wanted.columns, self.schema[self.label]))

    @property
    def width(self) -> int:
        """How many numbers a row of features has."""
        return self.encoding.width

    def rows(self, table: Table, *, labels: bool = True, units: bool = False, least: int = 1) -> TaskRows:
        """Read a table; what comes back is raw, for a method to protect.

        Raises
        ------
        DataError
            If it has no rows where `least` is not 0, or some row has no label from the public list, or no unit.
        """
        unit = table.unit.column if units else None
        names = [*self.encoding.names, *([self.label] if labels else []), *([unit] if unit is not None else [])]
        cells = table.query(table.select(*(null_if_missing(table.schema[name]) for name in names)))
        if cells.num_rows < least:
            raise DataError("The table has no rows.")
        return TaskRows(
            self.features(cells),
            self._labels(cells) if labels else None,
            None if unit is None else np.asarray(cells[unit].to_numpy(zero_copy_only=False)),
        )

    def features(self, cells: pa.Table) -> Floats:
        """Turn cells into rows of numbers."""
        encoded = self.encoding.encode(cells)
        if not self.l1:
            return encoded
        lengths = np.abs(encoded).sum(axis=1, keepdims=True)
        return np.asarray(encoded / np.where(lengths > 0, lengths, 1.0))

    def _labels(self, cells: pa.Table) -> Integers | Floats:
        if self.is_number:
            return self._numbers(cells)
        codes = Field(self.schema[self.label], 0, 1).codes(cells[self.label])
        if bool((codes < 0).any()):
            raise DataError(
                f"Some rows have no label of the public list in column {self.label!r}; fill them in, or leave them out."
            )
        return codes

    def _numbers(self, cells: pa.Table) -> Floats:
        values = np.asarray(cells[self.label].to_numpy(zero_copy_only=False), dtype=np.float64)
        if not bool(np.isfinite(values).all()):
            raise DataError(f"Some rows have no number in column {self.label!r}; fill them in, or leave them out.")
        return values

    def _is_looked_at(self, name: str) -> bool:
        column = self.schema[name]
        aside = (self.label, self.schema.unit.column)
        return name not in aside and column.role is not Role.IDENTIFIER and column.kind is not Kind.TEXT

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON; it holds nothing but what is public."""
        return {"format": FORMAT, **fields_to_plain(self)}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Self:
        """Read what `to_dict` gave."""
        if not isinstance(held, Mapping) or held.get("format") != FORMAT:
            raise ArtefactError("This does not describe a task, or another version of Ziggurat wrote it.")
        try:
            return cls(Schema.from_dict(held["schema"]), held["label"], tuple(held["columns"]), held["l1"])
        except (KeyError, TypeError):
            raise ArtefactError("The description of the task is damaged; restore a copy.") from None

    def save(self, path: str | Path) -> None:
        """Write it to a file."""
        write_text(Path(path), json.dumps(self.to_dict(), indent=1))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read it from a file."""
        try:
            held = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise ArtefactError(f"There is no readable task in {str(path)!r}.") from None
        return cls.from_dict(held)
