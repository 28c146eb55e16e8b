"""Files of drawn sequences: laid out like the table that they were learned from, and read back as an outsider would.

Long files number sequences and symbols from 1; an empty sequence is one row without a symbol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ziggurat.data import Column, Kind, Schema, Symbols, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError
from ziggurat.release._drawn import DrawnFile, label_column, number_symbols, split_pieces, token_values
from ziggurat.sequences import SequenceDomain, SequenceLayout, Sequences, domain_of, read_sequences

_PUBLIC = (
    "The tokens and classes, how many symbols of a sequence count, and the names of the columns are public, and so are "
    "the model and its parameters."
)
_LEFT_OUT = "Other columns of the table did not leave."
_NUMBERED = "Sequences and symbols are numbered from 1; times and other columns of the table did not leave."


@dataclass(frozen=True)
class SequenceFile(DrawnFile):
    """How drawn sequences are laid out in a file.

    Attributes
    ----------
    layout, domain
        Where sequences stand in the table, and what is publicly known of them.
    separator
        What stands between two symbols, where one row is one sequence.
    """

    layout: SequenceLayout
    domain: SequenceDomain
    separator: str
    kind: ClassVar[str] = "sequences"

    @classmethod
    def like(cls, schema: Schema, layout: SequenceLayout, domain: SequenceDomain) -> SequenceFile:
        """The layout of a file like the table with this schema."""
        separator = schema[layout.sequence].public_symbols().separator if layout.is_wide else " "
        return cls(layout, domain, separator)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file: those that say what a sequence is, and no others."""
        where = self.layout
        named = (where.sequence, where.order, where.token, where.label)
        return tuple(name for name in named if name is not None)

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are learned, and the one that says whose a sequence is."""
        unit = self.domain.unit.column
        return tuple(dict.fromkeys((*self.columns, *([] if unit is None else [unit]))))

    @property
    def told(self) -> str:
        """What is drawn."""
        return f"Sequences of column {(self.layout.token or self.layout.sequence)!r}"

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What is public, and what did not leave."""
        return (_PUBLIC, _LEFT_OUT if self.layout.is_wide else _NUMBERED)

    def facts(self) -> dict[str, Any]:
        """The symbols, how many of them count, and the classes."""
        known = self.domain
        return {"tokens": list(known.tokens), "longest": known.longest, "classes": list(known.classes)}

    def require_like(self, table: Table) -> None:
        """Refuse a table of others with other symbols."""
        if domain_of(table.declared, self.layout) != self.domain:
            raise ParameterError("The table of others must have the same tokens, classes and unit.")

    def learn_from(self, table: Table) -> Sequences:
        """Read the sequences of the private table."""
        return read_sequences(table, self.layout)

    def pieces(self, drawn: Sequences) -> Iterator[pa.Table]:
        """Sequences as rows, some at a time."""
        for start, piece in split_pieces(drawn):
            yield self._wide(piece) if self.layout.is_wide else self._long(piece, start)

    def read(self, file: Path, engine: DuckDBEngine) -> Table:
        """Open a file as any outsider would who is told its schema."""
        return read(file, self._schema(), engine=engine, on_bad_cell="missing")

    def read_back(self, table: Table) -> Sequences:
        """The sequences of such a file."""
        return read_sequences(table, self.layout)

    def _schema(self) -> Schema:
        label = () if self.layout.label is None else (label_column(self.layout.label, self.domain.classes),)
        if self.layout.token is None or self.layout.order is None:
            held = Symbols(tuple(map(str, self.domain.tokens)), self.domain.longest, self.separator)
            return Schema((Column(self.layout.sequence, Kind.TEXT, sequence=held), *label))
        columns = (Column(self.layout.sequence, Kind.INTEGER), Column(self.layout.order, Kind.INTEGER))
        token = label_column(self.layout.token, self.domain.tokens)
        return Schema((*columns, token, *label), Unit.of(self.layout.sequence, "sequence"))

    def _wide(self, drawn: Sequences) -> pa.Table:
        made = {self.layout.sequence: pa.array(drawn.to_texts(self.separator), pa.string())}
        return pa.table(made | self._label(drawn, np.arange(len(drawn))))

    def _long(self, drawn: Sequences, start: int) -> pa.Table:
        at = number_symbols(drawn)
        symbols = token_values(self.domain.tokens).take(pa.array(at.codes, mask=~at.filled))
        numbers = (pa.array(at.whose + start + 1), pa.array(at.place + 1), symbols)
        made = dict(zip(self.columns, numbers, strict=False))
        return pa.table(made | self._label(drawn, at.whose))

    def _label(self, drawn: Sequences, whose: np.ndarray) -> dict[str, pa.Array]:
        if self.layout.label is None or drawn.labels is None:
            return {}
        return {self.layout.label: token_values(self.domain.classes).take(pa.array(drawn.labels[whose]))}
