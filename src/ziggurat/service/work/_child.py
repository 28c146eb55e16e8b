"""What happens in the process of a job: a limit on memory, one task, and what came of it on the disk.

It ends with whoever started it: a worker that is killed leaves no process behind that goes on. Two processes never work
in one folder at once: the second waits until the first is gone. Nothing but words of ours goes to whoever watches, and
nothing at all to the log.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

LIMIT = "ZIG_JOB_MEMORY"
"""The environment variable with how many bytes a job may use; 0 for as many as there are."""
_MEMORY_WORDS = (
    "MemoryError", "OutOfMemory", "std::bad_alloc", "annot allocate memory", "failed to allocate", "failed to map",
    "can't start new thread", "thread_create failed", "create thread", "Memory allocation",
)  # fmt: skip
_STEP = 300


def do_job(folder: str) -> int:
    """Do the job of a folder, and write what came of it; 0 once that is on the disk."""
    limit_memory(int(os.environ.get(LIMIT, "0")))
    tell, cancelled = _speak(), Event()
    signal.signal(signal.SIGTERM, lambda *_: cancelled.set())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()

    from ziggurat.service.work._folders import LOCK, JobFolder

    place = Path(folder)
    job = JobFolder(place.parent.parent, place.name)
    with (place / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        task = job.task()
        if job.outcome(task["round"]) is None:
            job.keep_outcome(task["round"], _do(job, task, tell, cancelled))
    return 0


def limit_memory(most: int) -> None:
    """Let this process use so many bytes, and fail where it would use more."""
    import resource

    if most:
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def failed_by_memory(said: str) -> bool:
    """Whether what somebody said last is about memory."""
    return any(each in said for each in _MEMORY_WORDS)


def memory_error(limit: int) -> dict[str, Any]:
    """What is said of a job that needed more memory than so many bytes."""
    gib = limit / 2**30
    most = f"the {gib:.1f} GiB that a job may use" if gib else "there is"
    return {
        "kind": "EngineError",
        "message": f"It needed more memory than {most}; what was reserved for it stays spent. Give jobs more, or make "
        "the table smaller.",
    }  # fmt: skip


def _do(job: Any, task: dict[str, Any], tell: Callable[[str], None], cancelled: Event) -> dict[str, Any]:
    """Do a task; whatever comes of it is an outcome."""
    from ziggurat.errors import ZigguratError

    try:
        from ziggurat.service.work.tasks import TASKS

        outcome: dict[str, Any] = TASKS[task["kind"]](job, task, tell, cancelled.is_set)
        return outcome
    except MemoryError:
        pass
    except ZigguratError as error:
        if not failed_by_memory(str(error)):
            return {"state": "failed", "error": {"kind": type(error).__name__, "message": str(error)}}
    except Exception as error:  # noqa: BLE001  (foreign errors may quote cells)
        words = f"The job failed ({type(error).__name__}); its own message is withheld because it may quote cells."
        if not failed_by_memory(f"{type(error).__name__} {error}"):
            return {"state": "failed", "error": {"kind": "EngineError", "message": words}}
    return {"state": "failed", "error": memory_error(int(os.environ.get(LIMIT, "0")))}


def _speak() -> Callable[[str], None]:
    """Keep the line to whoever watches for words of ours; what libraries print goes nowhere."""
    line = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    sys.stdout = os.fdopen(1, "w", closefd=False)

    def tell(step: str) -> None:
        line.write(" ".join(step.split())[:_STEP] + "\n")

    return tell


def _end_with_parent() -> None:
    """End this process, and those it has started, when the worker is gone: it then closes its end of the line."""
    while os.read(0, 1):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
