"""Long work as durable jobs: described by names alone, done in a process of its own, gone on with after a kill."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.service.work._book import FINAL, Job, JobBook
    from ziggurat.service.work._described import DescribedRelease, ReleaseNames
    from ziggurat.service.work._folders import JobFolder
    from ziggurat.service.work._running import run_jobs
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_book": "FINAL Job JobBook",
            "_described": "DescribedRelease ReleaseNames",
            "_folders": "JobFolder",
            "_running": "run_jobs",
        },
    )

__all__ = ["FINAL", "DescribedRelease", "Job", "JobBook", "JobFolder", "ReleaseNames", "run_jobs"]
