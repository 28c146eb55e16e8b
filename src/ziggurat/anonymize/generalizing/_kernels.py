"""The search over generalisations, compiled: classes are rolled up from finer to coarser, never counted anew.

A *class* is the set of rows that agree in all quasi-identifiers once these are generalised. Its codes are packed into
64-bit words; generalising one column replaces one field of the key and merges what has become equal, so that a table of
classes only ever shrinks. A node of the lattice is a level for each column.

What may be pruned, and why.

- A *cut* on suppression. Let a model be *lasting* if a class that satisfies it still does after it is joined with any
  other class: k-anonymity, k-map and distinct l-diversity are. Then the rows that must be suppressed at a node are at
  least those at any coarser node, so that the coarsest completion of some fixed levels (their *shadow*, which has few
  classes) bounds all of them from below.
  The other models last only if both classes satisfy them (entropy is concave, the earth mover's distance convex, the
  share of a population a mediant, also of people who share their class with no row), so they take part in the cut only
  if nothing may be suppressed.
  Where missing cells are no value, a model of sensitive values must hold whatever they are. All that is said above
  stays true: what may stand in the missing cells of two classes together is what may stand in each.
- What two columns alone demand (`_pair_kernels`) is looked up before any class is rolled up.
- A *bound* on the score. Generalising further loses more of every row, and a suppressed row loses most. So the score
  is at least what it would be at the finest completion of the fixed levels with the least possible suppression.

References
----------
Prasser, Kohlmayer, Kuhn (2016), "Efficient and effective pruning strategies for health data de-identification", BMC
Medical Informatics and Decision Making 16:49.
Li, Li, Venkatasubramanian (2007), "t-Closeness", ICDE.
Machanavajjhala, Gehrke, Kifer, Venkitasubramaniam (2006), "l-Diversity", ICDE.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ziggurat.compiling import compiled

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Reals = npt.NDArray[np.float64]
Int = int | np.int64
Real = float | np.float64
Truth = bool | np.bool

LOSS, ENTROPY, DISCERNIBILITY, PRECISION, CLASS_SIZE = range(5)
K_ANONYMITY, K_MAP, DISTINCT, ENTROPY_L, RECURSIVE, EQUAL_T, ORDERED_T, HIERARCHICAL_T, PRESENCE, AVERAGE = range(10)

# An exactly uniform class must pass entropy l-diversity, and a class exactly at distance t its t-closeness.
TOLERANCE = 1e-9

_FIRST = np.uint64(0x9E3779B97F4A7C15)
_SECOND = np.uint64(0xBF58476D1CE4E5B9)
_FOLD = np.uint64(32)
_CHEAP = 4


class Rolls(NamedTuple):
    """How keys are generalised, in arrays: columns j, levels a and b."""

    bottom: int  # 0, the level of the values themselves
    order: Integers  # in which order columns are decided
    heights: Integers  # [j] number of levels
    word: Integers  # [j] where the field of a column lies in a key
    shift: Words
    mask: Words
    step_at: Integers  # [j, a, b] where the map from groups at level a to groups at level b begins in `steps`
    steps: Integers


class Rules(NamedTuple):
    """What classes must satisfy: models q, sensitive columns s."""

    kinds: Integers  # [q] the models
    about: Integers  # [q] the sensitive column, if the model has one
    first: Reals  # [q] parameters of the model
    second: Reals
    absent: Integers  # [q] the code of its missing cells, -1 if there are none or they count as a value
    sensitive: Integers  # [s, v] the code of each sensitive column in the v-th combination
    values: Integers  # [s] number of values
    overall: Reals  # [s, value] their shares in the whole table
    tree_at: Integers  # [s, a] where level a of the sensitive column's hierarchy begins in `tree`
    tree: Integers
    tree_heights: Integers  # [s] number of levels, 0 without a hierarchy


class Worth(NamedTuple):
    """What a node is worth: columns j, levels a."""

    rows: int
    smallest: int  # no class that is kept has fewer rows
    metric: int
    weights: Reals  # [j], adding up to one
    domain: Integers  # [j] leaves of the whole hierarchy
    group_at: Integers  # [j, a] where the groups of a level begin in the three arrays below
    leaves: Integers  # leaves of the hierarchy under a group
    group_rows: Integers  # rows of the table in a group
    by_leaves: Integers  # the groups of a level, those with most leaves first
    groups: Integers  # [j, a] how many groups
    spread: Integers  # [j, a] sum over all rows of the leaves under their group
    entropy: Reals  # [j, a] what all rows lose at this level, in bits


class ClassParts(NamedTuple):
    """Classes, or with sensitive columns the parts of classes that agree in these."""

    keys: Words  # [i, w]
    counts: Integers  # rows of the table
    people: Integers  # rows of the population, if there is one
    values: Integers  # the combination of sensitive values


class SearchProblem(NamedTuple):
    """All that the search must know.

    Kernels are not called with literals, such as 0 or False: numba would compile them once more for each.
    """

    limit: int  # at most so many rows are suppressed
    shadows: ClassParts  # for every depth the classes of the columns up to it, with all others at their top
    shadow_at: Integers  # [depth] where they begin; one entry more
    pairs: Integers  # [j, a, i, b] rows that must go at these two levels, whatever the other columns do
    rolls: Rolls
    rules: Rules
    worth: Worth


class SearchState(NamedTuple):
    """What one thread knows, and what all share."""

    best: Reals  # [0] the best score of all threads
    stop: Integers  # [0] not 0: return with the best so far
    mine: Reals  # [0] this thread's best score, [1] its lower bound on all that it left unexplored
    levels: Integers  # the levels of `mine`
    facts: Integers  # [0] rows suppressed, [1] classes kept, [2] nodes evaluated, [3] nodes decided
    nodes: Reals  # [node, 4] what was found at every node; without rows, nodes that cannot be best are left out
    slots: Integers  # scratch of the hash table
    stamp: Integers  # [0] the entries of `slots` that count


@compiled
def _mix(keys: Words, at: Int) -> np.uint64:
    mixed = _SECOND
    for w in range(keys.shape[1]):
        mixed = (mixed ^ keys[at, w]) * _FIRST
        mixed ^= mixed >> _FOLD
    return mixed


@compiled
def _slot(mixed: np.uint64, room: Int) -> Int:
    return np.int64((mixed * _SECOND) >> _FOLD) & (room - 1)


@compiled
def _same(some: Words, one: Int, others: Words, other: Int) -> Truth:
    for w in range(some.shape[1]):  # noqa: SIM110 - numba compiles no generator
        if some[one, w] != others[other, w]:
            return False
    return True


@compiled
def _room(size: Int) -> Int:
    room = 16
    while room < 2 * size:
        room *= 2
    return room


@compiled
def _merge(held: ClassParts, size: Int, slots: Integers, stamp: Integers) -> Int:
    """Add up, in place, the first `size` parts that have become equal; return how many are left."""
    room = _room(size)
    stamp[0] += 1
    mark = stamp[0] << 32
    people, values = held.people.size > 0, held.values.size > 0
    left = 0
    for i in range(size):
        value = held.values[i] if values else 0
        at = _slot(_mix(held.keys, i) + np.uint64(value) * _FIRST, room)
        while True:
            entry = slots[at]
            if entry >> 32 != stamp[0]:
                slots[at] = mark | left
                for w in range(held.keys.shape[1]):
                    held.keys[left, w] = held.keys[i, w]
                held.counts[left] = held.counts[i]
                if people:
                    held.people[left] = held.people[i]
                if values:
                    held.values[left] = value
                left += 1
                break
            other = entry & 0xFFFFFFFF
            if (not values or held.values[other] == value) and _same(held.keys, other, held.keys, i):
                held.counts[other] += held.counts[i]
                if people:
                    held.people[other] += held.people[i]
                break
            at = (at + 1) & (room - 1)
    return left


@compiled
def _generalize(p: Rolls, held: ClassParts, size: Int, column: Int, was: Int, now: Int) -> None:
    """Replace one field of every key by its group at a higher level; equal keys are not merged yet."""
    w, shift, mask = p.word[column], p.shift[column], p.mask[column]
    steps = p.steps[p.step_at[column, was, now] :]
    cleared = ~(mask << shift)
    for i in range(size):
        key = held.keys[i, w]
        group = np.uint64(steps[np.int64((key >> shift) & mask)])
        held.keys[i, w] = (key & cleared) | (group << shift)


@compiled
def _copy(held: ClassParts, size: Int) -> ClassParts:
    people = held.people[:size].copy() if held.people.size else held.people
    values = held.values[:size].copy() if held.values.size else held.values
    return ClassParts(held.keys[:size].copy(), held.counts[:size].copy(), people, values)


@compiled
def _field(p: Rolls, keys: Words, at: Int, column: Int) -> Int:
    return np.int64((keys[at, p.word[column]] >> p.shift[column]) & p.mask[column])


@compiled
def _entropy_at_least(histogram: Integers, touched: Integers, many: Int, size: Int, absent: Int, goal: Real) -> Truth:
    """Whether the entropy is large enough whatever the missing cells are.

    It is least if all of them hold the most frequent value: those counts majorise all others that are possible.
    """
    most, unknown = -1, 0
    for t in range(many):
        if touched[t] == absent:
            unknown = histogram[absent]
        elif most < 0 or histogram[touched[t]] > histogram[most]:
            most = touched[t]
    total = 0.0
    for t in range(many):
        if touched[t] != absent:
            share = (histogram[touched[t]] + (unknown if touched[t] == most else 0)) / size
            total -= share * math.log(share)
    return total >= goal - TOLERANCE


@compiled
def _recursive(histogram: Integers, touched: Integers, many: Int, size: Int, absent: Int, c: Real, least: Int) -> Truth:
    """(c, l)-diversity: the most frequent value is rarer than c times all but the l - 1 most frequent.

    It holds whatever the missing cells are: at worst all of them hold the most frequent value.
    """
    taken = np.zeros(many, np.bool_)
    known, rest, most = many, size, 0
    for t in range(many):
        if touched[t] == absent:
            taken[t] = True
            known, rest, most = many - 1, size - histogram[absent], histogram[absent]
    if known < least:
        return False
    for place in range(least - 1):
        largest = -1
        for t in range(many):
            if not taken[t] and (largest < 0 or histogram[touched[t]] > histogram[touched[largest]]):
                largest = t
        taken[largest] = True
        rest -= histogram[touched[largest]]
        if place == 0:
            most += histogram[touched[largest]]
    return most < c * rest


@compiled
def _distance(p: Rules, kind: Int, s: Int, absent: Int, histogram: Integers, size: Int, extra: Reals) -> Real:
    """No smaller than the earth mover's distance between a class and the table, whatever their missing cells are.

    Let a and b be the shares of missing cells in the class and in the table, m the larger, D the distance between the
    cells that are not missing. A share 1 - m of both consists of such cells, and the rest moves by at most 1: the
    distance is at most (1 - m) D + m. If two classes are within t by this measure, so is their union (D is convex).
    """
    many, unknown, gone = p.values[s], 0, 0.0
    if absent >= 0:
        unknown, gone = histogram[absent], p.overall[s, absent]
    if unknown == size or gone >= 1.0:
        return 1.0
    for v in range(many):
        extra[v] = 0.0 if v == absent else histogram[v] / (size - unknown) - p.overall[s, v] / (1.0 - gone)
    worst = max(unknown / size, gone)
    return worst + (1.0 - worst) * _distance_moved(p, kind, s, many - 1 if absent >= 0 else many, extra)


@compiled
def _distance_moved(p: Rules, kind: Int, s: Int, many: Int, extra: Reals) -> Real:
    """What moving the differences of the shares costs: equal, ordered or hierarchical ground distance.

    The last value is that of missing cells; if they are none, their difference is 0.
    """
    total = running = 0.0
    if kind == EQUAL_T:
        for v in range(p.values[s]):
            total += abs(extra[v])
        return total / 2
    if kind == ORDERED_T:
        for v in range(many - 1):
            running += extra[v]
            total += abs(running)
        return float(total / max(many - 1, 1))
    return _tree_distance(p, s, extra)


@compiled
def _tree_distance(p: Rules, s: Int, extra: Reals) -> Real:
    """Mass that a subtree has too much and another of the same parent too little moves at the parent's height."""
    groups, height = p.values[s], p.tree_heights[s]
    total = 0.0
    for a in range(1, height):
        parents = p.tree[p.tree_at[s, a] : p.tree_at[s, a] + groups]
        above = 0
        for g in range(groups):
            above = max(above, parents[g] + 1)
        over, under, sums = np.zeros(above), np.zeros(above), np.zeros(above)
        for g in range(groups):
            sums[parents[g]] += extra[g]
            if extra[g] > 0:
                over[parents[g]] += extra[g]
            else:
                under[parents[g]] -= extra[g]
        for g in range(above):
            total += min(over[g], under[g]) * a / (height - 1)
            extra[g] = sums[g]
        groups = above
    return total


