"""Where tasks run: in this process, in a pool of processes, or on Ray. The numbers are the same everywhere."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

from ziggurat.errors import ExperimentError, MissingExtraError
from ziggurat.experiments._step_modules import files_of, take_steps
from ziggurat.experiments.running._task import NodeTask, Outcome, execute

NAMES = ("inline", "processes", "ray")
Chunk = tuple[NodeTask, ...]


class Executor(ABC):
    """Runs chunks of tasks; as a context it ends whatever still runs when it is left by an exception.

    `workers` is how many chunks run at a time, `largest_chunk` how many tasks may be in one.
    """

    workers = 1
    largest_chunk = 64

    @abstractmethod
    def submit(self, chunk: Chunk) -> None:
        """Start a chunk; at most `workers` may be under way."""

    @abstractmethod
    def wait(self) -> list[Outcome]:
        """Wait for the next chunk and return its outcomes, in any order of chunks; each task has exactly one."""

    @property
    @abstractmethod
    def busy(self) -> int:
        """How many chunks are under way."""

    @abstractmethod
    def close(self, *, kill: bool) -> None:
        """Give everything back; `kill` ends tasks that still run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(kill=kind is not None)


def executor(name: str, workers: int | None = None) -> Executor:
    """Return the executor with this name.

    Parameters
    ----------
    name
        'inline', 'processes' or 'ray'.
    workers
        How many tasks run at a time; as many as there are processors unless told. 'inline' always runs one.

    Raises
    ------
    ExperimentError
        If there is no such executor, or `workers` is not positive.
    MissingExtraError
        If Ray is not installed.
    """
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ExperimentError("The number of workers must be a positive whole number.")
    if name not in NAMES:
        raise ExperimentError(f"There is no executor {name!r}; use 'inline', 'processes' or 'ray'.")
    if name == "inline":
        return Inline()
    count = workers or processors()
    return Processes(count) if name == "processes" else OnRay(count)


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def execute_all(chunk: Sequence[NodeTask]) -> list[Outcome]:
    """Run tasks one after the other."""
    return [execute(task) for task in chunk]


class Inline(Executor):
    """One task at a time, in this process."""

    largest_chunk = 1

    def __init__(self) -> None:
        self._waiting: deque[Chunk] = deque()

    def submit(self, chunk: Chunk) -> None:
        """Remember a chunk."""
        self._waiting.append(chunk)

    def wait(self) -> list[Outcome]:
        """Run it."""
        return execute_all(self._waiting.popleft())

    @property
    def busy(self) -> int:
        """How many chunks were remembered."""
        return len(self._waiting)

    def close(self, *, kill: bool) -> None:  # noqa: ARG002 - nothing runs between two calls
        """Forget what did not run."""
        self._waiting.clear()


class Processes(Executor):
    """A fresh process per worker, each a pool of its own, so that it is known what a worker died of.

    A worker that the system kills takes only its own chunk with it. A chunk of several tasks is then run again task by
    task; a task that kills its worker when it is alone has failed.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Worker] = []
        self._running: dict[futures.Future[bytes], tuple[_Worker, Chunk]] = {}
        self._again: deque[Chunk] = deque()

    def submit(self, chunk: Chunk) -> None:
        """Hand a chunk to a worker; start one if none is idle."""
        worker = self._idle.pop() if self._idle else _Worker()
        packed, files = _packed(chunk, pickle.dumps), _files(chunk)
        try:
            future = worker.pool.submit(_execute_packed, [], files, packed)
        except BrokenProcessPool:  # it was killed while it was idle
            worker = _Worker()
            future = worker.pool.submit(_execute_packed, [], files, packed)
        self._running[future] = (worker, chunk)

    def wait(self) -> list[Outcome]:
        """Wait until a chunk is done."""
        while True:
            done, _ = futures.wait(self._running, return_when=futures.FIRST_COMPLETED)
            outcomes = [outcome for future in done for outcome in self._finished(future)]
            while self._again:
                self.submit(self._again.popleft())
            if outcomes:
                return outcomes

    @property
    def busy(self) -> int:
        """How many chunks run."""
        return len(self._running)

    def close(self, *, kill: bool) -> None:
        """End the workers."""
        for worker, _ in self._running.values():
            worker.close(kill=kill)
        for worker in self._idle:
            worker.close(kill=False)
        self._running, self._idle = {}, []

    def _finished(self, future: futures.Future[bytes]) -> list[Outcome]:
        worker, chunk = self._running.pop(future)
        try:
            outcomes = _unpacked(future.result())
        except BrokenProcessPool:
            worker.close(kill=False)
            if len(chunk) == 1:
                return [_failed(chunk[0], _KILLED)]
            self._again.extend((task,) for task in chunk)
            return []
        except Exception:  # noqa: BLE001 - whatever importing the step raised over there
            outcomes = [_failed(task, _UNSENDABLE) for task in chunk]
        self._idle.append(worker)
        return outcomes


class _Worker:
    """A pool of one process, which ignores Ctrl-C: the main process decides."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pool = futures.ProcessPoolExecutor(1, context, _prepare_worker)
        with _interrupts_put_off():
            self._process = self.pool.submit(os.getpid)

    def close(self, *, kill: bool) -> None:
        if kill:
            with contextlib.suppress(Exception):
                os.kill(self._process.result(timeout=10), signal.SIGTERM)
        self.pool.shutdown(wait=True, cancel_futures=True)


