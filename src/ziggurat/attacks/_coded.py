"""Tables as whole numbers: each column's cells as codes, equal rows together with their count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sqlglot import exp

from ziggurat.anonymize._compiled import compiled
from ziggurat.data import Role, Table, read, reference
from ziggurat.data.engines import scrambled
from ziggurat.errors import DataError, ParameterError

Codes = npt.NDArray[np.int64]

_COUNT = "ziggurat_rows"
_VALUES = 10_000  # of a column: so many are enough to see what it says of another
_AT_ONCE = 2_000_000  # cells of a table that are read once instead of asked for one by one


@dataclass(frozen=True)
class Coded:
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
        ids, number = np.zeros(self.counts.size, dtype=np.int64), min(1, self.counts.size)
        for name in names:
            place = self.names.index(name)
            ids, number = refined(ids, number, self.codes[place], len(self.values[place]))
        return ids, number

    def distinct(self, names: Sequence[str]) -> tuple[Coded, Codes]:
        """Return the distinct combinations of `names`, and for each combination held here its place among them."""
        ids, number = self.classes(names)
        first = np.empty(number, dtype=np.int64)
        first[ids[::-1]] = np.arange(ids.size)[::-1]
        places = [self.names.index(name) for name in names]
        codes, values = (self.codes[place][first] for place in places), (self.values[place] for place in places)
        return Coded(tuple(names), tuple(codes), tuple(values), sums(ids, number, self.counts)), ids


def opened(source: object) -> Table:
    """Return a table as it is, and open anything else that `ziggurat.data.read` can."""
    return source if isinstance(source, Table) else read(source)


def chosen(table: Table, names: Iterable[str] | str | None, what: str = "quasi-identifiers") -> tuple[str, ...]:
    """Return the named columns, or those with the role of a quasi-identifier."""
    if names is None:
        found = tuple(column.name for column in table.schema.with_role(Role.QUASI_IDENTIFIER))
        if not found:
            raise ParameterError("No column has the role quasi-identifier; name the quasi-identifiers.")
        return found
    wanted = (names,) if isinstance(names, str) else tuple(names)
    if not wanted:
        raise ParameterError(f"Name at least one column as {what}.")
    if len(set(wanted)) != len(wanted):
        raise ParameterError(f"A column is named twice among the {what}.")
    return tuple(table.schema[name].name for name in wanted)


def grouped(table: Table, names: Iterable[str], where: exp.Expr | None = None) -> Coded:
    """Count the rows of each combination of cells: one grouped count in the table's engine."""
    wanted = tuple(names)
    answer = table.aggregate(exp.Count(this=exp.Star()).as_(_COUNT), group_by=wanted, where=where)
    counts = answer.column(len(wanted)).to_numpy().astype(np.int64)
    return _not_empty(_coded(answer, wanted, counts))


def rows(table: Table, names: Iterable[str]) -> Coded:
    """Read the cells of the named columns row by row."""
    wanted = tuple(names)
    answer = table.raw.rows(wanted)
    return _not_empty(_coded(answer, wanted, np.ones(answer.num_rows, dtype=np.int64)))


class Counts:
    """How often any columns of a table agree: a small table is read once, a large one is asked each time.

    Parameters
    ----------
    table
        The table.
    names
        The columns that may be asked for.
    """

    def __init__(self, table: Table, names: Sequence[str]) -> None:
        self._table = table
        self.rows = table.raw.count_rows()
        self._whole = rows(table, names) if self.rows and self.rows * len(names) <= _AT_ONCE else None

    def of(self, names: Sequence[str]) -> Coded:
        """Return the distinct combinations of some columns with their counts."""
        return grouped(self._table, names) if self._whole is None else self._whole.distinct(names)[0]

    def pairs(self, by: str, of: str) -> Coded:
        """Return the pairs of two columns; where the first has very many values, those of a fixed part of them."""
        if self._whole is not None:
            return self.of([by, of])
        value = reference(self._table.schema[by])
        many = exp.Count(this=exp.Distinct(expressions=[value.copy()])).as_("many")
        parts = int(self._table.aggregate(many).column("many")[0].as_py()) // _VALUES
        if parts < 2:
            return self.of([by, of])
        lot = exp.Mod(this=scrambled([value], 1), expression=exp.Literal.number(parts))
        return grouped(self._table, [by, of], exp.EQ(this=lot, expression=exp.Literal.number(0)))

    def uniques(self, names: Sequence[str]) -> int:
        """Return how many rows have a combination of some columns that no other has."""
        if self._whole is not None:
            ids, number = self._whole.classes(names)
            return int((np.bincount(ids, minlength=number) == 1).sum())
        # Its answer is one number, however many combinations there are.
        columns = [reference(self._table.schema[name]) for name in names]
        alone = exp.EQ(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
        classes = self._table.select(*columns).group_by(*(each.copy() for each in columns)).having(alone)
        answer = exp.select(exp.Count(this=exp.Star()).as_("uniques")).from_(classes.subquery("alone"))
        return int(self._table.query(answer).column("uniques")[0].as_py())


def sums(ids: Codes, number: int, counts: Codes) -> Codes:
    """Return the rows of each class, from the rows of each combination."""
    return np.bincount(ids, weights=counts, minlength=number).astype(np.int64)


def refined(ids: Codes, number: int, codes: Codes, kinds: int) -> tuple[Codes, int]:
    """Split classes by one more column; return the new classes and their number."""
    keys = ids * kinds + codes
    if number * kinds <= max(1024, 8 * keys.size):
        seen = np.full(number * kinds, -1, dtype=np.int64)
        return _numbered_directly(keys, seen)
    room = 1 << max(4, int(2 * keys.size - 1).bit_length())
    return _numbered_by_hash(keys, np.full(room, -1, dtype=np.int64), np.empty(room, dtype=np.int64))


@compiled
def _numbered_directly(keys: Codes, seen: Codes) -> tuple[Codes, int]:
    numbers = np.empty(keys.size, dtype=np.int64)
    found = 0
    for i in range(keys.size):
        if seen[keys[i]] < 0:
            seen[keys[i]] = found
            found += 1
        numbers[i] = seen[keys[i]]
    return numbers, found


@compiled
def _numbered_by_hash(keys: Codes, held: Codes, at: Codes) -> tuple[Codes, int]:
    numbers = np.empty(keys.size, dtype=np.int64)
    mask, found = held.size - 1, 0
    for i in range(keys.size):
        key = keys[i]
        place = ((key * 0x9E3779B97F4A7C1) >> 20) & mask
        while held[place] >= 0 and held[place] != key:
            place = (place + 1) & mask
        if held[place] < 0:
            held[place] = key
            at[place] = found
            found += 1
        numbers[i] = at[place]
    return numbers, found


def _not_empty(coded: Coded) -> Coded:
    if coded.rows == 0:
        raise DataError("The table has no rows; there is nobody to identify.")
    return coded


def _coded(answer: pa.Table, names: tuple[str, ...], counts: Codes) -> Coded:
    both = [_column(answer.column(place)) for place in range(len(names))]
    return Coded(names, tuple(codes for codes, _ in both), tuple(values for _, values in both), counts)


def _column(cells: pa.ChunkedArray) -> tuple[Codes, pa.Array]:
    whole = cells.combine_chunks()
    whole = pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    coded = whole.dictionary_encode(null_encoding="encode")
    return coded.indices.to_numpy(zero_copy_only=False).astype(np.int64), coded.dictionary