@compiled
def _passes_alone(p: Rules, size: Int, people: Int, lasting: Truth) -> Truth:
    """Whether a class meets the models that look at its size only."""
    for q in range(p.kinds.size):
        kind = p.kinds[q]
        if kind == K_ANONYMITY and size < p.first[q]:
            return False
        if kind == K_MAP and people < p.first[q]:
            return False
        if kind == PRESENCE and not lasting:
            share = size / people if people > 0 else 2.0
            if share < p.first[q] - TOLERANCE or share > p.second[q] + TOLERANCE:
                return False
    return True


@compiled
def _passes_within(
    p: Rules, size: Int, lasting: Truth, s: Int, histogram: Integers, touched: Integers, many: Int, extra: Reals
) -> Truth:
    """Whether a class meets the models about the s-th sensitive column."""
    for q in range(p.kinds.size):
        kind, absent, first = p.kinds[q], p.absent[q], p.first[q]
        if p.about[q] != s:
            continue
        known = many - 1 if absent >= 0 and histogram[absent] > 0 else many
        if kind == DISTINCT and known < first:
            return False
        if lasting:
            continue
        if kind == ENTROPY_L and not _entropy_at_least(histogram, touched, many, size, absent, math.log(first)):
            return False
        if kind == RECURSIVE and not _recursive(histogram, touched, many, size, absent, first, int(p.second[q])):
            return False
        near = kind in (EQUAL_T, ORDERED_T, HIERARCHICAL_T)
        if near and _distance(p, kind, s, absent, histogram, size, extra) > first + TOLERANCE:
            return False
    return True


