"""Exact draws that the privatisers share: a coin of odds e^rate, and an answer that is kept or exchanged."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.randomness import Source

Bits = npt.NDArray[np.uint8]
Integers = npt.NDArray[np.int64]

_FINENESS = 1 << 40
_LARGEST = 1 << 20


def round_down(rate: Fraction) -> Fraction:
    """Round a rate of any sign down to what `unlikely` draws: in steps of 2**-40, at most 2**20."""
    if rate < -_LARGEST:
        raise ParameterError("epsilon is too small for so many categories; allow a larger one.")
    return Fraction(min(math.floor(rate * _FINENESS), _LARGEST * _FINENESS), _FINENESS)


def unlikely(rate: Fraction, size: int, source: Source) -> Bits:
    """Draw 1 with probability exactly 1 / (1 + e^rate), for a rate of at least 0.

    Toss a fair coin; tails is 0; heads is 1 with probability e^-rate and is otherwise tossed again.
    """
    drawn = _coins(size, source)
    waiting = np.flatnonzero(drawn) if rate else np.empty(0, dtype=np.int64)
    while waiting.size:
        passed = randomness.bernoulli_exp(rate, size=waiting.size, source=source) == 1
        waiting = waiting[~passed]
        tossed = _coins(waiting.size, source)
        drawn[waiting] = tossed
        waiting = waiting[tossed == 1]
    return drawn


def _coins(size: int, source: Source) -> Bits:
    words = source.words(-(-size // 64))
    return np.unpackbits(words.view(np.uint8), count=size)


class Exchange:
    """Keep an answer out of `answers`, or exchange it for one of the others: k-ary randomised response.

    Promise: the true answer is at most e^epsilon times as likely as any other, which is epsilon-differential privacy.
    With t at most epsilon - log(answers - 1), the answer is kept with probability 1 / (1 + e^-t) exactly and
    otherwise exchanged uniformly, so the ratio is (answers - 1) e^t. t is rounded down by at most 2**-40. The time to
    draw depends on neither epsilon nor the number of answers.
    """

    def __init__(self, epsilon: Fraction, answers: int) -> None:
        # The logarithm is right to a few of a float's last digits; 2**-50 of it is kept back for them.
        others = Fraction(math.log(answers - 1)) * (1 + Fraction(1, 1 << 50))
        self._answers, self._lean = answers, round_down(epsilon - others)

    @property
    def lean(self) -> Fraction:
        """The rate t: an answer is kept with probability 1 / (1 + e^-t)."""
        return self._lean

    @property
    def kept(self) -> float:
        """The probability that an answer is kept."""
        return 1 / (1 + math.exp(-min(float(self._lean), 700.0)))

    @property
    def other(self) -> float:
        """The probability of each other answer."""
        return 1 / (1 + math.exp(min(float(self._lean), 700.0))) / (self._answers - 1)

    def draw(self, codes: Integers, source: Source) -> Integers:
        """Keep or exchange every answer."""
        rare = unlikely(abs(self._lean), codes.size, source) == 1
        exchanged = np.flatnonzero(rare if self._lean >= 0 else ~rare)
        drawn = codes.copy()
        other = randomness.uniform_below(self._answers - 1, size=exchanged.size, source=source)
        drawn[exchanged] = other + (other >= codes[exchanged])
        return drawn
