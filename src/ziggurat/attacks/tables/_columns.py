"""Which columns, and which sets of them, single people out.

References
----------
Motwani, Xu (2007), "Efficient algorithms for masking and finding quasi-identifiers", VLDB workshop: distinction and
separation ratios.
Elliot, Manning, Ford (2002), "A computational algorithm for handling the special uniques problem", Int. J. Uncertainty,
Fuzziness and Knowledge-Based Systems 10(5): minimal sample uniques.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import fraction
from ziggurat.attacks.tables._classes import choose_columns, read_groups
from ziggurat.cards import Shown
from ziggurat.data import Table, open_table
from ziggurat.data.coded import CodedTable, Codes, refine_classes, sum_counts
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.wording import list_names

MOST_SETS = 20_000


@dataclass(frozen=True)
class ColumnSet(Shown):
    """What an attacker who knows these columns of everybody can tell apart.

    Attributes
    ----------
    columns
        The set.
    classes, uniques
        How many different combinations there are, and how many people have one of their own.
    minimal_uniques
        Of the uniques, how many are unique in no part of the set: it takes all of these columns to single them out.
    distinction
        Classes / rows (Motwani and Xu).
    separation
        The share of all pairs of people that the columns tell apart (Motwani and Xu).
    """

    columns: tuple[str, ...]
    classes: int
    uniques: int
    minimal_uniques: int
    distinction: float
    separation: float


@dataclass(frozen=True)
class SinglingOut(Finding):
    """Which sets of columns single people out, the most telling of each size first.

    Attributes
    ----------
    rows
        How many people there are.
    sets
        Every set that was looked at, by size, then by uniques, then by classes.
    """

    rows: int
    sets: tuple[ColumnSet, ...]

    @property
    def largest(self) -> int:
        """How many columns the largest sets have."""
        return max(len(each.columns) for each in self.sets)

    def best(self, size: int) -> ColumnSet:
        """Return the most telling set of so many columns."""
        found = next((each for each in self.sets if len(each.columns) == size), None)
        if found is None:
            raise ParameterError(f"Sets of 1 to {self.largest} columns were looked at, not of {size}.")
        return found

    def minimal_sets(self, share: float = 1.0) -> tuple[ColumnSet, ...]:
        """Return the sets that make at least this share of the people unique, without those that hold another such."""
        wanted = fraction(share, "The share") * self.rows
        found: list[ColumnSet] = []
        for each in self.sets:
            if each.uniques >= wanted and not any(set(other.columns) < set(each.columns) for other in found):
                found.append(each)
        return tuple(found)

    def columns(self) -> dict[str, float]:
        """Return for each column the share of minimal sample uniques that it takes part in, the largest first."""
        total = sum(each.minimal_uniques for each in self.sets)
        parts: dict[str, int] = {name: 0 for each in self.sets for name in each.columns}
        for each in self.sets:
            for name in each.columns:
                parts[name] += each.minimal_uniques
        shares = {name: part / total if total else 0.0 for name, part in parts.items()}
        return dict(sorted(shares.items(), key=lambda item: (-item[1], item[0])))

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        one, most = self.best(1), self.best(self.largest)
        text = f"The most telling single column is {one.columns[0]!r} ({one.uniques / self.rows:.1%} of people unique)"
        if self.largest == 1:
            return f"{text}."
        few = self.best(min(3, self.largest))
        text += f"; {list_names(few.columns)} together single out {few.uniques / self.rows:.1%}"
        if self.largest > 3:
            text += f", {self.largest} columns together {most.uniques / self.rows:.1%}"
        return f"{text}."

    @property
    def table(self) -> pa.Table:
        """All sets, ranked."""
        return pa.table(
            {
                "columns": [", ".join(each.columns) for each in self.sets],
                "size": [len(each.columns) for each in self.sets],
                "classes": [each.classes for each in self.sets],
                "uniques": [each.uniques for each in self.sets],
                "share unique": [each.uniques / self.rows for each in self.sets],
                "minimal uniques": [each.minimal_uniques for each in self.sets],
                "distinction": [each.distinction for each in self.sets],
                "separation": [each.separation for each in self.sets],
            }
        )


def singling_out(
    table: Table | pa.Table, quasi_identifiers: Iterable[str] | None = None, *, largest: int | None = None
) -> SinglingOut:
    """Look at every set of columns, and say how many people it singles out.

    The table is read by one grouped count; the sets are looked at on its distinct combinations.

    Parameters
    ----------
    table
        The table; each row one person.
    quasi_identifiers
        Which columns; by default those with that role.
    largest
        Up to how many columns a set has; by default all, as long as there are at most 20,000 sets.
    """
    held = open_table(table)
    return singling_out_of(read_groups(held, choose_columns(held, quasi_identifiers)), largest)


def singling_out_of(combinations: CodedTable, largest: int | None = None) -> SinglingOut:
    """Look at sets of columns of combinations that were counted already, see `singling_out`."""
    depth = _depth(len(combinations.names), largest)
    order = np.flatnonzero(combinations.counts == 1)  # only these can be unique in a set of fewer columns
    seen: dict[int, npt.NDArray[np.uint8]] = {}
    found = []
    for mask, ids, number in _walk(combinations, depth):
        sizes = sum_counts(ids, number, combinations.counts)
        alone = sizes[ids[order]] == 1
        seen[mask] = np.packbits(alone)
        found.append(_describe(combinations, mask, sizes, seen))
    found.sort(key=lambda each: (len(each.columns), -each.uniques, -each.classes, each.columns))
    return SinglingOut(combinations.rows, tuple(found))


def largest_affordable(columns: int, most: int = MOST_SETS) -> int:
    """Up to which size the sets of so many columns number at most `most`; 0 if there are more columns than that."""
    size = total = 0
    while size < columns and (total := total + math.comb(columns, size + 1)) <= most:
        size += 1
    return size


def _depth(columns: int, largest: int | None) -> int:
    if largest is not None and (isinstance(largest, bool) or not isinstance(largest, int) or largest < 1):
        raise ParameterError("The largest number of columns of a set must be a whole number of at least 1.")
    depth, possible = columns if largest is None else min(largest, columns), largest_affordable(columns)
    if depth > possible:
        what = f"look at sets of at most {possible}" if possible else "name fewer"
        raise ParameterError(f"There are more than {MOST_SETS:,} such sets of {columns} columns; {what}.")
    return depth


def _walk(combinations: CodedTable, depth: int) -> Iterator[tuple[int, Codes, int]]:
    """Yield every set as a bit mask with its classes, every set after all of its subsets.

    A set comes from the one without its lowest bit. So they come as ascending numbers, and a subset is a smaller one.
    """
    codes, kinds = combinations.codes, [len(values) for values in combinations.values]

    def below(mask: int, ids: Codes, number: int, lowest: int, left: int) -> Iterator[tuple[int, Codes, int]]:
        for place in range(lowest if left else 0):
            finer, many = refine_classes(ids, number, codes[place], kinds[place])
            yield mask | 1 << place, finer, many
            yield from below(mask | 1 << place, finer, many, place, left - 1)

    yield from below(0, np.zeros(combinations.counts.size, dtype=np.int64), 1, len(codes), depth)


def _describe(combinations: CodedTable, mask: int, sizes: Codes, seen: dict[int, npt.NDArray[np.uint8]]) -> ColumnSet:
    rows, places = combinations.rows, [i for i in range(len(combinations.names)) if mask >> i & 1]
    minimal = seen[mask].copy()
    for place in places:
        smaller = mask ^ 1 << place
        if smaller:
            minimal &= ~seen[smaller]
    pairs = rows * (rows - 1) / 2
    together = float((sizes * (sizes - 1)).sum()) / 2
    return ColumnSet(
        columns=tuple(combinations.names[i] for i in places),
        classes=sizes.size,
        uniques=int((sizes == 1).sum()),
        minimal_uniques=int(np.unpackbits(minimal).sum()),
        distinction=sizes.size / rows,
        separation=1 - together / pairs if pairs else 1.0,
    )