@compiled
def _number_classes(held: ClassParts, size: Int, slots: Integers, stamp: Integers) -> tuple[Integers, Integers, Int]:
    """Number the classes of the parts: for each part its class and the next part of it, -1 after the last."""
    room = _room(size)
    stamp[0] += 1
    mark = stamp[0] << 32
    last, following = np.empty(size, np.int64), np.empty(size, np.int64)
    many = 0
    for i in range(size):
        at = _slot(_mix(held.keys, i), room)
        while True:
            entry = slots[at]
            if entry >> 32 != stamp[0]:
                slots[at] = mark | many
                last[many], following[i] = i, -1
                many += 1
                break
            place = entry & 0xFFFFFFFF
            if _same(held.keys, last[place], held.keys, i):
                following[i] = last[place]
                last[place] = i
                break
            at = (at + 1) & (room - 1)
    return last, following, many


@compiled
def judge_classes(
    p: Rules, held: ClassParts, size: Int, lasting: Truth, f: SearchState
) -> tuple[Integers, Integers, Integers]:
    """For every class: a part that stands for it, its rows, and 1 if it is kept.

    With `lasting`, only the models that bound suppression from below take part.
    """
    if held.values.size == 0:
        parts, sizes = np.arange(size), held.counts[:size].copy()
        kept = np.zeros(size, np.int64)
        for i in range(size):
            people = held.people[i] if held.people.size else 0
            kept[i] = 1 if sizes[i] > 0 and _passes_alone(p, sizes[i], people, lasting) else 0
    else:
        last, following, many = _number_classes(held, size, f.slots, f.stamp)
        parts = last[:many]
        sizes, kept = _judge_within(p, held, last, following, many, lasting)
    if not lasting:
        _limit_whole(p, sizes, kept)
    return parts, sizes, kept


