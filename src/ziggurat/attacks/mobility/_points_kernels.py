"""Loops over inverted lists: who holds all of some points."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Numbers = npt.NDArray[np.int64]


@compiled
def choose_points(
    starts: Numbers, points: Numbers, rows: Numbers, chances: npt.NDArray[np.float64], chosen: Numbers
) -> None:
    """Choose from each row's set without replacement: the i-th of those left, by stepping over those chosen before."""
    taken = np.empty(chosen.shape[1], np.int64)
    for line in range(rows.size):
        begin = starts[rows[line]]
        size = starts[rows[line] + 1] - begin
        for done in range(min(size, chosen.shape[1])):
            at = min(int(chances[line, done] * (size - done)), size - done - 1)
            slot = 0
            while slot < done and at >= taken[slot]:
                at += 1
                slot += 1
            for later in range(done, slot, -1):
                taken[later] = taken[later - 1]
            taken[slot] = at
            chosen[line, done] = points[begin + at]


@compiled
def mark_holders(starts: Numbers, lists: Numbers, crowded: Numbers, bits: npt.NDArray[np.uint8]) -> None:
    """Set a bit for everybody in the lists that have a row of bits."""
    for point in range(crowded.size):
        if crowded[point] >= 0:
            for place in range(starts[point], starts[point + 1]):
                bits[crowded[point], lists[place] >> 3] |= np.uint8(1 << (lists[place] & 7))


@compiled
def count_common(
    starts: Numbers, lists: Numbers, crowded: Numbers, bits: npt.NDArray[np.uint8], known: Numbers, found: Numbers
) -> None:
    """Count who is in the lists of the first 1, 2, ... points of each row.

    One list needs only its length. Of two the shorter is walked and the longer one searched; from then on the people
    who are left are few, and are searched in the next list: by their bit where the list has a row of bits.
    """
    longest = 0
    for point in range(starts.size - 1):
        longest = max(longest, starts[point + 1] - starts[point])
    left = np.empty(max(longest, 1), np.int64)
    for line in range(known.shape[0]):
        many, first = 0, 0
        for done in range(known.shape[1]):
            point = known[line, done]
            if point < 0:
                found[line, done] = many
                continue
            size = starts[point + 1] - starts[point]
            if done == 0:
                many, first = size, point
            elif done == 1:
                walked = first if many <= size else point
                searched = point if many <= size else first
                many = 0
                for place in range(starts[walked], starts[walked + 1]):
                    if _is_listed(starts, lists, crowded, bits, searched, lists[place]):
                        left[many] = lists[place]
                        many += 1
            else:
                before, many = many, 0
                for place in range(before):
                    if _is_listed(starts, lists, crowded, bits, point, left[place]):
                        left[many] = left[place]
                        many += 1
            found[line, done] = many


@compiled
def _is_listed(
    starts: Numbers, lists: Numbers, crowded: Numbers, bits: npt.NDArray[np.uint8], point: int, who: int
) -> bool:
    if crowded[point] >= 0:
        return bool(bits[crowded[point], who >> 3] >> (who & 7) & 1)
    low, high = starts[point], starts[point + 1]
    while low < high:
        middle = (low + high) // 2
        if lists[middle] < who:
            low = middle + 1
        else:
            high = middle
    return bool(low < starts[point + 1] and lists[low] == who)
