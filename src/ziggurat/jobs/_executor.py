"""What every executor does, and those that need no other process."""

from __future__ import annotations

import concurrent.futures as futures
import pickle
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ziggurat.errors import ZigguratError


class JobError(ZigguratError):
    """A job did not end by itself; `job` says which one, where that is known."""

    job = ""


class LostWorkerError(JobError):
    """The worker of a job was killed, by the system, often for want of memory, or by the job itself."""


class UnsendableJobError(JobError):
    """A job, or its result, cannot be sent to another process or read there."""


@dataclass(frozen=True)
class Ended:
    """How a job ended: by its result, or by the error that it raised or that befell it."""

    job: Any
    result: Any = None
    error: BaseException | None = None


class Executor(ABC):
    """Runs jobs; as a context it ends whatever still runs when it is left by an exception.

    `workers` is how many jobs run at a time.
    """

    workers = 1

    @abstractmethod
    def submit(self, job: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Start a job, which is called `job` when it has ended; `workers` may be under way at a time."""

    @abstractmethod
    def wait(self) -> list[Ended]:
        """Wait until a job has ended and return all that have; each is returned exactly once."""

    @property
    @abstractmethod
    def busy(self) -> int:
        """How many jobs are under way."""

    @abstractmethod
    def close(self, *, kill: bool) -> None:
        """Give everything back; `kill` ends jobs that still run, where they can be ended."""

    def pack(self, value: Any) -> bytes:
        """Make bytes that workers can read with `pickle.loads`."""
        return pickle.dumps(value)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(kill=kind is not None)


class Inline(Executor):
    """One job at a time, in this process."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[Any, Callable[..., Any], tuple[Any, ...]]] = deque()

    def submit(self, job: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Remember a job."""
        self._waiting.append((job, function, arguments))

    def wait(self) -> list[Ended]:
        """Run it."""
        job, function, arguments = self._waiting.popleft()
        try:
            return [Ended(job, function(*arguments))]
        except Exception as error:  # noqa: BLE001 - handed on to whoever waits
            return [Ended(job, error=error)]

    @property
    def busy(self) -> int:
        """How many jobs were remembered."""
        return len(self._waiting)

    def close(self, *, kill: bool) -> None:  # noqa: ARG002 - nothing runs between two calls
        """Forget what did not run."""
        self._waiting.clear()


class Threads(Executor):
    """Threads of this process, which cannot be killed: whoever leaves waits for them."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = futures.ThreadPoolExecutor(workers)
        self._running: dict[futures.Future[Any], Any] = {}

    def submit(self, job: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Hand a job to a thread."""
        self._running[self._pool.submit(function, *arguments)] = job

    def wait(self) -> list[Ended]:
        """Wait until a job has ended."""
        done, _ = futures.wait(self._running, return_when=futures.FIRST_COMPLETED)
        return [_read_future(self._running.pop(each), each) for each in done]

    @property
    def busy(self) -> int:
        """How many jobs were handed over."""
        return len(self._running)

    def close(self, *, kill: bool) -> None:  # noqa: ARG002 - a thread ends by itself
        """Drop what has not begun and wait for the rest."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._running = {}


def _read_future(job: Any, future: futures.Future[Any]) -> Ended:
    error = future.exception()
    return Ended(job, error=error) if error is not None else Ended(job, future.result())
