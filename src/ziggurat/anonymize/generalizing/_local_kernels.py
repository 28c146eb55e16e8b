"""Local recoding, compiled: boxes of the lattice filled in order of what they lose, then mended.

A *box* is a group of every column's hierarchy; the rows published with it are a class. Every model is kept when classes
that satisfy it are joined (sizes add up, entropy is concave, the earth mover's distance convex, a share of a population
a mediant), so that two boxes with the same labels may be counted apart while searching.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing._kernels import (
    DISTINCT,
    ENTROPY_L,
    EQUAL_T,
    HIERARCHICAL_T,
    K_ANONYMITY,
    K_MAP,
    ORDERED_T,
    PRESENCE,
    TOLERANCE,
)
from ziggurat.compiling import compiled

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Int = int | np.int64
Real = float | np.float64
Truth = bool | np.bool

FORBIDDEN = 1e9  # what a cell costs above the top of its hierarchy, where values meet that have no common label
_FOLD = 32
_PLACE = 0xFFFFFFFF
_NONE = np.int64(-1)  # a literal would be compiled anew


class Trees(NamedTuple):
    """The hierarchies: entry `at[j] + code * strides[j] + level` of every table is about a code at a level."""

    at: Integers
    strides: Integers  # [j] levels and one more, at which nothing may be published
    groups: Integers
    costs: Reals  # the weighted share of the domain that a cell loses
    marks: Integers  # well spread words, one for each group, that add up to a box's key


class Judge(NamedTuple):
    """The models, as in the search."""

    smallest: int
    kinds: Integers
    about: Integers
    first: Reals
    second: Reals
    absent: Integers
    values: Integers
    overall: Reals
    tree_at: Integers
    tree: Integers
    tree_heights: Integers


class CombinationArrays(NamedTuple):
    """The distinct combinations."""

    codes: Integers  # [i, j]
    counts: Integers
    people: Integers  # zeros without a population
    sensitive: Integers  # [i, s]


class Words(NamedTuple):
    """What columns cost, several together: entry `table + id` is about the codes of an id at the levels of a table."""

    costs: Reals
    marks: Integers


class Filling(NamedTuple):
    """How far boxes are filled, and room to work in."""

    tables: Integers  # [v, q]: where the levels of node v begin for the q-th group of columns
    floors: Reals  # [v] no row that is left and was not looked at costs less
    seen: Reals  # [v] rows that cost at most this were looked at, and need not be again
    left: Integers  # rows without a box, the first told[0] of them
    ids: Integers  # [q, x]: the codes of the x-th of them in a group of columns
    told: Integers  # how many are left, -1 at first; how many hash tables were made
    slots: Integers
    sums: Integers
    chosen: Integers
    keys: Integers
    where: Integers
    names: Integers
    rows: Integers


class Clusters(NamedTuple):
    """Which combinations are published together: lists in both directions, the last cluster what is suppressed."""

    of: Integers
    after: Integers
    before: Integers
    head: Integers  # [c] and from here on
    many: Integers
    rows: Integers
    levels: Integers  # [c, j]
    cost: Reals  # of one row


@compiled
def _meeting(t: Trees, j: Int, one: Int, other: Int, level: Int) -> Int:
    """The lowest level, from `level` on, at which two codes are in one group."""
    a, b = t.at[j] + one * t.strides[j], t.at[j] + other * t.strides[j]
    while t.groups[a + level] != t.groups[b + level]:
        level += 1
    return level


@compiled
def _tree_distance(g: Judge, s: Int, extra: Reals) -> Real:
    """Mass that a subtree has too much and another of the same parent too little moves at the parent's height."""
    total, groups, height = 0.0, g.values[s], g.tree_heights[s]
    for a in range(1, height):
        parents = g.tree[g.tree_at[s, a] : g.tree_at[s, a] + groups]
        above = 0
        for v in range(groups):
            above = max(above, parents[v] + 1)
        over, sums = np.zeros(above), np.zeros(above)
        for v in range(groups):
            sums[parents[v]] += extra[v]
            over[parents[v]] += max(extra[v], 0.0)
        for v in range(above):
            total += min(over[v], over[v] - sums[v]) * a / (height - 1)
            extra[v] = sums[v]
        groups = above
    return total


