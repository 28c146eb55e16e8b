"""A live tree of a run on a terminal; elsewhere a line now and then, so that logs stay short."""

from __future__ import annotations

import sys
import time
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from ziggurat.experiments._types import ExperimentPlan, Module, NodeRecord

if TYPE_CHECKING:
    from rich.tree import Tree

_REFRESHES_PER_SECOND = 4
_QUIET_SECONDS = 5.0


class Progress:
    """What has become of each module's nodes, and how long the rest may take.

    Parameters
    ----------
    plan
        What is run.
    workers
        How many nodes run at a time.
    shown
        False shows nothing.
    stream
        Where to; standard error unless told.
    """

    def __init__(self, plan: ExperimentPlan, workers: int, *, shown: bool = True, stream: TextIO | None = None) -> None:
        self._plan, self._workers = plan, workers
        self._stream: TextIO = stream or sys.stderr
        self._shown = shown
        self._totals = Counter(node.module.id for node in plan.nodes)
        self._states: dict[str, NodeRecord] = {}
        self._start = time.monotonic()
        self._told = 0
        self._live: Any = None

    def __enter__(self) -> Self:
        if self._shown and self._plan.nodes and self._stream.isatty():
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream)
            self._live = Live(
                get_renderable=self._tree,
                console=console,
                refresh_per_second=_REFRESHES_PER_SECOND,
                redirect_stdout=False,
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def show(self, record: NodeRecord) -> None:
        """Take in what a node looks like at the moment; the newest word counts."""
        self._states[record.node] = record
        if self._shown and self._live is None:
            self._line()

    def say(self, sentence: str) -> None:
        """Write a sentence below the tree."""
        if self._shown:
            self.__exit__(None, None, None)
            print(sentence, file=self._stream)

    def seconds_left(self) -> float | None:
        """Return how long the rest may take: what is left of each module at the pace of its runs so far.

        None before anything has run. A module without a run so far is taken to be as fast as the others.
        """
        ran = [record for record in self._states.values() if not record.cached and record.status != "skipped"]
        if not ran:
            return None
        taken, runs = Counter[str](), Counter(record.module for record in ran)
        for record in ran:
            taken[record.module] += record.seconds  # type: ignore[assignment]
        settled = Counter(record.module for record in self._states.values())
        usual = sum(taken.values()) / len(ran)
        left = (
            (total - settled[name]) * (taken[name] / runs[name] if runs[name] else usual)
            for name, total in self._totals.items()
        )
        return sum(left) / self._workers

    def summary(self) -> str:
        """Return one line: how far the run is."""
        total, settled = len(self._plan.nodes), len(self._states)
        rate = settled / max(time.monotonic() - self._start, 1e-9)
        parts = [f"{settled:,} of {total:,} runs", f"{rate:,.1f}/s", *_counts(self._states.values())]
        left = self.seconds_left()
        if left is not None and settled < total:
            parts.append(f"about {_duration(left)} left")
        return ", ".join(parts)

    def _line(self) -> None:
        tenths = 10 * len(self._states) // len(self._plan.nodes)
        if tenths > self._told and time.monotonic() - self._start > _QUIET_SECONDS:
            self._told = tenths
            print(f"{self._plan.experiment.name}: {self.summary()}", file=self._stream, flush=True)

    def _tree(self) -> Tree:
        from rich.text import Text
        from rich.tree import Tree

        by_module: dict[str, list[NodeRecord]] = {}
        for record in list(self._states.values()):
            by_module.setdefault(record.module, []).append(record)

        def grow(tree: Tree, modules: tuple[Module, ...]) -> None:
            for module in modules:
                grow(tree.add(Text(self._label(module, by_module.get(module.id, [])))), module.modules)

        tree = Tree(Text(f"{self._plan.experiment.name}: {self.summary()}"))
        grow(tree, self._plan.experiment.modules)
        return tree

    def _label(self, module: Module, records: list[NodeRecord]) -> str:
        return ", ".join([f"{module.id}  {len(records):,}/{self._totals[module.id]:,}", *_counts(records)])


def _counts(records: Any) -> list[str]:
    found = Counter("cached" if record.cached else record.status for record in records)
    return [f"{found[name]:,} {name}" for name in ("cached", "failed", "skipped") if found[name]]


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
