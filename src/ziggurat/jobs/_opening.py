"""Which executor it shall be, and running many jobs through it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ziggurat.errors import ParameterError
from ziggurat.jobs._choosing import ExecutorChoice, choose_executor, find_ray, is_sendable
from ziggurat.jobs._executor import Executor, Inline, JobError, Threads

EXECUTORS = ("inline", "threads", "processes", "ray")
"""Where jobs can run."""

_NOT_SENT = "Ray runs, but these jobs report back while they run and cannot be sent"

Result = TypeVar("Result")


def open_executor(name: str, workers: int | None = None, *, gpus: int = 0) -> Executor:
    """Return the executor with this name, to be used as a context.

    Parameters
    ----------
    name
        "inline", "threads", "processes" or "ray" (the cluster that RAY_ADDRESS names, or one on this machine).
    workers
        How many jobs run at a time; as many as there are processors unless told. "inline" always runs one.
    gpus
        How many GPUs Ray must give each job.

    Raises
    ------
    ParameterError
        If there is no such executor, or `workers` is not positive.
    MissingExtraError
        If Ray is not installed.
    """
    if name not in EXECUTORS:
        raise ParameterError("The executor must be 'inline', 'threads', 'processes' or 'ray'.")
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ParameterError("The number of workers must be a positive whole number.")
    count = workers or count_processors()
    if name == "inline":
        return Inline()
    if name == "threads":
        return Threads(count)
    if name == "processes":
        from ziggurat.jobs._processes import Processes

        return Processes(count)
    from ziggurat.jobs._ray import OnRay

    return OnRay(count, gpus, count_processors())


def run_jobs(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    executor: str = "inline",
    workers: int | None = None,
    gpus: int = 0,
    called: str = "job",
    told: Callable[[ExecutorChoice], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[tuple[int, Result]]:
    """Call a function on every task, and give the place of a task with its result as soon as it is there.

    Whoever stops asking for results cancels the rest. An error of a job carries a note that says which one it was.

    Parameters
    ----------
    function
        What to run; other processes must be able to import it.
    tasks
        The arguments of every call.
    executor, workers, gpus
        Where they run, as for `open_executor`; or "auto": in threads, unless a Ray that runs already is faster by what
        the first job took here.
    called
        What a job is called in the note.
    told
        Called once with where the jobs run and why.
    clock
        What the first job is timed by; only where the others run depends on it.

    Raises
    ------
    LostWorkerError
        If a worker was killed.
    UnsendableJobError
        If a job cannot be sent to another process.
    """
    start, seconds = 0, 0.0
    choice = ExecutorChoice(executor, "as you said")
    if executor == "auto":
        ray = find_ray() if len(tasks) > 1 else None
        if ray is not None and is_sendable(function, tasks[0]):
            begun = clock()
            yield from _run_from(function, tasks[:1], 0, len(tasks), "inline", 1, gpus, called)
            start, seconds = 1, clock() - begun
            choice = choose_executor(len(tasks) - start, seconds, workers or count_processors(), ray)
        else:
            choice = (
                ExecutorChoice("threads", _NOT_SENT) if ray is not None else choose_executor(len(tasks), 0, 1, None)
            )
    if told is not None:
        told(choice)
    yield from _run_from(function, tasks[start:], start, len(tasks), choice.name, workers, gpus, called)


def _run_from(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    start: int,
    total: int,
    executor: str,
    workers: int | None,
    gpus: int,
    called: str,
) -> Iterator[tuple[int, Result]]:
    """Run tasks that stand at `start` and after it among `total`."""
    places = iter(range(len(tasks)))
    with open_executor(executor, max(1, min(workers or count_processors(), len(tasks))), gpus=gpus) as pool:
        left = len(tasks)
        while left:
            while pool.busy < min(pool.workers, left):
                place = next(places)
                pool.submit(place, function, *tasks[place])
            for ended in pool.wait():
                if ended.error is not None:
                    raise _name_job(ended.error, f"{called} {start + ended.job + 1} of {total}")
                left -= 1
                yield start + ended.job, ended.result


def _name_job(error: BaseException, job: str) -> BaseException:
    error.add_note(f"This happened in {job}.")
    if isinstance(error, JobError):
        error.job = job
    return error


def count_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
