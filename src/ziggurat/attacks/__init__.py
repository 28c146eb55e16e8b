"""Judges of tables: how risky they are, whom their columns single out, and what attackers learn from them.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.attacks._closest import Closeness, ClosestRecords, closest_records
    from ziggurat.attacks._coded import Counts
    from ziggurat.attacks._columns import ColumnSet, SinglingOut, singling_out
    from ziggurat.attacks._covered import Cover
    from ziggurat.attacks._epsilon import EpsilonBound, epsilon_bound
    from ziggurat.attacks._finding import Difference, Finding, Share
    from ziggurat.attacks._guesses import Excess, Guesses
    from ziggurat.attacks._inference import Gain, Homogeneity, Skewness, homogeneity, homogeneity_of, skewness
    from ziggurat.attacks._intersection import Intersection, intersection
    from ziggurat.attacks._linkage import Linkage, linkage
    from ziggurat.attacks._matching_risk import MatchRisk, match_risk
    from ziggurat.attacks._population import PopulationUniques, population_uniques
    from ziggurat.attacks._ratings import (
        CurvePoint,
        RatingsCurve,
        Scoreboard,
        invented_ratings,
        ratings_curve,
        scoreboard,
    )
    from ziggurat.attacks._risk import Reidentification, RiskReport, risk, risk_of
    from ziggurat.attacks._scenario import Exact, SameSide, Scenario, Within
    from ziggurat.attacks._synthetic import (
        AttributeInference,
        Linkability,
        SyntheticSinglingOut,
        inference,
        linkability,
        synthetic_singling_out,
    )
    from ziggurat.attacks._undone import Told, Undone, undone
    from ziggurat.attacks._verified import Claims, Verified, verified

__all__ = [
    "AttributeInference",
    "Claims",
    "Closeness",
    "ClosestRecords",
    "ColumnSet",
    "Counts",
    "Cover",
    "CurvePoint",
    "Difference",
    "EpsilonBound",
    "Exact",
    "Excess",
    "Finding",
    "Gain",
    "Guesses",
    "Homogeneity",
    "Intersection",
    "Linkability",
    "Linkage",
    "MatchRisk",
    "PopulationUniques",
    "RatingsCurve",
    "Reidentification",
    "RiskReport",
    "SameSide",
    "Scenario",
    "Scoreboard",
    "Share",
    "SinglingOut",
    "Skewness",
    "SyntheticSinglingOut",
    "Told",
    "Undone",
    "Verified",
    "Within",
    "closest_records",
    "epsilon_bound",
    "homogeneity",
    "homogeneity_of",
    "inference",
    "intersection",
    "invented_ratings",
    "linkability",
    "linkage",
    "match_risk",
    "population_uniques",
    "ratings_curve",
    "risk",
    "risk_of",
    "scoreboard",
    "singling_out",
    "skewness",
    "synthetic_singling_out",
    "undone",
    "verified",
]

_HOMES = {
    "Closeness": "_closest",
    "ClosestRecords": "_closest",
    "closest_records": "_closest",
    "ColumnSet": "_columns",
    "SinglingOut": "_columns",
    "singling_out": "_columns",
    "Counts": "_coded",
    "Cover": "_covered",
    "EpsilonBound": "_epsilon",
    "epsilon_bound": "_epsilon",
    "Difference": "_finding",
    "Finding": "_finding",
    "Share": "_finding",
    "Excess": "_guesses",
    "Guesses": "_guesses",
    "Gain": "_inference",
    "Homogeneity": "_inference",
    "Skewness": "_inference",
    "homogeneity": "_inference",
    "homogeneity_of": "_inference",
    "skewness": "_inference",
    "Intersection": "_intersection",
    "intersection": "_intersection",
    "Linkage": "_linkage",
    "linkage": "_linkage",
    "MatchRisk": "_matching_risk",
    "match_risk": "_matching_risk",
    "PopulationUniques": "_population",
    "population_uniques": "_population",
    "CurvePoint": "_ratings",
    "RatingsCurve": "_ratings",
    "Scoreboard": "_ratings",
    "invented_ratings": "_ratings",
    "ratings_curve": "_ratings",
    "scoreboard": "_ratings",
    "Reidentification": "_risk",
    "RiskReport": "_risk",
    "risk": "_risk",
    "risk_of": "_risk",
    "Exact": "_scenario",
    "SameSide": "_scenario",
    "Scenario": "_scenario",
    "Within": "_scenario",
    "AttributeInference": "_synthetic",
    "Linkability": "_synthetic",
    "SyntheticSinglingOut": "_synthetic",
    "inference": "_synthetic",
    "linkability": "_synthetic",
    "synthetic_singling_out": "_synthetic",
    "Told": "_undone",
    "Undone": "_undone",
    "undone": "_undone",
    "Claims": "_verified",
    "Verified": "_verified",
    "verified": "_verified",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
