"""Many independent jobs: here, in threads, in other processes or on Ray, with the same results everywhere."""

from ziggurat.jobs._choosing import ExecutorChoice, RunningRay, choose_executor
from ziggurat.jobs._executor import Ended, Executor, Inline, JobError, LostWorkerError, Threads, UnsendableJobError
from ziggurat.jobs._opening import EXECUTORS, count_processors, open_executor, run_jobs

__all__ = [
    "EXECUTORS",
    "Ended",
    "Executor",
    "ExecutorChoice",
    "Inline",
    "JobError",
    "LostWorkerError",
    "RunningRay",
    "Threads",
    "UnsendableJobError",
    "choose_executor",
    "count_processors",
    "open_executor",
    "run_jobs",
]
