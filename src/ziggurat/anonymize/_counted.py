"""One grouped count in the engine: all that the search reads of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from ziggurat.anonymize._coded import Codes, Counted, Counts, Ladder, coded_cells, ladder
from ziggurat.data import Hierarchy, known
from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.data import Table

_ROWS = "ziggurat rows"


def counted(
    table: Table,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    population: Table | None = None,
    orders: Mapping[str, Sequence[object]] | None = None,
) -> Counted:
    """Count how many rows have each combination of values; memory grows with the combinations, not with the rows.

    `orders` gives the order of the values of sensitive columns where it is not their own.
    """
    private_cells = [known(table.schema[name]) for name in sensitive]  # a code for missing cells is no value
    answer = _grouped(table, [*quasi_identifiers, *private_cells])
    people_answer = None if population is None else _grouped(population, quasi_identifiers)
    ladders: list[Ladder] = []
    columns: list[Codes] = []
    for name in quasi_identifiers:
        cells = _with_population(answer, people_answer, name)
        made, codes = _coded(ladder(name, hierarchies[name], missing=cells.null_count > 0), cells)
        ladders.append(made)
        columns.append(codes)
    private = [_numbered(answer.column(name), (orders or {}).get(name)) for name in sensitive]
    rows = answer.num_rows
    more = 0 if people_answer is None else people_answer.num_rows
    codes = np.stack(columns, axis=1)
    counts = np.concatenate([_counts(answer), np.zeros(more, np.int64)])
    people = np.empty(0, np.int64)
    if people_answer is not None:
        people = np.concatenate([np.zeros(rows, np.int64), _counts(people_answer)])
    values = np.zeros((rows + more, len(sensitive)), np.int32)
    for place, (numbers, _) in enumerate(private):
        values[:rows, place] = numbers
    # An engine answers in any order; local recoding takes combinations as they come and shall find the same each time.
    order = _order([counts, *values.T, *codes.T], apart=not more)
    people = people[order] if more else people
    held = tuple(each for _, each in private)
    return Counted(tuple(ladders), codes[order], counts[order], people, values[order], held)


def _order(keys: Sequence[npt.NDArray[np.integer[Any]]], *, apart: bool) -> npt.NDArray[np.intp]:
    """The order of rows by whole numbers from 0 on, the last one first, as `np.lexsort` gives it.

    Several numbers are sorted as one as long as they fit into one, which takes a fraction of the time; where no two
    rows are equal (`apart`) any sort gives that order.
    """
    words = [np.zeros(len(keys[0]), np.uint64)]
    used = 0
    for key in keys:
        bits = int(key.max(initial=0)).bit_length()
        if used + bits > 64:
            words.append(np.zeros(len(key), np.uint64))
            used = 0
        words[-1] |= key.astype(np.uint64) << np.uint64(used)
        used += bits
    if len(words) == 1 and apart:
        return np.argsort(words[0])
    return np.lexsort(words)


def distinct(table: Table, column: str) -> dict[Any, int]:
    """Return the distinct values of a column that are not missing, and how many rows have each."""
    answer = _grouped(table, [column])
    pairs = zip(answer.column(column).to_pylist(), answer.column(_ROWS).to_pylist(), strict=True)
    return {value: rows for value, rows in pairs if value is not None}


def _grouped(table: Table, names: Sequence[str | exp.Expr]) -> pa.Table:
    count = exp.Count(this=exp.Star()).as_(_ROWS, quoted=True)
    answer = table.aggregate(count, group_by=names)
    if answer.num_rows == 0:
        raise DataError("The table has no rows; there is nothing to anonymise.")
    return answer


def _counts(answer: pa.Table) -> Counts:
    return np.asarray(answer.column(_ROWS).to_numpy(), np.int64)


def _with_population(answer: pa.Table, known: pa.Table | None, name: str) -> pa.ChunkedArray:
    column = answer.column(name)
    if known is None:
        return column
    other = known.column(name)
    if other.type != column.type:
        raise DataError(f"Column {name!r} of the population holds another kind of value than that of the table.")
    return pa.chunked_array([*column.chunks, *other.chunks], column.type)


def _encoded(cells: pa.ChunkedArray) -> pa.DictionaryArray:
    """Cells as places in a list of their values; chunks are joined first, as dictionaries with NULL cannot be."""
    whole = cells.combine_chunks()
    return pc.dictionary_encode(whole, null_encoding="encode")


def _coded(made: Ladder, cells: pa.ChunkedArray) -> tuple[Ladder, Codes]:
    """The codes of cells, and the ladder with the values as the table holds them, by which rows are found again."""
    encoded = _encoded(cells)
    held: list[Any] = encoded.dictionary.to_pylist()
    codes = coded_cells(made, held)
    values = list(made.values)
    for code, cell in zip(codes.tolist(), held, strict=True):
        values[code] = cell
    return replace(made, values=tuple(values)), np.asarray(codes[encoded.indices.to_numpy()])


def _numbered(cells: pa.ChunkedArray, given: Sequence[object] | None) -> tuple[Codes, tuple[object, ...]]:
    """Sensitive values in their order, missing ones last and as one value."""
    encoded = _encoded(cells)
    held: list[Any] = encoded.dictionary.to_pylist()
    rank = {value: place for place, value in enumerate(given or ())}
    order = sorted(range(len(held)), key=lambda at: (held[at] is None, rank.get(held[at], len(rank)), _own(held[at])))
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks[encoded.indices.to_numpy()], tuple(held[at] for at in order)


def _own(value: Any) -> Any:
    """What values of one kind are sorted by; None never meets another value in a comparison."""
    return 0 if value is None else value
