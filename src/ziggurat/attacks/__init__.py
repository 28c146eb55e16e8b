"""Judges of tables: how risky they are, whom their columns single out, and what attackers learn from them.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.attacks._epsilon import EpsilonBound, epsilon_bound
    from ziggurat.attacks._finding import Difference, Share
    from ziggurat.attacks._guesses import Excess, Guesses
    from ziggurat.attacks.synthetic import (
        AttributeInference,
        Closeness,
        ClosestRecords,
        Exact,
        Linkability,
        MatchRisk,
        SameSide,
        Scenario,
        SyntheticSinglingOut,
        Within,
        attack_synthetic_membership,
        closest_records,
        inference,
        linkability,
        match_risk,
        synthetic_singling_out,
    )
    from ziggurat.attacks.tables import (
        Claims,
        ColumnCounts,
        ColumnSet,
        Cover,
        CurvePoint,
        Gain,
        GivenAway,
        Homogeneity,
        Intersection,
        Linkage,
        PopulationUniques,
        RatingsCurve,
        Reidentification,
        RiskReport,
        Scoreboard,
        SinglingOut,
        Skewness,
        Undone,
        Verified,
        find_undone,
        homogeneity,
        homogeneity_of,
        intersection,
        invented_ratings,
        linkage,
        population_uniques,
        ratings_curve,
        risk,
        risk_of,
        scoreboard,
        singling_out,
        skewness,
        verify_models,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_epsilon": "EpsilonBound epsilon_bound",
            "_finding": "Difference Share",
            "_guesses": "Excess Guesses",
            "synthetic": """
                AttributeInference Closeness ClosestRecords Exact Linkability MatchRisk SameSide Scenario
                SyntheticSinglingOut Within attack_synthetic_membership closest_records inference linkability match_risk
                synthetic_singling_out
            """,
            "tables": """
                Claims ColumnSet ColumnCounts Cover CurvePoint Gain Homogeneity Intersection Linkage PopulationUniques
                RatingsCurve Reidentification RiskReport Scoreboard SinglingOut Skewness GivenAway Undone Verified
                homogeneity homogeneity_of intersection invented_ratings linkage population_uniques ratings_curve risk
                risk_of scoreboard singling_out skewness find_undone verify_models
            """,
        },
    )

__all__ = [
    "AttributeInference",
    "Claims",
    "Closeness",
    "ClosestRecords",
    "ColumnCounts",
    "ColumnSet",
    "Cover",
    "CurvePoint",
    "Difference",
    "EpsilonBound",
    "Exact",
    "Excess",
    "Gain",
    "GivenAway",
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
    "Undone",
    "Verified",
    "Within",
    "attack_synthetic_membership",
    "closest_records",
    "epsilon_bound",
    "find_undone",
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
    "verify_models",
]
