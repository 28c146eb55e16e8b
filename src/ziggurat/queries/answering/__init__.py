"""Answering a question: planned and priced first, then aggregated by the engine, noised and estimated."""

from ziggurat.queries.answering._bounding import bounded
from ziggurat.queries.answering._grid import quantised_range, quantised_value
from ziggurat.queries.answering._plan import GROUP_SIZE, Part, Plan

__all__ = [
    "GROUP_SIZE",
    "Part",
    "Plan",
    "bounded",
    "quantised_range",
    "quantised_value",
]
