"""Judges of synthetic tables: how useful copies are beside their original.

Everything here is for the steward's eyes: the figures are exact and unprotected, and nothing that is measured here
makes a copy private.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.utility._comparison import Comparison, compare
    from ziggurat.utility._correlations import Correlations, correlations
    from ziggurat.utility._distances import hellinger, interval_overlap, kl_divergence, normalised_kl, total_variation
    from ziggurat.utility._estimates import Estimate, Estimates, estimates
    from ziggurat.utility._intervals import Combining, Interval
    from ziggurat.utility._judgement import Judgement, Spread
    from ziggurat.utility._marginals import Histogram, Marginal, Marginals, marginals
    from ziggurat.utility._pairs import Pairs, pairs
    from ziggurat.utility._propensity import Propensity, propensity
    from ziggurat.utility._regression import Coefficient, Regression, regression
    from ziggurat.utility._transfer import Transfer, transfer

__all__ = [
    "Coefficient",
    "Combining",
    "Comparison",
    "Correlations",
    "Estimate",
    "Estimates",
    "Histogram",
    "Interval",
    "Judgement",
    "Marginal",
    "Marginals",
    "Pairs",
    "Propensity",
    "Regression",
    "Spread",
    "Transfer",
    "compare",
    "correlations",
    "estimates",
    "hellinger",
    "interval_overlap",
    "kl_divergence",
    "marginals",
    "normalised_kl",
    "pairs",
    "propensity",
    "regression",
    "total_variation",
    "transfer",
]

_HOMES = {
    "Comparison": "_comparison",
    "compare": "_comparison",
    "Correlations": "_correlations",
    "correlations": "_correlations",
    "hellinger": "_distances",
    "interval_overlap": "_distances",
    "kl_divergence": "_distances",
    "normalised_kl": "_distances",
    "total_variation": "_distances",
    "Estimate": "_estimates",
    "Estimates": "_estimates",
    "estimates": "_estimates",
    "Combining": "_intervals",
    "Interval": "_intervals",
    "Judgement": "_judgement",
    "Spread": "_judgement",
    "Histogram": "_marginals",
    "Marginal": "_marginals",
    "Marginals": "_marginals",
    "marginals": "_marginals",
    "Pairs": "_pairs",
    "pairs": "_pairs",
    "Propensity": "_propensity",
    "propensity": "_propensity",
    "Coefficient": "_regression",
    "Regression": "_regression",
    "regression": "_regression",
    "Transfer": "_transfer",
    "transfer": "_transfer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
