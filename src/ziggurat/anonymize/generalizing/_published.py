"""From levels back to rows: labels are joined to the table in its engine, which writes the rows or streams them out."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat import randomness
from ziggurat.data import Column, Kind, Role
from ziggurat.data.engines import scramble
from ziggurat.data.expressions import is_present
from ziggurat.data.writing import TableWriter, check_parts_folder, check_table_file, names_folder
from ziggurat.errors import DataError, ParameterError
from ziggurat.files import filling, move_within, replacing

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Combinations
    from ziggurat.anonymize.generalizing._local import Recoded
    from ziggurat.anonymize.generalizing._mondrian import Boxes
    from ziggurat.data import Table

Flags = npt.NDArray[np.bool]
Integers = npt.NDArray[np.int64]

_WORD = 2**62  # keys are whole numbers below it, on every engine
_SALTS = 2**31
_PLACE = "ziggurat place"
_CHANGED = "The table changed while it was anonymised; anonymise it again."


@dataclass(frozen=True)
class PublishedLabels:
    """What stands in place of a quasi-identifier's cells: for every combination the place of its label.

    Parameters
    ----------
    column
        The name of the column.
    places
        For every combination, which of `names`.
    names
        The labels; None for missing cells. Without names the column is published as it is.
    """

    column: str
    places: npt.NDArray[np.int32]
    names: tuple[object, ...] | None

    @property
    def untouched(self) -> bool:
        """Whether the column is published as it is."""
        return self.names is None

    def cells(self, chosen: Integers) -> pa.Array:
        """Return the labels of some combinations as text."""
        names = pa.array([None if name is None else str(name) for name in self.names or ()], pa.string())
        return names.take(pa.array(self.places[chosen]))


def local_labels(counted: Combinations, recoded: Recoded) -> list[PublishedLabels]:
    """Return what is published of every column: cells of one column may have different levels."""
    labels = []
    for place, ladder in enumerate(counted.ladders):
        levels = np.maximum(recoded.levels[:, place].astype(np.int64), 0)
        starts = np.cumsum([0, *(len(names) for names in ladder.labels)])
        groups = np.stack(ladder.groups)[levels, counted.codes[:, place]]
        names = tuple(name for level in ladder.labels for name in level)
        untouched = not levels[recoded.levels[:, place] >= 0].any()
        places = (starts[levels] + groups).astype(np.int32)
        labels.append(PublishedLabels(ladder.column, places, None if untouched else names))
    return labels


def range_labels(counted: Combinations, boxes: Boxes) -> list[PublishedLabels]:
    """Return what is published of every column: ranges of numbers, and labels of hierarchies."""
    labels = []
    for place, ladder in enumerate(counted.ladders):
        numbers: dict[object, int] = {}
        cells = boxes.labels(counted, place)
        places = np.array([numbers.setdefault(cell, len(numbers)) for cell in cells], np.int32)
        alone = bool((boxes.levels[:, place] == 0).all() and (boxes.lower[:, place] == boxes.upper[:, place]).all())
        labels.append(PublishedLabels(ladder.column, places, None if alone else tuple(numbers)))
    return labels


@dataclass(frozen=True)
class _Keyed:
    """A column by which rows find their labels, and by which it is seen that they are those that were counted."""

    column: str
    values: tuple[object, ...]
    codes: npt.NDArray[np.int32]
    absent: exp.Expr

    @property
    def size(self) -> int:
        return len(self.values)


class Publication:
    """A table of which some combinations are kept, under labels.

    Parameters
    ----------
    table, counted
        The table, and how it was counted.
    labels
        What stands in place of each quasi-identifier.
    kept
        For every combination whether its rows are published.
    sensitive
        The sensitive columns: rows that differ in these only may have different labels.
    """

    def __init__(
        self,
        table: Table,
        counted: Combinations,
        labels: Sequence[PublishedLabels],
        kept: Flags,
        sensitive: Sequence[str] = (),
    ) -> None:
        self._table, self._counted, self._labels, self._kept = table, counted, tuple(labels), kept
        keyed = [
            _Keyed(ladder.column, ladder.values, counted.codes[:, place], _is_null(ladder.column))
            for place, ladder in enumerate(counted.ladders)
        ]
        private = enumerate(zip(sensitive, counted.values, strict=True))
        more = [
            _Keyed(name, values, counted.sensitive[:, s], _is_missing(table.schema[name]))
            for s, (name, values) in private
        ]
        self._keyed = (*keyed, *more)
        self._dropped: tuple[str, ...] = ()
        self._chosen = np.flatnonzero(kept & (counted.counts > 0))

    @property
    def original(self) -> Table:
        """The table as it was, for the steward only."""
        return self._table

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are published: identifiers, and what tells units apart, are not."""
        shown = [column for column in self._table.schema.columns if column.role is not Role.IDENTIFIER]
        hidden = {self._table.unit.column, *self._dropped}
        return tuple(column.name for column in shown if column.name not in hidden)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns of the table that do not leave."""
        names = self.columns
        return tuple(column.name for column in self._table.declared.columns if column.name not in names)

    def without(self, names: Sequence[str]) -> Publication:
        """Return the same without some columns; those by which rows find their labels stay."""
        for name in names:
            if self._table.schema[name].name in {keyed.column for keyed in self._keyed}:
                raise ParameterError(
                    f"Column {name!r} is one that the models speak of; leave it out of these instead of dropping it."
                )
        made = copy(self)
        made._dropped = (*self._dropped, *names)
        return made

    def showing(self, names: Sequence[str]) -> Publication:
        """Return the same with some columns that were to be dropped."""
        made = copy(self)
        made._dropped = tuple(name for name in self._dropped if name not in names)
        return made

    @property
    def rows(self) -> int:
        """How many rows are published."""
        return int(self._counted.counts[self._kept].sum())

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the published rows piece by piece, in an order that says nothing of that of the table.

        DataError if the table changed since it was counted.
        """
        seen = np.zeros(self._chosen.size, np.int64)
        with self._lend_query() as query:
            for batch in self._table.engine.batches(query):
                seen += np.bincount(batch.column(_PLACE).to_numpy(), minlength=seen.size)
                yield batch.drop_columns([_PLACE])
        if not np.array_equal(seen, self._counted.counts[self._chosen]):
            raise DataError(_CHANGED)

    def table(self) -> pa.Table:
        """Return the published rows."""
        batches = list(self.batches())
        return pa.Table.from_batches(batches) if batches else self._nothing()

    def write(self, path: str | Path) -> None:
        """Write the published rows to a .parquet, .csv, .xlsx or other file, or a folder of parts, whole or not at all.

        A name that ends in a slash, such as "people.parquet/", asks for a folder of parts (`PARTS_ENDINGS`).
        An engine that writes files itself does, so that no row passes through this process; one file is then written
        by one worker, and parts by all. All formats but Stata's and SPSS's are written in flat memory.

        DataError if the table changed since it was counted.
        """
        if names_folder(path):
            target = check_parts_folder(path)
            with filling(target, shared=True) as folder:
                self._fill(folder, target.suffix.lower())
            return
        target = Path(path)
        check_table_file(target, self.columns)
        with replacing(target) as draft:
            if self._leaves_itself(target.suffix.lower()):
                with TemporaryDirectory(prefix=f"{draft.name}.", dir=draft.parent) as folder:
                    self._let_write(Path(folder), target.suffix.lower(), one=True)
                    move_within(next(Path(folder).iterdir()), draft)
            else:
                self._write(draft, target.suffix.lower())

    def _leaves_itself(self, ending: str) -> bool:
        """Whether the engine writes the rows; of none at all it would not write the columns, either."""
        return ending in self._table.engine.writes and self.rows > 0

    def _fill(self, folder: Path, ending: str) -> None:
        if self._leaves_itself(ending):
            self._let_write(folder, ending, one=False)
        else:
            self._write(folder / f"part-00000{ending}", ending)

    def _let_write(self, folder: Path, ending: str, *, one: bool) -> None:
        """Let the engine write the rows, and see that they are those that were counted.

        Each combination has a secret weight, drawn anew from 2^62. If any has another number of rows than it was
        counted with, the weights of all rows sum up to what is expected with a probability of at most 2^-62: whatever
        the other differences are, one value of this weight alone would make up for them.
        """
        source = randomness.secure()
        weights = (source.words(self._chosen.size) >> np.uint64(2)).astype(np.int64)
        salt = randomness.uniform_below(_SALTS, source=source)
        with self._lend_query(weights) as query:
            engine = self._table.engine
            found = engine.write_rows(query, folder, ending, weight=_PLACE, salt=salt, one=one)
        counts = self._counted.counts[self._chosen].tolist()
        meant = sum(map(operator.mul, counts, weights.tolist()))
        if found != (self.rows, meant):
            raise DataError(_CHANGED)

    def _write(self, draft: Path, ending: str) -> None:
        batches = self.batches()
        first = next(batches, None)
        if first is None:
            first = pa.RecordBatch.from_pylist([], schema=self._nothing().schema)
        with TableWriter(draft, first.schema, ending=ending) as writer:
            writer.write_batch(first)
            for batch in batches:
                writer.write_batch(batch)

    def _nothing(self) -> pa.Table:
        """A table of no rows, for the types of its columns."""
        with self._lend_query() as query:
            return self._table.engine.query(query.limit(0)).drop_columns([_PLACE])

    @contextmanager
    def _lend_query(self, weights: Integers | None = None) -> Iterator[exp.Select]:
        """The query for the rows; what it needs is lent to the engine for so long.

        With weights these stand in place of the places of combinations, and whoever runs the query puts rows in order.
        """
        lent: list[exp.Expr] = []
        try:
            query = self._query(lent, np.arange(self._chosen.size) if weights is None else weights)
            yield self._in_any_order(query) if weights is None else query
        finally:
            for each in lent:
                self._table.engine.take_back(each)

    def _shown(self) -> list[exp.Column]:
        """What is published of every column."""
        replaced = {each.column for each in self._labels if not each.untouched}
        return [_cell("labels" if name in replaced else "seen", name) for name in self.columns]

    def _query(self, lent: list[exp.Expr], marks: Integers) -> exp.Select:
        names, shown = self.columns, self._shown()
        asked = [*zip(shown, names, strict=True), (_cell("labels", _PLACE), _PLACE)]
        query = exp.select(*(each.as_(name, quoted=True) for each, name in asked))
        query = query.from_(self._table.relation({*names, *(each.column for each in self._keyed)}), copy=False)
        for place, keyed in enumerate(self._keyed):
            query = _look_up(query, self._lent(self._lookup(keyed), f"codes_{place}", lent), place, keyed.column)
        words = _words([keyed.size for keyed in self._keyed])
        matched = [
            exp.EQ(this=_cell("labels", _key(number)), expression=_pack(self._keyed, word))
            for number, word in enumerate(words)
        ]
        labels = self._label_kept(words, marks)
        return query.join(self._lent(labels, "labels", lent), on=exp.and_(*matched), copy=False)

    def _in_any_order(self, query: exp.Select) -> exp.Select:
        salt = randomness.uniform_below(_SALTS, source=randomness.secure())
        return query.order_by(scramble(self._shown(), salt), copy=False)

    def _lent(self, table: pa.Table, name: str, lent: list[exp.Expr]) -> exp.Expr:
        lent.append(self._table.engine.lend(table))
        return exp.select("*").from_(lent[-1]).subquery(name)

    def _lookup(self, keyed: _Keyed) -> pa.Table:
        """The codes of the values that occur."""
        used = [int(code) for code in np.unique(keyed.codes) if keyed.values[code] is not None]
        cells: list[Any] = [keyed.values[code] for code in used]
        storage = self._table.schema[keyed.column].storage
        return pa.table({"value": _cast(cells, storage), "code": pa.array(used, pa.int64())})

    def _label_kept(self, words: Sequence[Sequence[int]], marks: Integers) -> pa.Table:
        """The keys of the combinations that are kept, their labels and marks; memory grows with the combinations."""
        keys = [_pack_codes(self._keyed, word)[self._chosen] for word in words]
        columns: dict[str, Any] = {_key(number): pa.array(key) for number, key in enumerate(keys)}
        columns |= {each.column: each.cells(self._chosen) for each in self._labels if not each.untouched}
        return pa.table({**columns, _PLACE: pa.array(marks.astype(np.int64))})


