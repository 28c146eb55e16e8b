"""Tables as whole numbers: each column's cells as codes, equal rows together with their count.

Counting combinations of text is slow in any engine, because it hashes and compares every cell again. Where a table of
moderate size lies in files or arrays that hold its text as codes anyway, its rows are counted by these; any other is
grouped by its engine. Both give the same combinations and counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.compiling import compiled
from ziggurat.data.engines import canonical_column

if TYPE_CHECKING:
    from ziggurat.data._table import Table

Codes = npt.NDArray[np.int64]

_COUNT = "ziggurat_rows"
_WORD = 2**62  # codes of several columns are one number below it


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

    def classes(self, names: Iterable[str]) -> tuple[Codes, int]:
        """Return for each combination the class it belongs to when only `names` are looked at, and their number."""
        ids, first = self._numbered(self.names.index(name) for name in names)
        return ids, first.size

    def distinct(self, names: Sequence[str]) -> tuple[CodedTable, Codes]:
        """Return the distinct combinations of `names`, and for each combination held here its place among them."""
        places = [self.names.index(name) for name in names]
        ids, first = self._numbered(places)
        codes, values = (self.codes[place][first] for place in places), (self.values[place] for place in places)
        return CodedTable(tuple(names), tuple(codes), tuple(values), sum_counts(ids, first.size, self.counts)), ids

    def _numbered(self, places: Iterable[int]) -> tuple[Codes, Codes]:
        return _class_rows([(self.codes[place], len(self.values[place])) for place in places], self.counts.size)


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
    both = [_code_cells(column) for column in cells.columns]
    each = np.ones(cells.num_rows, dtype=np.int64) if counts is None else counts
    return CodedTable(
        tuple(cells.column_names), tuple(codes for codes, _ in both), tuple(held for _, held in both), each
    )


def sum_counts(ids: Codes, number: int, counts: Codes) -> Codes:
    """Return the rows of each class, from the rows of each combination."""
    return np.bincount(ids, weights=counts, minlength=number).astype(np.int64)


def refine_classes(ids: Codes, number: int, codes: Codes, kinds: int) -> tuple[Codes, int]:
    """Split classes by one more column; return the new classes and their number."""
    finer, first = _number_keys(ids * kinds + codes, number * kinds)
    return finer, first.size


def _code_cells(cells: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    held = _whole(cells).dictionary_encode(null_encoding="encode")
    return held.indices.to_numpy(zero_copy_only=False).astype(np.int64), held.dictionary


def _whole(cells: pa.ChunkedArray) -> pa.Array:
    """All chunks as one."""
    whole = cells.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _count_rows(cells: pa.Table) -> CodedTable:
    """The distinct rows of cells that may be codes of a dictionary already."""
    held = [_list_values(column) for column in cells.columns]
    ids, first = _class_rows([(codes, len(values)) for codes, values in held], cells.num_rows)
    both = [_drop_unused(codes.take(first), values) for codes, values in held]
    counts = np.bincount(ids, minlength=first.size)
    return CodedTable(
        tuple(cells.column_names), tuple(codes for codes, _ in both), tuple(held for _, held in both), counts
    )


def _list_values(cells: pa.ChunkedArray) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Cells as places in a list of values; NULL, and values that a dictionary names twice, have one place each."""
    if pa.types.is_dictionary(cells.type) and any(chunk.dictionary.null_count for chunk in cells.chunks):
        cells = cells.cast(cells.type.value_type)  # dictionaries with NULL cannot be joined
    if not pa.types.is_dictionary(cells.type):
        held = _whole(cells).dictionary_encode(null_encoding="encode")
        return held.indices.to_numpy(), held.dictionary
    wide = pa.dictionary(pa.int32(), cells.type.value_type)  # narrow codes may have no room for those of other chunks
    held = _whole((cells if cells.type == wide else cells.cast(wide)).unify_dictionaries())
    values, places = held.dictionary, held.indices
    if places.null_count:
        places = places.fill_null(len(values))
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    once = values.dictionary_encode(null_encoding="encode")
    codes = places.to_numpy()
    return codes if len(once.dictionary) == len(values) else once.indices.to_numpy()[codes], once.dictionary


def _drop_unused(codes: npt.NDArray[np.int32], values: pa.Array) -> tuple[Codes, pa.Array]:
    """The same without values that no cell has, in canonical types."""
    used = np.bincount(codes, minlength=len(values)) > 0
    if not used.all():
        codes, values = (np.cumsum(used) - 1)[codes], values.filter(pa.array(used))
    return codes.astype(np.int64), canonical_column(pa.chunked_array([values])).combine_chunks()


def _class_rows(columns: Iterable[tuple[npt.NDArray[Any], int]], rows: int) -> tuple[Codes, Codes]:
    """For each row the class of rows that are alike in all columns, and for each class its first row.

    A column is the codes of its cells, and how many codes there are.
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