@compiled
def _judge_within(
    p: Rules, held: ClassParts, last: Integers, following: Integers, many: Int, lasting: Truth
) -> tuple[Integers, Integers]:
    sizes, kept = np.zeros(many, np.int64), np.zeros(many, np.int64)
    widest = p.overall.shape[1]
    histogram, touched = np.zeros(widest, np.int64), np.empty(widest, np.int64)
    extra = np.empty(widest)
    for c in range(many):
        total, people = 0, 0
        i = last[c]
        while i >= 0:
            total += held.counts[i]
            people += held.people[i] if held.people.size else 0
            i = following[i]
        sizes[c] = total
        if total == 0:
            continue
        passed = _passes_alone(p, total, people, lasting)
        for s in range(p.values.size):
            if not passed:
                break
            seen = 0
            i = last[c]
            while i >= 0:
                value = p.sensitive[s, held.values[i]]
                if held.counts[i] > 0:
                    if histogram[value] == 0:
                        touched[seen] = value
                        seen += 1
                    histogram[value] += held.counts[i]
                i = following[i]
            passed = _passes_within(p, total, lasting, s, histogram, touched, seen, extra)
            for t in range(seen):
                histogram[touched[t]] = 0
        kept[c] = 1 if passed else 0
    return sizes, kept


@compiled
def _limit_whole(p: Rules, sizes: Integers, kept: Integers) -> None:
    """Give up classes, or all of them, until what no class can satisfy on its own is satisfied."""
    _limit_average(p, sizes, kept)
    for q in range(p.kinds.size):
        # People who look like no published row seem to be absent, be it that they have none or that theirs are gone.
        if p.kinds[q] == PRESENCE and p.first[q] > TOLERANCE and kept.size and kept.min() == 0:
            kept[:] = 0


