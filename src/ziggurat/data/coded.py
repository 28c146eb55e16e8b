"""Tables as whole numbers: each column's cells as codes, equal rows together with their count.

The one coded table that anonymising, attacks, synthesis and utility share: cells as codes of their distinct values, the
same columns of several tables in the same codes, numbers as reals with NaN for what is missing.

Counting combinations of text is slow in any engine, because it hashes and compares every cell again. Where a table of
moderate size lies in files or arrays that hold its text as codes anyway, its rows are counted by these; any other is
grouped by its engine. Both give the same combinations and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as kinds
from sqlglot import exp

from ziggurat.compiling import compiled
from ziggurat.data.engines import canonical_column
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data._table import Table

Codes = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]

_COUNT = "ziggurat_rows"
_WORD = 2**62  # codes of several columns are one number below it


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """The cells of one column: categories, or numbers with codes for what is missing.

    Parameters
    ----------
    codes
        Of categories: their numbers, from 0. Of numbers: 0 where there is one, from 1 on which code stands for it.
        Whoever codes them says in how many bits.
    size
        How many codes there may be; a column of numbers that always holds one has size 1.
    values
        The numbers, NaN where a code stands for one; None for categories.
    ordered
        Whether the order of the codes of categories means something.
    """

    codes: npt.NDArray[Any]
    size: int
    values: Reals | None = None
    ordered: bool = False

    @property
    def rows(self) -> int:
        """How many cells there are."""
        return len(self.codes)

    @property
    def numeric(self) -> bool:
        """Whether the cells hold numbers."""
        return self.values is not None

    @property
    def numbers(self) -> Reals:
        """The values of a column of numbers, NaN where one is missing."""
        if self.values is None:
            raise ParameterError("A column of categories has no numbers.")
        return self.values

    def take(self, rows: npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]) -> CodedColumn:
        """Return the cells at these places, or where the mask is true."""
        values = None if self.values is None else self.values[rows]
        return CodedColumn(self.codes[rows], self.size, values, self.ordered)


@dataclass(frozen=True)
class CodedTable:
    """Distinct combinations, or rows, of a table.

    Attributes
    ----------
    names
        The columns.
    codes
        For each column the codes of its cells; a code is a place in `values`.
    values
        For each column its distinct cells, NULL among them if there is one.
    counts
        How many rows of the table each combination stands for.
    """

    names: tuple[str, ...]
    codes: tuple[Codes, ...]
    values: tuple[pa.Array, ...]
    counts: Codes

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.counts.sum())

    def column(self, name: str) -> tuple[Codes, pa.Array]:
        """Return the codes of one column's cells, and the distinct cells that they are places in."""
        place = self.names.index(name)
        return self.codes[place], self.values[place]

    def classes(self, names: Iterable[str]) -> tuple[Codes, int]:
        """Return for each combination the class it belongs to when only `names` are looked at, and their number."""
        ids, first = self._class(self.names.index(name) for name in names)
        return ids, first.size

    def distinct(self, names: Sequence[str]) -> tuple[CodedTable, Codes]:
        """Return the distinct combinations of `names`, and for each combination held here its place among them."""
        places = [self.names.index(name) for name in names]
        ids, first = self._class(places)
        codes, values = (self.codes[place][first] for place in places), (self.values[place] for place in places)
        return CodedTable(tuple(names), tuple(codes), tuple(values), sum_counts(ids, first.size, self.counts)), ids

    def _class(self, places: Iterable[int]) -> tuple[Codes, Codes]:
        return class_rows([(self.codes[place], len(self.values[place])) for place in places], self.counts.size)


def group_rows(table: Table, keys: Sequence[str | exp.Expr], where: exp.Expr | None = None) -> CodedTable:
    """Count the rows of each combination of cells; NULL is a cell like any other.

    Parameters
    ----------
    table
        The table.
    keys
        Names of columns, or aliased expressions.
    where
        Which rows count.
    """
    names = [key for key in keys if isinstance(key, str)]
    cells = table.at_hand(names) if where is None and len(names) == len(keys) else None
    if cells is not None:
        return _count_rows(cells)
    answer = table.aggregate(exp.Count(this=exp.Star()).as_(_COUNT, quoted=True), group_by=keys, where=where)
    last = answer.num_columns - 1
    return code_rows(answer.remove_column(last), answer.column(last).to_numpy().astype(np.int64))


def code_rows(cells: pa.Table, counts: Codes | None = None) -> CodedTable:
    """Return rows of cells, each standing for so many rows of a table, as codes."""
    both = [code_alike([column]) for column in cells.columns]
    each = np.ones(cells.num_rows, dtype=np.int64) if counts is None else counts
    codes, values = tuple(codes for (codes,), _ in both), tuple(held for _, held in both)
    return CodedTable(tuple(cells.column_names), codes, values, each)


def code_alike(columns: Sequence[pa.ChunkedArray]) -> tuple[list[Codes], pa.Array]:
    """Return the same column of several tables in the same codes, and the distinct cells that they are places in.

    Cells are numbered in the order in which they first occur, NULL like any other.
    """
    chunks = [chunk for column in columns for chunk in column.chunks]
    codes, values = _encode(pa.chunked_array(chunks, columns[0].type))
    return np.split(codes.astype(np.int64), list(accumulate(map(len, columns)))[:-1]), values


