"""Synthetic tables: learned from rows about people, drawn anew, and never called private unless they are.

Sequential synthesis (`Synthesizer`, `synthesize`) promises nothing by itself: what its tables give away is measured by
`ziggurat.attacks`, and what they are good for by `ziggurat.utility`. `AIM` and `MST` carry a guarantee.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

_HOMES = {
    "AIM": "_aim",
    "Combined": "_combining",
    "combine": "_combining",
    "Linear": "_linear",
    "MST": "_mst",
    "Network": "_network",
    "NOT_PROMISED": "_result",
    "Synthetic": "_result",
    "Sample": "_sampling",
    "Synthesizer": "_synthesizer",
    "synthesize": "_synthesizer",
    "Cart": "_trees",
    "Forest": "_trees",
    "Written": "_writing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
