"""Workloads: many counting queries, known in advance, answered together."""

from ziggurat.queries.workloads._answer import WorkloadAnswer
from ziggurat.queries.workloads._plan import WorkloadPlan
from ziggurat.queries.workloads._workload import Group, Ranges, Workload

__all__ = [
    "Group",
    "Ranges",
    "Workload",
    "WorkloadAnswer",
    "WorkloadPlan",
]