@compiled
def _limit_average(p: Rules, sizes: Integers, kept: Integers) -> None:
    """Give up the smallest classes until the average risk, classes over rows, is within its limit.

    For any number of classes given up, the smallest are the fewest rows and leave the lowest average.
    Classes of one size are given up together, so that the outcome does not depend on any order.
    """
    for q in range(p.kinds.size):
        if p.kinds[q] != AVERAGE:
            continue
        classes, rows = 0, 0
        for c in range(sizes.size):
            if kept[c]:
                classes += 1
                rows += sizes[c]
        while classes > 0 and classes > p.first[q] * rows * (1 + TOLERANCE):
            least = np.int64(1) << 62
            for c in range(sizes.size):
                if kept[c]:
                    least = min(least, sizes[c])
            for c in range(sizes.size):
                if kept[c] and sizes[c] == least:
                    kept[c] = 0
                    classes -= 1
                    rows -= int(least)


@compiled
def _losses(p: SearchProblem, levels: Integers, suppressed: Int, held: ClassParts, parts: Integers, sizes: Integers,
            kept: Integers) -> Real:  # fmt: skip
    score = 0.0
    for j in range(levels.size):
        total = p.worth.spread[j, levels[j]] + suppressed * p.worth.domain[j]
        leaves = p.worth.leaves[p.worth.group_at[j, levels[j]] :]
        if suppressed:
            for c in range(sizes.size):
                if not kept[c] and sizes[c] > 0:
                    total -= sizes[c] * leaves[_field(p.rolls, held.keys, parts[c], j)]
        score += _lost(p.worth, j, float(total))
    return math.exp(score) - 1.0


@compiled
def _lost(p: Worth, j: Int, total: Real) -> Real:
    """A column's part in the logarithm of the geometric mean; `total` counts leaves, not shares of them."""
    domain = p.domain[j]
    least = p.rows / domain
    share = (total / domain - least) / (p.rows - least) if domain > 1 else 0.0
    return float(p.weights[j] * math.log(1.0 + max(0.0, share)))


@compiled
def _bits(p: SearchProblem, levels: Integers, suppressed: Int, held: ClassParts, parts: Integers, sizes: Integers,
          kept: Integers) -> Real:  # fmt: skip
    score = 0.0
    for j in range(levels.size):
        bits = p.worth.entropy[j, levels[j]]
        if suppressed:
            gone = np.zeros(p.worth.groups[j, levels[j]], np.int64)
            for c in range(sizes.size):
                if not kept[c] and sizes[c] > 0:
                    gone[_field(p.rolls, held.keys, parts[c], j)] += sizes[c]
            for g in range(gone.size):
                if gone[g] > 0:
                    bits -= gone[g] * math.log2(gone[g] / suppressed)
        score += p.worth.weights[j] * levels.size * bits
    return score


@compiled
def _imprecision(p: SearchProblem, levels: Integers, suppressed: Int) -> Real:
    score = 0.0
    for j in range(levels.size):
        share = levels[j] / (p.rolls.heights[j] - 1) if p.rolls.heights[j] > 1 else 0.0
        score += p.worth.weights[j] * ((p.worth.rows - suppressed) * share + suppressed) / p.worth.rows
    return score


@compiled
def score_node(p: SearchProblem, levels: Integers, held: ClassParts, parts: Integers, sizes: Integers, kept: Integers,
           suppressed: Int) -> Real:  # fmt: skip
    """The score of a node whose classes were judged; smaller is better."""
    if p.worth.metric == LOSS:
        return _losses(p, levels, suppressed, held, parts, sizes, kept)
    if p.worth.metric == ENTROPY:
        return _bits(p, levels, suppressed, held, parts, sizes, kept)
    if p.worth.metric == PRECISION:
        return _imprecision(p, levels, suppressed)
    classes, squares = 0, 0.0
    for c in range(sizes.size):
        if kept[c]:
            classes += 1
            squares += float(sizes[c]) * sizes[c]
    if p.worth.metric == DISCERNIBILITY:
        return squares + float(suppressed) * p.worth.rows
    return p.worth.rows / max(classes + (1 if suppressed else 0), 1)


@compiled
def _is_closed(p: Worth) -> Truth:
    """Whether the metric's bound follows from the levels alone, and grows with them."""
    return p.metric == LOSS or p.metric == ENTROPY or p.metric == PRECISION


