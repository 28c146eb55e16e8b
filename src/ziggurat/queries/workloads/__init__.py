"""Workloads: many counting queries, known in advance, answered together."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries.workloads._answer import WorkloadAnswer
    from ziggurat.queries.workloads._plan import WorkloadPlan
    from ziggurat.queries.workloads._workload import Group, Ranges, Workload
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_answer": "WorkloadAnswer",
            "_plan": "WorkloadPlan",
            "_workload": "Group Ranges Workload",
        },
    )

__all__ = [
    "Group",
    "Ranges",
    "Workload",
    "WorkloadAnswer",
    "WorkloadPlan",
]
