"""Attacks on synthetic tables, each against a control and a naive guess."""

from ziggurat.attacks.synthetic._alike import name_copies, number_alike, read_alike
from ziggurat.attacks.synthetic._closest import Closeness, ClosestRecords, closest_records
from ziggurat.attacks.synthetic._density_ratio import attack_synthetic_membership
from ziggurat.attacks.synthetic._evaluate import (
    GUESSES,
    AttributeInference,
    Linkability,
    SyntheticSinglingOut,
    inference,
    linkability,
    synthetic_singling_out,
)
from ziggurat.attacks.synthetic._matching_risk import MatchRisk, match_risk
from ziggurat.attacks.synthetic._scenario import Exact, SameSide, Scenario, Within

__all__ = [
    "GUESSES",
    "AttributeInference",
    "Closeness",
    "ClosestRecords",
    "Exact",
    "Linkability",
    "MatchRisk",
    "SameSide",
    "Scenario",
    "SyntheticSinglingOut",
    "Within",
    "attack_synthetic_membership",
    "closest_records",
    "inference",
    "linkability",
    "match_risk",
    "name_copies",
    "number_alike",
    "read_alike",
    "synthetic_singling_out",
]
