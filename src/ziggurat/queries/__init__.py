"""Questions about tables: understood, priced before anything is read, and answered with noise and an honest error."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries._answer import Answer, Effect, Estimate, in_figures
    from ziggurat.queries._question import Aggregate, Key, Measure, Ordering, Question
    from ziggurat.queries._terms import Bounding, Noise, Terms
    from ziggurat.queries._value import Value
    from ziggurat.queries.answering import QuestionPlan, QuotedPart
    from ziggurat.queries.language import Catalogue, Expression, Query, column, parse
    from ziggurat.queries.workloads import Workload, WorkloadAnswer, WorkloadPlan
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_answer": "Answer Effect Estimate in_figures",
            "_question": "Aggregate Key Measure Ordering Question",
            "_terms": "Bounding Noise Terms",
            "_value": "Value",
            "answering": "QuestionPlan QuotedPart",
            "language": "Catalogue Expression Query column parse",
            "workloads": "Workload WorkloadAnswer WorkloadPlan",
        },
    )

__all__ = [
    "Aggregate",
    "Answer",
    "Bounding",
    "Catalogue",
    "Effect",
    "Estimate",
    "Expression",
    "Key",
    "Measure",
    "Noise",
    "Ordering",
    "Query",
    "Question",
    "QuestionPlan",
    "QuotedPart",
    "Terms",
    "Value",
    "Workload",
    "WorkloadAnswer",
    "WorkloadPlan",
    "column",
    "in_figures",
    "parse",
]
