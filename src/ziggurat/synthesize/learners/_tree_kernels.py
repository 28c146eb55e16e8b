"""How trees are grown on binned columns, compiled.

A cut is chosen by how much it lessens the spread of the target: the sum of squares of numbers, or the Gini impurity of
classes times the rows. Of two classes the latter is twice the former of their indicator, so that these are grown as
numbers are.

In a node each column costs a pass over its rows and one over the bins that occur there. More than two classes cost
another pass over the rows: into a table of bins by classes, or where that would be larger than the rows are many, in
the order of their bins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ziggurat.compiling import compiled, part
from ziggurat.synthesize.learners._tree_shapes import Bytes, Integers, Limits, Reals, Rows, TreeNodes, TreeSample


class TreeDesk(NamedTuple):
    """Room to work in, for the node at hand: by bin, by row, by class."""

    tally: Integers
    total: Reals
    key: Reals
    place: Integers
    seen: Integers
    turned: Integers
    best: Integers
    goes: Bytes
    target: Reals
    label: Rows
    sorted: Rows
    table: Integers
    among: Integers
    before: Integers
    columns: Integers


@compiled
def grow(x: TreeSample, order: Rows, limits: Limits, draw: np.random.Generator) -> TreeNodes:
    """Grow a tree on the rows of `order`, which is rearranged so that the rows of a node stand together."""
    most = max(2 * (order.size // limits.leaf) - 1, 1)
    column, below = np.full(most, -1, np.int32), np.zeros(most, np.int32)
    first, last, level = np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros(most, np.int32)
    left = np.zeros((most, 32), np.uint8)
    desk = _desk(x, order.size)
    last[0] = order.size
    node, made, least = 0, 1, 0.0
    while node < made:
        rows = order[first[node] : last[node]]
        if rows.size >= 2 * limits.leaf and level[node] < limits.depth:
            score, spread = _sat_down(x, rows, desk)
            least = max(limits.gain, 1e-12) * spread if node == 0 else least
            if spread > least:
                column[node], taken = _cut(x, rows, limits, score, spread, least, desk, draw)
            if column[node] >= 0:
                _pack(desk.goes, left[node])
                below[node] = made
                first[made], last[made] = first[node], first[node] + taken
                first[made + 1], last[made + 1] = last[made], last[node]
                level[made] = level[made + 1] = level[node] + 1
                made += 2
            _stood_up(x, rows.size, desk)
        node += 1
    return TreeNodes(
        column[:made].copy(), below[:made].copy(), left[:made].copy(), first[:made].copy(), last[:made].copy()
    )


@part
def _desk(x: TreeSample, rows: int) -> TreeDesk:
    bins, lists = np.zeros((5, 256), np.int64), np.zeros((2, rows), np.uint32)
    sums, classes = np.zeros((2, 256)), np.zeros((2, x.many), np.int64)
    goes, target, table, columns = np.zeros(256, np.uint8), np.zeros(rows), np.zeros(rows, np.int64), x.ordered.size
    return TreeDesk(
        bins[0], sums[0], sums[1], bins[1], bins[2], bins[3], bins[4], goes,
        target, lists[0], lists[1], table, classes[0], classes[1], np.arange(columns),
    )  # fmt: skip


@part
def _sat_down(x: TreeSample, rows: Rows, desk: TreeDesk) -> tuple[float, float]:
    """Lay out the target in the node; return the score of no cut and the spread, which a perfect cut would add to it.

    Of classes what is laid out as a number is whether the row is of the commonest one.
    """
    if x.many == 0:
        whole, squares = 0.0, 0.0
        for i in range(rows.size):
            y = x.numbers[rows[i]]
            desk.target[i] = y
            whole += y
            squares += y * y
        return whole * whole / rows.size, squares - whole * whole / rows.size
    common, pairs = np.uint32(0), 0
    for i in range(rows.size):
        c = x.classes[rows[i]]
        desk.label[i] = c
        pairs += 2 * desk.among[c] + 1
        desk.among[c] += 1
        if desk.among[c] > desk.among[common]:
            common = c
    for i in range(rows.size):
        desk.target[i] = 1.0 if desk.label[i] == common else 0.0
    return pairs / rows.size, rows.size - pairs / rows.size


@part
def _stood_up(x: TreeSample, rows: int, desk: TreeDesk) -> None:
    if x.many > 0:
        for i in range(rows):
            desk.among[desk.label[i]] = 0


@part
def _cut(
    x: TreeSample,
    rows: Rows,
    limits: Limits,
    score: float,
    spread: float,
    least: float,
    desk: TreeDesk,
    draw: np.random.Generator,
) -> tuple[int, int]:
    """Put the rows that go left of the best cut first; return its column (-1 for none) and how many these are.

    Columns that are constant in the node do not count among those that were tried.
    """
    chosen, cut, found, taken = -1, 0, 0, 0
    looked, columns, pairs = 0, desk.columns, int(score * rows.size + 0.5)
    best = score + least
    for j in range(columns.size):
        if limits.tried < columns.size:
            other = j + int(draw.random() * (columns.size - j))
            columns[j], columns[other] = columns[other], columns[j]
        f = columns[j]
        kinds = _count_bins(x.bins[f], x.at[f + 1] - x.at[f], rows, desk)
        if kinds > 1:
            looked += 1
            reached, at, left = _try_column(x, f, rows, limits, pairs, best, spread / rows.size, kinds, desk)
            if at > 0:
                best, chosen, cut, found, taken = reached, f, at, kinds, left
        _clear(desk, kinds)
        if looked == limits.tried:
            break
    if chosen >= 0:
        _sides(desk, x.ordered[chosen], cut, found, 2 * taken >= rows.size)
        _part(x.bins[chosen], rows, desk)
    return chosen, taken


@part
def _try_column(
    x: TreeSample,
    column: int,
    rows: Rows,
    limits: Limits,
    pairs: int,
    score: float,
    luck: float,
    kinds: int,
    desk: TreeDesk,
) -> tuple[float, int, int]:
    """Return the best score of a cut of the column, and how many bins of `desk.best` and how many rows are left of it.

    Unless it exceeds `score`, no bins are. Bins without an order, such as those of missing numbers, are put to the
    right of the others and then to the left.

    Any cut explains some of the target by luck: one of a column that means nothing about 1 / rows of the spread, which
    is `luck`, and k bins that are sorted by the target about k - 1 times as much. For every bin beyond two so much is
    taken off the score, and `caution` times as much for the cut itself. Otherwise trees grow until their leaves tell of
    people: by ages and sizes, and most of all by postcodes.
    """
    at, taken = 0, 0
    inorder = _arrange(desk, kinds, x.ordered[column])
    lucky, leaf = luck * (limits.caution + max(kinds - inorder - 2, 0)), limits.leaf
    for turn in range(2 if 0 < inorder < kinds else 1):
        bins = desk.seen[:kinds] if turn == 0 else _turn(desk, kinds, inorder)
        if x.many == 0:
            reached, cut, left = _cut_numbers(bins, rows.size, leaf, desk)
        elif kinds * x.many <= rows.size:
            reached, cut, left = _cut_table(bins, x.bins[column], rows, leaf, pairs, desk)
        else:
            reached, cut, left = _cut_rows(bins, x.bins[column], rows, leaf, pairs, desk)
        if reached - lucky > score:
            score, at, taken = reached - lucky, cut, left
            for k in range(kinds):
                desk.best[k] = bins[k]
    return score, at, taken


@part
def _count_bins(column: Bytes, bins: int, rows: Rows, desk: TreeDesk) -> int:
    """Count the rows and add up the target in each bin; return how many bins occur, which stand in `desk.seen`."""
    tally, total, target, seen = desk.tally, desk.total, desk.target, desk.seen
    kinds = 0
    for i in range(rows.size):
        b = column[rows[i]]
        # without a branch, which could not be foreseen
        seen[kinds] = b
        kinds += tally[b] == 0
        tally[b] += 1
        total[b] += target[i]
    if kinds <= 8:
        _sort(seen, kinds)
        return kinds
    kinds = 0
    for b in range(bins):
        seen[kinds] = b
        kinds += tally[b] > 0
    return kinds


@part
def _sort(seen: Integers, kinds: int) -> None:
    for k in range(1, kinds):
        b, j = seen[k], k
        while j > 0 and seen[j - 1] > b:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = b


@part
def _clear(desk: TreeDesk, kinds: int) -> None:
    for k in range(kinds):
        desk.tally[desk.seen[k]] = 0
        desk.total[desk.seen[k]] = 0.0


@part
def _arrange(desk: TreeDesk, kinds: int, ordered: int) -> int:
    """Sort the bins that occur: those with an order first, the others after them by the mean of the target.

    Returns how many have an order. Of numbers and two classes the best partition of bins without an order is a cut of
    this one (Fisher 1958; Breiman et al. 1984, theorem 4.5); of more classes it is a heuristic.
    """
    seen, key, inorder = desk.seen, desk.key, 0
    while inorder < kinds and seen[inorder] < ordered:
        inorder += 1
    for k in range(inorder, kinds):
        b = seen[k]
        key[b] = desk.total[b] / desk.tally[b]
        j = k
        while j > inorder and key[seen[j - 1]] > key[b]:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = b
    return inorder


@part
def _turn(desk: TreeDesk, kinds: int, inorder: int) -> Integers:
    """Copy the arranged bins with those that have an order last."""
    for k in range(kinds):
        desk.turned[k - inorder if k >= inorder else k - inorder + kinds] = desk.seen[k]
    return desk.turned[:kinds]


@part
def _cut_numbers(bins: Integers, rows: int, leaf: int, desk: TreeDesk) -> tuple[float, int, int]:
    """Return the best score of a cut of the bins, how many bins go left, and how many rows."""
    tally, total = desk.tally, desk.total
    best, at, taken = -1.0, 0, 0
    whole = 0.0
    for k in range(bins.size):
        whole += total[bins[k]]
    left, part = 0, 0.0
    for k in range(bins.size - 1):
        left += tally[bins[k]]
        part += total[bins[k]]
        if rows - left < leaf:
            break
        if left >= leaf:
            score = part * part / left + (whole - part) * (whole - part) / (rows - left)
            if score > best:
                best, at, taken = score, k + 1, left
    return best, at, taken


@part
def _cut_table(
    bins: Integers, column: Bytes, rows: Rows, leaf: int, pairs: int, desk: TreeDesk
) -> tuple[float, int, int]:
    """As `_cut_numbers`, for classes, by a table; `pairs` is the sum of the squares of how many rows each class has."""
    before, among, table = desk.before, desk.among, desk.table
    _tabulate(bins, column, rows, desk)
    best, at, taken = -1.0, 0, 0
    left, lower, upper = 0, 0, pairs
    for k in range(bins.size - 1):
        for c in range(among.size):
            more = table[k * among.size + c]
            lower += more * (2 * before[c] + more)
            upper -= more * (2 * (among[c] - before[c]) - more)
            before[c] += more
        left += desk.tally[bins[k]]
        if rows.size - left < leaf:
            break
        if left >= leaf:
            score = lower / left + upper / (rows.size - left)
            if score > best:
                best, at, taken = score, k + 1, left
    before[:] = 0
    return best, at, taken


@part
def _tabulate(bins: Integers, column: Bytes, rows: Rows, desk: TreeDesk) -> None:
    """Count the rows by bin, in this order of the bins, and class."""
    place, table, many = desk.place, desk.table, desk.among.size
    table[: bins.size * many] = 0
    for k in range(bins.size):
        place[bins[k]] = k * many
    for i in range(rows.size):
        table[place[column[rows[i]]] + desk.label[i]] += 1


@part
def _cut_rows(
    bins: Integers, column: Bytes, rows: Rows, leaf: int, pairs: int, desk: TreeDesk
) -> tuple[float, int, int]:
    """As `_cut_table`, by the rows in the order of their bins, so that it matters not how many classes there are."""
    labels, before, among = desk.sorted, desk.before, desk.among
    _by_bin(bins, column, rows, desk)
    best, at, taken = -1.0, 0, 0
    left, lower, upper = 0, 0, pairs
    for k in range(bins.size - 1):
        for _ in range(desk.tally[bins[k]]):
            c = labels[left]
            lower += 2 * before[c] + 1
            upper -= 2 * (among[c] - before[c]) - 1
            before[c] += 1
            left += 1
        if rows.size - left < leaf:
            break
        if left >= leaf:
            score = lower / left + upper / (rows.size - left)
            if score > best:
                best, at, taken = score, k + 1, left
    for i in range(left):
        before[labels[i]] = 0
    return best, at, taken


@part
def _by_bin(bins: Integers, column: Bytes, rows: Rows, desk: TreeDesk) -> None:
    """Write the classes of the rows in the order of their bins."""
    place, at = desk.place, 0
    for k in range(bins.size):
        place[bins[k]] = at
        at += desk.tally[bins[k]]
    for i in range(rows.size):
        b = column[rows[i]]
        desk.sorted[place[b]] = desk.label[i]
        place[b] += 1


@part
def _sides(desk: TreeDesk, ordered: int, cut: int, found: int, larger: bool) -> None:
    """Say of every bin whether it goes left; those that do not occur go with their neighbours or the larger side."""
    low, high = -1, ordered
    for k in range(found):
        b = desk.best[k]
        if b < ordered and k < cut:
            low = max(low, b)
        elif b < ordered:
            high = min(high, b)
    if low >= 0:
        low = ordered if high == ordered else (low + high) // 2
    elif high == ordered:
        low = ordered if larger else -1
    for b in range(256):
        desk.goes[b] = b <= low if b < ordered else larger
    for k in range(found):
        desk.goes[desk.best[k]] = k < cut


@part
def _pack(goes: Bytes, left: Bytes) -> None:
    for b in range(256):
        left[b >> 3] |= goes[b] << (b & 7)


@part
def _part(bins: Bytes, rows: Rows, desk: TreeDesk) -> None:
    """Put the rows that go left first, each side in its order, so that later passes run forward through memory."""
    left, right = 0, 0
    for i in range(rows.size):
        row = rows[i]
        if desk.goes[bins[row]]:
            rows[left] = row
            left += 1
        else:
            desk.sorted[right] = row
            right += 1
    for i in range(right):
        rows[left + i] = desk.sorted[i]