class OnRay(Executor):
    """Tasks on Ray: the cluster that RAY_ADDRESS names, or one on this machine.

    All machines of a cluster must see the cache folder under the same path.
    """

    def __init__(self, workers: int) -> None:
        self._ray = _ray()
        self.workers = workers
        self._ours = not self._ray.is_initialized()
        if self._ours:
            _start_ray(self._ray, workers)
        self._remote = self._ray.remote(max_retries=0, num_cpus=1)(_execute_packed)
        self._running: dict[Any, Chunk] = {}

    def submit(self, chunk: Chunk) -> None:
        """Send a chunk."""
        from ray import cloudpickle

        packed = _packed(chunk, cloudpickle.dumps)
        self._running[self._remote.remote(sys.path, _files(chunk), packed)] = chunk

    def wait(self) -> list[Outcome]:
        """Wait until a chunk is done."""
        while True:
            done, _ = self._ray.wait(list(self._running), num_returns=1)
            if outcomes := self._finished(done[0]):
                return outcomes

    @property
    def busy(self) -> int:
        """How many chunks are under way."""
        return len(self._running)

    def close(self, *, kill: bool) -> None:
        """Cancel what runs, and stop Ray if it was started here."""
        for reference in self._running if kill else ():
            with contextlib.suppress(Exception):
                self._ray.cancel(reference, force=True)
        self._running = {}
        if self._ours:
            self._ray.shutdown()

    def _finished(self, reference: Any) -> list[Outcome]:
        chunk = self._running.pop(reference)
        errors = self._ray.exceptions
        try:
            return _unpacked(self._ray.get(reference))
        except (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError):
            if len(chunk) == 1:
                return [_failed(chunk[0], _KILLED)]
            for task in chunk:
                self.submit((task,))
            return []
        except errors.RayError:
            return [_failed(task, _UNSENDABLE) for task in chunk]


@contextlib.contextmanager
def _interrupts_put_off() -> Iterator[None]:
    """A process inherits what is blocked here, so that Ctrl-C does not reach it even while it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that is killed cannot end its workers, and they would wait for it for ever."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _packed(chunk: Chunk, dumps: Callable[[Chunk], bytes]) -> bytes:
    """Pickle a chunk; one that cannot be pickled becomes empty and fails over there, like one that cannot be read."""
    try:
        return dumps(chunk)
    except Exception:  # noqa: BLE001 - whatever pickling a foreign function raises
        return b""


def _files(chunk: Chunk) -> list[str]:
    return files_of(task.function for task in chunk)


def _unpacked(outcomes: bytes) -> list[Outcome]:
    return list(pickle.loads(outcomes))  # noqa: S301 - sent by our own worker just now


def _execute_packed(path: list[str], files: list[str], packed: bytes) -> bytes:
    """Unpack only after the driver's path and the user's modules are known here: steps may lie in either."""
    sys.path.extend(each for each in path if each not in sys.path)
    if files:  # without any, a worker need not import the shipped steps
        take_steps(files)
    chunk: Chunk = pickle.loads(packed)  # noqa: S301 - sent by the driver just now
    return pickle.dumps(execute_all(chunk))


def _ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtraError("Ray is not installed; add it with: pip install 'ziggurat[ray]'.") from None
    return ray


def _start_ray(ray: Any, workers: int) -> None:
    """Start quietly, without reports to anyone, and with as many threads per task as in this process.

    Ray would give each task one thread, and sums in another order end in other digits.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    threads = os.environ.get("OMP_NUM_THREADS") or str(processors())
    address = os.environ.get("RAY_ADDRESS")
    here = {} if address else {"num_cpus": workers, "include_dashboard": False}
    settings = {"runtime_env": {"env_vars": {"OMP_NUM_THREADS": threads}}, "log_to_driver": False}
    ray.init(address=address or "local", configure_logging=False, **here, **settings)


_KILLED = (
    "The worker process was killed while this ran (by the system, often for want of memory, or by the step itself); "
    "use fewer workers or less data."
)
_UNSENDABLE = "The step cannot be sent to another process; define it in a module that workers can import."


def _failed(task: NodeTask, sentence: str) -> Outcome:
    return Outcome(task.node, "failed", datetime.now(UTC).isoformat(timespec="milliseconds"), 0.0, error=sentence)