@compiled
def _distance(g: Judge, kind: Int, s: Int, absent: Int, histogram: Integers, size: Int) -> Real:
    """The earth mover's distance of a class from the table, at worst over what missing cells may be: see `_kernels`."""
    many, unknown, gone = g.values[s], 0, 0.0
    if absent >= 0:
        unknown, gone = histogram[absent], g.overall[s, absent]
    if unknown == size or gone >= 1.0:
        return 1.0
    extra = np.zeros(many)
    known = many - 1 if absent >= 0 else many
    equal, ordered, running = 0.0, 0.0, 0.0
    for v in range(known):  # missing cells come last
        extra[v] = histogram[v] / (size - unknown) - g.overall[s, v] / (1.0 - gone)
        equal += abs(extra[v]) / 2
        running += extra[v]
        ordered += abs(running) / max(known - 1, 1)
    worst = max(unknown / size, gone)
    if kind == EQUAL_T:
        return worst + (1.0 - worst) * equal
    if kind == ORDERED_T:
        return worst + (1.0 - worst) * ordered
    return worst + (1.0 - worst) * _tree_distance(g, s, extra)


@compiled
def _diverse(kind: Int, first: Real, second: Real, absent: Int, histogram: Integers, size: Int) -> Truth:
    """Whether the values of a class satisfy a kind of l-diversity whatever its missing cells are: see `_kernels`."""
    unknown = 0
    if absent >= 0:
        unknown, histogram[absent] = histogram[absent], 0
    many, entropy, most = 0, 0.0, histogram.max() + unknown
    histogram[histogram.argmax()] = most
    for count in histogram:
        if count > 0:
            many += 1
            entropy -= count / size * np.log(count / size)
    many = 0 if unknown == size else many
    if kind == DISTINCT:
        return many >= first
    if kind == ENTROPY_L:
        return bool(entropy >= np.log(first) - TOLERANCE)
    rest, gone = size, 0
    while gone < second - 1:  # all but the l - 1 most frequent
        largest = histogram.argmax()
        rest -= histogram[largest]
        histogram[largest] = 0
        gone += 1
    return many >= second and most < first * rest


@compiled
def _fits(g: Judge, parts: CombinationArrays, who: Integers) -> Truth:
    """Whether these combinations, published alike, satisfy all models; the average risk is not one class's matter."""
    rows, people = 0, 0
    for i in who:
        rows += parts.counts[i]
        people += parts.people[i]
    if rows == 0 or rows < g.smallest:
        return False
    for q in range(g.kinds.size):
        if g.kinds[q] == K_ANONYMITY and rows < g.first[q]:
            return False
        if g.kinds[q] == K_MAP and people < g.first[q]:
            return False
        if g.kinds[q] == PRESENCE:
            share = rows / people if people > 0 else 2.0
            if share < g.first[q] - TOLERANCE or share > g.second[q] + TOLERANCE:
                return False
        if g.about[q] >= 0:
            histogram = np.zeros(g.overall.shape[1], np.int64)
            for i in who:
                histogram[parts.sensitive[i, g.about[q]]] += parts.counts[i]
            if g.kinds[q] in (EQUAL_T, ORDERED_T, HIERARCHICAL_T):
                if _distance(g, g.kinds[q], g.about[q], g.absent[q], histogram, rows) > g.first[q] + TOLERANCE:
                    return False
            elif not _diverse(g.kinds[q], g.first[q], g.second[q], g.absent[q], histogram, rows):
                return False
    return True


@compiled
def judge_groups(g: Judge, parts: CombinationArrays, who: Integers, starts: Integers) -> npt.NDArray[np.bool_]:
    """Say for every group who[starts[c]:starts[c + 1]] of combinations whether it satisfies all models."""
    kept = np.zeros(starts.size - 1, np.bool_)
    for c in range(kept.size):
        kept[c] = _fits(g, parts, who[starts[c] : starts[c + 1]])
    return kept


@compiled
def _choose_rows(w: Words, ids: Integers, tables: Integers, many: Int, seen: Real, most: Real, chosen: Integers,
           keys: Integers) -> tuple[Int, Real]:  # fmt: skip
    """Choose the places whose box costs more than `seen` and at most `most`, and make the keys of their boxes.

    Return how many there are, and the least cost beyond.
    """
    found, beyond = 0, np.inf
    for x in range(many):
        lost = 0.0
        for q in range(tables.size):
            lost += w.costs[tables[q] + ids[q, x]]
        if lost > most:
            beyond = min(beyond, lost)
        elif lost > seen:
            chosen[found] = x
            found += 1
    for y in range(found):
        key = np.int64(0)
        for q in range(tables.size):
            key += w.marks[tables[q] + ids[q, chosen[y]]]
        keys[y] = key
    return found, beyond


