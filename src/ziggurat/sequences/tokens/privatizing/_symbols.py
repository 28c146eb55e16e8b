"""Idea 1 of document 000: each symbol is exchanged for one that is alike, by the exponential mechanism."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ziggurat.data import Unit
from ziggurat.privacy import Amount, ExponentialEvent, Neighbours, Relation
from ziggurat.randomness import Source, carry_rate, exponential_choice
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._base import Integers, SequencePrivatizer, ThesisClaim
from ziggurat.sequences.tokens.privatizing._embedding import SymbolEmbedding
from ziggurat.sequences.tokens.privatizing._learning import SEQUENCE
from ziggurat.sequences.tokens.privatizing._lengths import Length

_STEPS = 1 << 20
"""Steps of a score per unit: scores are whole numbers of them, so that probabilities are exact."""


class SymbolPrivatizer(SequencePrivatizer):
    """Exchange each symbol x for y with probability proportional to exp(epsilon cosine(x, y) / 4).

    Promise: epsilon for each symbol; L epsilon for a whole sequence that takes L steps, and so `longest` times epsilon
    for any. Proof: a cosine lies in [-1, 1], so any two symbols' scores differ by at most 2, whatever the embedding,
    and the exponential mechanism at rate epsilon/(2 * 2) costs epsilon (McSherry & Talwar 2007); scores are rounded to
    multiples of 2**-20 within these bounds, and drawn exactly. Symbols are drawn independently, so their losses add.

    The document takes a sensitivity of 1.96 from its embedding, and states epsilon for the sequence.

    Parameters
    ----------
    epsilon
        What one symbol may cost.
    embedding
        Which symbols are alike.
    length
        'kept', 'protected' or public sizes of buckets; the end is unlike every symbol.
    """

    def __init__(self, epsilon: Amount, embedding: SymbolEmbedding, *, length: Length = "kept") -> None:
        super().__init__(epsilon, embedding, length)
        once = ExponentialEvent(SEQUENCE, self.epsilon)
        claimed = ThesisClaim(self.epsilon, "Document 000 claims epsilon for the whole sequence, in the local model.")
        self._promise(once, claimed, each_step=True)
        self._gaps = _gaps(embedding, self.length.has_end)
        self._rate = carry_rate(self.epsilon / (4 * _STEPS))

    @property
    def symbol_event(self) -> ExponentialEvent:
        """What the exchange of a single symbol of a sequence costs, given the embedding."""
        symbol = Neighbours(Unit.of("place in the sequence", "symbol"), Relation.REPLACE_ONE)
        return ExponentialEvent(symbol, self.epsilon)

    @property
    def law(self) -> npt.NDArray[np.float64]:
        """The probability of each symbol that is drawn (column) for each that is held (row)."""
        weights = np.exp(-float(self._rate) * self._gaps)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _protect(self, sequences: Sequences, steps: Integers, source: Source) -> Integers:
        end, width = self.domain.size, int(steps.max(initial=0))
        held = sequences.padded(end, width).astype(np.int64)
        taken = np.arange(width) < steps[:, None]
        drawn = np.full(held.shape, end, dtype=np.int64)
        # There are only so many different symbols: one table of exact odds for each.
        for symbol in range(len(self._gaps)):
            at = taken & (held == symbol)
            drawn[at] = exponential_choice(self._gaps[symbol], self._rate, size=int(at.sum()), source=source)
        return drawn


def _gaps(embedding: SymbolEmbedding, has_end: bool) -> Integers:
    """How far each score lies below the best of its row, in whole steps."""
    alike = np.rint(embedding.similarities * _STEPS).astype(np.int64)
    if has_end:
        alike = np.pad(alike, (0, 1), constant_values=-_STEPS)
        alike[-1, -1] = _STEPS
    scores = np.clip(alike, -_STEPS, _STEPS)
    return np.asarray(scores.max(axis=1, keepdims=True) - scores)
