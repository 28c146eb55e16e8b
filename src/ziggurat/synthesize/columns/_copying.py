"""Copies of a table, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ziggurat.data import Table, open_table
from ziggurat.data.coded import CodedColumn
from ziggurat.data.engines import DuckDBEngine, Engine
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source, sample_without_replacement
from ziggurat.synthesize.columns._drawing import LearnedTable
from ziggurat.synthesize.columns._plan import ColumnPlan

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Drawing:
    """How copies are drawn.

    Parameters
    ----------
    model, plan
        What was learned.
    names
        The columns of a copy.
    rows
        How many rows the table has.
    known
        The columns that come from a population.
    progress
        Called with how many rows are done, and how many there are.
    batch
        How many rows are drawn at a time.
    posterior
        Whether each copy has parameters of its own.
    """

    model: LearnedTable
    plan: ColumnPlan
    names: tuple[str, ...]
    rows: int
    known: tuple[str, ...]
    progress: Progress
    batch: int
    posterior: bool = True

    def fully(self, copies: int, rows: int, population: object, source: Source) -> Iterator[Iterator[pa.Table]]:
        """Draw whole copies, each of `rows` rows; each must be used up before the next."""
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise ParameterError("The number of rows must be a whole number of at least 1.")
        everybody = self._everybody(population, rows)
        return self._fully(copies, rows, everybody, source)

    def partially(
        self, copies: int, table: Table | None, source: Source, replaced: dict[str, int]
    ) -> Iterator[Iterator[pa.Table]]:
        """Draw the marked cells of a table anew; `replaced` is told how many of each column."""
        if table is None:
            raise ParameterError("A stored synthesiser holds no table; hand in the one whose cells it draws anew.")
        return self._partially(copies, table, source, replaced)

    def _fully(
        self, copies: int, rows: int, everybody: pa.Table | None, source: Source
    ) -> Iterator[Iterator[pa.Table]]:
        with closing(_EngineWhenNeeded(bool(self.model.rules))) as engine:
            for number in range(1, copies + 1):
                draw = source.child("copy", number).simulation()
                known = self._sample(everybody, rows, source.child("population", number))
                yield self._whole(self._parameters(draw), rows, known, draw, engine.held)

    def _whole(
        self,
        model: LearnedTable,
        rows: int,
        known: dict[str, CodedColumn],
        draw: np.random.Generator,
        engine: Engine | None,
    ) -> Iterator[pa.Table]:
        for start in range(0, rows, self.batch):
            size = min(self.batch, rows - start)
            places = np.arange(start, start + size)
            given = {name: each.take(places) for name, each in known.items()}
            drawn = model.rows(size, given, draw, engine)
            self.progress("rows", start + size, rows)
            yield model.table(drawn, tuple(model.encodings))

    def _partially(
        self, copies: int, table: Table, source: Source, replaced: dict[str, int]
    ) -> Iterator[Iterator[pa.Table]]:
        query = table.select(*self.names)
        small = self.rows <= self.batch
        with closing(_EngineWhenNeeded(bool(self.model.rules) or not small)) as engine:
            # A table of one batch is read and marked once for all copies.
            own = table.engine if isinstance(table.engine, DuckDBEngine) else None
            held = self._piece(table.query(query), engine.held or own) if small else None
            for number in range(1, copies + 1):
                draw = source.child("copy", number).simulation()
                replaced |= dict.fromkeys(self.plan.order, 0)
                pieces = self._stream(table, query, engine.held) if held is None else iter([held])
                yield self._mark(self._parameters(draw), pieces, draw, replaced, engine.held)

    def _stream(self, table: Table, query: exp.Select, engine: Engine | None) -> Iterator[_RedrawnRows]:
        for rows in _batches(table.engine.batches(query), self.batch):
            yield self._piece(rows, engine)

    def _piece(self, rows: pa.Table, engine: Engine | None) -> _RedrawnRows:
        marks = {name: each.holds(rows, engine=engine) for name, each in (self.plan.where or {}).items()}
        cells = {name: made.encode(rows.column(name)) for name, made in self.model.encodings.items()}
        return _RedrawnRows(rows, marks, cells)

    def _mark(
        self,
        model: LearnedTable,
        pieces: Iterator[_RedrawnRows],
        draw: np.random.Generator,
        replaced: dict[str, int],
        engine: Engine | None,
    ) -> Iterator[pa.Table]:
        done = 0
        for piece in pieces:
            drawn = model.rows(piece.rows.num_rows, piece.cells, draw, engine, piece.marks)
            copy = piece.rows
            for name in self.plan.order:
                place, marked = copy.column_names.index(name), piece.marks[name]
                made = model.encodings[name].decode(drawn[name].codes, drawn[name].values)
                copy = copy.set_column(place, name, pc.if_else(pa.array(marked), made, copy.column(place)))
                replaced[name] += int(marked.sum())
            done += copy.num_rows
            self.progress("rows", done, self.rows)
            yield copy

    def _parameters(self, draw: np.random.Generator) -> LearnedTable:
        return self.model.posterior(draw) if self.posterior else self.model

    def _everybody(self, population: object, rows: int) -> pa.Table | None:
        if bool(self.known) != (population is not None):
            raise ParameterError("Give 'known' columns and a population that holds them, or neither.")
        if population is None:
            return None
        everybody = open_table(population).raw.rows(self.known)
        if rows > everybody.num_rows:
            raise ParameterError(f"The population has {everybody.num_rows:,} rows; ask for at most as many.")
        return everybody

    def _sample(self, everybody: pa.Table | None, rows: int, source: Source) -> dict[str, CodedColumn]:
        if everybody is None:
            return {}
        chosen = everybody.take(pa.array(sample_without_replacement(everybody.num_rows, rows, source=source)))
        return {name: self.model.encodings[name].encode(chosen.column(name)) for name in self.known}


@dataclass(frozen=True)
class _RedrawnRows:
    """Some rows of a table, which of their cells are drawn anew, and all of them coded."""

    rows: pa.Table
    marks: dict[str, npt.NDArray[np.bool_]]
    cells: dict[str, CodedColumn]


class _EngineWhenNeeded:
    """An engine where one is needed: to open one takes longer than to draw a small table."""

    def __init__(self, needed: bool) -> None:
        self.held = DuckDBEngine() if needed else None

    def close(self) -> None:
        if self.held is not None:
            self.held.close()


def _batches(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Batches of about `size` rows, in order."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(each.num_rows for each in held) >= size:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
