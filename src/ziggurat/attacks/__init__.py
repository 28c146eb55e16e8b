"""Judges of tables: how risky they are, whom their columns single out, and what attackers learn from them.

Everything here is for the steward's eyes: the figures are exact and unprotected, and no privacy is promised or spent.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.attacks._columns import ColumnSet, SinglingOut, singling_out
    from ziggurat.attacks._finding import Difference, Finding, Share
    from ziggurat.attacks._inference import Gain, Homogeneity, Skewness, homogeneity, skewness
    from ziggurat.attacks._intersection import Intersection, intersection
    from ziggurat.attacks._linkage import Linkage, linkage
    from ziggurat.attacks._population import PopulationUniques, population_uniques
    from ziggurat.attacks._ratings import (
        CurvePoint,
        RatingsCurve,
        Scoreboard,
        invented_ratings,
        ratings_curve,
        scoreboard,
    )
    from ziggurat.attacks._risk import Reidentification, RiskReport, risk

__all__ = [
    "ColumnSet",
    "CurvePoint",
    "Difference",
    "Finding",
    "Gain",
    "Homogeneity",
    "Intersection",
    "Linkage",
    "PopulationUniques",
    "RatingsCurve",
    "Reidentification",
    "RiskReport",
    "Scoreboard",
    "Share",
    "SinglingOut",
    "Skewness",
    "homogeneity",
    "intersection",
    "invented_ratings",
    "linkage",
    "population_uniques",
    "ratings_curve",
    "risk",
    "scoreboard",
    "singling_out",
    "skewness",
]

_HOMES = {
    "ColumnSet": "_columns",
    "SinglingOut": "_columns",
    "singling_out": "_columns",
    "Difference": "_finding",
    "Finding": "_finding",
    "Share": "_finding",
    "Gain": "_inference",
    "Homogeneity": "_inference",
    "Skewness": "_inference",
    "homogeneity": "_inference",
    "skewness": "_inference",
    "Intersection": "_intersection",
    "intersection": "_intersection",
    "Linkage": "_linkage",
    "linkage": "_linkage",
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
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