def _look_up(query: exp.Select, lookup: exp.Expr, place: int, column: str) -> exp.Select:
    condition = exp.EQ(this=_cell("seen", column), expression=_cell(f"codes_{place}", "value"))
    return query.join(lookup, on=condition, join_type="left", copy=False)


def _cell(relation: str, name: str) -> exp.Column:
    return exp.column(name, table=relation, quoted=True)


def _is_null(name: str) -> exp.Expr:
    return exp.Is(this=_cell("seen", name), expression=exp.Null())


def _is_missing(column: Column) -> exp.Expr:
    """Whether a sensitive cell was counted as missing: NULL, no number, or a code for missing cells."""
    held = is_present(column).copy()
    for cell in held.find_all(exp.Column):
        cell.set("table", exp.to_identifier("seen", quoted=True))
    return exp.Not(this=exp.paren(held))


def _key(number: int) -> str:
    return f"ziggurat key {number}"


def _words(sizes: Sequence[int]) -> list[list[int]]:
    """Columns whose codes fit into one whole number together, one list for each number."""
    words: list[list[int]] = [[]]
    for place in range(len(sizes)):
        if math.prod(sizes[each] for each in [*words[-1], place]) >= _WORD:
            words.append([])
        words[-1].append(place)
    return words


def _pack(keyed: Sequence[_Keyed], word: Sequence[int]) -> exp.Expr:
    """The codes of some columns as one number, in SQL; NULL, and so no label, for a cell that was not counted."""
    total: exp.Expr = exp.cast(exp.Literal.number(0), "BIGINT")
    for place in word:
        code: exp.Expr = _cell(f"codes_{place}", "code")
        if None in keyed[place].values:
            code = (
                exp.Case()
                .when(keyed[place].absent.copy(), exp.Literal.number(keyed[place].values.index(None)))
                .else_(code)
            )
        scaled = exp.Mul(this=exp.paren(total), expression=exp.Literal.number(keyed[place].size))
        total = exp.Add(this=scaled, expression=code)
    return total


def _pack_codes(keyed: Sequence[_Keyed], word: Sequence[int]) -> Integers:
    total = np.zeros(len(keyed[0].codes), np.int64)
    for place in word:
        total = total * keyed[place].size + keyed[place].codes
    return total


def _cast(cells: list[Any], storage: Kind) -> pa.Array:
    types = {
        Kind.INTEGER: pa.int64(),
        Kind.REAL: pa.float64(),
        Kind.BOOLEAN: pa.bool_(),
        Kind.DATE: pa.date32(),
        Kind.TEXT: pa.string(),
    }
    return pa.array(cells, types[storage])
