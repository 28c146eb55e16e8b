"""Chunks of teachers as jobs: in this process, in threads, in other processes or on Ray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ziggurat.errors import DataError, ParameterError
from ziggurat.jobs import ExecutorChoice, LostWorkerError, UnsendableJobError, run_jobs

Result = TypeVar("Result")


def run_chunks(
    function: Callable[..., Result],
    tasks: Sequence[tuple[Any, ...]],
    *,
    executor: str = "inline",
    workers: int | None = None,
    gpus: int = 0,
    told: Callable[[ExecutorChoice], None] | None = None,
) -> Iterator[tuple[int, Result]]:
    """Call `function` on every task, as `run_jobs` does, and say in the words of teachers what goes wrong.

    Raises
    ------
    ParameterError
        If a task cannot be sent to another process, or there is no such executor.
    DataError
        If a worker was killed.
    MissingExtraError
        If Ray is not installed.
    """
    try:
        yield from run_jobs(function, tasks, executor=executor, workers=workers, gpus=gpus, called="chunk", told=told)
    except LostWorkerError as error:
        raise DataError(
            f"A worker was killed in {error.job}, often for want of memory; use fewer workers, and a checkpoint "
            "folder to go on from."
        ) from None
    except UnsendableJobError:
        raise ParameterError(
            "The network cannot be sent to another process; define it in a module that workers can import, "
            "or use the executor 'threads'."
        ) from None
