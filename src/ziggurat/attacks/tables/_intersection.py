"""Two releases about the same people: what is left when their candidates are intersected.

Ganta, Kasiviswanathan, Smith (2008), "Composition attacks and auxiliary information in data privacy", KDD: releases
that are anonymous each by itself need not be so together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.attacks._finding import Share
from ziggurat.attacks.tables._classes import choose_columns, open_table, read_groups
from ziggurat.attacks.tables._labels import write_cell
from ziggurat.attacks.tables._matching import hierarchies_for, match
from ziggurat.data import Hierarchy, Table
from ziggurat.data.coded import CodedTable, Codes
from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.wording import count_noun

Sizes = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Intersection(Finding):
    """What an attacker learns from two releases together.

    Attributes
    ----------
    sensitive
        The column to learn.
    people
        How many people the attacker looks for.
    found
        Those whom rows of both releases fit.
    alone
        Those whose value is pinned down by one of the releases alone.
    together
        Those whose value is pinned down by both together.
    right
        Those pinned down together whose value is the true one; None if the attacker's table does not hold the truth.
    contradicted
        Those found in both, with no value in common: they are not in both, or cells were changed.
    first, second, both
        How many people have how many values left: by the first release, by the second, by both.
    """

    sensitive: str
    people: int
    found: Share
    alone: Share
    together: Share
    right: Share | None
    contradicted: int
    first: Sizes
    second: Sizes
    both: Sizes

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        text = (
            f"One release alone gives away {self.sensitive!r} of {self.alone.rate:.1%} of "
            f"{count_noun(self.people, 'person', 'people')}, both together of {self.together}"
        )
        return f"{text}." if self.right is None else f"{text}, rightly of {self.right.rate:.1%}."

    @property
    def table(self) -> pa.Table:
        """How many people have how many values left."""
        parts = [dict(self.first), dict(self.second), dict(self.both)]
        left = sorted(set().union(*parts))
        heads = ("people by the first", "people by the second", "people by both")
        return pa.table(
            {
                "values left": left,
                **{head: [part.get(number, 0) for number in left] for head, part in zip(heads, parts, strict=True)},
            }
        )


def intersection(
    first: Table | pa.Table,
    second: Table | pa.Table,
    people: Table | pa.Table,
    *,
    on: Iterable[str],
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Intersection:
    """Attack two releases of the same table by intersecting what each of them leaves possible.

    Parameters
    ----------
    first, second
        The releases; labels are understood as in `linkage`.
    people
        What the attacker knows, a row for each person who is in both. If it holds the sensitive column, the attack is
        judged by it; the attack itself does not use it.
    on
        The columns that the attacker knows.
    sensitive
        The column to learn, released as it is.
    hierarchies
        For columns whose labels cannot be read without.
    """
    one, two, others = open_table(first), open_table(second), open_table(people)
    names = choose_columns(others, on, "columns to match")
    if sensitive in names:
        raise ParameterError(f"Column {sensitive!r} is named both as sensitive and as known.")
    judged = sensitive in others.schema
    known = read_groups(others, (*names, sensitive) if judged else names)
    values: dict[str | None, int] = {}
    left = [_find_left(known, each, names, sensitive, hierarchies, values) for each in (one, two)]
    width = max(1, len(values))
    sets = [np.unique(people * width + cells) for people, cells in left]
    common = np.intersect1d(sets[0], sets[1], assume_unique=True)
    truth = _truths(known, values) if judged else None
    return _sum_up(sensitive, known, width, sets, common, truth)


def _find_left(
    known: CodedTable,
    released: Table,
    names: tuple[str, ...],
    sensitive: str,
    hierarchies: Mapping[str, Hierarchy] | None,
    values: dict[str | None, int],
) -> tuple[Codes, Codes]:
    """For each known combination the sensitive values of the rows that fit, as codes shared by both releases."""
    choose_columns(released, names, "columns to match")
    combinations = read_groups(released, (*names, released.schema[sensitive].name))
    pairs = match(known, combinations, names, hierarchies_for(released, names, hierarchies))
    shared = [values.setdefault(write_cell(cell), len(values)) for cell in combinations.values[-1].to_pylist()]
    return pairs.known, np.array(shared, dtype=np.int64)[combinations.codes[-1]][pairs.released]


def _truths(known: CodedTable, values: Mapping[str | None, int]) -> Codes:
    codes = [values.get(write_cell(cell), -1) for cell in known.values[-1].to_pylist()]
    return np.array(codes, dtype=np.int64)[known.codes[-1]]


def _sum_up(
    sensitive: str, known: CodedTable, width: int, sets: list[Codes], common: Codes, truth: Codes | None
) -> Intersection:
    sizes = [np.bincount(keys // width, minlength=known.counts.size) for keys in (*sets, common)]
    found = (sizes[0] > 0) & (sizes[1] > 0)
    pinned = sizes[2] == 1
    right = None
    if truth is not None:
        owners = common // width
        hit = np.bincount(owners[common % width == truth[owners]], minlength=known.counts.size) > 0
        right = _share(known, pinned & hit)
    return Intersection(
        sensitive=sensitive,
        people=known.rows,
        found=_share(known, found),
        alone=_share(known, found & ((sizes[0] == 1) | (sizes[1] == 1))),
        together=_share(known, pinned),
        right=right,
        contradicted=int(known.counts[found & (sizes[2] == 0)].sum()),
        first=_tally(known, sizes[0]),
        second=_tally(known, sizes[1]),
        both=_tally(known, sizes[2]),
    )


def _share(known: CodedTable, which: npt.NDArray[np.bool_]) -> Share:
    return Share(int(known.counts[which].sum()), known.rows)


def _tally(known: CodedTable, sizes: npt.NDArray[np.int64]) -> Sizes:
    people = np.bincount(sizes, weights=known.counts).astype(int)
    return tuple((number, int(many)) for number, many in enumerate(people) if many)
