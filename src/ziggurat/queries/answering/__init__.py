"""Answering a question: planned and priced first, then aggregated by the engine, noised and estimated."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.queries.answering._bounding import bound_rows
    from ziggurat.queries.answering._grid import quantize_range, quantize_value
    from ziggurat.queries.answering._plan import GROUP_SIZE, QuestionPlan, QuotedPart
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_bounding": "bound_rows",
            "_grid": "quantize_range quantize_value",
            "_plan": "GROUP_SIZE QuestionPlan QuotedPart",
        },
    )

__all__ = [
    "GROUP_SIZE",
    "QuestionPlan",
    "QuotedPart",
    "bound_rows",
    "quantize_range",
    "quantize_value",
]
