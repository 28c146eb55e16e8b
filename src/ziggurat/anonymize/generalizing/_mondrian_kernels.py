"""Mondrian's cuts, compiled: for many partitions at once, each along one column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]


class Axes(NamedTuple):
    """The columns: entry `at[j] + code * heights[j] + level` of `groups` and `leaves` is about a code at a level."""

    ordered: npt.NDArray[np.bool_]
    sizes: Integers
    heights: Integers
    at: Integers
    groups: Integers
    leaves: Integers


@compiled
def boxes(x: Axes, codes: Integers, who: Integers, starts: Integers) -> tuple[Integers, Integers, Reals]:
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
def sides(x: Axes, codes: Integers, counts: Integers, who: Integers, starts: Integers, columns: Integers,
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
