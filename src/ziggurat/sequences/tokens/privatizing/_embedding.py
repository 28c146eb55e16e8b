"""Symbols as vectors, and how alike two of them are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ParameterError
from ziggurat.privacy import Guarantee
from ziggurat.sequences._domain import SequenceDomain
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._classifier import RecurrentClassifier
from ziggurat.sequences.tokens.privatizing._learning import Training, event_of_training
from ziggurat.signatures import take_options_of


class SymbolEmbedding:
    """A vector for each symbol of a domain; `event` is what learning them cost, None for nothing.

    Parameters
    ----------
    domain
        Whose symbols they are.
    vectors
        One row for each symbol.
    training
        'public' if they were learned from nobody's secrets; 'private' if from sequences that a private generator drew;
        'unprotected' if from private sequences, which leaves those without a promise.
    promised
        With 'private', the `guarantee_` of that generator.
    """

    def __init__(
        self,
        domain: SequenceDomain,
        vectors: npt.ArrayLike,
        *,
        training: Training,
        promised: Guarantee | None = None,
    ) -> None:
        self.event = event_of_training(training, promised, "an embedding")
        self.domain, self.training = domain, training
        self.vectors = np.asarray(vectors, dtype=np.float64)
        if self.vectors.ndim != 2 or len(self.vectors) != domain.size or not np.isfinite(self.vectors).all():
            raise ParameterError("Give one vector of finite numbers for each symbol of the domain.")

    @classmethod
    @take_options_of(RecurrentClassifier, leave_out=("size",))
    def learn(
        cls,
        sequences: Sequences,
        *,
        training: Training,
        promised: Guarantee | None = None,
        size: int = 16,
        **options: Any,
    ) -> SymbolEmbedding:
        """Take the embedding of a recurrent network that learned to tell the classes of sequences apart.

        Parameters
        ----------
        sequences
            What to learn from.
        training, promised
            Where they came from, as above.
        size
            How many numbers stand for a symbol.
        options
            As for `RecurrentClassifier`.
        """
        module = RecurrentClassifier(size=size, **options).fit(sequences).module_
        return cls(
            sequences.domain, module.embedding.weight.detach().numpy()[:-1], training=training, promised=promised
        )

    @property
    def similarities(self) -> npt.NDArray[np.float64]:
        """The cosine between any two symbols, from -1 to 1."""
        norms = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        unit = np.divide(self.vectors, norms, out=np.zeros_like(self.vectors), where=norms > 0)
        return np.asarray(np.clip(unit @ unit.T, -1.0, 1.0))
