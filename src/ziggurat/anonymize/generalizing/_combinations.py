"""A table as the search sees it: hierarchies in codes, and how many rows have each combination of codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.data import Hierarchy, Kind
from ziggurat.data.coded import CodedTable, code_alike, group_rows
from ziggurat.data.expressions import null_if_missing
from ziggurat.data.schema import write_value
from ziggurat.errors import DataError

if TYPE_CHECKING:
    from ziggurat.data import Column, Table

Codes = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ladder:
    """A column's hierarchy in codes: every value has a code, and at every level a group.

    Parameters
    ----------
    column
        The name of the column.
    values
        Its values, in the order of their codes; None where a cell may be missing.
    groups
        For each level, the group of every code; at level 0 the code itself.
    labels
        For each level, what every group is called; None for a group that holds missing cells only.
    """

    column: str
    values: tuple[object, ...]
    groups: tuple[Codes, ...]
    labels: tuple[tuple[object, ...], ...]

    @property
    def height(self) -> int:
        """How many levels there are, that of the values themselves included."""
        return len(self.groups)

    @property
    def size(self) -> int:
        """How many values the hierarchy has."""
        return len(self.values)

    def leaves(self, level: int) -> Counts:
        """Return for each group of a level how many values stand under it."""
        return np.bincount(self.groups[level], minlength=len(self.labels[level])).astype(np.int64)

    def step(self, was: int, now: int) -> Codes:
        """Return for each group of one level its group at a higher one."""
        steps = np.zeros(len(self.labels[was]), np.int32)
        steps[self.groups[was]] = self.groups[now]
        return steps


def code_hierarchy(column: str, hierarchy: Hierarchy, *, missing: bool = False) -> Ladder:
    """Return a hierarchy in codes.

    Parameters
    ----------
    column
        The name of the column.
    hierarchy
        Its hierarchy.
    missing
        Whether cells may be missing. They then are a value of their own, up to the top, where they join the others.
    """
    values: list[object] = list(hierarchy.levels)
    columns: list[list[object]] = [values, *(list(level) for level in zip(*hierarchy.levels.values(), strict=True))]
    if missing:
        top = columns[-1][0] if len(set(columns[-1])) == 1 else None
        columns = [[*level, None] for level in columns[:-1]] + [[*columns[-1], top]]
    return code_levels(column, columns)


def code_levels(column: str, levels: Sequence[Sequence[object]]) -> Ladder:
    """Return what stands at every level over each value, the values themselves first, in codes."""
    coded = [_number_labels(level) for level in levels]
    return Ladder(column, tuple(levels[0]), tuple(codes for codes, _ in coded), tuple(names for _, names in coded))


def _number_labels(level: Sequence[object]) -> tuple[Codes, tuple[object, ...]]:
    numbers: dict[object, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in level]
    return np.array(codes, np.int32), tuple(numbers)


def find_codes(ladder: Ladder, cells: Sequence[Any]) -> Codes:
    """Return the codes of distinct cells; DataError names the column if a value is not in its hierarchy."""
    places: dict[object, int] = {value: code for code, value in enumerate(ladder.values)}
    texts = {write_value(value): code for code, value in enumerate(ladder.values) if value is not None}  # type: ignore[arg-type]
    codes = [places.get(cell, -1 if cell is None else texts.get(write_value(cell), -1)) for cell in cells]
    absent = codes.count(-1)
    if any(isinstance(cell, float) and cell != cell for cell in cells):
        raise DataError(f"Column {ladder.column!r} holds NaN, which is no number; make these cells missing first.")
    if absent:
        several = "1 value" if absent == 1 else f"{absent} values"
        raise DataError(
            f"{several} of column {ladder.column!r} {'is' if absent == 1 else 'are'} not in its hierarchy; "
            f"add {'it' if absent == 1 else 'them'} there, or see 'ziggurat hierarchy check'."
        )
    return np.array(codes, np.int32)


@dataclass(frozen=True)
class Combinations:
    """A table as the search sees it: every distinct combination of codes, and how many rows have it.

    Parameters
    ----------
    ladders
        The quasi-identifiers.
    codes
        [i, j]: the code of column j in the i-th combination.
    counts
        How many rows of the table have it.
    people
        How many rows of the population have it; empty without a population.
    sensitive
        [i, s]: the code of the s-th sensitive column, for models about these; zero columns without.
    values
        The values of each sensitive column, in the order of their codes.
    """

    ladders: tuple[Ladder, ...]
    codes: Codes
    counts: Counts
    people: Counts
    sensitive: Codes
    values: tuple[tuple[object, ...], ...]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return int(self.counts.sum())


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
    codes, values = answer.column(name)
    if known is None:
        return values.to_pylist(), codes
    more, others = known.column(name)
    if others.type != values.type:
        raise DataError(f"Column {name!r} of the population holds another kind of value than that of the table.")
    (mine, theirs), both = code_alike([pa.chunked_array([values]), pa.chunked_array([others])])
    return both.to_pylist(), np.concatenate([mine[codes], theirs[more]])


def _place_cells(made: Ladder, cells: Sequence[Any]) -> tuple[Ladder, Codes]:
    """The codes of cells, and the ladder with the values as the table holds them, by which rows are found again."""
    codes = find_codes(made, cells)
    values = list(made.values)
    for code, cell in zip(codes.tolist(), cells, strict=True):
        values[code] = cell
    return replace(made, values=tuple(values)), codes


def _order_values(answer: CodedTable, name: str, given: Sequence[object] | None) -> tuple[Codes, tuple[object, ...]]:
    """Sensitive values in their order, missing ones last and as one value."""
    codes, values = answer.column(name)
    held: list[Any] = values.to_pylist()
    rank = {value: at for at, value in enumerate(given or ())}
    order = sorted(range(len(held)), key=lambda at: (held[at] is None, rank.get(held[at], len(rank)), _own(held[at])))
    ranks = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return ranks[codes], tuple(held[at] for at in order)


def _own(value: Any) -> Any:
    """What values of one kind are sorted by; None never meets another value in a comparison."""
    return 0 if value is None else value
