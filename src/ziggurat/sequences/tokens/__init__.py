"""Logs and other symbols: generators that carry a promise, and sequences that are protected one by one."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.tokens._markov import MarkovSequences
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_markov": "MarkovSequences",
        },
    )

__all__ = [
    "MarkovSequences",
]
