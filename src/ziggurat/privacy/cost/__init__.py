"""What a privacy level costs in money, and which epsilon to choose."""

from ziggurat.privacy.cost._binding import why_not
from ziggurat.privacy.cost._cost import Cheapest, CostModel, Levels, Stakeholders
from ziggurat.privacy.cost._decision import GRID, PRIORS, Candidate, Decision, Wanted, edge, rounded
from ziggurat.privacy.cost._money import Money
from ziggurat.privacy.cost._noise import GaussianNoise, GeometricNoise, LaplaceNoise, Noise
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

__all__ = [
    "GRID",
    "PRIORS",
    "Candidate",
    "Cheapest",
    "CostModel",
    "Decision",
    "GaussianNoise",
    "GeometricNoise",
    "LaplaceNoise",
    "Levels",
    "Money",
    "Noise",
    "NotAGuaranteeWarning",
    "Stakeholders",
    "Wanted",
    "edge",
    "probabilistic_tolerance",
    "published_cheapest",
    "published_combined_confidence",
    "published_confidence",
    "published_confidence_by_series",
    "published_epsilon",
    "published_level",
    "published_overlap",
    "published_sampled_confidence",
    "rounded",
    "samples_for",
    "why_not",
]