@compiled
def _bound_by_levels(p: SearchProblem, levels: Integers, suppressed: Int) -> Real:
    """A score that no node at or above `levels` goes below if it suppresses at least `suppressed` rows."""
    score = 0.0
    if p.worth.metric == LOSS:
        for j in range(levels.size):
            score += _lost(p.worth, j, _least_spread(p.worth, j, levels[j], suppressed))
        return math.exp(score) - 1.0
    if p.worth.metric == ENTROPY:
        for j in range(levels.size):
            score += p.worth.weights[j] * levels.size * p.worth.entropy[j, levels[j]]
        return score
    return _imprecision(p, levels, suppressed) if p.worth.metric == PRECISION else -np.inf


@compiled
def _bound(p: SearchProblem, levels: Integers, suppressed: Int, held: ClassParts, size: Int) -> Real:
    """The same, given the classes at `levels`, for every metric."""
    if _is_closed(p.worth):
        return _bound_by_levels(p, levels, suppressed)
    return _bound_by_classes(p.worth, suppressed, held, size)


@compiled
def _least_spread(p: Worth, j: Int, level: Int, suppressed: Int) -> Real:
    """The rows that are suppressed are at best those that lose most already."""
    start = p.group_at[j, level]
    total = float(p.spread[j, level]) + float(suppressed) * p.domain[j]
    left = suppressed
    for at in range(start, start + p.groups[j, level]):
        if left <= 0:
            break
        group = start + p.by_leaves[at]
        taken = min(left, p.group_rows[group])
        total -= float(taken) * p.leaves[group]
        left -= taken
    return float(total)


@compiled
def _bound_by_classes(p: Worth, suppressed: Int, held: ClassParts, size: Int) -> Real:
    """Joining classes makes them larger and fewer.

    Discernibility: a row counts the size of its class, which only grows, or n. Average class size: a kept class has
    at least `smallest` rows, so it holds a class that has them already, or is made of rows of smaller ones.
    """
    squares, large, small = 0.0, 0, 0
    for i in range(size):
        squares += float(held.counts[i]) * held.counts[i]
        if held.counts[i] >= p.smallest:
            large += 1
        else:
            small += held.counts[i]
    if p.metric == DISCERNIBILITY:
        return max(squares, float(suppressed) * p.rows)
    most = large + small // p.smallest if held.values.size == 0 else p.rows // p.smallest
    return p.rows / max(most + 1, 1)


@compiled
def _pairs_must_go(p: SearchProblem, depth: Int, levels: Integers) -> Int:
    """How many rows must go because of the column at `depth` and any one before it."""
    column = p.rolls.order[depth]
    most: Int = p.pairs[column, levels[column], column, levels[column]]
    for d in range(depth):
        other = p.rolls.order[d]
        most = max(most, p.pairs[column, levels[column], other, levels[other]])
    return most


@compiled
def _bound_by_pairs(p: SearchProblem, depth: Int, levels: Integers, suppressed: Int) -> Real:
    """The bound by levels, with every column beyond `depth` as high as each decided one alone demands.

    Generalising joins groups, so what two columns demand falls with their levels: below the first level that is
    within the limit there is none.
    """
    raised = levels.copy()
    for d in range(depth + 1, p.rolls.order.size):
        column = p.rolls.order[d]
        level = 0
        for before in range(-1, depth + 1):
            other = column if before < 0 else p.rolls.order[before]
            while level + 1 < p.rolls.heights[column]:
                fixed = level if before < 0 else levels[other]
                if p.pairs[column, level, other, fixed] <= p.limit:
                    break
                level += 1
        raised[column] = level
    return _bound_by_levels(p, raised, suppressed)


@compiled
def raise_to_top(p: Rolls, held: ClassParts, columns: Integers, slots: Integers, stamp: Integers) -> ClassParts:
    """The classes when some columns are at their top; `held` stays as it is."""
    size = held.counts.size
    mine = _copy(held, size)
    for column in columns:
        _generalize(p, mine, size, column, p.bottom, p.heights[column] - 1)
    return _copy(mine, _merge(mine, size, slots, stamp))


@compiled
def _shadow(p: SearchProblem, depth: Int, levels: Integers, f: SearchState) -> tuple[ClassParts, Int]:
    """The classes of the columns up to `depth` at their levels, with all others at their top.

    They are few beside the classes of all columns, so that much can be cut before these are rolled up.
    """
    start, end = p.shadow_at[depth], p.shadow_at[depth + 1]
    people = p.shadows.people[start:end] if p.shadows.people.size else p.shadows.people
    values = p.shadows.values[start:end] if p.shadows.values.size else p.shadows.values
    part = ClassParts(p.shadows.keys[start:end], p.shadows.counts[start:end], people, values)
    size = end - start
    mine = _copy(part, size)
    for d in range(depth + 1):
        column = p.rolls.order[d]
        if levels[column] > 0:
            _generalize(p.rolls, mine, size, column, p.rolls.bottom, levels[column])
    return mine, _merge(mine, size, f.slots, f.stamp)


