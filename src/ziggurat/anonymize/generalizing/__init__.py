"""Generalise and suppress until rows look alike, at the least loss."""

from ziggurat.anonymize.generalizing._anonymize import NOT_PROMISED, Anonymized, anonymize
from ziggurat.anonymize.generalizing._metrics import (
    METRICS,
    ClassSize,
    Discernibility,
    Entropy,
    Loss,
    Metric,
    Precision,
)
from ziggurat.anonymize.generalizing._models import (
    AverageRisk,
    HighestRisk,
    KAnonymity,
    KMap,
    LDiversity,
    Presence,
    PrivacyModel,
    TCloseness,
)
from ziggurat.anonymize.generalizing._published import Publication
from ziggurat.anonymize.generalizing._search import BestGeneralization
from ziggurat.anonymize.generalizing._solutions import Analysis, Solutions

__all__ = [
    "METRICS",
    "NOT_PROMISED",
    "Analysis",
    "Anonymized",
    "AverageRisk",
    "BestGeneralization",
    "ClassSize",
    "Discernibility",
    "Entropy",
    "HighestRisk",
    "KAnonymity",
    "KMap",
    "LDiversity",
    "Loss",
    "Metric",
    "Precision",
    "Presence",
    "PrivacyModel",
    "Publication",
    "Solutions",
    "TCloseness",
    "anonymize",
]
