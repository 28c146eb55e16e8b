"""Randomised response: every answer is protected before it leaves the person."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, neighbours_or_usual, round_rate
from ziggurat.mechanisms._lattice import Integers, as_array
from ziggurat.mechanisms._tails import log_of
from ziggurat.privacy import (
    Amount,
    Event,
    Neighbours,
    RandomizedResponseEvent,
    Relation,
    RepeatedEvent,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    in_words,
    whole_number,
)
from ziggurat.randomness import Source, choose_source

_MOST_CATEGORIES = 1 << 62


class RandomizedResponse(Mechanism):
    """Answer truthfully with probability e^epsilon / (e^epsilon + k - 1), otherwise one of the other k-1 answers.

    Promise: epsilon-differential privacy for one answer of one unit (replace-one: its answer is exchanged for another;
    how many answers there are is public). A unit that gives `answers_per_unit` answers, in one release or in several,
    pays epsilon for each: `event` repeats the cost of one answer that many times.
    Proof: the most and least likely probability of any output differ by the factor e^epsilon. Drawn exactly: propose
    an answer uniformly, accept the truth always and any other with probability e^-epsilon (Warner 1965; k-ary:
    Kairouz, Bonawitz & Ramage 2016).
    """

    def __init__(
        self,
        epsilon: Amount,
        categories: int = 2,
        *,
        answers_per_unit: int = 1,
        neighbours: Neighbours | None = None,
    ) -> None:
        whom = neighbours_or_usual(neighbours, Relation.REPLACE_ONE)
        if whom.relation is not Relation.REPLACE_ONE:
            raise MixedNeighboursError(
                "Every unit gives an answer, so adding or removing one shows; state replace-one neighbours."
            )
        if whole_number(categories, "categories", 2) > _MOST_CATEGORIES:
            raise ParameterError("categories must be at most 2**62.")
        once = RandomizedResponseEvent(whom, exact_epsilon(epsilon), categories)
        times = whole_number(answers_per_unit, "answers_per_unit")
        self.event: Event = once if times == 1 else RepeatedEvent(whom, once, times)
        self.categories, self._epsilon, self._rate = once.categories, once.epsilon, round_rate(once.epsilon)

    @classmethod
    def for_truth(
        cls,
        probability: Amount,
        categories: int = 2,
        *,
        answers_per_unit: int = 1,
        neighbours: Neighbours | None = None,
    ) -> RandomizedResponse:
        """Make the response that tells the truth with at most this probability, by the epsilon it takes."""
        truth, among = exact_positive(probability, "probability"), whole_number(categories, "categories", 2)
        if not Fraction(1, among) < truth < 1:
            raise ParameterError("The probability of the truth must lie between 1/categories and 1.")
        # The logarithm of the exact odds is right to a few of a float's last digits; 2**-46 is kept back for them.
        epsilon = Fraction(log_of(truth * (among - 1) / (1 - truth))) * (1 - Fraction(1, 1 << 46))
        return cls(epsilon, among, answers_per_unit=answers_per_unit, neighbours=neighbours)

    @property
    def epsilon(self) -> float:
        """The epsilon promised for one answer."""
        return float(self._epsilon)

    @property
    def truth(self) -> float:
        """The probability of a truthful answer."""
        return 1 / (1 + (self.categories - 1) * math.exp(-float(self._rate)))

    def release(self, answers: int | Sequence[int] | npt.NDArray[Any], source: Source | None = None) -> Noisy[Any]:
        """Randomise one answer or many, each a number from 0 to categories - 1.

        The event covers `answers_per_unit` answers of each unit, all releases together: with the usual 1, no unit may
        stand behind two of the answers.
        """
        drawn_from = choose_source(source)
        truth = self._check(answers)
        given = self._respond(np.atleast_1d(truth), drawn_from)
        value = given if truth.ndim else int(given[0])
        return Noisy(value, self.event, drawn_from.origin)

    def _check(self, answers: Any) -> Integers:
        array = as_array(answers)
        if array.dtype.kind == "b" or (array.size == 0 and array.dtype.kind == "f"):
            array = array.astype(np.int64)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            raise ParameterError("The answers must be whole numbers from 0 to categories - 1.")
        if array.size and (array.min() < 0 or array.max() >= self.categories):
            raise ParameterError("An answer lies outside 0 to categories - 1; map answers to the public list first.")
        return array.astype(np.int64)

    def _respond(self, truth: Integers, source: Source) -> Integers:
        given = np.empty_like(truth)
        waiting = np.arange(truth.size)
        while waiting.size:
            proposed = randomness.uniform_below(self.categories, size=waiting.size, source=source)
            passed = randomness.bernoulli_exp(self._rate, size=waiting.size, source=source) == 1
            accepted = (proposed == truth[waiting]) | passed
            given[waiting[accepted]] = proposed[accepted]
            waiting = waiting[~accepted]
        return given

    def estimate(self, responses: Sequence[int] | npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Estimate without bias how many people hold each answer, from the randomised ones."""
        array = np.atleast_1d(self._check(responses))
        seen = np.bincount(array, minlength=self.categories).astype(np.float64)
        other = (1 - self.truth) / (self.categories - 1)
        return np.asarray((seen - array.size * other) / (self.truth - other))

    def half_width(self, people: int, confidence: Amount = "0.95") -> float:
        """Half width around one estimated count that holds the true one (Hoeffding: for any true counts)."""
        count, miss = whole_number(people, "people"), 1 - exact_confidence(confidence)
        other = (1 - self.truth) / (self.categories - 1)
        return math.sqrt(count) * math.sqrt(log_of(2 / miss) / 2) / (self.truth - other)

    def __repr__(self) -> str:
        return f"RandomizedResponse(epsilon {in_words(self._epsilon)}, {self.categories} categories)"
