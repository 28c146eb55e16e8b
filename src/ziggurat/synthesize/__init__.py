"""Synthetic tables: learned from rows about people, drawn anew, and never called private unless they are.

Sequential synthesis (`Synthesizer`, `synthesize`) promises nothing by itself: what its tables give away is measured by
`ziggurat.attacks`, and what they are good for by `ziggurat.utility`. `AIM` and `MST` carry a guarantee.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.synthesize._combining import COMBINING_RULES, Combined, combine_estimates
    from ziggurat.synthesize._result import NOT_PROMISED, Origin, Synthetic
    from ziggurat.synthesize._writing import WrittenCopies, name_paths, read_facts, write_copies
    from ziggurat.synthesize.columns import Synthesizer, synthesize
    from ziggurat.synthesize.learners import Cart, Forest, Linear, Sample, SmallNetwork
    from ziggurat.synthesize.marginals import AIM, MST
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_combining": "Combined COMBINING_RULES combine_estimates",
            "_result": "NOT_PROMISED Origin Synthetic",
            "_writing": "WrittenCopies read_facts name_paths write_copies",
            "columns": "Synthesizer synthesize",
            "learners": "Cart Forest Linear SmallNetwork Sample",
            "marginals": "AIM MST",
        },
    )

__all__ = [
    "AIM",
    "COMBINING_RULES",
    "MST",
    "NOT_PROMISED",
    "Cart",
    "Combined",
    "Forest",
    "Linear",
    "Origin",
    "Sample",
    "SmallNetwork",
    "Synthesizer",
    "Synthetic",
    "WrittenCopies",
    "combine_estimates",
    "name_paths",
    "read_facts",
    "synthesize",
    "write_copies",
]
