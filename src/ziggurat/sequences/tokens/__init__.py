"""Logs and other symbols: generators that carry a promise, and sequences that are protected one by one."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.tokens._choosing import GeneratorChoice, choose_generator
    from ziggurat.sequences.tokens._markov import MarkovSequences
    from ziggurat.sequences.tokens._recurrent import RecurrentSequences
    from ziggurat.sequences.tokens.privatizing import (
        GuidedPrivatizer,
        LatentPrivatizer,
        LengthRule,
        OutputPrivatizer,
        RecurrentClassifier,
        SequenceAutoencoder,
        SequencePrivatizer,
        SymbolEmbedding,
        SymbolPrivatizer,
        ThesisClaim,
        TokenPrivatizer,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_choosing": "GeneratorChoice choose_generator",
            "_recurrent": "RecurrentSequences",
            "privatizing": """
                GuidedPrivatizer LatentPrivatizer LengthRule OutputPrivatizer RecurrentClassifier SequenceAutoencoder
                SequencePrivatizer SymbolEmbedding SymbolPrivatizer ThesisClaim TokenPrivatizer
            """,
            "_markov": "MarkovSequences",
        },
    )

__all__ = [
    "GeneratorChoice",
    "GuidedPrivatizer",
    "LatentPrivatizer",
    "LengthRule",
    "MarkovSequences",
    "OutputPrivatizer",
    "RecurrentClassifier",
    "RecurrentSequences",
    "SequenceAutoencoder",
    "SequencePrivatizer",
    "SymbolEmbedding",
    "SymbolPrivatizer",
    "ThesisClaim",
    "TokenPrivatizer",
    "choose_generator",
]