@compiled
def _drop_lonely(parts: CombinationArrays, left: Integers, chosen: Integers, keys: Integers, many: Int, smallest: Int,
           sums: Integers) -> Int:  # fmt: skip
    """Keep those whose box may have enough rows: boxes are told apart by a few bits only, so that none is missed."""
    room = 16
    while room < 2 * many:
        room *= 2
    sums[:room] = 0
    for y in range(many):
        sums[(keys[y] ^ (keys[y] >> _FOLD)) & (room - 1)] += parts.counts[left[chosen[y]]]
    kept = 0
    for y in range(many):
        if sums[(keys[y] ^ (keys[y] >> _FOLD)) & (room - 1)] >= smallest:
            chosen[kept], keys[kept] = chosen[y], keys[y]
            kept += 1
    return kept


@compiled
def _number_boxes(parts: CombinationArrays, left: Integers, chosen: Integers, keys: Integers, many: Int,
           slots: Integers, stamp: Int, where: Integers, names: Integers, rows: Integers) -> Int:  # fmt: skip
    """Number the boxes of the chosen; return how many.

    Keys are sums of well spread words. Should two boxes ever have the same, their rows make one class, with levels at
    which all of them meet: worse, but not wrong.
    """
    boxes, last = 0, slots.size - 1
    for y in range(many):
        key = keys[y]
        place = (key ^ (key >> _FOLD)) & last
        while slots[place] >> _FOLD == stamp and names[slots[place] & _PLACE] != key:
            place = (place + 1) & last
        if slots[place] >> _FOLD != stamp:
            slots[place] = (stamp << _FOLD) | boxes
            names[boxes], rows[boxes] = key, 0
            boxes += 1
        where[y] = slots[place] & _PLACE
        rows[where[y]] += parts.counts[left[chosen[y]]]
    return boxes


@compiled
def _list_places(where: Integers, many: Int, boxes: Int) -> tuple[Integers, Integers]:
    """The places of each box in turn, and where each begins."""
    starts = np.zeros(boxes + 1, np.int64)
    for x in range(many):
        starts[where[x] + 1] += 1
    for b in range(boxes):
        starts[b + 1] += starts[b]
    at, places = starts[:-1].copy(), np.empty(many, np.int64)
    for x in range(many):
        places[at[where[x]]] = x
        at[where[x]] += 1
    return places, starts


@compiled
def _keep_homeless(left: Integers, ids: Integers, many: Int, of: Integers) -> Int:
    """Move those without a cluster to the front; return how many."""
    kept = 0
    for x in range(many):
        if of[left[x]] < 0:
            left[kept] = left[x]
            for q in range(ids.shape[0]):
                ids[q, kept] = ids[q, x]
            kept += 1
    return kept


@compiled
def _is_settled(g: Judge) -> Truth:
    """Whether a box that does not satisfy the models never will once rows have left it."""
    open_ones = 0
    for q in range(g.kinds.size):
        if g.kinds[q] == PRESENCE or (g.about[q] >= 0 and g.kinds[q] != DISTINCT):
            open_ones += 1
    return open_ones == 0


@compiled
def fill_boxes(w: Words, g: Judge, parts: CombinationArrays, f: Filling, most: Real, last: Int, of: Integers,
           clusters: Int, stop: Integers) -> Int:  # fmt: skip
    """Give rows that have no box yet to boxes of at most this cost, node by node; return the number of clusters.

    If `stop` is set only the `last` nodes are looked at, which end at the top. Rows only ever leave a box, so that one
    that was refused for want of rows, people or values is refused for good: it is looked at once, not at every cost.
    """
    settled = _is_settled(g)
    nodes = f.tables.shape[0]
    many = _keep_homeless(f.left, f.ids, f.left.size if f.told[0] < 0 else f.told[0], of)
    f.told[0] = many
    for v in range(nodes):
        if many == 0:
            break
        if f.floors[v] > most or (stop[0] != 0 and v < nodes - last):
            continue
        found, beyond = _choose_rows(w, f.ids, f.tables[v], many, f.seen[v], most, f.chosen, f.keys)
        if settled:
            f.seen[v], f.floors[v] = most, beyond
        found = _drop_lonely(parts, f.left, f.chosen, f.keys, found, g.smallest, f.sums)
        if found == 0:
            continue
        f.told[1] += 1
        boxes = _number_boxes(parts, f.left, f.chosen, f.keys, found, f.slots, f.told[1], f.where, f.names, f.rows)
        places, starts = _list_places(f.where, found, boxes)
        for y in range(found):
            places[y] = f.left[f.chosen[places[y]]]
        before = clusters
        for b in range(boxes):
            who = places[starts[b] : starts[b + 1]]
            if f.rows[b] >= g.smallest and _fits(g, parts, who):
                for i in who:
                    of[i] = clusters
                clusters += 1
        if clusters > before:
            many = _keep_homeless(f.left, f.ids, many, of)
            f.told[0] = many
    return clusters


