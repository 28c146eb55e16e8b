"""What the ideas with a decoder share: symbols are written one after the other until each sequence ends."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.privacy import Amount
from ziggurat.randomness import Source
from ziggurat.sequences._sequences import Sequences
from ziggurat.sequences.tokens.privatizing._autoencoder import Floats, SequenceAutoencoder
from ziggurat.sequences.tokens.privatizing._base import Integers, SequencePrivatizer
from ziggurat.sequences.tokens.privatizing._lengths import Length


class WritingPrivatizer(SequencePrivatizer):
    """Protects what an autoencoder makes of a sequence, and writes another one from that."""

    network: SequenceAutoencoder

    def __init__(self, epsilon: Amount, network: SequenceAutoencoder, length: Length) -> None:
        super().__init__(epsilon, network, length)

    @property
    def _candidates(self) -> int:
        """How many symbols may come next."""
        return self.domain.size + self.length.has_end

    def _protect(self, sequences: Sequences, steps: Integers, source: Source) -> Integers:
        drawn = np.full((len(sequences), int(steps.max(initial=0))), self.domain.size, dtype=np.int64)
        writing = np.flatnonzero(steps > 0)
        pen = self.network.write(self._latents(self.network.encode(sequences), source)[writing])
        helper: Any = source.simulation()
        for step in range(drawn.shape[1]):
            if writing.size == 0:
                break
            chosen = self._choose(pen.chances(self.length.has_end), source, helper)
            drawn[writing, step] = chosen
            on = (chosen < self.domain.size) & (steps[writing] > step + 1)
            pen.put(chosen, on)
            writing = writing[on]
        return drawn

    @abstractmethod
    def _latents(self, vectors: Floats, source: Source) -> Floats:
        """Bring latent vectors into the ball, and protect them if that is the idea."""

    @abstractmethod
    def _choose(self, chances: Floats, source: Source, helper: np.random.Generator) -> Integers:
        """Choose a symbol for each row; `helper` is only for what is protected already."""


def bring_into_ball(vectors: Floats, ball: str) -> Floats:
    """Scale each row down into the ball of radius 1; a little inside, so that no rounding of a float leaves it.

    A sum of d magnitudes or squares errs by less than d units in the last place, a root, a product and a quotient by
    one each; 2 (d + 8) units of 2**-52 are kept back.
    """
    inside = 1 - 2 * (vectors.shape[1] + 8) * 2.0**-52
    norms = np.abs(vectors).sum(axis=1) if ball == "l1" else np.sqrt((vectors**2).sum(axis=1))
    return np.asarray(vectors * (inside / np.maximum(norms, 1.0))[:, None])


def draw_by_chance(chances: Floats, helper: np.random.Generator) -> npt.NDArray[np.int64]:
    """Choose a column for each row with these chances."""
    ladder = np.cumsum(chances, axis=1)
    mark = helper.random((len(chances), 1)) * ladder[:, -1:]
    return np.asarray(np.minimum((ladder <= mark).sum(axis=1), chances.shape[1] - 1))
