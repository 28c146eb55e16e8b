"""Compiled loops that put like rows into groups of at least k, and that choose partners among near ranks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Reals = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


@compiled
def optimal_groups(values: Reals, k: int, group: Integers) -> int:
    """Number the groups of sorted values so that the squares within them add up to the least; return how many.

    Hansen, Mukherjee (2003), "A polynomial algorithm for optimal univariate microaggregation", IEEE TKDE 15(4): some
    optimum has groups of k to 2k-1 neighbours, so a shortest path over the ends of groups finds one in n*k steps.
    """
    n = values.size
    if n == 0:
        return 0
    sums, squares = np.zeros(n + 1), np.zeros(n + 1)
    for i in range(n):
        sums[i + 1] = sums[i] + values[i]
        squares[i + 1] = squares[i] + values[i] * values[i]
    best, start = np.full(n + 1, np.inf), np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    for end in range(k, n + 1):
        for first in range(max(0, end - 2 * k + 1), end - k + 1):
            total = sums[end] - sums[first]
            cost = best[first] + squares[end] - squares[first] - total * total / (end - first)
            if cost < best[end]:
                best[end], start[end] = cost, first
    count, end = 0, n
    while end > 0:
        group[start[end] : end] = count
        count, end = count + 1, start[end]
    return count


@compiled
def _farthest(rows: Reals, left: Integers, size: int, point: Reals) -> int:
    """The place, among the first `size` of `left`, of the row farthest from a point."""
    found, most = 0, -1.0
    for i in range(size):
        distance = 0.0
        for j in range(point.size):
            gap = rows[left[i], j] - point[j]
            distance += gap * gap
        if distance > most:
            found, most = i, distance
    return found


@compiled
def _take(
    rows: Reals,
    left: Integers,
    size: int,
    k: int,
    seed: int,
    number: int,
    group: Integers,
    nearest: Reals,
    at: Integers,
) -> int:
    """Give the k rows nearest to row `seed`, itself among them, a number; return how many rows are left."""
    held = 0
    for i in range(size):
        distance = 0.0
        if left[i] == seed:
            distance = -1.0
        else:
            for j in range(rows.shape[1]):
                gap = rows[left[i], j] - rows[seed, j]
                distance += gap * gap
        if held == k and distance >= nearest[held - 1]:
            continue
        place = min(held, k - 1)
        while place > 0 and nearest[place - 1] > distance:
            nearest[place], at[place] = nearest[place - 1], at[place - 1]
            place -= 1
        nearest[place], at[place] = distance, i
        held = min(held + 1, k)
    for i in np.sort(at[:k])[::-1]:  # from the back, so that no place moves before its turn
        group[left[i]] = number
        size -= 1
        left[i] = left[size]
    return size


@compiled
def mdav_groups(rows: Reals, k: int, group: Integers) -> int:
    """Number groups of k to 2k-1 like rows; return how many.

    MDAV: Domingo-Ferrer, Torra (2005), "Ordinal, continuous and heterogeneous k-anonymity through microaggregation",
    Data Mining and Knowledge Discovery 11(2). The row farthest from the mean gathers its k nearest, then the row
    farthest from that one does, until fewer than 2k are left. It takes of the order of n*n/k distances.
    """
    n, width = rows.shape
    left, size, number = np.arange(n), n, 0
    total, mean, nearest = np.zeros(width), np.zeros(width), np.empty(k)
    at = np.empty(k, dtype=np.int64)
    while size >= 2 * k:
        total[:] = 0.0
        for i in range(size):
            for j in range(width):
                total[j] += rows[left[i], j]
        mean[:] = total / size
        first = left[_farthest(rows, left, size, mean)]
        second = left[_farthest(rows, left, size, rows[first])]
        both = size >= 3 * k
        size = _take(rows, left, size, k, first, number, group, nearest, at)
        number += 1
        if both:
            seed = second
            if group[second] >= 0:  # taken by the first, which happens only if all rows left are alike
                seed = left[_farthest(rows, left, size, rows[first])]
            size = _take(rows, left, size, k, seed, number, group, nearest, at)
            number += 1
    if size > 0:
        for i in range(size):
            group[left[i]] = number
        number += 1
    return number


@compiled
def group_means(rows: Reals, group: Integers, count: int) -> Reals:
    """Return for each row the mean of its group, computed about the group's first row so that equal rows stay equal."""
    n, width = rows.shape
    means, sizes, first = np.zeros((count, width)), np.zeros(count), np.full(count, -1)
    for i in range(n):
        number = group[i]
        sizes[number] += 1.0
        if first[number] < 0:
            first[number] = i
        for j in range(width):
            means[number, j] += rows[i, j] - rows[first[number], j]
    out = np.empty((n, width))
    for i in range(n):
        number = group[i]
        for j in range(width):
            out[i, j] = rows[first[number], j] + means[number, j] / sizes[number]
    return out


@compiled
def _free_before(tree: Integers, place: int) -> int:
    """How many of the places before this one are free (a Fenwick tree, whose first entry is not used)."""
    count = 0
    while place > 0:
        count += tree[place]
        place -= place & -place
    return count


@compiled
def _nth_free(tree: Integers, rank: int, top: int) -> int:
    """The free place that has `rank` free ones before it."""
    place, step = 0, top
    while step > 0:
        if place + step < tree.size and tree[place + step] <= rank:
            place += step
            rank -= tree[place]
        step //= 2
    return place


@compiled
def _occupy(tree: Integers, place: int) -> None:
    place += 1
    while place < tree.size:
        tree[place] -= 1
        place += place & -place


@compiled
def swap_partners(window: int, words: Words, partner: Integers) -> None:
    """Give each rank in turn a partner drawn from the free ranks at most `window` above it; one word for each rank.

    A rank with nobody free above it in the window keeps its own value.
    """
    n = partner.size
    tree, top = np.zeros(n + 1, dtype=np.int64), 1
    for i in range(1, n + 1):
        tree[i] = i & -i
        partner[i - 1] = -1
    while top * 2 <= n:
        top *= 2
    for i in range(n):
        if partner[i] >= 0:
            continue
        partner[i] = i
        _occupy(tree, i)
        before = _free_before(tree, i + 1)
        free = _free_before(tree, min(i + window + 1, n)) - before
        if free > 0:
            # The remainder of a 64-bit word is uniform but for a bias below n / 2**64.
            drawn = int(words[i] % np.uint64(free))
            other = _nth_free(tree, before + drawn, top)
            partner[i], partner[other] = other, i
            _occupy(tree, other)
