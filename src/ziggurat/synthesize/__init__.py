"""Synthetic tables: learned from rows about people, drawn anew, and never called private unless they are.

Sequential synthesis (`Synthesizer`, `synthesize`) promises nothing by itself: what its tables give away is measured by
`ziggurat.attacks`, and what they are good for by `ziggurat.utility`. `AIM` and `MST` carry a guarantee.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.synthesize._aim import AIM
    from ziggurat.synthesize._combining import Combined, combine
    from ziggurat.synthesize._linear import Linear
    from ziggurat.synthesize._mst import MST
    from ziggurat.synthesize._network import Network
    from ziggurat.synthesize._result import NOT_PROMISED, Synthetic
    from ziggurat.synthesize._sampling import Sample
    from ziggurat.synthesize._synthesizer import Synthesizer, synthesize
    from ziggurat.synthesize._trees import Cart, Forest
    from ziggurat.synthesize._writing import Written
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_aim": "AIM",
            "_combining": "Combined combine",
            "_linear": "Linear",
            "_mst": "MST",
            "_network": "Network",
            "_result": "NOT_PROMISED Synthetic",
            "_sampling": "Sample",
            "_synthesizer": "Synthesizer synthesize",
            "_trees": "Cart Forest",
            "_writing": "Written",
        },
    )

__all__ = [
    "AIM",
    "MST",
    "NOT_PROMISED",
    "Cart",
    "Combined",
    "Forest",
    "Linear",
    "Network",
    "Sample",
    "Synthesizer",
    "Synthetic",
    "Written",
    "combine",
    "synthesize",
]
