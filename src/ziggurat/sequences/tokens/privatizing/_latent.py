"""Ideas 3 and 5 of document 000: the latent vector of a sequence is protected once, and all else follows from it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ziggurat.errors import ParameterError
from ziggurat.mechanisms import Gaussian, Laplace, require_one_of
from ziggurat.privacy import Amount, Event, UnboundedEvent, compose, exact_delta
from ziggurat.randomness import Source
from ziggurat.sequences.tokens.privatizing._autoencoder import Floats, SequenceAutoencoder
from ziggurat.sequences.tokens.privatizing._base import Integers, ThesisClaim
from ziggurat.sequences.tokens.privatizing._learning import SEQUENCE
from ziggurat.sequences.tokens.privatizing._lengths import Length
from ziggurat.sequences.tokens.privatizing._writing import WritingPrivatizer, bring_into_ball, draw_by_chance

_CLAIM = "Document 000 claims epsilon for the whole sequence, in the local model."


class LatentPrivatizer(WritingPrivatizer):
    """Scale the latent vector into the ball of radius 1, add noise, and write what the decoder makes of it.

    Promise: epsilon for the whole sequence, once (with an l2 ball: epsilon and delta). Proof: two vectors of the l1
    ball differ by at most 2 in l1, so Laplace noise of scale 2/epsilon costs epsilon; two of the l2 ball differ by at
    most 2 in l2, for which Gaussian noise is calibrated. The noise is drawn exactly on a grid, and the rounding to it
    counted. Decoding, sampling and cutting at the end see the noisy vector and, if the length is not protected, the
    number of steps, which is public: post-processing.

    Parameters
    ----------
    epsilon
        What a sequence may cost.
    network
        The autoencoder; its `ball` decides the noise.
    length
        'kept', 'protected' (the decoder ends each by what the noisy vector says) or public sizes of buckets.
    delta
        For Gaussian noise, with a network whose ball is 'l2'.
    bounded
        'before' the noise; or 'after' it, as document 000 has it, with noise of scale 1/epsilon: that bounds nothing,
        is recorded as unbounded, and is there for the figure alone.
    """

    guided = False
    """Whether the network must have learned beside a classifier."""

    def __init__(
        self,
        epsilon: Amount,
        network: SequenceAutoencoder,
        *,
        length: Length = "protected",
        delta: Amount = 0,
        bounded: Literal["before", "after"] = "before",
    ) -> None:
        if self.guided and not network.guided:
            raise ParameterError("This idea needs a network that learned beside a classifier; use guided=True.")
        super().__init__(epsilon, network, length)
        require_one_of(bounded, ("before", "after"), "bounded")
        self.bounded, self.delta = bounded, exact_delta(delta)
        if (self.delta > 0) is not (network.ball == "l2"):
            raise ParameterError("Gaussian noise needs delta and a network with an l2 ball; Laplace noise an l1 ball.")
        self._noise = self._make_noise()
        self._promise(self._local(), ThesisClaim(self.epsilon, _CLAIM), each_step=False)

    def _make_noise(self) -> Laplace | Gaussian:
        width = self.network.latent
        if self.network.ball == "l2":
            return Gaussian.calibrated(self.epsilon, self.delta, 2, coordinates=width, neighbours=SEQUENCE)
        moved = 2 if self.bounded == "before" else 1
        return Laplace.calibrated(self.epsilon, moved, coordinates=width, neighbours=SEQUENCE)

    def _local(self) -> Event:
        if self.bounded == "after":
            return UnboundedEvent(SEQUENCE, "noise on a latent vector that was not bounded before")
        return self._noise.event

    def _in_words(self) -> str:
        if self.delta:
            return str(compose(self.local_event).approximate(self.delta)).split(" (", 1)[0]
        return super()._in_words()

    def _latents(self, vectors: Floats, source: Source) -> Floats:
        if self.bounded == "before":
            return np.asarray(self._noise.release(bring_into_ball(vectors, self.network.ball), source).value)
        noisy = np.asarray(self._noise.release(vectors, source).value)
        norms = np.abs(noisy).sum(axis=1, keepdims=True)
        return np.asarray(noisy / np.where(norms > 0, norms, 1.0))

    def _choose(self, chances: Floats, source: Source, helper: np.random.Generator) -> Integers:  # noqa: ARG002
        return draw_by_chance(chances, helper)


class GuidedPrivatizer(LatentPrivatizer):
    """Do as `LatentPrivatizer`, with a network that learned beside a classifier to bear the noise (idea 5).

    Promise: that of `LatentPrivatizer`, however the network was guided: only what it learned from matters. So no
    classifier tells two equally frequent classes apart in what is written, with the length protected, more often than
    e^epsilon / (1 + e^epsilon) of the time.
    """

    guided = True
