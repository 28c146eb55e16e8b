"""The technique that masks a column of notes: placeholders in place of what tells who somebody is."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.types as kinds

from ziggurat.anonymize.masking._technique import (
    Tally,
    Technique,
    count_changed,
    count_filled,
    plain_columns,
    replace_column,
)
from ziggurat.anonymize.masking.notes._masker import mask_notes
from ziggurat.anonymize.masking.notes._measuring import measured_once
from ziggurat.anonymize.masking.notes._rules import COUNTRIES
from ziggurat.errors import DataError, ParameterError
from ziggurat.randomness import Source

NOT_ANONYMOUS = (
    "Masked text is not anonymous: a name that no list knows stays, and so does what people tell about themselves."
)
"""What every masked column of text says of itself."""

_LETTERS = re.compile(r"[^\W\d_]+(?:[-'’. ]+[^\W\d_]+)*\.?")
_SHORTEST_NUMBER = 4


@dataclass(frozen=True)
class MaskText(Technique):
    """Put placeholders such as [NAME] or [DATE] in place of what tells who somebody is in a column of notes.

    It promises nothing: see `NOT_ANONYMOUS`. Its record states the recall that was measured on invented notes.

    Parameters
    ----------
    names
        First and last names to look for.
    names_in
        Columns of the same table that hold names or numbers of people: their words are looked for in every note, their
        numbers in the note of the same row. Name them before they are dropped.
    countries
        Whose numbers and addresses are looked for.
    misspelt
        Whether words one letter away from a name of six letters or more are masked too.
    progress
        Called with how many notes are done and how many there are.
    """

    name: ClassVar[str] = "mask-text"
    names: tuple[str, ...] = field(default=(), repr=False)
    names_in: tuple[str, ...] = ()
    countries: tuple[str, ...] = COUNTRIES
    misspelt: bool = True
    progress: Callable[[int, int], None] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.names, tuple) or not all(isinstance(each, str) for each in self.names):
            raise ParameterError("Give the names as a tuple of texts.")

    @property
    def row_wise(self) -> bool:
        """Whether no other row matters: the names in a column are those of all rows."""
        return not self.names_in

    def parameters(self) -> dict[str, Any]:
        """Return how many names are listed, which columns hold some, and whose forms are looked for."""
        return {
            "names": len(self.names),
            "names_in": list(self.names_in),
            "countries": list(self.countries),
            "misspelt": self.misspelt,
        }

    def derive_facts(self, tally: Tally) -> dict[str, Any]:  # noqa: ARG002
        """Return the recall that was measured on invented notes, and that the text is not anonymous."""
        scores = measured_once()
        return {"measured": scores.to_dict(), "recall": scores.sentence, "not_anonymous": NOT_ANONYMOUS}

    def mask(self, table: pa.Table, columns: tuple[str, ...], source: Source) -> tuple[pa.Table, Tally]:  # noqa: ARG002
        """Mask one column of notes after the other."""
        listed, own = self._read_names(table)
        total = Tally()
        for name in columns:
            before = _require_text(table.column(name), name)
            done = mask_notes(
                before.to_pylist(),
                names=(*self.names, *listed),
                own=own,
                countries=self.countries,
                misspelt=self.misspelt,
                progress=self.progress,
            )
            after = pa.chunked_array([pa.array(done.texts, pa.string())])
            table = replace_column(table, name, after)
            total += Tally(count_filled(before), count_changed(before, after), counts=done.counts)
        return table, total

    def _read_names(self, table: pa.Table) -> tuple[list[str], list[tuple[str, ...]] | None]:
        """The words of the columns of names, and for each row the numbers in them."""
        if not self.names_in:
            return [], None
        given = plain_columns(table, self.names_in)
        cells = [given.column(name).cast(pa.string()).to_pylist() for name in self.names_in]
        words = dict.fromkeys(cell for column in cells for cell in column if cell and _LETTERS.fullmatch(cell.strip()))
        return list(words), [_own(row) for row in zip(*cells, strict=True)]


def _own(cells: Sequence[str | None]) -> tuple[str, ...]:
    """The values of a row that are looked for word for word: numbers, not too short."""
    present = (cell.strip() for cell in cells if cell)
    return tuple(cell for cell in present if len(cell) >= _SHORTEST_NUMBER and any(map(str.isdecimal, cell)))


def _require_text(cells: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    if not (kinds.is_string(cells.type) or kinds.is_large_string(cells.type) or kinds.is_null(cells.type)):
        raise DataError(f"Column {name!r} does not hold text, which masking of notes needs.")
    return cells.cast(pa.string())


def read_names(file: str | Path) -> tuple[str, ...]:
    """Read a list of names from a text file, one in a line; blank lines and those that begin with # are skipped.

    Parameters
    ----------
    file
        In UTF-8.
    """
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (OSError, ValueError):
        lines = None
    if lines is None:
        raise DataError(f"The list of names {str(file)!r} does not exist or is no text in UTF-8.")
    return tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
