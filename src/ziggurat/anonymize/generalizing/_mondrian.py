"""Mondrian: a table is cut in two, column by column, as long as both halves satisfy the models.

LeFevre, DeWitt, Ramakrishnan (2006), "Mondrian multidimensional k-anonymity", ICDE. What comes out satisfies the models
it was asked for and promises nothing else; in particular it is not differentially private.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing._kernels import AVERAGE, TOLERANCE
from ziggurat.anonymize.generalizing._local import NOTHING_PASSES, column_loss, judge_of
from ziggurat.anonymize.generalizing._local_kernels import CombinationArrays, Judge, judge_groups
from ziggurat.anonymize.generalizing._metrics import Loss
from ziggurat.compiling import compiled
from ziggurat.errors import ParameterError, PrivacyError

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Combinations, Ladder
    from ziggurat.anonymize.generalizing._models import ModelNumbers

Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Boxes:
    """A table in which every distinct combination is published as a box.

    Parameters
    ----------
    ordered
        Which columns are published as ranges; the others by a label of their hierarchy.
    levels
        [i, j]: the level of the label; 0 in ordered columns.
    lower, upper
        [i, j]: the codes of the smallest and the largest value of the range; in other columns the code itself.
    score
        The loss, as the metric `Loss` defines it; a range counts the values of the column's hierarchy within it.
    classes
        How many different boxes are published.
    suppressed
        How many rows are not published: none.
    """

    ordered: tuple[bool, ...]
    levels: npt.NDArray[np.int16]
    lower: Codes
    upper: Codes
    score: float
    classes: int
    suppressed: int

    def labels(self, counted: Combinations, column: int) -> tuple[object, ...]:
        """Return what is published in one column for every combination."""
        ladder = counted.ladders[column]
        low, high = self.lower[:, column].tolist(), self.upper[:, column].tolist()
        if self.ordered[column]:
            return tuple(_range(ladder, a, b) for a, b in zip(low, high, strict=True))
        levels = self.levels[:, column].tolist()
        return tuple(ladder.labels[a][ladder.groups[a][code]] for a, code in zip(levels, low, strict=True))


def mondrian(
    counted: Combinations,
    asked: Sequence[ModelNumbers],
    *,
    ordered: Sequence[str] = (),
    relaxed: bool = False,
    weights: Mapping[str, float] | None = None,
) -> Boxes:
    """Cut the table into boxes that satisfy all models.

    Parameters
    ----------
    counted
        The table. With a population, its rows are cut along.
    asked
        The models; of each cut, all sides that hold rows must satisfy them.
    ordered
        The columns that are numbers: cut at the median. The others are cut into the children of their hierarchy.
    relaxed
        Whether rows with the median may fall on both sides; ranges then overlap.
    weights
        How much each column matters: wide columns are cut first, those that matter more before others.

    Raises
    ------
    PrivacyError
        If not even one class of all rows satisfies the models.
    ParameterError
        If an ordered column holds no numbers.
    """
    names = [ladder.column for ladder in counted.ladders]
    for name in ordered:
        if name not in names:
            raise ParameterError(f"{name!r} is not a quasi-identifier; leave it out of the ordered columns.")
    numeric = [name in set(ordered) for name in names]
    least = max((math.ceil(1 / each.first - TOLERANCE) for each in asked if each.kind == AVERAGE), default=1)
    judge, parts = judge_of(counted, asked, least)
    ranks = [
        _ranks(ladder) if n else np.arange(ladder.size) for ladder, n in zip(counted.ladders, numeric, strict=True)
    ]
    codes = np.stack([rank[counted.codes[:, j]] for j, rank in enumerate(ranks)], 1).astype(np.int64)
    shares = Loss(weights or {}).shares(names)
    cutter = _Cutter(axes_of(counted.ladders, numeric), judge, parts._replace(codes=codes), shares, relaxed)
    return _publish(counted, cutter, ranks, *cutter.cut())


def axes_of(ladders: Sequence[Ladder], ordered: Sequence[bool]) -> Axes:
    """Return the columns as arrays for the compiled loops."""
    groups = [np.stack(ladder.groups, 1).ravel() for ladder in ladders]
    leaves = [np.stack([ladder.leaves(a)[g] for a, g in enumerate(ladder.groups)], 1).ravel() for ladder in ladders]
    at = np.cumsum([0, *(each.size for each in groups)])[:-1]
    heights = np.array([ladder.height for ladder in ladders], np.int64)
    sizes = np.array([ladder.size for ladder in ladders], np.int64)
    flat = [np.concatenate(each).astype(np.int64) for each in (groups, leaves)]
    return Axes(np.array(ordered, np.bool_), sizes, heights, at.astype(np.int64), flat[0], flat[1])


@dataclass(frozen=True)
class _Cutter:
    axes: Axes
    judge: Judge
    parts: CombinationArrays
    shares: npt.NDArray[np.float64]
    relaxed: bool

    def cut(self) -> tuple[Integers, Integers]:
        """All combinations in the order of their partitions, and where each begins."""
        who = np.arange(len(self.parts.counts), dtype=np.int64)
        starts = np.array([0, who.size], np.int64)
        if not who.size or not judge_groups(self.judge, self.parts, who, starts)[0]:
            raise PrivacyError(NOTHING_PASSES)
        done: list[Integers] = []
        while starts.size > 1:
            who, starts = self._round(who, starts, done)
        return np.concatenate(done), np.cumsum([0, *(each.size for each in done)])

    def _round(self, who: Integers, starts: Integers, done: list[Integers]) -> tuple[Integers, Integers]:
        """Try the widest column of every partition, then the next; what cannot be cut at all is done."""
        lower, upper, width = find_boxes(self.axes, self.parts.codes, who, starts)
        width = width * self.shares
        order = np.argsort(-width, axis=1, kind="stable")
        fresh: list[tuple[Integers, Integers]] = []
        for turn in range(order.shape[1]):
            column = order[:, turn]
            able = width[np.arange(column.size), column] > 0
            done += [who[starts[p] : starts[p + 1]] for p in np.flatnonzero(~able)]
            who, starts, rest = _choose(who, starts, able, order, lower, upper, width, column)
            order, lower, upper, width, column = rest
            if not column.size:
                break
            passed, pieces = self._try_cuts(who, starts, column, lower, upper)
            fresh.append(pieces)
            who, starts, (order, lower, upper, width) = _choose(who, starts, ~passed, order, lower, upper, width)
        done += [who[a:b] for a, b in pairwise(starts)]
        return _join(fresh)

    def _try_cuts(
        self, who: Integers, starts: Integers, column: Integers, lower: Integers, upper: Integers
    ) -> tuple[npt.NDArray[np.bool_], tuple[Integers, Integers]]:
        """Cut every partition along its column: which cuts are allowed, and the pieces of those."""
        low, high = (np.ascontiguousarray(each[np.arange(column.size), column]) for each in (lower, upper))
        side = find_sides(self.axes, self.parts.codes, self.parts.counts, who, starts, column, low, high, self.relaxed)
        part = np.repeat(np.arange(column.size), np.diff(starts))
        by = np.lexsort((side, part))
        who, side, part = who[by], side[by], part[by]
        first = np.concatenate([[True], (side[1:] != side[:-1]) | (part[1:] != part[:-1])])
        edges = np.append(np.flatnonzero(first), who.size).astype(np.int64)
        owner = part[edges[:-1]]
        rows = np.add.reduceat(self.parts.counts[who], edges[:-1])
        fails = ~judge_groups(self.judge, self.parts, who, edges) & (rows > 0)
        held = np.bincount(owner, rows > 0, column.size)
        passed = (held > 1) & (np.bincount(owner, fails, column.size) == 0)
        kept = _choose(who, edges, passed[owner])
        return passed, (kept[0], kept[1])


def _choose(
    who: Integers, starts: Integers, keep: npt.NDArray[np.bool_], *others: Any
) -> tuple[Integers, Integers, list[Any]]:
    sizes = np.diff(starts)
    edges = np.concatenate([[0], np.cumsum(sizes[keep])]).astype(np.int64)
    return who[np.repeat(keep, sizes)], edges, [each[keep] for each in others]


def _join(pieces: list[tuple[Integers, Integers]]) -> tuple[Integers, Integers]:
    sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(starts) for _, starts in pieces)])
    who = np.concatenate([np.zeros(0, np.int64), *(each for each, _ in pieces)])
    return who, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _publish(
    counted: Combinations, cutter: _Cutter, ranks: Sequence[Integers], who: Integers, starts: Integers
) -> Boxes:
    low, high, width = find_boxes(cutter.axes, cutter.parts.codes, who, starts)
    if (high >= np.where(cutter.axes.ordered, cutter.axes.sizes, cutter.axes.heights)).any():
        raise PrivacyError(NOTHING_PASSES)
    part = np.empty(who.size, np.int64)
    part[who] = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    levels = np.where(cutter.axes.ordered, 0, high)[part].astype(np.int16)
    lower, upper, lost = counted.codes.copy(), counted.codes.copy(), 0.0
    boxes = np.where(cutter.axes.ordered, high, 0)
    for j, ladder in enumerate(counted.ladders):
        if cutter.axes.ordered[j]:
            values = np.argsort(ranks[j])
            lower[:, j], upper[:, j] = values[low[part, j]], values[high[part, j]]
        else:
            names = ladder.groups
            low[:, j] = [names[a][code] for a, code in zip(high[:, j], low[:, j], strict=True)]
            boxes[:, j] = high[:, j]
        leaves = np.rint(width[part, j] * max(ladder.size - 1, 1)).astype(np.int64) + 1
        lost += column_loss(leaves, ladder.size, counted.counts, float(cutter.shares[j]))
    rows = np.bincount(part, counted.counts, starts.size - 1)
    classes = len(np.unique(np.concatenate([low, boxes], 1)[rows > 0], axis=0))
    return Boxes(tuple(map(bool, cutter.axes.ordered)), levels, lower, upper, math.expm1(lost), classes, 0)


def _ranks(ladder: Ladder) -> Integers:
    """The place of every code in the order of the values as numbers; missing cells come last."""
    try:
        numbers = [math.inf if value is None else float(str(value)) for value in ladder.values]
    except ValueError:
        raise ParameterError(f"Column {ladder.column!r} holds values that are not numbers; do not order it.") from None
    ranks = np.empty(len(numbers), np.int64)
    ranks[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
    return ranks


def _range(ladder: Ladder, low: int, high: int) -> object:
    """A value, or two and what lies between."""
    if low == high:
        return ladder.values[low]
    last = "missing" if ladder.values[high] is None else ladder.values[high]
    return f"{ladder.values[low]}-{last}"


class Axes(NamedTuple):
    """The columns: entry `at[j] + code * heights[j] + level` of `groups` and `leaves` is about a code at a level."""

    ordered: npt.NDArray[np.bool_]
    sizes: Integers
    heights: Integers
    at: Integers
    groups: Integers
    leaves: Integers


@compiled
def find_boxes(x: Axes, codes: Integers, who: Integers, starts: Integers) -> tuple[Integers, Integers, Reals]:
    """For each partition and column the lowest and highest code, or a code and the level at which all meet; the width.

    The level is one above the top if they never meet.
    """
    parts, columns = starts.size - 1, codes.shape[1]
    lower, upper = np.zeros((parts, columns), np.int64), np.zeros((parts, columns), np.int64)
    width = np.zeros((parts, columns))
    for p in range(parts):
        for j in range(columns):
            low = codes[who[starts[p]], j]
            high = low if x.ordered[j] else 0
            for a in range(starts[p] + 1, starts[p + 1]):
                code = codes[who[a], j]
                if x.ordered[j]:
                    low, high = min(low, code), max(high, code)
                else:
                    one, other = x.at[j] + low * x.heights[j], x.at[j] + code * x.heights[j]
                    while high < x.heights[j] and x.groups[one + high] != x.groups[other + high]:
                        high += 1
            lower[p, j], upper[p, j] = low, high
            span = high - low
            if not x.ordered[j]:
                top = high == x.heights[j]
                span = (x.sizes[j] if top else x.leaves[x.at[j] + low * x.heights[j] + high]) - 1
            width[p, j] = span / max(x.sizes[j] - 1, 1)
    return lower, upper, width


@compiled
def find_sides(x: Axes, codes: Integers, counts: Integers, who: Integers, starts: Integers, columns: Integers,
               lower: Integers, upper: Integers, relaxed: bool) -> Integers:  # fmt: skip
    """On which side of its partition's cut every place of `who` falls: at the median, or the child of the hierarchy.

    A strict cut keeps equal values together, a relaxed one only equal combinations.
    """
    side = np.zeros(who.size, np.int64)
    for p in range(starts.size - 1):
        j = columns[p]
        if not x.ordered[j]:
            for a in range(starts[p], starts[p + 1]):
                side[a] = x.groups[x.at[j] + codes[who[a], j] * x.heights[j] + upper[p] - 1]
            continue
        total = 0
        histogram = np.zeros(upper[p] - lower[p] + 1, np.int64)
        for a in range(starts[p], starts[p + 1]):
            histogram[codes[who[a], j] - lower[p]] += counts[who[a]]
            total += counts[who[a]]
        cut, below = lower[p], 0
        while cut < upper[p] - 1 and 2 * (below + histogram[cut - lower[p]]) < total:
            below += histogram[cut - lower[p]]
            cut += 1
        # the value at the cut is below it, or as much of it as makes the halves even
        for a in range(starts[p], starts[p + 1]):
            code = codes[who[a], j]
            if relaxed and code == cut:
                side[a] = 1 if 2 * below >= total else 0
                below += counts[who[a]]
            else:
                side[a] = 1 if code > cut else 0
    return side
