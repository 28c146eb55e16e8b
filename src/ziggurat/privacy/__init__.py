"""Units, neighbour relations, events, guarantees, accountants and filters; privacy at risk and what it costs."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy
from ziggurat.data import Unit

if TYPE_CHECKING:
    from ziggurat.privacy._account import Account, compose
    from ziggurat.privacy._amounts import Amount, exact, exact_delta, exact_epsilon, exact_positive, in_words, whole
    from ziggurat.privacy._at_risk import (
        GaussianAtRisk,
        LaplaceAtRisk,
        LatticeLaplaceAtRisk,
        PrivacyAtRisk,
        best_posterior,
        exact_confidence,
    )
    from ziggurat.privacy._at_risk_loss import CurveAtRisk, PairAtRisk, at_risk
    from ziggurat.privacy._at_risk_published import (
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
    from ziggurat.privacy._at_risk_sampled import (
        Combined,
        PrivateSamplingWarning,
        SampledSensitivity,
        dkw_confidence,
        sample_sensitivity,
        subsampled,
    )
    from ziggurat.privacy._at_risk_split import SplitLaplaceAtRisk
    from ziggurat.privacy._cost import Cheapest, CostModel, Levels, Stakeholders
    from ziggurat.privacy._curves import gaussian_delta, gaussian_epsilon, gaussian_mu
    from ziggurat.privacy._decision import Candidate, Decision, Wanted
    from ziggurat.privacy._decision_binding import why_not
    from ziggurat.privacy._decision_noise import GaussianNoise, GeometricNoise, LaplaceNoise, Noise
    from ziggurat.privacy._events import (
        ApproximateEvent,
        ComposedEvent,
        DiscreteGaussianEvent,
        Event,
        ExponentialEvent,
        GaussianEvent,
        GroupEvent,
        LaplaceEvent,
        ParallelEvent,
        PureEvent,
        RandomizedResponseEvent,
        RenyiEvent,
        RepeatedEvent,
        SampledGaussianEvent,
        UnboundedEvent,
        ZeroConcentratedEvent,
        as_replace_one,
        composed,
        event_from_dict,
        event_from_json,
        renamed,
    )
    from ziggurat.privacy._filters import Filter, Spent, make_filter
    from ziggurat.privacy._guarantees import (
        ApproximateDP,
        GaussianDP,
        Guarantee,
        PrivacyLoss,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
    )
    from ziggurat.privacy._money import Money
    from ziggurat.privacy._neighbours import Neighbours, Relation
    from ziggurat.privacy._profiles import Profile, profile
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_account": "Account compose",
            "_amounts": "Amount exact exact_delta exact_epsilon exact_positive in_words whole",
            "_at_risk": (
                "GaussianAtRisk LaplaceAtRisk LatticeLaplaceAtRisk PrivacyAtRisk best_posterior exact_confidence"
            ),
            "_at_risk_loss": "CurveAtRisk PairAtRisk at_risk",
            "_at_risk_published": (
                "NotAGuaranteeWarning probabilistic_tolerance published_cheapest published_combined_confidence "
                "published_confidence published_confidence_by_series published_epsilon published_level "
                "published_overlap published_sampled_confidence samples_for"
            ),
            "_at_risk_sampled": (
                "Combined PrivateSamplingWarning SampledSensitivity dkw_confidence sample_sensitivity subsampled"
            ),
            "_at_risk_split": "SplitLaplaceAtRisk",
            "_cost": "Cheapest CostModel Levels Stakeholders",
            "_curves": "gaussian_delta gaussian_epsilon gaussian_mu",
            "_decision": "Candidate Decision Wanted",
            "_decision_binding": "why_not",
            "_decision_noise": "GaussianNoise GeometricNoise LaplaceNoise Noise",
            "_events": (
                "ApproximateEvent ComposedEvent DiscreteGaussianEvent Event ExponentialEvent GaussianEvent "
                "GroupEvent LaplaceEvent ParallelEvent PureEvent RandomizedResponseEvent RenyiEvent RepeatedEvent "
                "SampledGaussianEvent UnboundedEvent ZeroConcentratedEvent as_replace_one composed event_from_dict "
                "event_from_json renamed"
            ),
            "_filters": "Filter Spent make_filter",
            "_guarantees": "ApproximateDP GaussianDP Guarantee PrivacyLoss PureDP RenyiDP ZeroConcentratedDP",
            "_money": "Money",
            "_neighbours": "Neighbours Relation",
            "_profiles": "Profile profile",
        },
    )

__all__ = [
    "Account",
    "Amount",
    "ApproximateDP",
    "ApproximateEvent",
    "Candidate",
    "Cheapest",
    "Combined",
    "ComposedEvent",
    "CostModel",
    "CurveAtRisk",
    "Decision",
    "DiscreteGaussianEvent",
    "Event",
    "ExponentialEvent",
    "Filter",
    "GaussianAtRisk",
    "GaussianDP",
    "GaussianEvent",
    "GaussianNoise",
    "GeometricNoise",
    "GroupEvent",
    "Guarantee",
    "LaplaceAtRisk",
    "LaplaceEvent",
    "LaplaceNoise",
    "LatticeLaplaceAtRisk",
    "Levels",
    "Money",
    "Neighbours",
    "Noise",
    "NotAGuaranteeWarning",
    "PairAtRisk",
    "ParallelEvent",
    "PrivacyAtRisk",
    "PrivacyLoss",
    "PrivateSamplingWarning",
    "Profile",
    "PureDP",
    "PureEvent",
    "RandomizedResponseEvent",
    "Relation",
    "RenyiDP",
    "RenyiEvent",
    "RepeatedEvent",
    "SampledGaussianEvent",
    "SampledSensitivity",
    "Spent",
    "SplitLaplaceAtRisk",
    "Stakeholders",
    "UnboundedEvent",
    "Unit",
    "Wanted",
    "ZeroConcentratedDP",
    "ZeroConcentratedEvent",
    "as_replace_one",
    "at_risk",
    "best_posterior",
    "compose",
    "composed",
    "dkw_confidence",
    "event_from_dict",
    "event_from_json",
    "exact",
    "exact_confidence",
    "exact_delta",
    "exact_epsilon",
    "exact_positive",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "in_words",
    "make_filter",
    "probabilistic_tolerance",
    "profile",
    "published_cheapest",
    "published_combined_confidence",
    "published_confidence",
    "published_confidence_by_series",
    "published_epsilon",
    "published_level",
    "published_overlap",
    "published_sampled_confidence",
    "renamed",
    "sample_sensitivity",
    "samples_for",
    "subsampled",
    "whole",
    "why_not",
]