@compiled
def _put(t: Trees, parts: CombinationArrays, s: Clusters, i: Int, c: Int) -> None:
    head = s.head[c]
    s.of[i], s.after[i], s.before[i], s.head[c] = c, head, -1, i
    if head >= 0:
        s.before[head] = i
    s.many[c] += 1
    s.rows[c] += parts.counts[i]
    if c == s.head.size - 1:
        return
    s.cost[c] = _cost_joined(t, parts, s, c, i, head)
    for j in range(parts.codes.shape[1]):
        if head >= 0:
            s.levels[c, j] = _meeting(t, j, parts.codes[head, j], parts.codes[i, j], s.levels[c, j])


@compiled
def _cost_joined(t: Trees, parts: CombinationArrays, s: Clusters, c: Int, i: Int, head: Int) -> Real:
    """What a row of a cluster would cost with one combination more."""
    total = 0.0
    for j in range(parts.codes.shape[1]):
        code = parts.codes[i, j]
        level = _meeting(t, j, parts.codes[head, j], code, s.levels[c, j]) if head >= 0 else 0
        total += t.costs[t.at[j] + code * t.strides[j] + level]
    return total


@compiled
def _cost_widened(t: Trees, parts: CombinationArrays, s: Clusters, c: Int, i: Int, most: Real) -> Real:
    """As `_cost_joined`, or anything not below `most` if it is that."""
    total = s.cost[c]
    head = s.head[c]
    for j in range(parts.codes.shape[1]):
        was = s.levels[c, j]
        level = _meeting(t, j, parts.codes[head, j], parts.codes[i, j], was)
        if level > was:
            at = t.at[j] + parts.codes[head, j] * t.strides[j]
            total += t.costs[at + level] - t.costs[at + was]
            if total >= most:
                break
    return float(total)


@compiled
def _take(parts: CombinationArrays, s: Clusters, i: Int) -> None:
    c, before, after = s.of[i], s.before[i], s.after[i]
    if before >= 0:
        s.after[before] = after
    else:
        s.head[c] = after
    if after >= 0:
        s.before[after] = before
    s.many[c] -= 1
    s.rows[c] -= parts.counts[i]


@compiled
def _tighten(t: Trees, parts: CombinationArrays, s: Clusters, c: Int) -> None:
    """Publish a cluster at the lowest levels at which its combinations meet."""
    if c == s.head.size - 1:
        return
    for j in range(parts.codes.shape[1]):
        s.levels[c, j] = 0
    s.cost[c] = 0.0
    head = s.head[c]
    i = head
    while i >= 0:
        for j in range(parts.codes.shape[1]):
            s.levels[c, j] = _meeting(t, j, parts.codes[head, j], parts.codes[i, j], s.levels[c, j])
        i = s.after[i]
    for j in range(parts.codes.shape[1]):
        if head >= 0:
            s.cost[c] += t.costs[t.at[j] + parts.codes[head, j] * t.strides[j] + s.levels[c, j]]


@compiled
def _members(s: Clusters, c: Int, without: Int, extra: Int) -> Integers:
    who = np.empty(s.many[c] + 1, np.int64)
    many = 0
    i = s.head[c]
    while i >= 0:
        if i != without:
            who[many] = i
            many += 1
        i = s.after[i]
    if extra >= 0:
        who[many] = extra
        many += 1
    return who[:many]


@compiled
def _home(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters, i: Int, most: Real) -> tuple[Int, float]:
    """The cluster that one more combination costs least, all its rows counted, if it costs less than `most`."""
    best = -1
    many = parts.counts[i]
    for c in range(s.head.size - 1):
        if s.many[c] == 0 or c == s.of[i]:
            continue
        was = s.rows[c] * s.cost[c]
        if many * s.cost[c] >= most:  # adding a row makes no box cheaper
            continue
        more = (s.rows[c] + many) * _cost_widened(t, parts, s, c, i, (most + was) / (s.rows[c] + many)) - was
        if more < most and _fits(g, parts, _members(s, c, _NONE, i)):
            best, most = c, more
    return best, most


