"""Which executor suits the work: by the number of jobs, what one takes, and whether Ray runs already.

Threads start at once and share what is in memory; Ray has other machines, but each job has to be packed and sent. On
one machine Ray has no processor that threads have not, so that it is never started for the sake of speed.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_CONNECTING = 5.0  # seconds until a Ray that runs elsewhere takes the first job
_SENDING = 0.05  # seconds for a job to travel there and back


@dataclass(frozen=True)
class ExecutorChoice:
    """Where jobs run, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class RunningRay:
    """A Ray that runs already: how many processors it has, and whether this process is connected to it."""

    processors: int
    connected: bool


def choose_executor(jobs: int, seconds: float, processors: int, ray: RunningRay | None) -> ExecutorChoice:
    """Choose between threads of this process and a Ray that runs already.

    Parameters
    ----------
    jobs
        How many are left.
    seconds
        What one takes here.
    processors
        How many there are here.
    ray
        None if it does not run.
    """
    if ray is None:
        return ExecutorChoice("threads", "Ray does not run, and to start it here would add no processor")
    here = jobs * seconds / max(1, min(processors, jobs))
    way = 0.0 if ray.connected else _CONNECTING
    there = way + jobs * max(seconds, _SENDING) / max(1, min(ray.processors, jobs)) + _SENDING
    said = f"{jobs} jobs of about {seconds:.2g} s take about {here:.2g} s here and {there:.2g} s on Ray"
    return ExecutorChoice("ray" if there < here else "threads", said)


def find_ray() -> RunningRay | None:
    """Return the Ray that this process uses already, or that RAY_ADDRESS names; nothing is started or connected to.

    How large the one behind an address is is not known before: it is taken for four of this machine.
    """
    ray = sys.modules.get("ray")
    if ray is not None and ray.is_initialized():
        return RunningRay(int(ray.cluster_resources().get("CPU", 1)), True)
    if os.environ.get("RAY_ADDRESS"):
        return RunningRay(4 * (os.cpu_count() or 1), False)
    return None


def is_sendable(function: Callable[..., Any], arguments: tuple[Any, ...]) -> bool:
    """Return whether another process could be sent a job."""
    try:
        pickle.dumps((function, arguments))
    except Exception:  # noqa: BLE001 - whatever packing a foreign function raises
        return False
    return True
