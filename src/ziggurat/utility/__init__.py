"""Judges of synthetic tables: how useful copies are beside their original.

Everything here is for the steward's eyes: the figures are exact and unprotected, and nothing that is measured here
makes a copy private.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.utility._comparison import Comparison, compare
    from ziggurat.utility._correlations import Correlations, correlations
    from ziggurat.utility._distributions import hellinger, kl_divergence, normalised_kl, total_variation
    from ziggurat.utility._estimates import Estimate, Estimates, estimates
    from ziggurat.utility._formula import Formula
    from ziggurat.utility._intervals import Combining, Interval, interval_overlap
    from ziggurat.utility._judgement import Judgement, Spread
    from ziggurat.utility._marginals import Histogram, Marginal, Marginals, marginals
    from ziggurat.utility._pairs import Pairs, pairs
    from ziggurat.utility._propensity import Propensity, propensity
    from ziggurat.utility._regression import Coefficient, Regression, regression
    from ziggurat.utility._sheets import ROWS
    from ziggurat.utility._transfer import Transfer, transfer
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_comparison": "Comparison compare",
            "_correlations": "Correlations correlations",
            "_distributions": "hellinger kl_divergence normalised_kl total_variation",
            "_estimates": "Estimate Estimates estimates",
            "_formula": "Formula",
            "_intervals": "Combining Interval interval_overlap",
            "_judgement": "Judgement Spread",
            "_marginals": "Histogram Marginal Marginals marginals",
            "_pairs": "Pairs pairs",
            "_propensity": "Propensity propensity",
            "_regression": "Coefficient Regression regression",
            "_sheets": "ROWS",
            "_transfer": "Transfer transfer",
        },
    )

__all__ = [
    "ROWS",
    "Coefficient",
    "Combining",
    "Comparison",
    "Correlations",
    "Estimate",
    "Estimates",
    "Formula",
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
