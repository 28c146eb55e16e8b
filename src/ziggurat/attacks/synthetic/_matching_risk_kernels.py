"""Which records of the copies match a target, and how likely each of them is the target's."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_BATCH = 64
_EQUAL = 1e-12  # sums of the same reciprocals in another order are equal


@dataclass(frozen=True)
class Index:
    """The rows of tables of one size, sorted by class and then by the first of the columns known up to a tolerance.

    Attributes
    ----------
    order
        For each table its rows as they are sorted.
    starts
        For each table where each class starts among them; the last entry is the number of rows.
    numbers
        For each table the columns known up to a tolerance, sorted alike.
    """

    order: Places
    starts: Places
    numbers: Floats


@dataclass(frozen=True)
class MatchTargets:
    """Targets: the class that a match belongs to, and the least and largest numbers of a match."""

    classes: Places
    lows: Floats
    highs: Floats


@dataclass(frozen=True)
class Scores:
    """For each target the highest probability of a record and how many have it, whether its own does, its own
    record's probability, and the sum of all.
    """

    best: Floats
    ties: Places
    hit: npt.NDArray[np.bool_]
    own: Floats
    total: Floats


def index_tables(classes: Sequence[Places], number: int, columns: Sequence[Floats]) -> Index:
    """Sort tables by class; `columns` holds for each table the numbers known up to a tolerance, column by column."""
    orders = [
        np.lexsort((part[:, 0], ids) if part.shape[1] else (ids,)) for ids, part in zip(classes, columns, strict=True)
    ]
    edges = np.arange(number + 1)
    starts = [np.searchsorted(ids[order], edges) for ids, order in zip(classes, orders, strict=True)]
    numbers = [part[order] for part, order in zip(columns, orders, strict=True)]
    return Index(np.stack(orders).astype(np.int64), np.stack(starts).astype(np.int64), np.stack(numbers))


def counts(index: Index, wanted: MatchTargets) -> Places:
    """Return how many rows of the first table match each target."""
    found = np.zeros(wanted.classes.size, dtype=np.int64)
    _count(index.starts[0], index.numbers[0], wanted.classes, wanted.lows, wanted.highs, found)
    return found


def scores(index: Index, wanted: MatchTargets, own: Places, floors: Places, inverse: Floats) -> Scores:
    """Return equation 4.2 for each target, summed up.

    Parameters
    ----------
    own
        The row of each target in every table.
    floors
        The matches are taken to be at least so many.
    inverse
        What a match weighs, by how many there are.
    """
    size = wanted.classes.size
    found = Scores(np.zeros(size), np.zeros(size, np.int64), np.zeros(size, np.bool_), np.zeros(size), np.zeros(size))

    def work(start: int) -> None:
        at = slice(start, start + _BATCH)
        targets = wanted.classes[at], wanted.lows[at], wanted.highs[at], own[at], floors[at]
        out = found.best[at], found.ties[at], found.hit[at], found.own[at], found.total[at]
        _score(index.order, index.starts, index.numbers, *targets, inverse, *out)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(work, range(0, size, _BATCH)))
    return found


@compiled
def _fits(numbers: Floats, low: Floats, high: Floats) -> bool:
    near = True
    for k in range(1, numbers.size):  # the first lies within already: the rows are sorted by it
        near &= low[k] <= numbers[k] <= high[k]
    return near


@compiled
def _window(starts: Places, numbers: Floats, which: int, low: Floats, high: Floats) -> tuple[int, int]:
    first, last = starts[which], starts[which + 1]
    if numbers.shape[1] > 0:
        column = numbers[first:last, 0]
        last = first + np.searchsorted(column, high[0], side="right")
        first = first + np.searchsorted(column, low[0], side="left")
    return first, last


@compiled
def _count(starts: Places, numbers: Floats, classes: Places, lows: Floats, highs: Floats, found: Places) -> None:
    for target in range(classes.size):
        first, last = _window(starts, numbers, classes[target], lows[target], highs[target])
        for place in range(first, last):
            found[target] += _fits(numbers[place], lows[target], highs[target])


@compiled
def _score(
    order: Places,
    starts: Places,
    numbers: Floats,
    classes: Places,
    lows: Floats,
    highs: Floats,
    own: Places,
    floors: Places,
    inverse: Floats,
    best: Floats,
    ties: Places,
    hit: npt.NDArray[np.bool_],
    mine: Floats,
    total: Floats,
) -> None:
    copies, rows = order.shape
    chance, seen, fitting = np.zeros(rows), np.empty(rows, np.int64), np.empty(rows, np.int64)
    for target in range(classes.size):
        low, high, touched = lows[target], highs[target], 0
        for copy in range(copies):
            first, last = _window(starts[copy], numbers[copy], classes[target], low, high)
            matches = 0
            for place in range(first, last):
                if _fits(numbers[copy, place], low, high):
                    fitting[matches] = order[copy, place]
                    matches += 1
            weight = inverse[max(matches, floors[target])] / copies
            for k in range(matches):
                row = fitting[k]
                if chance[row] == 0.0:
                    seen[touched] = row
                    touched += 1
                chance[row] += weight
                total[target] += weight
        for k in range(touched):
            best[target] = max(best[target], chance[seen[k]])
        for k in range(touched):
            ties[target] += chance[seen[k]] >= best[target] * (1 - _EQUAL)
        mine[target] = chance[own[target]]
        hit[target] = touched > 0 and mine[target] >= best[target] * (1 - _EQUAL)
        for k in range(touched):
            chance[seen[k]] = 0.0
