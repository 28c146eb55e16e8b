"""Communities with a promise about each person: a topic model learned through noise, and how it is described."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.mobility.communities.private._describing import describe_communities, draw_communities
    from ziggurat.sequences.mobility.communities.private._learning import LearnedTopics
    from ziggurat.sequences.mobility.communities.private._stlda import PrivateSTLDA, Sees
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_describing": "describe_communities draw_communities",
            "_learning": "LearnedTopics",
            "_stlda": "PrivateSTLDA Sees",
        },
    )

__all__ = ["LearnedTopics", "PrivateSTLDA", "Sees", "describe_communities", "draw_communities"]
