"""Attacks on trajectories: how few points single people out, whom a trace is linked with, and whom a model copied.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks.mobility._anonymity import (
        AnonymitySets,
        FoundHomes,
        TopPlaces,
        TrajectoryAnonymity,
        count_anonymity,
        find_homes,
        infer_homes,
        rank_top_places,
    )
    from ziggurat.attacks.mobility._canaries import draw_canaries, score_by_visits
    from ziggurat.attacks.mobility._closest import DISTANCES, ClosestTrajectories, closest_trajectories
    from ziggurat.attacks.mobility._found import (
        ComparedIdentifiability,
        FoundByPoints,
        compare_identifiability,
        find_by_points,
    )
    from ziggurat.attacks.mobility._linking import LinkedTraces, cut_in_time, link_traces
    from ziggurat.attacks.mobility._resolution import Resolution
    from ziggurat.attacks.mobility._uniqueness import (
        CoarsenedUniqueness,
        Uniqueness,
        coarsen_uniqueness,
        measure_uniqueness,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_anonymity": """
                AnonymitySets FoundHomes TopPlaces TrajectoryAnonymity count_anonymity find_homes infer_homes
                rank_top_places
            """,
            "_canaries": "draw_canaries score_by_visits",
            "_closest": "DISTANCES ClosestTrajectories closest_trajectories",
            "_found": "ComparedIdentifiability FoundByPoints compare_identifiability find_by_points",
            "_linking": "LinkedTraces cut_in_time link_traces",
            "_resolution": "Resolution",
            "_uniqueness": "CoarsenedUniqueness Uniqueness coarsen_uniqueness measure_uniqueness",
        },
    )

__all__ = [
    "DISTANCES",
    "AnonymitySets",
    "ClosestTrajectories",
    "CoarsenedUniqueness",
    "ComparedIdentifiability",
    "FoundByPoints",
    "FoundHomes",
    "LinkedTraces",
    "Resolution",
    "TopPlaces",
    "TrajectoryAnonymity",
    "Uniqueness",
    "closest_trajectories",
    "coarsen_uniqueness",
    "compare_identifiability",
    "count_anonymity",
    "cut_in_time",
    "draw_canaries",
    "find_by_points",
    "find_homes",
    "infer_homes",
    "link_traces",
    "measure_uniqueness",
    "rank_top_places",
    "score_by_visits",
]
