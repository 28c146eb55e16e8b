"""Judges of tables: how risky they are, whom their columns single out, and what attackers learn from them.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

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
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_closest": "Closeness ClosestRecords closest_records",
            "_coded": "Counts",
            "_columns": "ColumnSet SinglingOut singling_out",
            "_covered": "Cover",
            "_epsilon": "EpsilonBound epsilon_bound",
            "_finding": "Difference Finding Share",
            "_guesses": "Excess Guesses",
            "_inference": "Gain Homogeneity Skewness homogeneity homogeneity_of skewness",
            "_intersection": "Intersection intersection",
            "_linkage": "Linkage linkage",
            "_matching_risk": "MatchRisk match_risk",
            "_population": "PopulationUniques population_uniques",
            "_ratings": "CurvePoint RatingsCurve Scoreboard invented_ratings ratings_curve scoreboard",
            "_risk": "Reidentification RiskReport risk risk_of",
            "_scenario": "Exact SameSide Scenario Within",
            "_synthetic": "AttributeInference Linkability SyntheticSinglingOut inference linkability "
            "synthetic_singling_out",
            "_undone": "Told Undone undone",
            "_verified": "Claims Verified verified",
        },
    )

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
