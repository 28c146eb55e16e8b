"""The seam through which chunks of teachers run: in this process, in threads, in other processes or on Ray."""

from __future__ import annotations

import concurrent.futures as futures
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from ziggurat.errors import DataError, MissingExtraError, ParameterError

Result = TypeVar("Result")


def run_chunks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    executor: str = "inline",
    workers: int | None = None,
    gpus: int = 0,
) -> Iterator[tuple[int, Result]]:
    """Call `function` on every task, and give the place of a task with its result as soon as it is there.

    Parameters
    ----------
    function
        What to run; other processes must be able to import it.
    tasks
        The arguments of every call.
    executor
        "inline", "threads", "processes" or "ray" (the cluster that RAY_ADDRESS names, or one on this machine).
    workers
        How many run at a time; as many as there are processors unless told.
    gpus
        How many GPUs Ray must give each task.

    Raises
    ------
    ParameterError
        If a task cannot be sent to another process, or there is no such executor.
    DataError
        If a worker was killed.
    MissingExtraError
        If Ray is not installed.
    """
    count = max(1, min(workers or processors(), len(tasks)))
    if executor == "inline":
        yield from ((place, function(*task)) for place, task in enumerate(tasks))
    elif executor == "threads":
        yield from _pooled(futures.ThreadPoolExecutor(count), function, tasks)
    elif executor == "processes":
        yield from _in_processes(count, function, tasks)
    elif executor == "ray":
        yield from _on_ray(count, gpus, function, tasks)
    else:
        raise ParameterError("The executor must be 'inline', 'threads', 'processes' or 'ray'.")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pooled(
    pool: futures.Executor, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    try:
        places = {pool.submit(function, *task): place for place, task in enumerate(tasks)}
        for done in futures.as_completed(places):
            yield places[done], done.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _in_processes(
    count: int, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    for task in tasks[:1]:
        _require_picklable(function, task)
    pool = futures.ProcessPoolExecutor(count, multiprocessing.get_context("spawn"))
    try:
        yield from _pooled(pool, function, tasks)
    except BrokenProcessPool:
        raise DataError(
            "A worker was killed, often for want of memory; use fewer workers, and a checkpoint folder to go on from."
        ) from None


def _require_picklable(function: Callable[..., Any], task: tuple[Any, ...]) -> None:
    try:
        pickle.dumps((function, task))
    except (pickle.PicklingError, AttributeError, TypeError):
        raise ParameterError(
            "The network cannot be sent to another process; define it in a module that workers can import, "
            "or use the executor 'threads'."
        ) from None


def _on_ray(
    count: int, gpus: int, function: Callable[..., Result], tasks: Sequence[tuple[Any, ...]]
) -> Iterator[tuple[int, Result]]:
    ray = _ray()
    ours = not ray.is_initialized()
    if ours:
        _start_ray(ray, count)
    try:
        remote = ray.remote(max_retries=0, num_cpus=1, num_gpus=gpus)(_called)
        places = {remote.remote(function, *task): place for place, task in enumerate(tasks)}
        while places:
            done, _ = ray.wait(list(places), num_returns=1)
            yield places.pop(done[0]), ray.get(done[0])
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayError:
        raise DataError("A worker of Ray was lost; use a checkpoint folder to go on from, and start again.") from None
    finally:
        if ours:
            ray.shutdown()


def _called(function: Callable[..., Result], *task: Any) -> Result:
    """Ray takes functions written in Python only."""
    return function(*task)


def _ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtraError("Ray is not installed; add it with: pip install 'ziggurat[ray]'.") from None
    return ray


def _start_ray(ray: Any, workers: int) -> None:
    """Start quietly and without reports to anyone."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    here = {} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(address=address or "local", configure_logging=False, log_to_driver=False, **here)
