"""Randomised response: every answer is protected before it leaves the person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, drawing_from, exact_confidence
from ziggurat.mechanisms._lattice import Integers, as_array
from ziggurat.privacy import (
    Amount,
    Neighbours,
    RandomizedResponseEvent,
    Relation,
    exact_epsilon,
    exact_positive,
    in_words,
)
from ziggurat.randomness import Source


class RandomizedResponse(Mechanism):
    """Answer truthfully with probability e^epsilon / (e^epsilon + k - 1), otherwise one of the other k-1 answers.

    Promise: epsilon-differential privacy for the answer of one unit (replace-one: its answer is exchanged for another).
    Proof: the most and least likely probability of any output differ by the factor e^epsilon. Drawn exactly: propose
    an answer uniformly, accept the truth always and any other with probability e^-epsilon (Warner 1965; k-ary:
    Kairouz, Bonawitz & Ramage 2016).
    """

    event: RandomizedResponseEvent

    def __init__(self, epsilon: Amount, categories: int = 2, *, neighbours: Neighbours | None = None) -> None:
        whom = neighbours or Neighbours(relation=Relation.REPLACE_ONE)
        self.event = RandomizedResponseEvent(whom, exact_epsilon(epsilon), categories)
        self._rate = randomness.carry_rate(self.event.epsilon)

    @classmethod
    def for_truth(cls, probability: Amount, categories: int = 2, **options: Any) -> RandomizedResponse:
        """Make the response that tells the truth with at most this probability, by the epsilon it takes."""
        truth = exact_positive(probability, "probability")
        if not 1 / categories < truth < 1:
            raise ParameterError("The probability of the truth must lie between 1/categories and 1.")
        odds = float(truth * (categories - 1) / (1 - truth))
        return cls(math.log(odds) * (1 - 1e-12), categories, **options)

    @property
    def epsilon(self) -> float:
        """The epsilon promised."""
        return float(self.event.epsilon)

    @property
    def truth(self) -> float:
        """The probability of a truthful answer."""
        return 1 / (1 + (self.event.categories - 1) * math.exp(-self.epsilon))

    def release(self, answers: int | Sequence[int] | npt.NDArray[Any], source: Source | None = None) -> Noisy[Any]:
        """Randomise one answer or many, each a number from 0 to categories - 1."""
        drawn_from = drawing_from(source)
        truth = self._checked(answers)
        given = self._respond(np.atleast_1d(truth), drawn_from)
        value = given if truth.ndim else int(given[0])
        return Noisy(value, self.event, drawn_from.origin)

    def _checked(self, answers: Any) -> Integers:
        array = as_array(answers)
        if array.dtype.kind == "b":
            array = array.astype(np.int64)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ParameterError("The answers must be whole numbers from 0 to categories - 1.")
        if array.size and (array.min() < 0 or array.max() >= self.event.categories):
            raise ParameterError("An answer lies outside 0 to categories - 1; map answers to the public list first.")
        return array.astype(np.int64)

    def _respond(self, truth: Integers, source: Source) -> Integers:
        given = np.empty_like(truth)
        waiting = np.arange(truth.size)
        while waiting.size:
            proposed = randomness.uniform_below(self.event.categories, size=waiting.size, source=source)
            passed = randomness.bernoulli_exp(self._rate, size=waiting.size, source=source) == 1
            accepted = (proposed == truth[waiting]) | passed
            given[waiting[accepted]] = proposed[accepted]
            waiting = waiting[~accepted]
        return given

    def estimate(self, responses: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Estimate without bias how many people hold each answer, from the randomised ones."""
        array = self._checked(responses)
        seen = np.bincount(array, minlength=self.event.categories).astype(np.float64)
        other = (1 - self.truth) / (self.event.categories - 1)
        return np.asarray((seen - array.size * other) / (self.truth - other))

    def half_width(self, people: int, confidence: Amount = "0.95") -> float:
        """Half width around one estimated count that holds the true one (Hoeffding: for any true counts)."""
        miss = float(1 - exact_confidence(confidence))
        other = (1 - self.truth) / (self.event.categories - 1)
        return math.sqrt(people * math.log(2 / miss) / 2) / (self.truth - other)

    def __repr__(self) -> str:
        return f"RandomizedResponse(epsilon {in_words(self.event.epsilon)}, {self.event.categories} categories)"
