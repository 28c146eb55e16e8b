"""Jobs on Ray: the cluster that RAY_ADDRESS names, or one on this machine."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any

from ziggurat.errors import MissingExtraError
from ziggurat.jobs._executor import Ended, Executor, JobError, LostWorkerError
from ziggurat.jobs._sending import pack_job, read_result, run_packed


class OnRay(Executor):
    """Jobs on Ray, each with one processor and so many GPUs; a Ray that was started here is stopped at the end."""

    def __init__(self, workers: int, gpus: int, threads: int) -> None:
        self._ray = _import_ray()
        self.workers = workers
        self._ours = not self._ray.is_initialized()
        if self._ours:
            _start(self._ray, workers, threads)
        self._remote = self._ray.remote(max_retries=0, num_cpus=1, num_gpus=gpus)(run_packed)
        self._running: dict[Any, Any] = {}
        self._unsent: list[Ended] = []

    def pack(self, value: Any) -> bytes:
        """Make bytes of what another machine need not be able to import, too."""
        from ray import cloudpickle

        dumps: Callable[[Any], bytes] = cloudpickle.dumps
        return dumps(value)

    def submit(self, job: Any, function: Callable[..., Any], *arguments: Any) -> None:
        """Send a job."""
        try:
            packed = pack_job(self.pack, function, arguments)
        except JobError as error:
            self._unsent.append(Ended(job, error=error))
        else:
            self._running[self._remote.remote(sys.path, packed)] = job

    def wait(self) -> list[Ended]:
        """Wait until a job has ended."""
        ended, self._unsent = self._unsent, []
        if ended:
            return ended
        done, _ = self._ray.wait(list(self._running), num_returns=1)
        return [self._take_back(reference) for reference in done]

    @property
    def busy(self) -> int:
        """How many jobs are under way."""
        return len(self._running) + len(self._unsent)

    def close(self, *, kill: bool) -> None:
        """Cancel what runs, and stop Ray if it was started here."""
        for reference in self._running if kill else ():
            with contextlib.suppress(Exception):
                self._ray.cancel(reference, force=True)
        self._running, self._unsent = {}, []
        if self._ours:
            self._ray.shutdown()

    def _take_back(self, reference: Any) -> Ended:
        job = self._running.pop(reference)
        try:
            return Ended(job, read_result(self._ray.get(reference)))
        except self._ray.exceptions.RayTaskError as error:
            return Ended(job, error=error.cause)
        except self._ray.exceptions.RayError:
            return Ended(job, error=LostWorkerError("A worker of Ray was lost, often for want of memory."))


def _import_ray() -> Any:
    try:
        import ray
        import ray.exceptions
    except ImportError:
        raise MissingExtraError("Ray is not installed; add it with: pip install 'ziggurat[ray]'.") from None
    return ray


def _start(ray: Any, workers: int, threads: int) -> None:
    """Start quietly, without reports to anyone, and with as many threads per job as in this process.

    Ray would give each job one thread, and sums in another order end in other digits.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    address = os.environ.get("RAY_ADDRESS")
    here = {} if address else {"num_cpus": workers, "include_dashboard": False}
    variables = {"OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS") or str(threads)}
    settings = {"runtime_env": {"env_vars": variables}, "log_to_driver": False}
    ray.init(address=address or "local", configure_logging=False, **here, **settings)
