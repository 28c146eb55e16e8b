"""The search for the best generalisation: on all cores, with the best so far at any moment."""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ziggurat.anonymize.generalizing import _kernels as kernels
from ziggurat.anonymize.generalizing._problem import classes_of, problem_of, state_for
from ziggurat.cards import Shown

if TYPE_CHECKING:
    from ziggurat.anonymize.generalizing._combinations import Combinations
    from ziggurat.anonymize.generalizing._kernels import ClassParts, SearchProblem, SearchState
    from ziggurat.anonymize.generalizing._metrics import Metric
    from ziggurat.anonymize.generalizing._models import ModelNumbers

Integers = npt.NDArray[np.int64]
Progress = Callable[[float, float], object]
"""Called with the share of the lattice that is decided and the best score so far (infinite before the first)."""

_POLL = 0.05
_GREEDY_FROM = 100_000  # nodes: fewer are decided before a greedy descent would have helped, unless time is short
_SPLIT = 8  # about so many pieces of work, so that no thread waits long for another


@dataclass(frozen=True)
class BestGeneralization(Shown):
    """The best generalisation that was found.

    Parameters
    ----------
    levels
        The level of each quasi-identifier.
    suppressed, classes, score
        Rows that are left out, classes that are kept, and what is lost.
    bound
        No generalisation has a lower score; the score itself if the search was complete.
    nodes, evaluated
        How many generalisations there are, and how many had to be looked at.
    """

    levels: tuple[int, ...]
    suppressed: int
    classes: int
    score: float
    bound: float
    nodes: int
    evaluated: int

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no generalisation is better."""
        return self.bound >= self.score

    @property
    def gap(self) -> float:
        """How much lower the best possible score may be, as a share of this one."""
        return 0.0 if self.optimal else (self.score - self.bound) / max(abs(self.score), 1e-300)


class Lattice:
    """All generalisations of a counted table, to be searched, surveyed and looked up."""

    def __init__(self, counted: Combinations, asked: Sequence[ModelNumbers], metric: Metric, limit: int) -> None:
        self.counted = counted
        self._classes, joint = classes_of(counted)
        self._problem = problem_of(counted, asked, metric, limit, self._classes, joint)
        self.heights = tuple(ladder.height for ladder in counted.ladders)
        self.nodes = math.prod(self.heights)
        self.limit = limit

    def best(self, *, time_limit: float | None = None, progress: Progress | None = None) -> BestGeneralization | None:
        """Search for the best generalisation within the limit; None if there is none, or none was found in time.

        Ctrl-C ends the search with the best so far; before there is one, it is passed on.
        """
        search = _LatticeSearch(self._problem, self._classes, self.nodes)
        return search.run(time_limit, progress)

    def measure(self, levels: Sequence[int]) -> tuple[int, int, float, int]:
        """Return rows suppressed, classes kept, score (infinite beyond the limit) and smallest kept class of a node."""
        found = self._new_state()
        suppressed, classes, score, least = kernels.measure(
            self._problem, self._classes, len(self._classes.counts), np.array(levels, np.int64), found
        )
        return int(suppressed), int(classes), float(score), int(least)

    def find_kept(self, levels: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.bool]]:
        """Return for every combination of the counted table whether its rows are kept."""
        return np.asarray(
            kernels.kept_parts(
                self._problem, self._classes, len(self._classes.counts), np.array(levels, np.int64), self._new_state()
            ),
            dtype=bool,
        )

    def survey(self) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Return for every generalisation: rows suppressed, classes kept, score, smallest kept class.

        Rows are in the order of `itertools.product` over the levels of the columns.
        """
        nodes = np.zeros((self.nodes, 4))
        found = state_for(self._problem, self._classes, np.array([np.inf]), np.zeros(1, np.int64), nodes)
        levels = np.zeros(len(self.heights), np.int64)
        held, size = kernels.at_node(self._problem.rolls, self._classes, len(self._classes.counts), levels, found)
        kernels.explore(self._problem, held, size, 0, 0, levels, found)
        return nodes

    def _new_state(self) -> SearchState:
        return state_for(self._problem, self._classes, np.array([np.inf]), np.zeros(1, np.int64))


