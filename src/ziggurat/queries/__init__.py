"""Questions about tables: understood, priced before anything is read, and answered with noise and an honest error."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries._answer import Answer, Effect, Estimate
    from ziggurat.queries._plan import Part, Plan
    from ziggurat.queries._question import Aggregate, Key, Measure, Ordering, Question
    from ziggurat.queries._terms import Terms
    from ziggurat.queries._value import Value
    from ziggurat.queries.language._builder import Query
    from ziggurat.queries.language._catalogue import Catalogue
    from ziggurat.queries.language._select import parse
    from ziggurat.queries.language._written import Expression, column
    from ziggurat.queries.workloads._workload import Workload
    from ziggurat.queries.workloads._workload_answer import WorkloadAnswer
    from ziggurat.queries.workloads._workload_plan import WorkloadPlan
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_answer": "Answer Effect Estimate",
            "_plan": "Part Plan",
            "_question": "Aggregate Key Measure Ordering Question",
            "_terms": "Terms",
            "_value": "Value",
            "language._builder": "Query",
            "language._catalogue": "Catalogue",
            "language._select": "parse",
            "language._written": "Expression column",
            "workloads._workload": "Workload",
            "workloads._workload_answer": "WorkloadAnswer",
            "workloads._workload_plan": "WorkloadPlan",
        },
    )

__all__ = [
    "Aggregate",
    "Answer",
    "Catalogue",
    "Effect",
    "Estimate",
    "Expression",
    "Key",
    "Measure",
    "Ordering",
    "Part",
    "Plan",
    "Query",
    "Question",
    "Terms",
    "Value",
    "Workload",
    "WorkloadAnswer",
    "WorkloadPlan",
    "column",
    "parse",
]
