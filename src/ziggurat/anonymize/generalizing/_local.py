"""Local recoding: every row is generalised just as far as its own class needs.

What comes out satisfies the models it was asked for and promises nothing else; in particular it is not differentially
private, and how far a row was generalised depends on the other rows.
"""

from __future__ import annotations

import heapq
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing import _local_kernels as kernels
from ziggurat.anonymize.generalizing._kernels import AVERAGE, TOLERANCE
from ziggurat.anonymize.generalizing._metrics import Loss
from ziggurat.anonymize.generalizing._problem import classes_of, rules_of, smallest_of
from ziggurat.errors import PrivacyError

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Combinations, Ladder
    from ziggurat.anonymize.generalizing._models import ModelNumbers

Integers = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
Levels = npt.NDArray[np.int16]
Progress = Callable[[float], None]

_STEPS = (*(0.005 * 1.5**r for r in range(13)), np.inf)
_WORK = 2_000_000_000  # combinations times nodes
_NODES = 20_000
_CACHED = 8_192  # entries of a table for some columns at given levels
_TABLES = 1_000_000  # entries of the tables of these columns for all levels
_POLL = 0.05
_PAIRS = 4_000_000  # combinations of costly clusters times clusters that could take them
NOTHING_PASSES = (
    "No recoding satisfies these models, not even one that publishes all rows alike; "
    "ask for less, or allow rows to be suppressed."
)


@dataclass(frozen=True)
class Recoded:
    """A table in which every distinct combination has levels of its own.

    A class is the set of rows whose labels agree in all quasi-identifiers. With a population, its rows are recoded by
    the same rule: the people of a class are those whose combination has the same labels.

    Parameters
    ----------
    levels
        [i, j]: the level at which column j of the i-th combination is published; -1 in all columns if it is suppressed.
    score
        The loss, as the metric `Loss` defines it.
    classes
        How many different rows of labels are published.
    suppressed
        How many rows are not.
    stopped
        Whether it was stopped, so that the rest was recoded coarsely.
    """

    levels: Levels
    score: float
    classes: int
    suppressed: int
    stopped: bool = False

    def labels(self, counted: Combinations, column: int) -> tuple[object, ...]:
        """Return what is published in one column for every combination; None where it is suppressed."""
        ladder = counted.ladders[column]
        cells = zip(self.levels[:, column].tolist(), counted.codes[:, column].tolist(), strict=True)
        return tuple(None if level < 0 else ladder.labels[level][ladder.groups[level][code]] for level, code in cells)


def recode(
    counted: Combinations,
    asked: Sequence[ModelNumbers],
    *,
    weights: Mapping[str, float] | None = None,
    limit: int = 0,
    seconds: float | None = None,
    stop: Integers | None = None,
    progress: Progress | None = None,
) -> Recoded:
    """Recode each distinct combination so that every class satisfies all models and little is lost.

    Boxes of the lattice are filled in ascending order of their loss with the rows that are left, and costly classes
    then given up where others can take their rows. The outcome is not an optimum, and the same every time unless it is
    stopped.

    Parameters
    ----------
    counted
        The table; parts that differ in sensitive columns only may be recoded differently.
    asked
        The models.
    weights
        How much each column matters; columns that are not named count 1.
    limit
        At most so many rows are suppressed.
    seconds
        After this time the rest is recoded coarsely.
    stop
        One number: as soon as it is not 0, the rest is recoded coarsely.
    progress
        Called with the share of the work that is done.

    Raises
    ------
    PrivacyError
        If not even one class of all rows satisfies the models.
    """
    shares = Loss(weights or {}).shares([ladder.column for ladder in counted.ladders])
    flag = np.zeros(1, np.int64) if stop is None else stop
    least = 1
    with _stop_after(flag, seconds):
        while True:
            search = _LocalSearch(counted, asked, shares, limit, least)
            levels = search.levels(flag, progress or (lambda _: None))
            _check(counted, levels, *judge_of(counted, asked))
            found = summary(counted, levels, shares)
            risk = _average(asked)
            if found.classes <= risk * (counted.rows - found.suppressed) * (1 + TOLERANCE):
                return replace(found, stopped=bool(flag[0]))
            least = min(_next(search.judge.smallest), math.ceil(1 / risk - TOLERANCE))


