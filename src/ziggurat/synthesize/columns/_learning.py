"""Learning the columns of a table, each given those before it, on all cores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn
from ziggurat.randomness import Source
from ziggurat.synthesize._encoding import ColumnCoding
from ziggurat.synthesize._method import Fitted, Method
from ziggurat.synthesize.columns._plan import ColumnPlan
from ziggurat.synthesize.columns._smoothing import Smoother

Truths = npt.NDArray[np.bool_]
Progress = Callable[[str, int, int], None]
Kept = Callable[[str, str], Fitted | None]
Keep = Callable[[str, str, Fitted], None]


@dataclass(frozen=True)
class LearnedColumn:
    """What was learned of one column.

    Parameters
    ----------
    encoding
        How it is coded.
    given
        The columns from which it was learned.
    which
        Draws its code; None if there is one only.
    number
        Draws its number; None for categories, and where no cell held one.
    smoother
        Replaces numbers that few rows hold; None leaves them.
    only
        The code where there is one only.
    """

    encoding: ColumnCoding
    given: tuple[str, ...]
    which: Fitted | None
    number: Fitted | None
    smoother: Smoother | None
    only: int = 0

    def posterior(self, draw: np.random.Generator) -> LearnedColumn:
        """Return it with the parameters of one copy."""
        which = None if self.which is None else self.which.posterior(draw)
        number = None if self.number is None else self.number.posterior(draw)
        return replace(self, which=which, number=number)

    def sample(self, given: Sequence[CodedColumn], rows: int, draw: np.random.Generator) -> CodedColumn:
        """Draw the column for `rows` rows."""
        made = self.encoding
        codes = np.full(rows, self.only, np.int32)
        if self.which is not None:
            codes = np.asarray(self.which.sample(given, rows, draw), np.int32)
        if not made.numeric:
            return CodedColumn(codes, made.size, None, made.ordered)
        values = np.full(rows, np.nan)
        there = np.flatnonzero(codes == 0)
        if self.number is not None and there.size:
            drawn = np.asarray(self.number.sample([each.take(there) for each in given], there.size, draw), np.float64)
            if self.smoother is not None:
                drawn = self.smoother.smooth(drawn, made.rounded, draw)
            values[there] = made.rounded(drawn)
        return CodedColumn(codes, made.size, values)


def learn(
    plan: ColumnPlan,
    encodings: Mapping[str, ColumnCoding],
    cells: Mapping[str, CodedColumn],
    rows: Mapping[str, Truths],
    smoothing: bool,
    source: Source,
    progress: Progress,
    kept: Kept,
    keep: Keep,
) -> dict[str, LearnedColumn]:
    """Learn every column of the plan from the rows named for it; the columns are independent of each other.

    `kept` returns what was learned before an interruption, and `keep` stores what has been learned.
    """
    found: dict[str, LearnedColumn] = {}
    workers = min(os.cpu_count() or 1, max(len(plan.order), 1))
    with ThreadPoolExecutor(workers) as pool:
        jobs: dict[Future[LearnedColumn], str] = {}
        # The last columns have most predictors and take longest.
        for name in reversed(plan.order):
            job = _ColumnJob(plan.methods[name], encodings[name], plan.given[name], smoothing)
            jobs[pool.submit(job.learn, cells, rows.get(name), source.child("fit", name), kept, keep)] = name
        try:
            for done in as_completed(jobs):
                found[jobs[done]] = done.result()
                progress(jobs[done], len(found), len(jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return {name: found[name] for name in plan.order}


@dataclass(frozen=True)
class _ColumnJob:
    method: Method
    encoding: ColumnCoding
    given: tuple[str, ...]
    smoothing: bool

    def learn(
        self, cells: Mapping[str, CodedColumn], rows: Truths | None, source: Source, kept: Kept, keep: Keep
    ) -> LearnedColumn:
        """Learn the code of the column, and its number where it holds one."""
        name = self.encoding.name
        target = _at(cells[name], rows)
        given = [_at(cells[each], rows) for each in self.given]
        used = np.unique(target.codes)
        which = number = smoother = None
        parts = iter(source.spawn(2))
        if used.size > 1:
            chosen = CodedColumn(target.codes, target.size, None, target.ordered)
            which = self._fit("which", chosen, given, parts, kept, keep)
        if target.values is not None:
            there = target.codes == 0
            values = target.values[there]
            if values.size:
                alone = CodedColumn(np.zeros(values.size, np.int32), 1, values)
                number = self._fit("number", alone, [each.take(there) for each in given], parts, kept, keep)
                smoother = Smoother.of(values) if self.smoothing else None
        only = int(used[0]) if used.size == 1 else 0
        return LearnedColumn(self.encoding, self.given, which, number, smoother, only)

    def _fit(
        self,
        part: str,
        target: CodedColumn,
        given: list[CodedColumn],
        sources: Iterator[Source],
        kept: Kept,
        keep: Keep,
    ) -> Fitted:
        found = kept(self.encoding.name, part)
        draw = next(sources).simulation()
        if found is None:
            found = self.method.fit(target, given, draw)
            keep(self.encoding.name, part, found)
        return found


def _at(cells: CodedColumn, rows: Truths | None) -> CodedColumn:
    return cells if rows is None or rows.all() else cells.take(rows)