def read_numbers(cells: pa.ChunkedArray) -> Reals:
    """Return numbers, and dates as days since 1970, as reals of one's own; NaN where a cell is missing."""
    plain = cells.cast(pa.date32()).cast(pa.int32()) if kinds.is_date(cells.type) else cells
    return np.array(plain.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def class_rows(columns: Iterable[tuple[npt.NDArray[Any], int]], rows: int) -> tuple[Codes, Codes]:
    """Return for each row the class of rows that are alike in all columns, and for each class its first row.

    Parameters
    ----------
    columns
        Of each the codes of its cells, and how many codes there are.
    rows
        How many rows there are.
    """
    keys, span = np.zeros(rows, np.int64), min(1, rows)
    for codes, many in columns:
        if span * many >= _WORD:
            keys, first = _number_keys(keys, span)
            span = first.size
        keys *= many
        keys += codes
        span *= many
    return _number_keys(keys, span)


def sum_counts(ids: Codes, number: int, counts: Codes) -> Codes:
    """Return the rows of each class, from the rows of each combination."""
    return np.bincount(ids, weights=counts, minlength=number).astype(np.int64)


def refine_classes(ids: Codes, number: int, codes: Codes, kinds: int) -> tuple[Codes, int]:
    """Split classes by one more column; return the new classes and their number."""
    finer, first = _number_keys(ids * kinds + codes, number * kinds)
    return finer, first.size


def _encode(cells: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Cells as places in the list of their distinct values."""
    chunks = cells.dictionary_encode(null_encoding="encode").chunks  # all share one list, which Arrow cannot join
    if not chunks:
        return np.empty(0, np.int32), pa.array([], cells.type)
    return np.concatenate([chunk.indices.to_numpy() for chunk in chunks]), chunks[0].dictionary


def _count_rows(cells: pa.Table) -> CodedTable:
    """The distinct rows of cells that may be codes of a dictionary already."""
    held = [_list_values(column) for column in cells.columns]
    ids, first = class_rows([(codes, len(values)) for codes, values in held], cells.num_rows)
    both = [_drop_unused(codes.take(first), values) for codes, values in held]
    counts = np.bincount(ids, minlength=first.size)
    codes, values = tuple(codes for codes, _ in both), tuple(held for _, held in both)
    return CodedTable(tuple(cells.column_names), codes, values, counts)


def _list_values(cells: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Cells as places in a list of values; NULL, and values that a dictionary names twice, have one place each."""
    if pa.types.is_dictionary(cells.type) and any(chunk.dictionary.null_count for chunk in cells.chunks):
        cells = cells.cast(cells.type.value_type)  # dictionaries with NULL cannot be joined
    if not pa.types.is_dictionary(cells.type):
        return _encode(cells)
    wide = pa.dictionary(pa.int32(), cells.type.value_type)  # narrow codes may have no room for those of other chunks
    held = (cells if cells.type == wide else cells.cast(wide)).unify_dictionaries().combine_chunks()
    values, places = held.dictionary, held.indices
    if places.null_count:
        places = places.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    ranks, once = _encode(pa.chunked_array([values]))
    codes = places.to_numpy()
    return codes if len(once) == len(values) else ranks[codes], once


def _drop_unused(codes: npt.NDArray[np.int32], values: pa.Array) -> tuple[Codes, pa.Array]:
    """The same without values that no cell has, in canonical types."""
    used = np.bincount(codes, minlength=len(values)) > 0
    if not used.all():
        codes, values = (np.cumsum(used) - 1)[codes], values.filter(pa.array(used))
    return codes.astype(np.int64), canonical_column(pa.chunked_array([values])).combine_chunks()


def _number_keys(keys: Codes, span: int) -> tuple[Codes, Codes]:
    """Numbers from 0 on for keys below `span`, in the order in which they first occur, and where each does."""
    if span <= max(1024, 8 * keys.size):
        return _number_directly(keys, np.full(span, -1, dtype=np.int64))
    bits = max(4, int(2 * keys.size - 1).bit_length())
    return _number_by_hash(keys, np.full(1 << bits, -1, dtype=np.int64), 64 - bits)


@compiled
def _number_directly(keys: Codes, seen: Codes) -> tuple[Codes, Codes]:
    numbers, first, found = np.empty(keys.size, dtype=np.int64), np.empty(keys.size, dtype=np.int64), 0
    for i in range(keys.size):
        if seen[keys[i]] < 0:
            seen[keys[i]] = found
            first[found] = i
            found += 1
        numbers[i] = seen[keys[i]]
    return numbers, first[:found]


@compiled
def _number_by_hash(keys: Codes, seen: Codes, shift: int) -> tuple[Codes, Codes]:
    numbers, first, found = np.empty(keys.size, dtype=np.int64), np.empty(keys.size, dtype=np.int64), 0
    for i in range(keys.size):
        # The high bits of the product hang on all bits of the key, the low ones on its low bits only.
        place = np.int64((np.uint64(keys[i]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift))
        while seen[place] >= 0 and keys[first[seen[place]]] != keys[i]:
            place = (place + 1) & (seen.size - 1)
        if seen[place] < 0:
            seen[place] = found
            first[found] = i
            found += 1
        numbers[i] = seen[place]
    return numbers, first[:found]
