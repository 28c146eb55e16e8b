"""Where tasks run: in this process, in other processes, or on Ray. The numbers are the same everywhere."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from ziggurat.errors import ExperimentError, ParameterError
from ziggurat.experiments._step_modules import files_of, take_steps
from ziggurat.experiments.running._task import NodeTask, Outcome, execute
from ziggurat.jobs import Ended, Executor, Inline, LostWorkerError, open_executor

NAMES = ("inline", "processes", "ray")
TaskChunk = tuple[NodeTask, ...]

_KILLED = (
    "The worker process was killed while this ran (by the system, often for want of memory, or by the step itself); "
    "use fewer workers or less data."
)
_UNSENDABLE = "The step cannot be sent to another process; define it in a module that workers can import."


def open_task_pool(name: str, workers: int | None = None) -> TaskPool:
    """Return the pool with this name.

    Parameters
    ----------
    name
        'inline', 'processes' or 'ray'. On a cluster all machines must see the cache folder under the same path.
    workers
        How many tasks run at a time; as many as there are processors unless told. 'inline' always runs one.

    Raises
    ------
    ExperimentError
        If there is no such executor, or `workers` is not positive.
    MissingExtraError
        If Ray is not installed.
    """
    if name not in NAMES:
        raise ExperimentError(f"There is no executor {name!r}; use 'inline', 'processes' or 'ray'.")
    try:
        return TaskPool(open_executor(name, workers))
    except ParameterError as error:
        raise ExperimentError(str(error)) from None


class TaskPool:
    """Runs chunks of tasks; as a context it ends whatever still runs when it is left by an exception.

    A chunk of several tasks whose worker was killed is run again task by task; a task that kills its worker when it is
    alone has failed. `workers` is how many chunks run at a time, `largest_chunk` how many tasks may be in one.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._inline = isinstance(executor, Inline)
        self.workers, self.largest_chunk = executor.workers, 1 if self._inline else 64

    def submit(self, chunk: TaskChunk) -> None:
        """Start a chunk; at most `workers` may be under way."""
        if self._inline:
            self._executor.submit(chunk, execute_all, chunk)
        else:
            files = files_of(task.function for task in chunk)
            self._executor.submit(chunk, _execute_packed, files, self._pack(chunk))

    def wait(self) -> list[Outcome]:
        """Wait for the next chunk and return its outcomes, in any order of chunks; each task has exactly one."""
        outcomes: list[Outcome] = []
        while not outcomes:
            for ended in self._executor.wait():
                outcomes += self._settle(ended)
        return outcomes

    @property
    def busy(self) -> int:
        """How many chunks are under way."""
        return self._executor.busy

    def __enter__(self) -> Self:
        self._executor.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.__exit__(kind, error, trace)

    def _pack(self, chunk: TaskChunk) -> bytes:
        """One that cannot be packed becomes empty and fails over there, like one that cannot be read."""
        try:
            return self._executor.pack(chunk)
        except Exception:  # noqa: BLE001 - whatever packing a foreign function raises
            return b""

    def _settle(self, ended: Ended) -> list[Outcome]:
        if ended.error is None:
            return list(ended.result)
        if self._inline:
            raise ended.error
        if not isinstance(ended.error, LostWorkerError):
            return [_fail(task, _UNSENDABLE) for task in ended.job]
        if len(ended.job) == 1:
            return [_fail(ended.job[0], _KILLED)]
        for task in ended.job:
            self.submit((task,))
        return []


def execute_all(chunk: Sequence[NodeTask]) -> list[Outcome]:
    """Run tasks one after the other."""
    return [execute(task) for task in chunk]


def _execute_packed(files: list[str], packed: bytes) -> list[Outcome]:
    """Unpack only after the user's modules are known here: steps may lie in them."""
    if files:  # without any, a worker need not import the shipped steps
        take_steps(files)
    chunk: TaskChunk = pickle.loads(packed)  # noqa: S301 - sent by the driver just now
    return execute_all(chunk)


def _fail(task: NodeTask, sentence: str) -> Outcome:
    return Outcome(task.node, "failed", datetime.now(UTC).isoformat(timespec="milliseconds"), 0.0, error=sentence)
