"""Judges of use: how useful copies are beside their original, and what privacy does to groups of people.

Everything here is for the steward's eyes: the figures are exact and unprotected, and nothing that is measured here
makes a copy private. Only `count_errors_privately` tells noisy figures, for a price.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.utility._comparison import Comparison, compare
    from ziggurat.utility._correlations import Correlations, correlations
    from ziggurat.utility._distributions import (
        hellinger,
        jensen_shannon,
        kl_divergence,
        normalized_kl,
        total_variation,
    )
    from ziggurat.utility._estimates import ColumnEstimate, Estimates, estimates
    from ziggurat.utility._fits import Formula
    from ziggurat.utility._intervals import Combining, Interval, interval_overlap
    from ziggurat.utility._judgement import Spread
    from ziggurat.utility._marginals import Marginal, MarginalHistogram, Marginals, marginals
    from ziggurat.utility._pairs import Pairs, pairs
    from ziggurat.utility._propensity import Propensity, propensity
    from ziggurat.utility._regression import Coefficient, ComparedRegression, regression
    from ziggurat.utility._sheets import ROWS
    from ziggurat.utility._transfer import Transfer, transfer
    from ziggurat.utility.subgroups import (
        CountedErrors,
        ErrorRange,
        GroupCost,
        GroupedErrors,
        GroupKept,
        GroupSizes,
        KeptGroups,
        compare_group_counts,
        compare_groups,
        count_errors_privately,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_comparison": "Comparison compare",
            "_correlations": "Correlations correlations",
            "_distributions": "hellinger jensen_shannon kl_divergence normalized_kl total_variation",
            "_estimates": "ColumnEstimate Estimates estimates",
            "_fits": "Formula",
            "_intervals": "Combining Interval interval_overlap",
            "_judgement": "Spread",
            "_marginals": "MarginalHistogram Marginal Marginals marginals",
            "_pairs": "Pairs pairs",
            "_propensity": "Propensity propensity",
            "_regression": "Coefficient ComparedRegression regression",
            "_sheets": "ROWS",
            "_transfer": "Transfer transfer",
            "subgroups": """
                CountedErrors ErrorRange GroupCost GroupKept GroupSizes GroupedErrors KeptGroups compare_group_counts
                compare_groups count_errors_privately
            """,
        },
    )

__all__ = [
    "ROWS",
    "Coefficient",
    "ColumnEstimate",
    "Combining",
    "ComparedRegression",
    "Comparison",
    "Correlations",
    "CountedErrors",
    "ErrorRange",
    "Estimates",
    "Formula",
    "GroupCost",
    "GroupKept",
    "GroupSizes",
    "GroupedErrors",
    "Interval",
    "KeptGroups",
    "Marginal",
    "MarginalHistogram",
    "Marginals",
    "Pairs",
    "Propensity",
    "Spread",
    "Transfer",
    "compare",
    "compare_group_counts",
    "compare_groups",
    "correlations",
    "count_errors_privately",
    "estimates",
    "hellinger",
    "interval_overlap",
    "jensen_shannon",
    "kl_divergence",
    "marginals",
    "normalized_kl",
    "pairs",
    "propensity",
    "regression",
    "total_variation",
    "transfer",
]
