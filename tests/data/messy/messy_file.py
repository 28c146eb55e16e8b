"""What is known of a messy file: the habit it comes from, how it is made, and what reading it must give."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

Make = Callable[[Path], object]
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class MessyFile:
    """One file of the corpus.

    Parameters
    ----------
    name
        Of the file; its ending tells what it pretends to be.
    habit
        In one line and plain words: who writes such files, and what is odd in them.
    make
        Writes the file, or a folder of files, at a path.
    options
        Keyword arguments of `read`.
    rows
        What `table.raw.rows()` must give, where a missing code counts as missing.
    kinds
        Of some columns, as the table shows them.
    missing
        Codes that the schema of the table must keep as missing, by column.
    labels
        Value labels that the schema of the table must keep, by column.
    notes
        A pattern found in what the steward is told: the notes of the table and the reasons of its proposal.
    refused
        Instead of rows: a pattern found in the sentence that refuses the file; it names the remedy.
    unlike
        Cells that this sentence must not hold.
    """

    name: str
    habit: str
    make: Make
    options: Mapping[str, Any] = field(default_factory=dict)
    rows: Rows | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    missing: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    labels: Mapping[str, Mapping[Any, str]] = field(default_factory=dict)
    notes: str = ""
    refused: str = ""
    unlike: tuple[str, ...] = ()


def write_text(text: str, encoding: str = "utf-8") -> Make:
    """Return what writes a text as it stands, line ends and all."""
    return write_bytes(text.encode(encoding))


def write_bytes(data: bytes) -> Make:
    """Return what writes these bytes."""
    return lambda path: path.write_bytes(data)


def as_rows(names: str | Iterable[str], *cells: tuple[Any, ...]) -> Rows:
    """Return rows as a table gives them; names in one text are separated by blanks."""
    listed = names.split() if isinstance(names, str) else list(names)
    return [dict(zip(listed, row, strict=True)) for row in cells]


def day(text: str) -> date:
    """Return the day that a text such as 1980-12-31 names."""
    return date.fromisoformat(text)
