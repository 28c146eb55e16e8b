"""Synthetic tables: learned from rows about people, drawn anew, and never called private unless they are.

Sequential synthesis (`Synthesizer`, `synthesize`) promises nothing by itself: what its tables give away is measured by
`ziggurat.attacks`, and what they are good for by `ziggurat.utility`. `AIM` and `MST` carry a guarantee.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.synthesize._combining import Combined, combine

__all__ = [
    "Combined",
    "combine",
]

_HOMES = {
    "Combined": "_combining",
    "combine": "_combining",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
