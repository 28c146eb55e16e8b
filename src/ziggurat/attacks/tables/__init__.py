"""Attacks on tables whose rows are people: singling out, linking, inferring, undoing."""

from ziggurat.attacks.tables._classes import ColumnCounts, choose_columns
from ziggurat.attacks.tables._columns import ColumnSet, SinglingOut, largest_affordable, singling_out
from ziggurat.attacks.tables._covered import Cover
from ziggurat.attacks.tables._inference import Gain, Homogeneity, Skewness, homogeneity, homogeneity_of, skewness
from ziggurat.attacks.tables._intersection import Intersection, intersection
from ziggurat.attacks.tables._linkage import Linkage, linkage
from ziggurat.attacks.tables._population import PopulationUniques, hypergeometric, population_uniques
from ziggurat.attacks.tables._ratings import (
    CurvePoint,
    RatingsCurve,
    Scoreboard,
    invented_ratings,
    ratings_curve,
    scoreboard,
)
from ziggurat.attacks.tables._risk import Reidentification, RiskReport, risk, risk_of
from ziggurat.attacks.tables._undone import GivenAway, Undone, find_undone
from ziggurat.attacks.tables._verified import Claims, Verified, verify_models

__all__ = [
    "Claims",
    "ColumnCounts",
    "ColumnSet",
    "Cover",
    "CurvePoint",
    "Gain",
    "GivenAway",
    "Homogeneity",
    "Intersection",
    "Linkage",
    "PopulationUniques",
    "RatingsCurve",
    "Reidentification",
    "RiskReport",
    "Scoreboard",
    "SinglingOut",
    "Skewness",
    "Undone",
    "Verified",
    "choose_columns",
    "find_undone",
    "homogeneity",
    "homogeneity_of",
    "hypergeometric",
    "intersection",
    "invented_ratings",
    "largest_affordable",
    "linkage",
    "population_uniques",
    "ratings_curve",
    "risk",
    "risk_of",
    "scoreboard",
    "singling_out",
    "skewness",
    "verify_models",
]
