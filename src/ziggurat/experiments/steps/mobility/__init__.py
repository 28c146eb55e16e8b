"""Communities of commuters, trajectories drawn from them, and what both show."""

from ziggurat.experiments.steps.mobility._data import commuter_data, mobility_data
from ziggurat.experiments.steps.mobility._finding import (
    commuter_graph,
    confusion_cell,
    find_communities,
    judge_communities,
)
from ziggurat.experiments.steps.mobility._topics import hour_share, top_place, topic_hours, topic_spread
from ziggurat.experiments.steps.mobility._walking import (
    classify_walks,
    closest_walks,
    compare_walks,
    similarity_bin,
    walk_communities,
)

__all__ = [
    "classify_walks",
    "closest_walks",
    "commuter_data",
    "commuter_graph",
    "compare_walks",
    "confusion_cell",
    "find_communities",
    "hour_share",
    "judge_communities",
    "mobility_data",
    "similarity_bin",
    "top_place",
    "topic_hours",
    "topic_spread",
    "walk_communities",
]
