"""Jobs in other processes of this machine."""

from __future__ import annotations

import concurrent.futures as futures
import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from ziggurat.jobs._executor import Ended, Executor, JobError, LostWorkerError
from ziggurat.jobs._sending import pack_job, read_result, run_packed


class Processes(Executor):
    """A fresh process per worker, each a pool of its own: a worker that is killed takes only its own job with it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._idle: list[_Worker] = []
        self._running: dict[futures.Future[bytes], tuple[_Worker, Any]] = {}
        self._unsent: list[Ended] = []

    def submit(self, job: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Hand a job to a worker; start one if none is idle."""
        try:
            packed = pack_job(self.pack, function, arguments)
        except JobError as error:
            self._unsent.append(Ended(job, error=error))
            return
        worker = self._idle.pop() if self._idle else _Worker()
        try:
            future = worker.pool.submit(run_packed, [], packed)
        except BrokenProcessPool:  # it was killed while it was idle
            worker = _Worker()
            future = worker.pool.submit(run_packed, [], packed)
        self._running[future] = (worker, job)

    def wait(self) -> list[Ended]:
        """Wait until a job has ended."""
        ended, self._unsent = self._unsent, []
        if ended:
            return ended
        done, _ = futures.wait(self._running, return_when=futures.FIRST_COMPLETED)
        return [self._take_back(future) for future in done]

    @property
    def busy(self) -> int:
        """How many jobs run."""
        return len(self._running) + len(self._unsent)

    def close(self, *, kill: bool) -> None:
        """End the workers."""
        for worker, _ in self._running.values():
            worker.close(kill=kill)
        for worker in self._idle:
            worker.close(kill=False)
        self._running, self._idle, self._unsent = {}, [], []

    def _take_back(self, future: futures.Future[bytes]) -> Ended:
        worker, job = self._running.pop(future)
        try:
            ended = Ended(job, read_result(future.result()))
        except BrokenProcessPool:
            worker.close(kill=False)
            lost = "A worker was killed, by the system, often for want of memory, or by its job; use fewer workers."
            return Ended(job, error=LostWorkerError(lost))
        except Exception as error:  # noqa: BLE001 - handed on to whoever waits
            ended = Ended(job, error=error)
        self._idle.append(worker)
        return ended


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
                os.kill(self._process.result(timeout=60), signal.SIGTERM)
        self.pool.shutdown(wait=True, cancel_futures=True)


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
