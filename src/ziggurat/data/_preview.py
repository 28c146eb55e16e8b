"""What is shown of a table: to everybody what is public, to the steward what the columns hold, and no row to anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ziggurat.cards import PRIVATE, Card, Shown
from ziggurat.data.schema import Column, Notation, Unit
from ziggurat.drawing import shorten
from ziggurat.frames import GivenAsFrame
from ziggurat.wording import count_noun, printable

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST = 80
# Codes for missing values may have been read off the cells, and nothing says whether: they are not shown.
_PUBLIC = ("name", "kind", "role", "values", "description")


@dataclass(frozen=True)
class TablePreview(Shown, GivenAsFrame):
    """What the steward may see of a table: exact counts and learned bounds, which are private, and no row.

    Attributes
    ----------
    title, unit
        What it is called, and what one person contributes.
    rows
        How many rows there are, exactly.
    columns
        For each column, in order: name, kind, role, values, known (public or learned), missing (how many cells),
        unreadable (how many cells of another kind count as missing), written (how cells are written) and codes (for
        missing cells).
    notes
        How the file was read, in sentences.
    """

    title: str
    unit: Unit
    rows: int
    columns: Sequence[Mapping[str, str | int]]
    notes: tuple[str, ...] = ()

    def to_arrow(self) -> pa.Table:
        """Give a row for each column of the table; for the steward only."""
        import pyarrow as pa

        return pa.Table.from_pylist([dict(each) for each in self.columns])

    def __str__(self) -> str:
        """Give the preview as a text in columns, under its mark."""
        names = list(self.columns[0])
        rows = [names, *([_write(each[name]) for name in names] for each in self.columns)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
        return "\n".join([f"{self._say()} ({PRIVATE})", *lines, *self.notes])

    def __repr__(self) -> str:
        """Say how large it is, and for whom it is."""
        return f"<TablePreview ({PRIVATE}): {self._say()}>"

    def _say(self) -> str:
        size = f"{count_noun(self.rows, 'row')}, {count_noun(len(self.columns), 'column')}"
        return f"{self.title}: {size}, unit: {self.unit}"

    def _card(self) -> Card:
        rows = [[_write(value) for value in each.values()] for each in self.columns]
        return Card("TablePreview", self._say(), (), "private", tuple(self.columns[0]), rows, " ".join(self.notes))


@dataclass(frozen=True, repr=False)
class TableView(Shown):
    """What everybody may know of a table: columns, kinds, roles, public bounds and categories; no cell, no count.

    Attributes
    ----------
    title, unit
        What it is called, and what one person contributes.
    described
        What `Table.describe` says of each of its columns.
    """

    title: str
    unit: Unit
    described: pa.Table

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.described.column("name").to_pylist())

    def _card(self) -> Card:
        line = f"{count_noun(len(self.columns), 'column')}, unit: {self.unit}"
        facts = [("unit", str(self.unit))]
        rows = [_show_public(row) for row in self.described.to_pylist()]
        return Card(self.title, "", facts, "public", _PUBLIC, rows, line=line)


def preview_column(column: Column, missing: int, unreadable: int) -> dict[str, str | int]:
    """Tell what a column holds, to the steward.

    Parameters
    ----------
    column
        As it was declared.
    missing, unreadable
        How many cells are missing, and how many of these because they could not be read as its kind.
    """
    known = column.bounds or column.categories or column.sequence
    return {
        "name": column.name,
        "kind": column.kind.value,
        "role": column.role.value,
        "values": "" if known is None else known.tell_all(),
        "known": "" if known is None else known.provenance.value,
        "missing": missing,
        "unreadable": unreadable,
        "written": write_notation(column.written),
        "codes": ", ".join(map(str, column.missing)),
    }


def write_notation(written: Notation | None) -> str:
    """Say in words how cells are written; nothing where they are written plainly."""
    if written is None:
        return ""
    parts = {name: ", ".join(map(str, each)) if isinstance(each, list | tuple) else str(each)
             for name, each in written.to_dict().items()}  # fmt: skip
    return "; ".join(f"{name} {words}" for name, words in parts.items())


def _show_public(row: Mapping[str, str]) -> list[str]:
    learned = row["provenance"] == "learned"
    told = ["learned: not shown" if name == "values" and learned else row[name] for name in _PUBLIC]
    return [shorten(each, _LONGEST) for each in told]


def _write(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else printable(value)
