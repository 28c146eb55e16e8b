"""Which node runs when: the state of one run."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ziggurat.experiments._steps import Step, resolve
from ziggurat.experiments._types import ExperimentPlan, Gathered, Node, NodeOutput, NodeRecord, Status, StoredOutput
from ziggurat.experiments.running._cache import Cache, RecalledRun, node_key
from ziggurat.experiments.running._executors import TaskPool
from ziggurat.experiments.running._task import Many, NodeTask, Outcome, StepError, check_metrics
from ziggurat.experiments.storing import StoreError

_LOG = logging.getLogger("ziggurat.experiments")
_CHUNK_SECONDS = 0.05
_OVERHEAD_SECONDS = 0.0002
_ATTEMPTS = 3

Outputs = Mapping[str, Mapping[str, StoredOutput]]


class NodeSchedule:
    """Settles every node of a plan: each ends with exactly one record.

    A node waits for those it needs, is then looked up in the cache, and runs if it is not there. A cached output is
    only known to be whole once it has been read; if it is not, or was not kept, the node that made it runs again. So
    the record of a cached node with files is held back (`show` sees it, `tell` does not) until nothing needs it.

    Parameters
    ----------
    plan
        What to run.
    cache
        Where outputs are found and stored.
    pool
        Where tasks run.
    tell
        Called once with every record.
    show
        Called with records as they look at the moment.
    """

    def __init__(
        self,
        plan: ExperimentPlan,
        cache: Cache,
        pool: TaskPool,
        tell: Callable[[NodeRecord], object],
        show: Callable[[NodeRecord], object],
    ) -> None:
        self._cache, self._pool, self._tell, self._show = cache, pool, tell, show
        self._nodes = {node.id: node for node in plan.nodes}
        self._steps = {each: resolve(each) for each in {node.module.step for node in plan.nodes}}
        self._folder = str(cache.objects.folder.absolute())
        self._waiting = {node.id: list_needed(node) for node in plan.nodes}
        self._followers = _followers(self._waiting)
        self._left = {name: len(followers) for name, followers in self._followers.items()}
        self._open = deque(name for name, needed in self._waiting.items() if not needed)
        self._queue: deque[NodeTask] = deque()
        self._unsettled = set(self._nodes)
        self._keys: dict[str, str] = {}
        self._outputs: dict[str, Mapping[str, StoredOutput]] = {}
        self._causes: dict[str, str] = {}
        self._held_back: dict[str, NodeRecord] = {}
        self._attempts: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()
        self._pace: dict[str, float] = {}
        self.records: dict[str, NodeRecord] = {}

    def run(self) -> None:
        """Settle every node.

        Raises
        ------
        StoreError
            If the cache cannot be written.
        """
        try:
            while self._open or self._queue or self._pool.busy:
                while self._open:
                    self._decide(self._nodes[self._open.popleft()])
                self._cache.commit()
                self._submit()
                if self._pool.busy:
                    outcomes = self._pool.wait()
                    self._submit()
                    for outcome in sorted(outcomes, key=_stops):  # what was done before a stop is kept
                        self._receive(outcome)
        finally:
            while self._held_back:
                name, record = self._held_back.popitem()
                self._finish(self._nodes[name], record)
            self._cache.commit()

    def _decide(self, node: Node) -> None:
        cause = next((self._causes[name] for name in list_needed(node) if name in self._causes), None)
        if cause is not None:
            self._settle(node, self._record(node, "skipped", error=f"Skipped because {cause!r} failed."), cause)
            return
        try:
            key = node_key(node, digests(node, self._outputs), self._step(node))
            self._keys[node.id] = key
            found = self._cache.recall(key, node.module.keep)
            if found is None:
                self._queue.append(self._task(node))
            else:
                self._reuse(node, found)
        except StepError as error:
            self._settle(node, self._record(node, "failed", error=str(error)), node.id)

    def _reuse(self, node: Node, found: RecalledRun) -> None:
        metrics = check_metrics(found.outputs, node.module.metrics)
        self._settle(
            node,
            self._record(
                node, "done", cached=True, seconds=found.seconds, metrics=metrics, outputs=dict(found.outputs)
            ),
        )

    def _task(self, node: Node) -> NodeTask:
        step = self._step(node)
        inputs = {name: self._input(given) for name, given in node.inputs.items()}
        seed = node.seed if step.takes_seed else None
        return NodeTask(node.id, step.function, node.parameters, inputs, seed, node.module.metrics, self._folder)

    def _input(self, given: NodeOutput | Gathered) -> StoredOutput | Many:
        if isinstance(given, NodeOutput):
            return find_stored(given, self._outputs)
        values = tuple(find_stored(taken, self._outputs) for taken in given.outputs)
        return Many(given.parameters, given.repeats, values)

    def _step(self, node: Node) -> Step:
        return self._steps[node.module.step]

    def _submit(self) -> None:
        while self._queue and self._pool.busy < self._pool.workers:
            self._pool.submit(self._chunk())

    def _chunk(self) -> tuple[NodeTask, ...]:
        """Take small tasks together, so that handing them over costs little; a task of unknown length goes alone."""
        most = min(self._pool.largest_chunk, -(-len(self._queue) // self._pool.workers))
        chunk, seconds = [self._queue.popleft()], 0.0
        while self._queue and len(chunk) < most:
            seconds += self._pace.get(self._nodes[chunk[-1].node].module.id, _CHUNK_SECONDS)
            if seconds >= _CHUNK_SECONDS:
                break
            chunk.append(self._queue.popleft())
        return tuple(chunk)

    def _receive(self, outcome: Outcome) -> None:
        node = self._nodes[outcome.node]
        if outcome.status == "stopped":
            raise StoreError(outcome.error)
        if outcome.status == "damaged":
            self._repair(node, outcome)
            return
        self._note(node, outcome)
        if outcome.status == "failed":
            self._settle(node, self._from(node, outcome), node.id)
            return
        self._pace[node.module.id] = outcome.seconds + _OVERHEAD_SECONDS
        self._cache.put(self._keys[node.id], outcome.outputs, outcome.seconds)
        self._settle(node, self._from(node, outcome, check_metrics(outcome.outputs, node.module.metrics)))

    def _note(self, node: Node, outcome: Outcome) -> None:
        trace = outcome.error.partition("\n")[2] if outcome.error else ""
        if text := "\n".join(each for each in (outcome.printed, trace) if each):
            self._cache.note(self._keys[node.id], text)

    def _repair(self, node: Node, outcome: Outcome) -> None:
        """Run again whatever made the damaged input, then this node."""
        makers = {taken.node for taken in list_taken(node) if self._is_from(taken, outcome.damaged)}
        self._attempts[node.id] += 1
        if not makers or self._attempts[node.id] > _ATTEMPTS:
            sentence = f"{outcome.error} Making it again did not help; check the disk of the cache."
            self._settle(node, self._record(node, "failed", error=sentence), node.id)
            return
        if not outcome.missing:
            _LOG.warning("%s Its run (%s) is made again.", outcome.error, ", ".join(map(repr, sorted(makers))))
        for name in makers - self._unsettled:
            self._reopen(self._nodes[name])
        self._waiting[node.id] = makers

    def _is_from(self, taken: NodeOutput, damaged: Iterable[str]) -> bool:
        if taken.node in self._unsettled:
            return True
        files = self._cache.files(find_stored(taken, self._outputs))
        return any(digest in files for digest in damaged)

    def _reopen(self, node: Node) -> None:
        self._release_outputs(node, remove=False)
        self._cache.discard(self._keys[node.id])
        self._held_back.pop(node.id, None)
        self._unsettled.add(node.id)
        self._waiting[node.id] = list_needed(node) & self._unsettled
        if not self._waiting[node.id]:
            self._open.append(node.id)

    def _settle(self, node: Node, record: NodeRecord, cause: str | None = None) -> None:
        self._unsettled.discard(node.id)
        if cause is not None:
            self._causes[node.id] = cause
        self._outputs[node.id] = record.outputs
        self._hold_outputs(node)
        self._publish(node, record)
        for name in self._followers[node.id]:
            if node.id in self._waiting[name]:
                self._waiting[name].discard(node.id)
                if not self._waiting[name]:
                    self._open.append(name)

    def _publish(self, node: Node, record: NodeRecord) -> None:
        """A node that was reopened after its record went out keeps that record."""
        if node.id in self.records:
            return
        self._show(record)
        if record.cached and self._left[node.id] and any(stored.inline is None for stored in record.outputs.values()):
            self._held_back[node.id] = record
        else:
            self._finish(node, record)

    def _finish(self, node: Node, record: NodeRecord) -> None:
        """Tell a record; whatever nothing needs any more is told and dropped with it, up the tree."""
        stack = [(node, record)]
        while stack:
            node, record = stack.pop()
            self.records[node.id] = record
            self._tell(record)
            self._drop_outputs(node)
            for name in list_needed(node):
                self._left[name] -= 1
                if not self._left[name] and name in self._held_back:
                    stack.append((self._nodes[name], self._held_back.pop(name)))
                else:
                    self._drop_outputs(self._nodes[name])

    def _drop_outputs(self, node: Node) -> None:
        if not self._left[node.id]:
            self._release_outputs(node, remove=True)

    def _hold_outputs(self, node: Node) -> None:
        outputs = self._outputs[node.id]
        keep = node.module.keep
        self._cache.keep(stored for name, stored in outputs.items() if keep is None or name in keep)
        self._uses.update(self._passing(node))

    def _release_outputs(self, node: Node, *, remove: bool) -> None:
        """Two nodes may have made the same content, so a file goes only when the last of them needs it no more."""
        files = self._passing(node)
        self._uses.subtract(files)
        if remove:
            self._cache.forget_files(digest for digest in files if self._uses[digest] <= 0)

    def _passing(self, node: Node) -> list[str]:
        """The files of outputs that are not kept."""
        keep = node.module.keep
        if keep is None:
            return []
        dropped = (stored for name, stored in self._outputs.get(node.id, {}).items() if name not in keep)
        return [digest for stored in dropped for digest in self._cache.files(stored)]

    def _from(self, node: Node, outcome: Outcome, metrics: Mapping[str, float] | None = None) -> NodeRecord:
        status: Status = "done" if outcome.status == "done" else "failed"
        return self._record(
            node,
            status,
            started=outcome.started,
            seconds=outcome.seconds,
            error=outcome.error,
            metrics=metrics or {},
            outputs=outcome.outputs,
        )

    def _record(self, node: Node, status: Status, **facts: Any) -> NodeRecord:
        known: dict[str, Any] = {
            "cached": False,
            "started": facts.get("started") or datetime.now(UTC).isoformat(timespec="milliseconds"),
            "seconds": 0.0,
            "error": None,
            "metrics": {},
            "outputs": {},
            "key": self._keys.get(node.id, ""),
        }
        place = (node.id, node.module.id, node.varied, node.repeats, node.parent)
        return NodeRecord(*place, status, **{**known, **facts})


def list_needed(node: Node) -> set[str]:
    """Return the nodes that must be settled first; a sub-module belongs to a run of its parent in any case."""
    needed = {taken.node for taken in list_taken(node)}
    return needed | {node.parent} if node.parent else needed


def list_taken(node: Node) -> Iterable[NodeOutput]:
    """Give every output that a node takes."""
    for given in node.inputs.values():
        yield from given.outputs if isinstance(given, Gathered) else (given,)


def find_stored(taken: NodeOutput, outputs: Outputs) -> StoredOutput:
    """Return an output that a node takes.

    Raises
    ------
    StepError
        If the step did not return it.
    """
    stored = outputs[taken.node].get(taken.output)
    if stored is None:
        known = ", ".join(map(repr, sorted(outputs[taken.node])[:12])) or "nothing"
        raise StepError(f"{taken.node!r} did not return {taken.output!r}; it returned {known}.")
    return stored


def digests(node: Node, outputs: Outputs) -> dict[str, Any]:
    """Return the digests of a node's inputs, as `node_key` takes them."""

    def of(given: NodeOutput | Gathered) -> str | list[str]:
        if isinstance(given, NodeOutput):
            return find_stored(given, outputs).digest
        return [find_stored(taken, outputs).digest for taken in given.outputs]

    return {name: of(given) for name, given in node.inputs.items()}


def _stops(outcome: Outcome) -> bool:
    return outcome.status == "stopped"


def _followers(waiting: Mapping[str, set[str]]) -> dict[str, list[str]]:
    followers: dict[str, list[str]] = {name: [] for name in waiting}
    for name, needed in waiting.items():
        for each in needed:
            followers[each].append(name)
    return followers