@compiled
def _coarsest(p: Rolls, held: ClassParts, size: Int, depth: Int, f: SearchState) -> tuple[ClassParts, Int]:
    """The same shadow from the classes of all columns, of which those from `depth` on are at level 0."""
    mine = _copy(held, size)
    for d in range(depth, p.order.size):
        column = p.order[d]
        _generalize(p, mine, size, column, p.bottom, p.heights[column] - 1)
    return mine, _merge(mine, size, f.slots, f.stamp)


@compiled
def _must_go(p: SearchProblem, shadow: ClassParts, size: Int, f: SearchState) -> Int:
    """How many rows every completion of the levels of a shadow suppresses at least."""
    _, sizes, kept = judge_classes(p.rules, shadow, size, p.limit > 0, f)
    return _count_suppressed(sizes, kept)


@compiled
def _count_suppressed(sizes: Integers, kept: Integers) -> Int:
    total = 0
    for c in range(sizes.size):
        if not kept[c]:
            total += sizes[c]
    return total


@compiled
def _nodes_below(p: Rolls, depth: Int) -> Int:
    nodes = 1
    for d in range(depth, p.order.size):
        nodes = min(nodes * p.heights[p.order[d]], 1 << 40)
    return nodes


@compiled
def _before(levels: Integers, others: Integers) -> Truth:
    for j in range(levels.size):
        if levels[j] != others[j]:
            return bool(levels[j] < others[j])
    return False


@compiled
def _measure_classes(
    p: SearchProblem, held: ClassParts, size: Int, levels: Integers, f: SearchState
) -> tuple[Int, Int, Real, Int]:
    parts, sizes, kept = judge_classes(p.rules, held, size, p.limit < 0, f)
    suppressed = _count_suppressed(sizes, kept)
    least = 0
    for c in range(sizes.size):
        if kept[c] and (least == 0 or sizes[c] < least):
            least = sizes[c]
    score = np.inf
    if suppressed <= p.limit or f.nodes.shape[0] > 0:
        score = score_node(p, levels, held, parts, sizes, kept, suppressed)
    return suppressed, kept.sum(), score, least


@compiled
def _judge_node(p: SearchProblem, held: ClassParts, size: Int, levels: Integers, f: SearchState) -> None:
    suppressed, classes, score, least = _measure_classes(p, held, size, levels, f)
    f.facts[2] += 1
    f.facts[3] += 1
    if f.nodes.shape[0] > 0:
        _note(p, levels, suppressed, classes, score, least, f)
    if suppressed > p.limit:
        return
    if score < f.mine[0] or (score == f.mine[0] and _before(levels, f.levels)):
        f.mine[0] = score
        f.levels[:] = levels
        f.facts[0] = suppressed
        f.facts[1] = classes
        f.best[0] = min(f.best[0], score)


@compiled
def _note(
    p: SearchProblem, levels: Integers, suppressed: Int, classes: Int, score: Real, least: Int, f: SearchState
) -> None:
    """Write a node down at its place, that of `itertools.product` over the levels."""
    node = 0
    for j in range(levels.size):
        node = node * p.rolls.heights[j] + levels[j]
    f.nodes[node, 0], f.nodes[node, 1], f.nodes[node, 2], f.nodes[node, 3] = suppressed, classes, score, least


