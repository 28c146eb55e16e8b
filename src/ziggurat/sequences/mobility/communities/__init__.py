"""Communities of people by their visits: topic models of places and hours, raw, and one that carries a promise.

`SLDA` sees places, `TLDA` hours, and `STLDA` both; a person is all visits of an owner, and mixes communities.
`find_by_louvain` is what they are compared with; `walk` draws trajectories from the trips of a community's members.
None of these makes a promise; through `PrivateSTLDA` communities may be described to outsiders.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.mobility.communities._assigning import AssignmentRule, Communities
    from ziggurat.sequences.mobility.communities._classifying import ClassificationRule, classify_trajectories
    from ziggurat.sequences.mobility.communities._common import count_common_visits
    from ziggurat.sequences.mobility.communities._louvain import CommuterGraph, find_by_louvain
    from ziggurat.sequences.mobility.communities._models import SLDA, STLDA, TLDA, TopicModel
    from ziggurat.sequences.mobility.communities._transport import TransportationGraph
    from ziggurat.sequences.mobility.communities._walking import walk
    from ziggurat.sequences.mobility.communities.private import (
        LearnedTopics,
        PrivateSTLDA,
        Sees,
        describe_communities,
        draw_communities,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_assigning": "AssignmentRule Communities",
            "_classifying": "ClassificationRule classify_trajectories",
            "_common": "count_common_visits",
            "_louvain": "CommuterGraph find_by_louvain",
            "_models": "SLDA STLDA TLDA TopicModel",
            "_transport": "TransportationGraph",
            "_walking": "walk",
            "private": "LearnedTopics PrivateSTLDA Sees describe_communities draw_communities",
        },
    )

__all__ = [
    "SLDA",
    "STLDA",
    "TLDA",
    "AssignmentRule",
    "ClassificationRule",
    "Communities",
    "CommuterGraph",
    "LearnedTopics",
    "PrivateSTLDA",
    "Sees",
    "TopicModel",
    "TransportationGraph",
    "classify_trajectories",
    "count_common_visits",
    "describe_communities",
    "draw_communities",
    "find_by_louvain",
    "walk",
]
