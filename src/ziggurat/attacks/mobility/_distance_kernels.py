"""Loops of distances: common places by inverted lists, and warping with lower bounds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Reals = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]

# A bound is a sum in another order than the distance, and may exceed it by rounding: far less than this.
_SLACK = 1 - 1e-9


@compiled
def count_common_places(
    codes: Numbers, offsets: Numbers, lists: Numbers, who: Numbers, start: int, common: Reals
) -> None:
    """Count the places that each set has in common with those of the inverted lists."""
    for row in range(common.shape[0]):
        for place in range(offsets[start + row], offsets[start + row + 1]):
            for at in range(lists[codes[place]], lists[codes[place] + 1]):
                common[row, who[at]] += 1.0


@compiled
def search_warped(
    ours: Reals,
    our_offsets: Numbers,
    theirs: Reals,
    offsets: Numbers,
    boxes: Reals,
    corners: Reals,
    begins: int,
    ends: int,
    found: Reals,
) -> None:
    """Write the distances that may be the smallest of a side of the pool; the others stay infinite.

    Those of the first side are `:ends`, those of the second `begins:`. The most promising of each side goes first, so
    that the others have something to be given up for; those that are left follow by their bound, the smallest first.
    `corners` are the first and last points of the pool and its lengths, a line for each coordinate.
    """
    size = offsets.size - 1
    ahead = np.empty(np.diff(our_offsets).max() + 1)
    line, bounds = np.empty(np.diff(offsets).max() + 1), np.empty(size)
    best, left = np.empty(2), np.empty(size, np.int64)
    for row in range(found.shape[0]):
        mine = ours[our_offsets[row] : our_offsets[row + 1]]
        box = np.array([mine[:, 0].min(), mine[:, 1].min(), mine[:, 0].max(), mine[:, 1].max()])
        _bound_ends(mine, corners, bounds)
        best[:] = np.inf
        first, second = int(np.argmin(bounds[:ends])), begins + int(np.argmin(bounds[begins:]))
        for each in (first, second):
            other = theirs[offsets[each] : offsets[each + 1]]
            _look_ahead(mine, other, boxes[each], ahead)
            found[row, each] = _warp(mine, other, ahead, np.inf, line) / max(len(mine), len(other))
            _improve(best, found[row, each], each < ends, each >= begins)
        many = 0
        for each in range(size):
            limit = _limit(best, each < ends, each >= begins)
            if each in (first, second) or bounds[each] * _SLACK > limit:
                continue
            other = theirs[offsets[each] : offsets[each + 1]]
            apart = max(_bound_box(mine, other, boxes[each]), _bound_box(other, mine, box))
            bounds[each] = max(bounds[each], apart / max(len(mine), len(other)))
            if bounds[each] * _SLACK <= limit:
                left[many] = each
                many += 1
        for each in left[:many][np.argsort(bounds[left[:many]])]:
            limit = _limit(best, each < ends, each >= begins)
            if bounds[each] * _SLACK > limit:
                continue
            other = theirs[offsets[each] : offsets[each + 1]]
            longer = max(len(mine), len(other))
            _look_ahead(mine, other, boxes[each], ahead)
            found[row, each] = _warp(mine, other, ahead, limit * longer, line) / longer
            _improve(best, found[row, each], each < ends, each >= begins)


@compiled
def _limit(best: Reals, in_first: bool, in_second: bool) -> float:
    """What a distance must not exceed to be the smallest of a side that it is on."""
    return float(max(best[0] if in_first else 0.0, best[1] if in_second else 0.0))


@compiled
def _improve(best: Reals, far: float, in_first: bool, in_second: bool) -> None:
    if in_first and far < best[0]:
        best[0] = far
    if in_second and far < best[1]:
        best[1] = far


@compiled
def _apart(one: Reals, other: Reals) -> float:
    return math.sqrt((one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2)


@compiled
def _bound_ends(one: Reals, corners: Reals, bounds: Reals) -> None:
    """The first two visits and the last two are paired, whatever else is; these may be the same two."""
    first_x, first_y, last_x, last_y, lengths = corners[0], corners[1], corners[2], corners[3], corners[4]
    own = float(len(one))
    for each in range(bounds.size):
        start = math.sqrt((one[0, 0] - first_x[each]) ** 2 + (one[0, 1] - first_y[each]) ** 2)
        end = math.sqrt((one[-1, 0] - last_x[each]) ** 2 + (one[-1, 1] - last_y[each]) ** 2)
        longer = max(own, lengths[each])
        bounds[each] = (start + (end if longer > 1.0 else 0.0)) / longer


@compiled
def _outside(point: Reals, box: Reals) -> float:
    x = max(box[0] - point[0], 0.0, point[0] - box[2])
    y = max(box[1] - point[1], 0.0, point[1] - box[3])
    return math.sqrt(x * x + y * y)


@compiled
def _bound_box(one: Reals, other: Reals, box: Reals) -> float:
    """Both ends are paired with the other's, and what lies between with something in the other's box."""
    total = _apart(one[-1], other[-1])
    if len(one) > 1:
        total += _apart(one[0], other[0])
    for place in range(1, len(one) - 1):
        total += _outside(one[place], box)
    return total


@compiled
def _look_ahead(one: Reals, other: Reals, box: Reals, ahead: Reals) -> None:
    """The kilometres that the visits of `one` from each on, but for its first, cost at least."""
    last = len(one) - 1
    ahead[last + 1] = 0.0
    ahead[last] = _apart(one[last], other[-1])
    for place in range(last - 1, 0, -1):
        ahead[place] = ahead[place + 1] + _outside(one[place], box)


@compiled
def _warp(one: Reals, other: Reals, ahead: Reals, limit: float, line: Reals) -> float:
    """The least sum of kilometres; infinite as soon as it must exceed the limit."""
    width = len(other)
    line[0] = 0.0
    for column in range(width):
        line[column + 1] = np.inf
    for place in range(len(one)):
        corner, smallest = line[0], np.inf
        line[0] = np.inf
        for column in range(width):
            above = line[column + 1]
            line[column + 1] = _apart(one[place], other[column]) + min(corner, above, line[column])
            corner = above
            smallest = min(smallest, line[column + 1])
        if (smallest + ahead[place + 1]) * _SLACK > limit:
            return np.inf
    return float(line[width])
