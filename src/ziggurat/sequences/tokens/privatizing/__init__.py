"""Sequences that are protected one by one: the five ideas of document 000, each with the promise that is true.

`SymbolPrivatizer` (idea 1) exchanges symbols; `TokenPrivatizer` (2) and `OutputPrivatizer` (4) protect what a Seq2Seq
network says of each next symbol; `LatentPrivatizer` (3) and `GuidedPrivatizer` (5) the vector between its halves.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.tokens.privatizing._autoencoder import SequenceAutoencoder
    from ziggurat.sequences.tokens.privatizing._base import SequencePrivatizer, ThesisClaim
    from ziggurat.sequences.tokens.privatizing._classifier import RecurrentClassifier
    from ziggurat.sequences.tokens.privatizing._embedding import SymbolEmbedding
    from ziggurat.sequences.tokens.privatizing._latent import GuidedPrivatizer, LatentPrivatizer
    from ziggurat.sequences.tokens.privatizing._lengths import LengthRule
    from ziggurat.sequences.tokens.privatizing._outputs import OutputPrivatizer, TokenPrivatizer
    from ziggurat.sequences.tokens.privatizing._symbols import SymbolPrivatizer
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_autoencoder": "SequenceAutoencoder",
            "_base": "SequencePrivatizer ThesisClaim",
            "_classifier": "RecurrentClassifier",
            "_embedding": "SymbolEmbedding",
            "_latent": "GuidedPrivatizer LatentPrivatizer",
            "_lengths": "LengthRule",
            "_outputs": "OutputPrivatizer TokenPrivatizer",
            "_symbols": "SymbolPrivatizer",
        },
    )

__all__ = [
    "GuidedPrivatizer",
    "LatentPrivatizer",
    "LengthRule",
    "OutputPrivatizer",
    "RecurrentClassifier",
    "SequenceAutoencoder",
    "SequencePrivatizer",
    "SymbolEmbedding",
    "SymbolPrivatizer",
    "ThesisClaim",
    "TokenPrivatizer",
]
