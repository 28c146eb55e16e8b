"""Run a plan, or say what running it would do.

Running again is how a run that was stopped or killed goes on: what is in the cache is not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ziggurat.cards import Shown
from ziggurat.errors import ArtefactError
from ziggurat.experiments._steps import resolve
from ziggurat.experiments._types import ExperimentPlan, Node, NodeRecord, StoredOutput
from ziggurat.experiments.running._cache import Cache, node_key
from ziggurat.experiments.running._executors import open_task_pool
from ziggurat.experiments.running._progress import Progress
from ziggurat.experiments.running._schedule import NodeSchedule, digests, list_needed
from ziggurat.experiments.running._task import StepError
from ziggurat.experiments.storing import StoreError


def run_plan(
    plan: ExperimentPlan,
    cache: Cache,
    *,
    executor: str = "inline",
    workers: int | None = None,
    on_record: Callable[[NodeRecord], None] | None = None,
    progress: bool = True,
) -> list[NodeRecord]:
    """Run what the cache does not know, and return a record of every node, in plan order.

    A step that fails fails alone: what depends on it is skipped, everything else goes on. Failed and skipped nodes are
    tried again by the next run. The record of a cached node carries the time that its run took when it was made; the
    error of a failed one is a line that says what happened, and below it the traceback.

    Parameters
    ----------
    plan
        What to run.
    cache
        Where outputs are found and stored.
    executor
        'inline' (in this process), 'processes' or 'ray'; the numbers are the same.
    workers
        How many nodes run at a time; as many as there are processors unless told.
    on_record
        Called once for every node, in this process, as soon as it is settled.
    progress
        Whether to show a live tree on a terminal, or now and then a line elsewhere.

    Raises
    ------
    ArtefactError
        If the cache cannot be written, as on a full disk; what was stored before stays valid.
    KeyboardInterrupt
        If it is interrupted; the message says what is kept.
    """
    try:
        with open_task_pool(executor, workers) as pool, Progress(plan, pool.workers, shown=progress) as display:
            schedule = NodeSchedule(plan, cache, pool, on_record or _ignore, display.show)
            _run(schedule, plan, display)
    except BaseException:
        cache.objects.clean()  # workers that were ended may have been writing
        raise
    return [schedule.records[node.id] for node in plan.nodes]


def _run(schedule: NodeSchedule, plan: ExperimentPlan, display: Progress) -> None:
    try:
        schedule.run()
    except KeyboardInterrupt:
        sentence = f"Interrupted: {_tell_kept(schedule, plan)}; run again to go on with the rest."
        display.say(sentence)
        raise KeyboardInterrupt(sentence) from None
    except StoreError as error:
        raise ArtefactError(f"{str(error).rstrip('.')} ({_tell_kept(schedule, plan)}).") from None


@dataclass(frozen=True)
class NodeCounts:
    """How many nodes there are: `cached` ones are known, `due` ones must run, of the rest it cannot be said yet."""

    total: int = 0
    cached: int = 0
    due: int = 0

    @property
    def unknown(self) -> int:
        """Nodes that depend on outputs not yet made."""
        return self.total - self.cached - self.due


@dataclass(frozen=True)
class Preview(Shown, NodeCounts):
    """What a run would do, in all and by module."""

    modules: Mapping[str, NodeCounts] = field(default_factory=dict)


def preview(plan: ExperimentPlan, cache: Cache) -> Preview:
    """Say what a run would do, without running anything.

    Parameters
    ----------
    plan
        What would be run.
    cache
        Where outputs would be found.
    """
    outputs: dict[str, Mapping[str, StoredOutput]] = {}
    verdicts: dict[str, list[str]] = {}
    for node in plan.nodes:
        verdicts.setdefault(node.module.id, []).append(_verdict(node, cache, outputs))
    modules = {name: NodeCounts(*_count(each)) for name, each in verdicts.items()}
    return Preview(*_count([verdict for each in verdicts.values() for verdict in each]), modules=modules)


def _verdict(node: Node, cache: Cache, outputs: dict[str, Mapping[str, StoredOutput]]) -> str:
    if any(name not in outputs for name in list_needed(node)):
        return "unknown"
    try:
        key = node_key(node, digests(node, outputs), resolve(node.module.step))
    except StepError:
        return "due"
    found = cache.find(key, node.module.keep)
    if found is None:
        return "due"
    outputs[node.id] = found
    return "cached"


def _count(verdicts: list[str]) -> tuple[int, int, int]:
    return len(verdicts), verdicts.count("cached"), verdicts.count("due")


def _tell_kept(schedule: NodeSchedule, plan: ExperimentPlan) -> str:
    done = sum(record.status == "done" for record in schedule.records.values())
    return f"{done:,} of {len(plan.nodes):,} runs are kept"


def _ignore(record: NodeRecord) -> None:
    """Do nothing with a record."""
