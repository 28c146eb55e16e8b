"""Privacy at risk: how likely the privacy loss of one release stays within epsilon."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.privacy.at_risk._at_risk import (
        GaussianAtRisk,
        LaplaceAtRisk,
        LatticeLaplaceAtRisk,
        PrivacyAtRisk,
        Sided,
        best_posterior,
    )
    from ziggurat.privacy.at_risk._loss import CurveAtRisk, PairAtRisk, privacy_at_risk
    from ziggurat.privacy.at_risk._sampled import (
        CombinedConfidence,
        PrivateSamplingWarning,
        SampledSensitivity,
        dkw_confidence,
        draw_from_table,
        sample_sensitivity,
    )
    from ziggurat.privacy.at_risk._split import SplitLaplaceAtRisk
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_at_risk": "GaussianAtRisk LaplaceAtRisk LatticeLaplaceAtRisk PrivacyAtRisk Sided best_posterior",
            "_loss": "CurveAtRisk PairAtRisk privacy_at_risk",
            "_sampled": """
                CombinedConfidence PrivateSamplingWarning SampledSensitivity dkw_confidence draw_from_table
                sample_sensitivity
            """,
            "_split": "SplitLaplaceAtRisk",
        },
    )

__all__ = [
    "CombinedConfidence",
    "CurveAtRisk",
    "GaussianAtRisk",
    "LaplaceAtRisk",
    "LatticeLaplaceAtRisk",
    "PairAtRisk",
    "PrivacyAtRisk",
    "PrivateSamplingWarning",
    "SampledSensitivity",
    "Sided",
    "SplitLaplaceAtRisk",
    "best_posterior",
    "dkw_confidence",
    "draw_from_table",
    "privacy_at_risk",
    "sample_sensitivity",
]