@compiled
def explore(
    p: SearchProblem, held: ClassParts, size: Int, depth: Int, gone: Int, levels: Integers, f: SearchState
) -> Int:
    """Decide columns `depth`, ... given the classes at the levels of those before, with the others at level 0.

    Every node that could be better than `f.best` is evaluated, and with `f.nodes` every other as well, unless `f.stop`
    is set: then the bound of what was left out is noted in `f.mine[1]`.
    """
    every = f.nodes.shape[0] > 0
    column = p.rolls.order[depth]
    last = depth + 1 == p.rolls.order.size
    mine, was = held, p.rolls.bottom
    for level in range(p.rolls.heights[column]):
        levels[column] = level
        if f.stop[0]:
            f.mine[1] = min(f.mine[1], _bound(p, levels, gone, mine, size))
            break
        if _bound_by_levels(p, levels, gone) > f.best[0] and not every:
            break
        least = gone if every else max(gone, _pairs_must_go(p, depth, levels))
        if least > p.limit or (not every and _bound_by_pairs(p, depth, levels, least) > f.best[0]):
            f.facts[3] += _nodes_below(p.rolls, depth + 1)
            continue
        ahead = not last and not every and _is_small(p, depth, size)
        if ahead:
            shadow, few = _shadow(p, depth, levels, f)
            least = max(least, _must_go(p, shadow, few, f))
            if least > p.limit or _bound_by_levels(p, levels, least) > f.best[0]:
                f.facts[3] += _nodes_below(p.rolls, depth + 1)
                continue
        if level > 0:
            if was == p.rolls.bottom:
                mine = _copy(held, size)
            _generalize(p.rolls, mine, size, column, was, level)
            size = _merge(mine, size, f.slots, f.stamp)
            was = level
        if last:
            _judge_node(p, mine, size, levels, f)
            continue
        if not ahead and not every:
            shadow, few = _coarsest(p.rolls, mine, size, depth + 1, f)
            least = max(least, _must_go(p, shadow, few, f))
        if every or (least <= p.limit and _bound(p, levels, least, mine, size) <= f.best[0]):
            explore(p, mine, size, depth + 1, least, levels, f)
        else:
            f.facts[3] += _nodes_below(p.rolls, depth + 1)
    levels[column] = 0
    return gone


@compiled
def _is_small(p: SearchProblem, depth: Int, size: Int) -> Truth:
    """Whether the shadow of a depth, made from the values themselves, is cheap beside rolling up so many classes."""
    few = p.shadow_at[depth + 1] - p.shadow_at[depth]
    return bool(few > 0 and _CHEAP * few < size)


@compiled
def branch(
    p: SearchProblem, held: ClassParts, size: Int, depth: Int, gone: Int, levels: Integers, f: SearchState
) -> Int:
    """Search everything above fixed levels of the first `depth` columns, of which at least `gone` rows must go."""
    if f.stop[0]:
        f.mine[1] = min(f.mine[1], _bound(p, levels, gone, held, size))
        return gone
    for d in range(depth):
        gone = max(gone, _pairs_must_go(p, d, levels))
    if depth > 0 and gone <= p.limit and p.shadow_at[depth - 1] < p.shadow_at[depth]:
        shadow, few = _shadow(p, depth - 1, levels, f)
        gone = max(gone, _must_go(p, shadow, few, f))
    if gone <= p.limit and _bound_by_pairs(p, depth - 1, levels, gone) <= f.best[0]:
        mine, left = at_node(p.rolls, held, size, levels, f)
        if _bound(p, levels, gone, mine, left) <= f.best[0]:
            return explore(p, mine, left, depth, gone, levels, f)
    f.facts[3] += _nodes_below(p.rolls, depth)
    return gone


@compiled
def at_node(p: Rolls, held: ClassParts, size: Int, levels: Integers, f: SearchState) -> tuple[ClassParts, Int]:
    """The classes of one node, from any finer table; `held` stays as it is.

    They are merged even if nothing is generalised: rows of the table and of the population were counted apart.
    """
    mine = _copy(held, size)
    for j in range(levels.size):
        if levels[j] > 0:
            _generalize(p, mine, size, j, p.bottom, levels[j])
    return mine, _merge(mine, size, f.slots, f.stamp)


@compiled
def measure(
    p: SearchProblem, held: ClassParts, size: Int, levels: Integers, f: SearchState
) -> tuple[Int, Int, Real, Int]:
    """Rows suppressed, classes kept, score and smallest kept class of one node."""
    mine, left = at_node(p.rolls, held, size, levels, f)
    return _measure_classes(p, mine, left, levels, f)


@compiled
def kept_parts(p: SearchProblem, held: ClassParts, size: Int, levels: Integers, f: SearchState) -> Integers:
    """For every part of `held`: 1 if its class at a node is kept."""
    mine = _copy(held, size)
    for j in range(levels.size):
        if levels[j] > 0:
            _generalize(p.rolls, mine, size, j, p.rolls.bottom, levels[j])
    last, following, many = _number_classes(mine, size, f.slots, f.stamp)
    sizes, kept = _judge_within(p.rules, mine, last, following, many, p.limit < 0)
    _limit_whole(p.rules, sizes, kept)
    marks = np.zeros(size, np.int64)
    for c in range(many):
        i = last[c]
        while i >= 0:
            marks[i] = kept[c]
            i = following[i]
    return marks
