"""A counted table, models and a metric as arrays for the compiled search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing._kernels import (
    DISTINCT,
    ENTROPY,
    ClassParts,
    Rolls,
    Rules,
    SearchProblem,
    SearchState,
    Worth,
    raise_to_top,
)
from ziggurat.anonymize.generalizing._pair_kernels import pairs_of

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Combinations, Ladder
    from ziggurat.anonymize.generalizing._metrics import Metric
    from ziggurat.anonymize.generalizing._models import ModelNumbers

Integers = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

SHADOWED = 4.0
"""Shadows of at most so many combinations for each class are made; more would be nearly as many as the classes."""


def fields(ladders: Sequence[Ladder]) -> tuple[Integers, Words, Words]:
    """Return word, shift and mask of every column: codes are packed, none across the end of a word."""
    word, shift, mask = [], [], []
    at, used = 0, 0
    for ladder in ladders:
        bits = max(1, (ladder.size - 1).bit_length())
        if used + bits > 64:
            at, used = at + 1, 0
        word.append(at)
        shift.append(used)
        mask.append((1 << bits) - 1)
        used += bits
    return np.array(word, np.int64), np.array(shift, np.uint64), np.array(mask, np.uint64)


def pack_codes(codes: npt.NDArray[np.int32], word: Integers, shift: Words) -> Words:
    """Return the codes of every combination in as few words as they fit."""
    keys = np.zeros((len(codes), int(word.max(initial=0)) + 1), np.uint64)
    for column, (at, by) in enumerate(zip(word, shift, strict=True)):
        keys[:, at] |= codes[:, column].astype(np.uint64) << by
    return keys


def classes_of(counted: Combinations) -> tuple[ClassParts, Integers]:
    """Return the distinct combinations as classes, and the combinations of sensitive codes that occur."""
    word, shift, _ = fields(counted.ladders)
    joint, values = np.empty((0, 0), np.int64), np.empty(0, np.int64)
    if counted.sensitive.shape[1]:
        combinations, values = np.unique(counted.sensitive, axis=0, return_inverse=True)
        joint, values = combinations.T.astype(np.int64).copy(), values.ravel().astype(np.int64)
    people = counted.people.astype(np.int64) if counted.people.size else np.empty(0, np.int64)
    return ClassParts(pack_codes(counted.codes, word, shift), counted.counts.astype(np.int64), people, values), joint


def problem_of(
    counted: Combinations,
    asked: Sequence[ModelNumbers],
    metric: Metric,
    limit: int,
    classes: ClassParts,
    joint: Integers,
) -> SearchProblem:
    """Return all that the compiled search must know."""
    word, shift, mask = fields(counted.ladders)
    steps, step_at = _steps(counted.ladders)
    groups = _Groups(counted, with_entropy=metric.kind == ENTROPY)
    rolls = Rolls(
        bottom=0,
        order=_order(groups.used),
        heights=np.array([ladder.height for ladder in counted.ladders], np.int64),
        word=word,
        shift=shift,
        mask=mask,
        step_at=step_at,
        steps=steps,
    )
    rules = rules_of(counted, asked, joint)
    worth = Worth(
        rows=counted.rows,
        smallest=smallest_of(asked),
        metric=metric.kind,
        weights=metric.shares([ladder.column for ladder in counted.ladders]),
        domain=np.array([ladder.size for ladder in counted.ladders], np.int64),
        group_at=groups.at,
        leaves=np.concatenate(groups.leaves),
        group_rows=np.concatenate(groups.rows),
        by_leaves=np.concatenate(groups.by_leaves),
        groups=groups.many,
        spread=groups.spread,
        entropy=groups.entropy,
    )
    with_values = limit == 0 or DISTINCT in rules.kinds
    shadows, shadow_at = _shadows(classes, rolls, groups.used, with_values=with_values)
    pairs = _pairs(counted, rolls.heights, worth.smallest)
    return SearchProblem(limit, shadows, shadow_at, pairs, rolls, rules, worth)


def _pairs(counted: Combinations, heights: Integers, smallest: int) -> Integers:
    """Rows that must go because of two columns alone, for all levels of both."""
    sizes = np.array([ladder.size for ladder in counted.ladders], np.int64)
    starts = np.zeros((sizes.size, int(heights.max())), np.int64)
    pieces: list[npt.NDArray[np.int32]] = []
    for j, ladder in enumerate(counted.ladders):
        for level, piece in enumerate(ladder.groups):
            starts[j, level] = sum(map(len, pieces))
            pieces.append(piece)
    groups = np.concatenate(pieces).astype(np.int64)
    return pairs_of(np.ascontiguousarray(counted.codes.T), counted.counts, sizes, heights, starts, groups, smallest)


def rules_of(counted: Combinations, asked: Sequence[ModelNumbers], joint: Integers) -> Rules:
    """Return what classes must satisfy."""
    overall, tree_at, tree, tree_heights = _sensitive(counted, asked)
    return Rules(
        kinds=np.array([each.kind for each in asked], np.int64),
        about=np.array([each.about for each in asked], np.int64),
        first=np.array([each.first for each in asked], np.float64),
        second=np.array([each.second for each in asked], np.float64),
        absent=np.array([_absent(each, counted) for each in asked], np.int64),
        sensitive=joint,
        values=np.array([len(values) for values in counted.values], np.int64),
        overall=overall,
        tree_at=tree_at,
        tree=tree,
        tree_heights=tree_heights,
    )


def _absent(asked: ModelNumbers, counted: Combinations) -> int:
    values = counted.values[asked.about] if asked.about >= 0 else ()
    return values.index(None) if None in values and not asked.missing_is_a_value else -1


def smallest_of(asked: Sequence[ModelNumbers]) -> int:
    """Return how many rows every class that is kept has at least."""
    return max([each.smallest for each in asked], default=1)


def scratch(entries: int) -> Integers:
    """Return room for a hash table of so many entries."""
    room = 16
    while room < 2 * entries:
        room *= 2
    return np.zeros(room, np.int64)


def _shadows(
    classes: ClassParts, rolls: Rolls, used: Sequence[int], *, with_values: bool
) -> tuple[ClassParts, Integers]:
    """The classes of the first columns alone, for every number of them but all, one after the other.

    Those of many columns are left empty: they are nearly as many as the classes of all, and would spare nothing. Where
    only models of sizes bound suppression, sensitive values are left out.
    """
    nothing = np.empty(0, np.int64)
    held = classes if with_values else classes._replace(values=nothing)
    slots, stamp = scratch(len(held.counts)), np.zeros(1, np.int64)
    combinations = np.cumprod([float(used[column]) for column in rolls.order])
    deepest = min(int(np.sum(combinations <= SHADOWED * len(held.counts))), rolls.order.size - 1)
    found: list[ClassParts] = []
    for depth in range(deepest, 0, -1):
        topmost = rolls.order[depth:] if depth == deepest else rolls.order[depth : depth + 1]
        held = raise_to_top(rolls, held, topmost, slots, stamp)
        found.insert(0, held)
    empty = ClassParts(classes.keys[:0], nothing, nothing, nothing)
    starts = np.zeros(max(rolls.order.size, 1), np.int64)
    starts[1:] = sum(len(each.counts) for each in found)
    starts[1 : deepest + 1] = np.cumsum([len(each.counts) for each in found])
    if not found:
        return empty, starts
    return ClassParts(*(np.concatenate(parts) for parts in zip(*found, strict=True))), starts


def state_for(
    problem: SearchProblem,
    classes: ClassParts,
    best: npt.NDArray[np.float64],
    stop: Integers,
    nodes: npt.NDArray[np.float64] | None = None,
) -> SearchState:
    """Return what one thread of the search writes to; `nodes` has a row for each node if all are to be noted."""
    many = problem.rolls.heights.size
    return SearchState(
        best=best,
        stop=stop,
        mine=np.array([np.inf, np.inf]),
        levels=np.full(many, -1, np.int64),
        facts=np.zeros(4, np.int64),
        nodes=np.empty((0, 4)) if nodes is None else nodes,
        slots=scratch(len(classes.counts)),
        stamp=np.zeros(1, np.int64),
    )


def _order(used: Sequence[int]) -> Integers:
    """Columns with most values first: what they leave after a level or two is small, and the cut on them strong."""
    return np.array(sorted(range(len(used)), key=lambda j: -used[j]), np.int64)


def _steps(ladders: Sequence[Ladder]) -> tuple[Integers, Integers]:
    tallest = max(ladder.height for ladder in ladders)
    starts = np.zeros((len(ladders), tallest, tallest), np.int64)
    pieces, total = [np.zeros(0, np.int64)], 0
    for j, ladder in enumerate(ladders):
        for was in range(ladder.height):
            for now in range(was, ladder.height):
                starts[j, was, now] = total
                pieces.append(ladder.step(was, now).astype(np.int64))
                total += pieces[-1].size
    return np.concatenate(pieces), starts


def _add_up(places: npt.NDArray[np.int32], amounts: Integers, many: int) -> Integers:
    """Add amounts up by place; whole numbers below 2**53, so sums of floats are exact."""
    return np.bincount(places, weights=amounts, minlength=many).astype(np.int64)


class _Groups:
    """Leaves and rows of the groups of every level, and how many values of each column occur."""

    def __init__(self, counted: Combinations, *, with_entropy: bool) -> None:
        self._with_entropy = with_entropy
        self.used: list[int] = []
        many, tallest = len(counted.ladders), max(ladder.height for ladder in counted.ladders)
        self.at, self.many = np.zeros((many, tallest), np.int64), np.zeros((many, tallest), np.int64)
        self.spread, self.entropy = np.zeros((many, tallest), np.int64), np.zeros((many, tallest))
        self.leaves: list[Integers] = []
        self.rows: list[Integers] = []
        self.by_leaves: list[Integers] = []
        self._total = 0
        for j, ladder in enumerate(counted.ladders):
            self._column(j, ladder, counted)

    def _column(self, j: int, ladder: Ladder, counted: Combinations) -> None:
        values = _add_up(counted.codes[:, j], counted.counts, ladder.size)
        held = values > 0
        self.used.append(int(np.count_nonzero(held)))
        for level in range(ladder.height):
            leaves = ladder.leaves(level)
            rows = _add_up(ladder.groups[level], values, leaves.size)
            self._add(j, level, leaves, rows)
            self.spread[j, level] = int((rows * leaves).sum())
            if self._with_entropy:
                share = values[held] / rows[ladder.groups[level]][held]
                self.entropy[j, level] = abs(float(-(values[held] * np.log2(share)).sum()))

    def _add(self, j: int, level: int, leaves: Integers, rows: Integers) -> None:
        self.at[j, level], self.many[j, level] = self._total, leaves.size
        self.leaves.append(leaves)
        self.rows.append(rows)
        self.by_leaves.append(np.argsort(-leaves, kind="stable").astype(np.int64))
        self._total += leaves.size


def _sensitive(
    counted: Combinations, asked: Sequence[ModelNumbers]
) -> tuple[npt.NDArray[np.float64], Integers, Integers, Integers]:
    """Shares of the sensitive values in the whole table, and the trees over them."""
    many = len(counted.values)
    widest = max((len(values) for values in counted.values), default=0)
    overall = np.zeros((many, max(widest, 1)))
    for s in range(many):
        np.add.at(overall[s], counted.sensitive[:, s], counted.counts)
    overall /= max(counted.rows, 1)
    trees = {each.about: each.tree for each in asked if each.tree is not None}
    tallest = max((tree.height for tree in trees.values()), default=0)
    starts, heights = np.zeros((many, max(tallest, 1)), np.int64), np.zeros(many, np.int64)
    pieces, total = [np.zeros(0, np.int64)], 0
    for s, tree in trees.items():
        heights[s] = tree.height
        for level in range(1, tree.height):
            starts[s, level] = total
            pieces.append(tree.step(level - 1, level).astype(np.int64))
            total += pieces[-1].size
    return overall, starts, np.concatenate(pieces), heights
