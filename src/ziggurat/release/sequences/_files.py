"""Files of drawn sequences: laid out like the table that they were learned from, and read back as an outsider would.

Long files number sequences and symbols from 1; an empty sequence is one row without a symbol.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from ziggurat.data import Categories, Column, Kind, Schema, Symbols, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.sequences import SequenceDomain, SequenceLayout, Sequences, Token, read_sequences

_PIECE = 50_000


@dataclass(frozen=True)
class SequenceFile:
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

    def pieces(self, drawn: Sequences) -> Iterator[pa.Table]:
        """Sequences as rows, some at a time."""
        for start in range(0, max(1, len(drawn)), _PIECE):
            piece = drawn.take(np.arange(start, min(start + _PIECE, len(drawn))))
            yield self._wide(piece) if self.layout.is_wide else self._long(piece, start)

    def read(self, file: Path, engine: DuckDBEngine) -> Table:
        """Open a file as any outsider would who is told its schema."""
        return read(file, self._schema(), engine=engine, on_bad_cell="missing")

    def read_sequences(self, table: Table) -> Sequences:
        """The sequences of such a file."""
        return read_sequences(table, self.layout)

    def _schema(self) -> Schema:
        label = () if self.layout.label is None else (_category(self.layout.label, self.domain.classes),)
        if self.layout.token is None or self.layout.order is None:
            held = Symbols(tuple(map(str, self.domain.tokens)), self.domain.longest, self.separator)
            return Schema((Column(self.layout.sequence, Kind.TEXT, sequence=held), *label))
        columns = (Column(self.layout.sequence, Kind.INTEGER), Column(self.layout.order, Kind.INTEGER))
        token = _category(self.layout.token, self.domain.tokens)
        return Schema((*columns, token, *label), Unit.of(self.layout.sequence, "sequence"))

    def _wide(self, drawn: Sequences) -> pa.Table:
        made = {self.layout.sequence: pa.array(drawn.to_texts(self.separator), pa.string())}
        return pa.table(made | self._label(drawn, np.arange(len(drawn))))

    def _long(self, drawn: Sequences, start: int) -> pa.Table:
        rows = np.maximum(drawn.lengths, 1)
        whose = np.repeat(np.arange(len(drawn)), rows)
        place = np.arange(len(whose)) - np.repeat(np.cumsum(rows) - rows, rows)
        filled = place < drawn.lengths[whose]
        codes = np.zeros(len(whose), np.int64)
        codes[filled] = drawn.codes
        symbols = _values(self.domain.tokens).take(pa.array(codes, mask=~filled))
        made = dict(zip(self.columns, (pa.array(whose + start + 1), pa.array(place + 1), symbols), strict=False))
        return pa.table(made | self._label(drawn, whose))

    def _label(self, drawn: Sequences, whose: np.ndarray) -> dict[str, pa.Array]:
        if self.layout.label is None or drawn.labels is None:
            return {}
        return {self.layout.label: _values(self.domain.classes).take(pa.array(drawn.labels[whose]))}


def _values(names: tuple[Token, ...]) -> pa.Array:
    return pa.array(names, pa.int64() if all(isinstance(each, int) for each in names) else pa.string())


def _category(name: str, values: tuple[Token, ...]) -> Column:
    return Column(name, Kind.CATEGORY, categories=Categories(values))
