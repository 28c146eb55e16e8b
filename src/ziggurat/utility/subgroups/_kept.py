"""How well a synthetic or anonymised table kept groups of people, by their size.

Groups are combinations of values. A released table has as many of a group as its rows say, scaled to the number of rows
of the original; a group that it does not name at all is lost, whether noise, generalisation or suppression took it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ziggurat.cards import Shown
from ziggurat.data import open_table
from ziggurat.errors import DataError, ParameterError
from ziggurat.findings import Finding, Share
from ziggurat.utility._sheets import list_copies
from ziggurat.utility.subgroups._errors import FEWEST_ROWS
from ziggurat.wording import count_noun

SIZES = (1, 10, 30, 100, 1000)
"""From how many rows on groups are told together."""

_MISSING = "missing"
Groups = dict[tuple[str, ...], tuple[int, list[float]]]


@dataclass(frozen=True)
class GroupKept(Shown):
    """One group in the original and in what leaves.

    Attributes
    ----------
    group, rows
        The values that tell it apart, and how many rows of the original it has.
    kept
        How many it seems to have, scaled to the original's rows; the mean over copies.
    means
        For each column of numbers its mean in the original and in what leaves (NaN if that has no such row).
    """

    group: tuple[str, ...]
    rows: int
    kept: float
    means: dict[str, tuple[float, float]]

    @property
    def error(self) -> float:
        """By which share the count is off."""
        return (self.kept - self.rows) / self.rows


@dataclass(frozen=True)
class GroupSizes(Shown):
    """All groups of a size together.

    Attributes
    ----------
    least, most
        How many rows these groups have; no end if most is None.
    lost
        Those that what leaves does not name at all, of all.
    off
        The median of the shares by which their counts are off, either way; a lost group is off by 1.
    """

    least: int
    most: int | None
    lost: Share
    off: float

    @property
    def label(self) -> str:
        """The size in words."""
        return f"{self.least} or more rows" if self.most is None else f"{self.least} to {self.most} rows"


@dataclass(frozen=True)
class KeptGroups(Finding):
    """How well groups were kept.

    Attributes
    ----------
    by
        The columns that tell groups apart.
    sizes
        Groups by their size, the smallest first.
    groups
        Those with at least `fewest` rows, the largest first; about others nothing is said one by one.
    invented
        How many groups what leaves names that are not in the original; the mean over copies.
    fewest
        See `groups`.
    """

    by: tuple[str, ...]
    sizes: tuple[GroupSizes, ...]
    groups: tuple[GroupKept, ...]
    invented: float
    fewest: int

    @property
    def lost(self) -> Share:
        """The groups that what leaves does not name at all."""
        return Share(sum(each.lost.hits for each in self.sizes), sum(each.lost.trials for each in self.sizes))

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        first, last = self.sizes[0], self.sizes[-1]
        text = (
            f"Of {count_noun(self.lost.trials, 'group')} by {', '.join(self.by)} {self.lost.hits:,} are lost; counts "
            f"of groups with {first.label} are off by {first.off:.0%} (median), {first.lost.hits:,} of "
            f"{first.lost.trials:,} of them lost"
        )
        if first is last:
            return f"{text}."
        return f"{text}, and of groups with {last.label} by {last.off:.0%}, {last.lost.hits:,} lost."

    @property
    def table(self) -> pa.Table:
        """A row for each size of groups."""
        return pa.table(
            {
                "groups with": [each.label for each in self.sizes],
                "groups": [each.lost.trials for each in self.sizes],
                "lost": [each.lost.rate for each in self.sizes],
                "count off by, median": [each.off for each in self.sizes],
            }
        )

    @property
    def group_table(self) -> pa.Table:
        """A row for each group with enough rows."""
        columns: dict[str, Any] = {
            name: [each.group[place] for each in self.groups] for place, name in enumerate(self.by)
        }
        columns |= {"rows": [each.rows for each in self.groups], "kept": [each.kept for each in self.groups]}
        columns["off by"] = [each.error for each in self.groups]
        for name in self.groups[0].means if self.groups else ():
            for place, title in enumerate((f"mean {name}", f"mean {name}, kept")):
                columns[title] = [each.means[name][place] for each in self.groups]
        return pa.table(columns)

    def draw(self, kind: Literal["svg", "png"] = "svg") -> bytes:
        """Draw by how much counts are off against the size of groups, for the steward."""
        from ziggurat.utility.subgroups._drawn import draw_kept

        return draw_kept(self, kind)


def compare_group_counts(
    original: object,
    released: object,
    by: Iterable[str] | str,
    *,
    values: Iterable[str] | str = (),
    fewest: int = FEWEST_ROWS,
) -> KeptGroups:
    """Compare groups of people in a table with a synthetic or anonymised one: counts, means, and groups lost.

    The figures are exact functions of the original, without any noise: for the steward only.

    Parameters
    ----------
    original
        What `ziggurat.data.read` takes; a table with a schema says which codes stand for missing.
    released
        The same of what leaves; of synthetic copies one, a list, or what `synthesize` returned.
    by
        The columns whose values tell groups apart; cut numbers beforehand.
    values
        Columns of numbers whose mean in each group is compared as well.
    fewest
        Groups with fewer rows are told only together.
    """
    names, numbers = ((one,) if isinstance(one, str) else tuple(one) for one in (by, values))
    if not names or fewest < 1:
        raise ParameterError("Name the columns that tell groups apart, and how many rows a group needs, at least 1.")
    table = open_table(original)
    absent = {name: [str(code) for code in table.schema[name].missing] for name in names}
    held, rows = _count_groups(table, absent, numbers)
    copies = [_count_groups(each, absent, numbers) for each in list_copies(released)]
    kept = [_keep(group, held[group], copies, rows, numbers) for group in held]
    told = sorted((each for each in kept if each.rows >= fewest), key=lambda each: (-each.rows, each.group))
    invented = float(np.mean([sum(group not in held for group in found) for found, _ in copies]))
    return KeptGroups(names, _sort_by_size(kept), tuple(told), invented, fewest)


def _count_groups(data: object, absent: Mapping[str, list[str]], numbers: Sequence[str]) -> tuple[Groups, int]:
    """How often each group occurs, and its means; codes for missing are as missing as an empty cell."""
    table, names = open_table(data), list(absent)
    for name in (*names, *numbers):
        table.schema[name]
    cells = table.raw.rows([*names, *numbers])
    if not cells.num_rows:
        raise DataError("A table without rows has no groups to compare.")
    keys = [_name_cells(cells.column(name), codes) for name, codes in absent.items()]
    places = [f"group {place}" for place in range(len(names))]
    held = pa.table({**dict(zip(places, keys, strict=True)), **{name: _read_reals(cells, name) for name in numbers}})
    found = held.group_by(places).aggregate([([], "count_all"), *((name, "mean") for name in numbers)])
    groups = zip(*(found.column(place).to_pylist() for place in places), strict=True)
    means = [found.column(f"{name}_mean").to_pylist() for name in numbers]
    counts = found.column("count_all").to_pylist()
    return {
        group: (counts[at], [float("nan") if each[at] is None else float(each[at]) for each in means])
        for at, group in enumerate(groups)
    }, cells.num_rows


def _name_cells(cells: pa.ChunkedArray, absent: list[str]) -> pa.ChunkedArray:
    texts = pc.fill_null(cells.cast(pa.string()), _MISSING)
    return pc.if_else(pc.is_in(texts, pa.array(absent, pa.string())), _MISSING, texts)


def _read_reals(cells: pa.Table, name: str) -> pa.ChunkedArray:
    try:
        return cells.column(name).cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(f"Column {name!r} does not hold numbers in every table; leave it out of the values.") from None


def _keep(
    group: tuple[str, ...],
    here: tuple[int, list[float]],
    copies: Sequence[tuple[Groups, int]],
    rows: int,
    numbers: Sequence[str],
) -> GroupKept:
    none = (0, [float("nan")] * len(numbers))
    found = [(*each.get(group, none), size) for each, size in copies]
    kept = float(np.mean([count * rows / size for count, _, size in found]))
    means = {}
    for place, name in enumerate(numbers):
        there = [each[place] for _, each, _ in found if each[place] == each[place]]
        means[name] = (here[1][place], float(np.mean(there)) if there else float("nan"))
    return GroupKept(group, here[0], kept, means)


def _sort_by_size(groups: Sequence[GroupKept]) -> tuple[GroupSizes, ...]:
    ends = [*(end - 1 for end in SIZES[1:]), None]
    found = []
    for least, most in zip(SIZES, ends, strict=True):
        held = [each for each in groups if each.rows >= least and (most is None or each.rows <= most)]
        if held:
            lost = Share(sum(each.kept == 0 for each in held), len(held))
            found.append(GroupSizes(least, most, lost, float(np.median([abs(each.error) for each in held]))))
    return tuple(found)