@compiled
def gather_clusters(t: Trees, parts: CombinationArrays, of: Integers, s: Clusters) -> None:
    """Make lists of the clusters that were filled; what has none goes to the last."""
    for i in range(of.size):
        _put(t, parts, s, i, of[i] if of[i] >= 0 else s.head.size - 1)


@compiled
def house_suppressed(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters, limit: Int) -> None:
    """Give every suppressed combination to the cluster it costs least, unless it may stay and that is cheaper."""
    last = s.head.size - 1
    for i in _members(s, last, _NONE, _NONE):
        if parts.counts[i] == 0:
            continue
        c, _ = _home(t, g, parts, s, i, parts.counts[i] * 1.0 if s.rows[last] <= limit else FORBIDDEN / 2)
        if c >= 0:
            _take(parts, s, i)
            _put(t, parts, s, i, c)


@compiled
def force_models(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters) -> Truth:
    """Join what is left with the nearest clusters, one after the other, until all models hold; False if they never do.

    Each time the nearest is the one with which the rows cost least.
    """
    last, mine = s.head.size - 1, s.head.size - 2
    for i in _members(s, last, _NONE, _NONE):
        _take(parts, s, i)
        _put(t, parts, s, i, mine)
    while s.cost[mine] < FORBIDDEN / 2 and not _fits(g, parts, _members(s, mine, _NONE, _NONE)):
        best, least = -1, FORBIDDEN / 2
        for c in range(mine):
            if s.many[c] > 0:
                more = (s.rows[c] + s.rows[mine]) * _both(t, parts, s, c, mine) - s.rows[c] * s.cost[c]
                if more < least:
                    best, least = c, more
        if best < 0:
            return False
        for i in _members(s, best, _NONE, _NONE):
            _take(parts, s, i)
            _put(t, parts, s, i, mine)
    return bool(s.cost[mine] < FORBIDDEN / 2)


@compiled
def _both(t: Trees, parts: CombinationArrays, s: Clusters, one: Int, other: Int) -> Real:
    total = 0.0
    for j in range(parts.codes.shape[1]):
        code = parts.codes[s.head[one], j]
        level = max(s.levels[one, j], s.levels[other, j])
        level = _meeting(t, j, code, parts.codes[s.head[other], j], level)
        total += t.costs[t.at[j] + code * t.strides[j] + level]
    return total


@compiled
def mend_clusters(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters, order: Integers, stop: Integers) -> Real:
    """Move rows out of costly clusters, or give one up altogether, where others lose less; return what was gained."""
    gained = 0.0
    for c in order:
        if stop[0]:
            break
        if s.many[c] == 0 or s.many[c] > 64 or s.cost[c] == 0.0:
            continue
        gained += _move_spare(t, g, parts, s, c)
        if s.many[c] > 0:
            gained += _give_up(t, g, parts, s, c)
    return gained


@compiled
def _move_spare(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters, c: Int) -> Real:
    """Move single combinations that a cluster can spare."""
    gained = 0.0
    for i in _members(s, c, _NONE, _NONE):
        if parts.counts[i] == 0 or s.many[c] == 1 or not _fits(g, parts, _members(s, c, i, _NONE)):
            continue
        was = s.rows[c] * s.cost[c]
        _take(parts, s, i)
        _tighten(t, parts, s, c)
        gain = was - s.rows[c] * s.cost[c]
        s.of[i] = c
        home, more = _home(t, g, parts, s, i, gain - TOLERANCE)
        _put(t, parts, s, i, home if home >= 0 else c)
        gained += gain - more if home >= 0 else 0.0
    return gained


@compiled
def _give_up(t: Trees, g: Judge, parts: CombinationArrays, s: Clusters, c: Int) -> Real:
    """Give all combinations of a cluster to others if that is cheaper; each is placed with those before it in place."""
    was = s.rows[c] * s.cost[c] - TOLERANCE
    who = _members(s, c, _NONE, _NONE)
    spent, placed = 0.0, 0
    for i in who:
        home, more = _home(t, g, parts, s, i, was - spent)
        if home < 0:
            break
        _take(parts, s, i)
        _put(t, parts, s, i, home)
        spent += more
        placed += 1
    if placed == who.size:
        return float(was - spent)
    for i in who[:placed]:
        home = s.of[i]
        _take(parts, s, i)
        _tighten(t, parts, s, home)
        _put(t, parts, s, i, c)
    _tighten(t, parts, s, c)
    return 0.0
