"""Ideas 2 and 4 of document 000: what the decoder says of each next symbol is protected, symbol by symbol."""

from __future__ import annotations

import numpy as np

from ziggurat.mechanisms import Laplace
from ziggurat.privacy import Amount, ExponentialEvent
from ziggurat.randomness import Source, carry_rate, exponential_choices
from ziggurat.sequences.tokens.privatizing._autoencoder import Floats, SequenceAutoencoder
from ziggurat.sequences.tokens.privatizing._base import Integers, ThesisClaim
from ziggurat.sequences.tokens.privatizing._learning import SEQUENCE
from ziggurat.sequences.tokens.privatizing._lengths import Length
from ziggurat.sequences.tokens.privatizing._writing import WritingPrivatizer, bring_into_ball

_STEPS = 1 << 20
_CLAIM = "Document 000 claims epsilon times the length of the sequence, by composition, and lengths up to 20."


class TokenPrivatizer(WritingPrivatizer):
    """Choose each next symbol y with probability proportional to exp(epsilon p(y) / 2), p being the decoder's chance.

    Promise: epsilon for each step, and so `longest` times epsilon for a whole sequence; the latent vector of all of it
    is behind every step, so that nothing better holds for a single symbol. Proof: chances lie in [0, 1], so any two
    sequences' scores differ by at most 1, given the symbols written before, which are out already: the exponential
    mechanism at rate epsilon/2 costs epsilon at each step, and adaptive composition adds the steps up. Scores are
    rounded to multiples of 2**-20 within [0, 1], and drawn exactly. That a sequence may end early is drawn as well, and
    only lessens the number of steps.

    Parameters
    ----------
    epsilon
        What one step may cost.
    network
        The autoencoder.
    length
        'kept', 'protected' or public sizes of buckets.
    """

    def __init__(self, epsilon: Amount, network: SequenceAutoencoder, *, length: Length = "kept") -> None:
        super().__init__(epsilon, network, length)
        once = ExponentialEvent(SEQUENCE, self.epsilon)
        self._promise(once, ThesisClaim(self.epsilon * self.length.most_steps, _CLAIM), each_step=True)
        self._rate = carry_rate(self.epsilon / (2 * _STEPS))

    def _latents(self, vectors: Floats, source: Source) -> Floats:  # noqa: ARG002  (what is written is protected)
        return bring_into_ball(vectors, self.network.ball)

    def _choose(self, chances: Floats, source: Source, helper: np.random.Generator) -> Integers:  # noqa: ARG002
        scores = np.rint(np.clip(chances, 0.0, 1.0) * _STEPS).astype(np.int64)
        return exponential_choices(scores.max(axis=1, keepdims=True) - scores, self._rate, source=source)


class OutputPrivatizer(WritingPrivatizer):
    """Add Laplace noise of scale 2/epsilon to the decoder's chances of the next symbol, and write the largest.

    Promise: epsilon for each step, and so `longest` times epsilon for a whole sequence, as for `TokenPrivatizer`.
    Proof: chances lie in the l1 ball of radius 1 and are scaled into it once more, whatever floats did to their sum, so
    those of two sequences differ by at most 2 in l1; `Laplace` counts their rounding to its grid in the sensitivity.

    Parameters
    ----------
    epsilon
        What one step may cost.
    network
        The autoencoder.
    length
        'kept', 'protected' or public sizes of buckets.
    """

    def __init__(self, epsilon: Amount, network: SequenceAutoencoder, *, length: Length = "kept") -> None:
        super().__init__(epsilon, network, length)
        self._noise = Laplace.calibrated(self.epsilon, 2, coordinates=self._candidates, neighbours=SEQUENCE)
        claimed = ThesisClaim(self.epsilon * self.length.most_steps, _CLAIM)
        self._promise(self._noise.event, claimed, each_step=True)

    def _latents(self, vectors: Floats, source: Source) -> Floats:  # noqa: ARG002  (what is written is protected)
        return bring_into_ball(vectors, self.network.ball)

    def _choose(self, chances: Floats, source: Source, helper: np.random.Generator) -> Integers:  # noqa: ARG002
        noisy = self._noise.release(bring_into_ball(chances, "l1"), source).value
        return np.asarray(np.argmax(noisy, axis=1), dtype=np.int64)