class _LatticeSearch:
    def __init__(self, problem: SearchProblem, classes: ClassParts, nodes: int) -> None:
        self._problem, self._classes, self._nodes = problem, classes, nodes
        self._best, self._stop = np.array([np.inf]), np.zeros(1, np.int64)
        self._founds: list[SearchState] = []

    def run(self, time_limit: float | None, progress: Progress | None) -> BestGeneralization | None:
        deadline = math.inf if time_limit is None else time.monotonic() + time_limit
        try:
            if self._nodes >= _GREEDY_FROM or time_limit is not None:
                self._descend(deadline)
            self._explore(deadline, progress)
        except KeyboardInterrupt:
            if not np.isfinite(self._best[0]):
                raise
            if not self._stop[0]:
                self._leave_all()
        return self._result()

    def _explore(self, deadline: float, progress: Progress | None) -> None:
        depth, tasks = self._tasks()
        many = 1 if self._is_short() else max(1, os.cpu_count() or 1)
        with ThreadPoolExecutor(many) as pool:
            running = [pool.submit(self._work, depth, tasks, self._fresh()) for _ in range(many)]
            try:
                self._watch(running, deadline, progress)
            except BaseException:
                self._stop[0] = 1  # else the pool would wait for the whole search
                raise
        for each in running:
            each.result()

    def _is_short(self) -> bool:
        """Whether so much is cut that a second thread would mostly do what the first was about to spare."""
        return self._problem.limit == 0 and self._nodes < _GREEDY_FROM

    def _watch(self, running: list[Future[None]], deadline: float, progress: Progress | None) -> None:
        while True:
            _, left = wait(running, timeout=_POLL)
            if progress is not None:
                decided = sum(int(found.facts[3]) for found in self._founds)
                progress(min(1.0, decided / self._nodes), float(self._best[0]))
            if not left:
                return
            if time.monotonic() > deadline:
                self._stop[0] = 1

    def _work(self, depth: int, tasks: itertools.count[int], found: SearchState) -> None:
        """Take one piece of work after the other: fixed levels of the first columns, the most general first.

        These are small, and what they find spares much of the others.
        """
        fixed = [int(column) for column in self._problem.rolls.order[:depth]]
        heights = [int(self._problem.rolls.heights[column]) for column in fixed]
        size = len(self._classes.counts)
        pieces = math.prod(heights)
        while (number := pieces - 1 - next(tasks)) >= 0:
            levels = np.zeros(self._problem.rolls.heights.size, np.int64)
            for column, height in zip(reversed(fixed), reversed(heights), strict=True):
                number, levels[column] = divmod(number, height)
            kernels.branch(self._problem, self._classes, size, depth, 0, levels, found)

    def _leave_all(self) -> None:
        """Note the bound of the whole lattice, of which nothing was explored."""
        self._stop[0] = 1
        self._work(*self._tasks(), self._fresh())

    def _tasks(self) -> tuple[int, itertools.count[int]]:
        pieces, depth = 1, 0
        while depth < self._problem.rolls.order.size - 1 and pieces < _SPLIT:
            pieces *= int(self._problem.rolls.heights[self._problem.rolls.order[depth]])
            depth += 1
        return depth, itertools.count()

    def _descend(self, deadline: float) -> None:
        """From the top, lower one level at a time as long as the score falls: a first incumbent in a huge lattice."""
        found = self._fresh()
        levels, improved = self._problem.rolls.heights - 1, True
        self._look(levels, found)
        while improved and np.isfinite(found.mine[0]):
            before, start = float(found.mine[0]), found.levels.copy()
            for column in np.flatnonzero(start):
                if time.monotonic() > deadline:
                    return
                lower = start.copy()
                lower[column] -= 1
                self._look(lower, found)
            improved = bool(found.mine[0] < before)

    def _look(self, levels: Integers, found: SearchState) -> None:
        suppressed, classes, score, _ = kernels.measure(
            self._problem, self._classes, len(self._classes.counts), levels, found
        )
        if suppressed <= self._problem.limit and score < found.mine[0]:
            found.mine[0] = self._best[0] = score
            found.levels[:] = levels
            found.facts[:2] = suppressed, classes

    def _fresh(self) -> SearchState:
        self._founds.append(state_for(self._problem, self._classes, self._best, self._stop))
        return self._founds[-1]

    def _result(self) -> BestGeneralization | None:
        reached = [found for found in self._founds if np.isfinite(found.mine[0])]
        if not reached:
            return None
        best = min(reached, key=lambda found: (float(found.mine[0]), tuple(int(level) for level in found.levels)))
        score = float(best.mine[0])
        return BestGeneralization(
            levels=tuple(int(level) for level in best.levels),
            suppressed=int(best.facts[0]),
            classes=int(best.facts[1]),
            score=score,
            bound=min(score, *(float(found.mine[1]) for found in self._founds)),
            nodes=self._nodes,
            evaluated=sum(int(found.facts[2]) for found in self._founds),
        )
