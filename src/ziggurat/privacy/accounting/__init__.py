"""Units, relations, events and guarantees; composition by every proven route; filters."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.privacy.accounting._account import Account, compose
    from ziggurat.privacy.accounting._amounts import (
        Amount,
        exact,
        exact_confidence,
        exact_delta,
        exact_epsilon,
        exact_positive,
        float_above,
        float_below,
        in_words,
        upper_rational,
        whole_number,
    )
    from ziggurat.privacy.accounting._convolution import Cumulative
    from ziggurat.privacy.accounting._curves import (
        Array,
        discrete_laplace_delta,
        gaussian_delta,
        gaussian_epsilon,
        gaussian_mu,
        renyi_to_epsilon,
        smallest_where,
        zcdp_rho,
    )
    from ziggurat.privacy.accounting._events import (
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
        compose_events,
        event_from_dict,
        event_from_json,
        rename_unit,
    )
    from ziggurat.privacy.accounting._filters import Filter, Spent, make_filter
    from ziggurat.privacy.accounting._guarantees import (
        ApproximateDP,
        GaussianDP,
        Guarantee,
        PrivacyLoss,
        PureDP,
        RenyiDP,
        ZeroConcentratedDP,
        factor_in_words,
    )
    from ziggurat.privacy.accounting._loss import LOSS_STEP, Losses
    from ziggurat.privacy.accounting._neighbours import Neighbours, Relation
    from ziggurat.privacy.accounting._profiles import Profile, profile
    from ziggurat.privacy.accounting._sizes import Size, fewest_rows, require_declared
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_account": "Account compose",
            "_amounts": """
                Amount exact exact_confidence exact_delta exact_epsilon exact_positive float_above float_below in_words
                upper_rational whole_number
            """,
            "_convolution": "Cumulative",
            "_curves": """
                Array discrete_laplace_delta gaussian_delta gaussian_epsilon gaussian_mu renyi_to_epsilon smallest_where
                zcdp_rho
            """,
            "_events": """
                ApproximateEvent ComposedEvent DiscreteGaussianEvent Event ExponentialEvent GaussianEvent GroupEvent
                LaplaceEvent ParallelEvent PureEvent RandomizedResponseEvent RenyiEvent RepeatedEvent
                SampledGaussianEvent UnboundedEvent ZeroConcentratedEvent as_replace_one compose_events event_from_dict
                event_from_json rename_unit
            """,
            "_filters": "Filter Spent make_filter",
            "_guarantees": """
                ApproximateDP GaussianDP Guarantee PrivacyLoss PureDP RenyiDP ZeroConcentratedDP factor_in_words
            """,
            "_loss": "LOSS_STEP Losses",
            "_neighbours": "Neighbours Relation",
            "_profiles": "Profile profile",
            "_sizes": "Size fewest_rows require_declared",
        },
    )

__all__ = [
    "LOSS_STEP",
    "Account",
    "Amount",
    "ApproximateDP",
    "ApproximateEvent",
    "Array",
    "ComposedEvent",
    "Cumulative",
    "DiscreteGaussianEvent",
    "Event",
    "ExponentialEvent",
    "Filter",
    "GaussianDP",
    "GaussianEvent",
    "GroupEvent",
    "Guarantee",
    "LaplaceEvent",
    "Losses",
    "Neighbours",
    "ParallelEvent",
    "PrivacyLoss",
    "Profile",
    "PureDP",
    "PureEvent",
    "RandomizedResponseEvent",
    "Relation",
    "RenyiDP",
    "RenyiEvent",
    "RepeatedEvent",
    "SampledGaussianEvent",
    "Size",
    "Spent",
    "UnboundedEvent",
    "ZeroConcentratedDP",
    "ZeroConcentratedEvent",
    "as_replace_one",
    "compose",
    "compose_events",
    "discrete_laplace_delta",
    "event_from_dict",
    "event_from_json",
    "exact",
    "exact_confidence",
    "exact_delta",
    "exact_epsilon",
    "exact_positive",
    "factor_in_words",
    "fewest_rows",
    "float_above",
    "float_below",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_mu",
    "in_words",
    "make_filter",
    "profile",
    "rename_unit",
    "renyi_to_epsilon",
    "require_declared",
    "smallest_where",
    "upper_rational",
    "whole_number",
    "zcdp_rho",
]
