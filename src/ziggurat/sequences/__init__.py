"""Sequences that can leave: logs, symbols and text, with the sequence or its owner as the unit of the promise.

`Sequences` are ragged arrays over public symbols (`SequenceDomain`). `tokens` learns generators of logs with a promise,
and protects sequences one by one; `text` writes headlines.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences._domain import SequenceDomain, Token
    from ziggurat.sequences._generator import SequenceGenerator
    from ziggurat.sequences._layout import SequenceLayout, domain_of
    from ziggurat.sequences._reading import read_sequences
    from ziggurat.sequences._sequences import Sequences
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_domain": "SequenceDomain Token",
            "_generator": "SequenceGenerator",
            "_layout": "SequenceLayout domain_of",
            "_reading": "read_sequences",
            "_sequences": "Sequences",
        },
    )

__all__ = [
    "SequenceDomain",
    "SequenceGenerator",
    "SequenceLayout",
    "Sequences",
    "Token",
    "domain_of",
    "read_sequences",
]
