"""What a privacy level costs in money, and which epsilon to choose."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.privacy.cost._binding import why_not
    from ziggurat.privacy.cost._cost import Cheapest, CostModel, Levels, Stakeholders
    from ziggurat.privacy.cost._decision import (
        EPSILON_GRID,
        PRIORS,
        Decision,
        EpsilonCandidate,
        Wanted,
        edge_of,
        round_to_digits,
    )
    from ziggurat.privacy.cost._money import Money
    from ziggurat.privacy.cost._noise import GaussianNoise, GeometricNoise, LaplaceNoise, PricedNoise
    from ziggurat.privacy.cost._published import (
        NotAGuaranteeWarning,
        probabilistic_tolerance,
        published_cheapest,
        published_combined_confidence,
        published_confidence,
        published_confidence_by_series,
        published_epsilon,
        published_level,
        published_overlap,
        published_sampled_confidence,
        samples_for,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_binding": "why_not",
            "_cost": "Cheapest CostModel Levels Stakeholders",
            "_decision": "Decision EPSILON_GRID EpsilonCandidate PRIORS Wanted edge_of round_to_digits",
            "_money": "Money",
            "_noise": "GaussianNoise GeometricNoise LaplaceNoise PricedNoise",
            "_published": """
                NotAGuaranteeWarning probabilistic_tolerance published_cheapest published_combined_confidence
                published_confidence published_confidence_by_series published_epsilon published_level published_overlap
                published_sampled_confidence samples_for
            """,
        },
    )

__all__ = [
    "EPSILON_GRID",
    "PRIORS",
    "Cheapest",
    "CostModel",
    "Decision",
    "EpsilonCandidate",
    "GaussianNoise",
    "GeometricNoise",
    "LaplaceNoise",
    "Levels",
    "Money",
    "NotAGuaranteeWarning",
    "PricedNoise",
    "Stakeholders",
    "Wanted",
    "edge_of",
    "probabilistic_tolerance",
    "published_cheapest",
    "published_combined_confidence",
    "published_confidence",
    "published_confidence_by_series",
    "published_epsilon",
    "published_level",
    "published_overlap",
    "published_sampled_confidence",
    "round_to_digits",
    "samples_for",
    "why_not",
]