def judge_of(
    counted: Combinations, asked: Sequence[ModelNumbers], least: int = 1
) -> tuple[kernels.Judge, kernels.CombinationArrays]:
    """Return models and combinations as arrays for the compiled loops; a class has at least `least` rows."""
    _, joint = classes_of(counted)
    r, smallest = rules_of(counted, asked, joint), max(smallest_of(asked), least)
    judge = kernels.Judge(
        smallest, r.kinds, r.about, r.first, r.second, r.absent, r.values, r.overall, r.tree_at, r.tree, r.tree_heights
    )
    people = counted.people if counted.people.size else np.zeros(len(counted.counts))
    columns = (counted.codes, counted.counts, people, counted.sensitive)
    return judge, kernels.CombinationArrays(*(np.ascontiguousarray(each, np.int64) for each in columns))


def summary(counted: Combinations, levels: Levels, shares: Reals) -> Recoded:
    """Score levels and count their classes by what is published, not by how it was found."""
    kept = levels[:, 0] >= 0
    lost = 0.0
    for j, ladder in enumerate(counted.ladders):
        _, leaves = _names(ladder)
        cells = np.where(kept, leaves[counted.codes[:, j], levels[:, j]], ladder.size)
        lost += column_loss(cells, ladder.size, counted.counts, float(shares[j]))
    held = kept & (counted.counts > 0)
    classes = len(np.unique(_number_texts(counted, levels)[held], axis=0)) if held.any() else 0
    return Recoded(levels, math.expm1(lost), classes, int(counted.counts[~kept].sum()))


def _number_texts(counted: Combinations, levels: Levels) -> Integers:
    """[i, j]: a number for every text that is published; what stands for suppressed combinations means nothing."""
    columns = [_names(each)[0][counted.codes[:, j], levels[:, j]] for j, each in enumerate(counted.ladders)]
    return np.stack(columns, 1)


def _check(counted: Combinations, levels: Levels, judge: kernels.Judge, parts: kernels.CombinationArrays) -> None:
    """Judge the classes anew by what is published; nothing of the search is trusted here."""
    held = np.flatnonzero(levels[:, 0] >= 0)
    _, label = np.unique(_number_texts(counted, levels)[held], axis=0, return_inverse=True)
    label = label.ravel()
    starts = np.concatenate([[0], np.cumsum(np.bincount(label))]).astype(np.int64)
    kept = kernels.judge_groups(judge, parts, held[np.argsort(label, kind="stable")].astype(np.int64), starts)
    empty = np.bincount(label, counted.counts[held]) == 0
    if not (kept | empty).all():
        raise PrivacyError("A class of the recoded table does not satisfy the models, so nothing is released.")


def column_loss(leaves: Integers, size: int, counts: Integers, share: float) -> float:
    """Return a column's part in the logarithm of 1 + loss, given the leaves under every cell."""
    rows = int(counts.sum())
    lost = float(((leaves - 1) * counts).sum()) / (max(size - 1, 1) * max(rows, 1))
    return share * math.log1p(max(lost, 0.0))


def _names(ladder: Ladder) -> tuple[Integers, Integers]:
    """[code, level]: a number that labels of one text share, and the leaves under the label."""
    numbers: dict[object, int] = {}
    names, leaves = [], []
    for level, groups in enumerate(ladder.groups):
        known = np.array([numbers.setdefault(label, len(numbers)) for label in ladder.labels[level]], np.int64)
        names.append(known[groups])
        leaves.append(ladder.leaves(level)[groups])
    return np.stack(names, 1), np.stack(leaves, 1)


def _average(asked: Sequence[ModelNumbers]) -> float:
    return min((each.first for each in asked if each.kind == AVERAGE), default=1.0)


