"""One grouped count in the engine: all that the search reads of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.anonymize.generalizing._coded import Codes, Combinations, Ladder, code_hierarchy, find_codes
from ziggurat.data import Hierarchy, Kind
from ziggurat.data.coded import CodedTable, group_rows
from ziggurat.data.expressions import null_if_missing
from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.data import Column, Table


def count_combinations(
    table: Table,
    quasi_identifiers: Sequence[str],
    sensitive: Sequence[str],
    hierarchies: Mapping[str, Hierarchy],
    population: Table | None = None,
    orders: Mapping[str, Sequence[object]] | None = None,
) -> Combinations:
    """Count how many rows have each combination of values; memory grows with the combinations, not with the rows.

    `orders` gives the order of the values of sensitive columns where it is not their own.
    """
    private_cells = [_select_known(table.schema[name]) for name in sensitive]
    answer = _group_people(table, [*quasi_identifiers, *private_cells])
    people_answer = None if population is None else _group_people(population, quasi_identifiers)
    ladders: list[Ladder] = []
    columns: list[Codes] = []
    for name in quasi_identifiers:
        cells, places = _join_population(answer, people_answer, name)
        made, codes = _place_cells(code_hierarchy(name, hierarchies[name], missing=None in cells), cells)
        ladders.append(made)
        columns.append(codes.take(places))
    private = [_order_values(answer, name, (orders or {}).get(name)) for name in sensitive]
    rows = answer.counts.size
    more = 0 if people_answer is None else people_answer.counts.size
    codes = np.stack(columns)
    counts = np.concatenate([answer.counts, np.zeros(more, np.int64)])
    people = np.empty(0, np.int64)
    if people_answer is not None:
        people = np.concatenate([np.zeros(rows, np.int64), people_answer.counts])
    values = np.zeros((rows + more, len(sensitive)), np.int32)
    for place, (numbers, _) in enumerate(private):
        values[:rows, place] = numbers
    # An engine answers in any order; local recoding takes combinations as they come and shall find the same each time.
    order = _order_rows([counts, *values.T, *codes], apart=not more)
    people = people[order] if more else people
    held = tuple(each for _, each in private)
    return Combinations(tuple(ladders), codes.take(order, axis=1).T, counts[order], people, values[order], held)


def _order_rows(keys: Sequence[npt.NDArray[np.integer[Any]]], *, apart: bool) -> npt.NDArray[np.intp]:
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


def count_values(table: Table, column: str) -> dict[Any, int]:
    """Return the distinct values of a column that are not missing, and how many rows have each."""
    answer = _group_people(table, [column])
    values = answer.values[0].take(pa.array(answer.codes[0])).to_pylist()
    pairs = zip(values, answer.counts.tolist(), strict=True)
    return {value: rows for value, rows in pairs if value is not None}


def _group_people(table: Table, names: Sequence[str | exp.Expr]) -> CodedTable:
    answer = group_rows(table, names)
    if answer.counts.size == 0:
        raise DataError("The table has no rows; there is nothing to anonymise.")
    return answer


def _select_known(column: Column) -> str | exp.Expr:
    """A sensitive column, of which a code for missing cells is no value."""
    return null_if_missing(column) if column.missing or column.storage is Kind.REAL else column.name


def _join_population(
    answer: CodedTable, known: CodedTable | None, name: str
) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """The distinct cells of a column in both tables, and the place of every combination's cell among them."""
    place = answer.names.index(name)
    values, codes = answer.values[place], answer.codes[place]
    if known is None:
        return values.to_pylist(), codes
    other = known.names.index(name)
    if known.values[other].type != values.type:
        raise DataError(f"Column {name!r} of the population holds another kind of value than that of the table.")
    both = pa.concat_arrays([values, known.values[other]]).dictionary_encode(null_encoding="encode")
    joined = np.concatenate([codes, known.codes[other] + len(values)])
    return both.dictionary.to_pylist(), both.indices.to_numpy()[joined]


def _place_cells(made: Ladder, cells: Sequence[Any]) -> tuple[Ladder, Codes]:
    """The codes of cells, and the ladder with the values as the table holds them, by which rows are found again."""
    codes = find_codes(made, cells)
    values = list(made.values)
    for code, cell in zip(codes.tolist(), cells, strict=True):
        values[code] = cell
    return replace(made, values=tuple(values)), codes


def _order_values(answer: CodedTable, name: str, given: Sequence[object] | None) -> tuple[Codes, tuple[object, ...]]:
    """Sensitive values in their order, missing ones last and as one value."""
    place = answer.names.index(name)
    held: list[Any] = answer.values[place].to_pylist()
    rank = {value: at for at, value in enumerate(given or ())}
    order = sorted(range(len(held)), key=lambda at: (held[at] is None, rank.get(held[at], len(rank)), _own(held[at])))
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks[answer.codes[place]], tuple(held[at] for at in order)


def _own(value: Any) -> Any:
    """What values of one kind are sorted by; None never meets another value in a comparison."""
    return 0 if value is None else value