def _next(least: int) -> int:
    return max(least + 1, least * 5 // 4)


@contextmanager
def _stop_after(stop: Integers, seconds: float | None) -> Iterator[None]:
    if seconds is not None and seconds <= 0:
        stop.fill(1)
    timer = None if seconds is None else threading.Timer(seconds, stop.fill, (1,))
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    finally:
        if timer is not None:
            timer.cancel()


@contextmanager
def _repeated(tell: Callable[[], None]) -> Iterator[None]:
    """Tell again and again, from a thread of its own, while compiled loops run; what it raises is raised at the end."""
    over, raised = threading.Event(), []

    def keep_telling() -> None:
        try:
            while not over.wait(_POLL):
                tell()
        except BaseException as error:  # noqa: BLE001 - it is raised where it is heard
            raised.append(error)

    teller = threading.Thread(target=keep_telling, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
    for error in raised:
        raise error


class _LocalSearch:
    """One search with a given smallest class."""

    def __init__(
        self, counted: Combinations, asked: Sequence[ModelNumbers], shares: Reals, limit: int, least: int
    ) -> None:
        self.judge, self._parts = judge_of(counted, asked, least)
        self._trees = trees_of(counted.ladders, shares)
        self._limit = limit
        nodes, floors, self._last = _nodes(counted, shares)
        self._words, self._filling = _prepare_filling(counted, self._trees, nodes, floors)

    def levels(self, stop: Integers, progress: Progress) -> Levels:
        of, clusters = self._fill(stop, progress)
        s = self._lists(of, clusters)
        kernels.house_suppressed(self._trees, self.judge, self._parts, s, self._limit)
        if s.rows[-1] > self._limit and not kernels.force_models(self._trees, self.judge, self._parts, s):
            raise PrivacyError(NOTHING_PASSES)
        self._mend(s, stop)
        progress(1.0)
        s.levels[-1] = -1
        return np.asarray(s.levels[s.of], np.int16)

    def _fill(self, stop: Integers, progress: Progress) -> tuple[Integers, int]:
        many = len(self._parts.counts)
        of, clusters, left = np.full(many, -1, np.int64), 0, self._filling.told

        def tell() -> None:
            progress(0.8 * (1 - int(left[0]) / max(many, 1)) if left[0] >= 0 else 0.0)

        with _repeated(tell):
            for most in _STEPS:
                made = kernels.fill_boxes(
                    self._words, self.judge, self._parts, self._filling, float(most), self._last, of, clusters, stop
                )
                clusters = int(made)
        tell()
        return of, clusters

    def _lists(self, of: Integers, clusters: int) -> kernels.Clusters:
        """Room for the clusters, one for what is forced together, and the last for what is suppressed."""
        parts, room = of.size, clusters + 2
        s = kernels.Clusters(
            of=np.full(parts, -1, np.int64),
            after=np.full(parts, -1, np.int64),
            before=np.full(parts, -1, np.int64),
            head=np.full(room, -1, np.int64),
            many=np.zeros(room, np.int64),
            rows=np.zeros(room, np.int64),
            levels=np.zeros((room, self._parts.codes.shape[1]), np.int64),
            cost=np.zeros(room),
        )
        kernels.gather_clusters(self._trees, self._parts, of, s)
        return s

    def _mend(self, s: kernels.Clusters, stop: Integers) -> None:
        """The costliest clusters only: that is where most is gained."""
        order = np.argsort(-s.cost[:-1], kind="stable")
        tried = np.cumsum(s.many[order]) * int((s.many > 0).sum())
        kernels.mend_clusters(self._trees, self.judge, self._parts, s, order[tried <= _PAIRS], stop)


def trees_of(ladders: Sequence[Ladder], shares: Reals) -> kernels.Trees:
    """Return the hierarchies with what a cell loses at every level."""
    groups, costs, marks, at = [], [], [], [0]
    for ladder, share in zip(ladders, shares, strict=True):
        leaves = [ladder.leaves(a)[ladder.groups[a]] for a in range(ladder.height)]
        lost = [share * (each - 1) / max(ladder.size - 1, 1) for each in leaves]
        top = np.zeros(ladder.size, np.int64)
        groups.append(np.stack([*ladder.groups, top], 1).ravel())
        costs.append(np.stack([*lost, top + kernels.FORBIDDEN], 1).ravel())
        # A column has at most as many groups as entries, so that no two groups have the same word.
        named = [_marks(at[-1] + a * ladder.size, len(each)) for a, each in enumerate(ladder.labels)]
        marks.append(np.stack([*(w[g] for w, g in zip(named, ladder.groups, strict=True)), top], 1).ravel())
        at.append(at[-1] + groups[-1].size)
    strides = np.array([ladder.height + 1 for ladder in ladders], np.int64)
    joined: list[Any] = [np.concatenate(each) for each in (groups, costs, marks)]
    return kernels.Trees(np.array(at[:-1], np.int64), strides, joined[0].astype(np.int64), joined[1], joined[2])


def _group_columns(ladders: Sequence[Ladder]) -> list[list[int]]:
    """Columns whose codes together are few enough that a table of them stays in the processor's cache."""
    groups: list[list[int]] = []
    for j in sorted(range(len(ladders)), key=lambda j: -ladders[j].size):
        for group in groups:
            held = [ladders[each] for each in (*group, j)]
            sizes = math.prod(each.size for each in held)
            if sizes <= _CACHED and sizes * math.prod(each.height for each in held) <= _TABLES:
                group.append(j)
                break
        else:
            groups.append([j])
    return groups


def _prepare_filling(
    counted: Combinations, trees: kernels.Trees, nodes: Integers, floors: Reals
) -> tuple[kernels.Words, kernels.Filling]:
    costs, marks, ids, tables, at = [], [], [], [], 0
    for group in _group_columns(counted.ladders):
        cost, mark = np.zeros((1, 1)), np.zeros((1, 1), np.int64)
        number, level, sizes, heights = np.zeros(len(counted.counts), np.int64), np.zeros(len(nodes), np.int64), 1, 1
        for j in group:
            size, height = counted.ladders[j].size, counted.ladders[j].height
            own = slice(int(trees.at[j]), int(trees.at[j]) + size * (height + 1))
            more = trees.costs[own].reshape(size, height + 1)[:, :height].T
            words = trees.marks[own].reshape(size, height + 1)[:, :height].T
            cost = (cost[:, None, :, None] + more[None, :, None, :]).reshape(heights * height, sizes * size)
            mark = (mark[:, None, :, None] + words[None, :, None, :]).reshape(heights * height, sizes * size)
            number, level = number * size + counted.codes[:, j], level * height + nodes[:, j]
            sizes, heights = sizes * size, heights * height
        costs.append(cost.ravel())
        marks.append(mark.ravel())
        ids.append(number)
        tables.append(at + level * sizes)
        at += cost.size
    return kernels.Words(np.concatenate(costs), np.concatenate(marks)), _room(floors, ids, tables)


def _room(floors: Reals, ids: list[Integers], tables: list[Integers]) -> kernels.Filling:
    many = ids[0].size
    slots = 1 << max(4, (2 * many).bit_length())
    chosen, keys, where, names, rows = (np.empty(many, np.int64) for _ in range(5))
    return kernels.Filling(
        tables=np.ascontiguousarray(np.stack(tables, 1)),
        floors=floors,
        seen=np.full(floors.size, -1.0),
        left=np.arange(many),
        ids=np.stack(ids),
        told=np.array([-1, 0], np.int64),
        slots=np.zeros(slots, np.int64),
        sums=np.zeros(2 * slots, np.int64),
        chosen=chosen,
        keys=keys,
        where=where,
        names=names,
        rows=rows,
    )


def _marks(first: int, many: int) -> Integers:
    """Words for a hash table, well spread and the same every time (the finaliser of SplitMix64, Steele et al. 2014)."""
    mixed = np.arange(first + 1, first + 1 + many, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(2)).astype(np.int64)


def _nodes(counted: Combinations, shares: Reals) -> tuple[Integers, Reals, int]:
    """Nodes of the lattice in ascending order of their mean loss, the least loss of each, and how many end the list.

    The last ones are a chain from the bottom to the top, so that rows meet even if the lattice was cut short.
    """
    means, floors = _level_costs(counted, shares)
    most = max(200, min(_NODES, _WORK // max(len(counted.counts), 1)))
    chain = _chain(means)
    nodes = np.array([*_ascending(means, most), *chain], np.int64)
    return nodes, np.array([sum(floors[j][a] for j, a in enumerate(node)) for node in nodes]), len(chain)


def _level_costs(counted: Combinations, shares: Reals) -> tuple[list[list[float]], list[list[float]]]:
    means, floors = [], []
    for j, ladder in enumerate(counted.ladders):
        values = np.bincount(counted.codes[:, j], counted.counts, ladder.size) / max(counted.rows, 1)
        scale = float(shares[j]) / max(ladder.size - 1, 1)
        leaves = [ladder.leaves(a) - 1 for a in range(ladder.height)]
        means.append([scale * float((each[ladder.groups[a]] * values).sum()) for a, each in enumerate(leaves)])
        floors.append([scale * float(each.min()) for each in leaves])
    return means, floors


def _ascending(means: list[list[float]], most: int) -> Iterator[tuple[int, ...]]:
    heap = [(0.0, (0,) * len(means), 0)]
    while heap and most > 0:
        cost, node, first = heapq.heappop(heap)
        yield node
        most -= 1
        for j in range(first, len(means)):  # each node is reached in one way, columns in turn
            if node[j] + 1 < len(means[j]):
                raised = (*node[:j], node[j] + 1, *node[j + 1 :])
                heapq.heappush(heap, (cost + means[j][node[j] + 1] - means[j][node[j]], raised, j))


def _chain(means: list[list[float]]) -> list[tuple[int, ...]]:
    steps = sorted((cost, j, a) for j, column in enumerate(means) for a, cost in enumerate(column) if a > 0)
    node, chain = [0] * len(means), []
    for _, j, a in steps:
        node[j] = max(node[j], a)
        chain.append(tuple(node))
    return chain or [tuple(node)]
