"""Choosing one or several of a public list of candidates by private scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.mechanisms._base import Mechanism, Noisy, drawing_from, exact_confidence
from ziggurat.mechanisms._lattice import Integers, as_array, fitting_grid, l1_steps, to_steps
from ziggurat.privacy import (
    Amount,
    Event,
    ExponentialEvent,
    Neighbours,
    PureEvent,
    RepeatedEvent,
    exact_epsilon,
    exact_positive,
    in_words,
)
from ziggurat.randomness import Source

Method = Literal["permute-and-flip", "gumbel", "laplace"]
Scores = Sequence[float] | npt.NDArray[Any]


class Selection(Mechanism):
    """Choose the candidate with about the highest score.

    Methods, all exact on integers:

    - `permute-and-flip` (default): noisy max with exponential noise, never worse than the exponential mechanism
      (McKenna & Sheldon 2020).
    - `gumbel`: the exponential mechanism, P[i] proportional to exp(epsilon u_i / (2 sensitivity)), equal in law to
      adding Gumbel noise and taking the maximum; its loss has bounded range, so many of them compose better.
    - `laplace`: noisy max with discrete Laplace noise of scale 2 sensitivity/epsilon.

    Promise: epsilon-differential privacy, where one unit moves every score by at most `sensitivity`, up or down.
    With `monotone=True` (one unit moves all scores in the same direction, as counts under add-or-remove-one) the
    factor 2 falls away. Proof: with the other candidates' noise fixed, i wins when its noise passes a threshold that
    a neighbour moves by at most twice (monotone: once) the sensitivity.
    """

    def __init__(
        self,
        epsilon: Amount,
        sensitivity: Amount = 1,
        *,
        method: Method = "permute-and-flip",
        monotone: bool = False,
        neighbours: Neighbours | None = None,
    ) -> None:
        if method not in ("permute-and-flip", "gumbel", "laplace"):
            raise ParameterError("method must be 'permute-and-flip', 'gumbel' or 'laplace'.")
        self.sensitivity = exact_positive(sensitivity, "sensitivity")
        self.method, self.monotone = method, monotone
        self.epsilon = exact_epsilon(epsilon)
        whole = self.sensitivity.denominator == 1
        self.grid = Fraction(1) if whole else fitting_grid(self.sensitivity, self.sensitivity / self.epsilon)
        kind = ExponentialEvent if method == "gumbel" else PureEvent
        self.event: Event = kind(neighbours or Neighbours(), self.epsilon)

    def _rate(self) -> Fraction:
        """How fast a candidate's odds fall with every step of its score below the best."""
        steps = l1_steps(self.sensitivity, self.grid, 1)
        return randomness.carry_rate(self.epsilon / (steps if self.monotone else 2 * steps))

    def release(self, scores: Scores, source: Source | None = None) -> Noisy[int]:
        """Choose an index; integer scores are used as they are if the sensitivity is whole, others are rounded."""
        drawn_from = drawing_from(source)
        return Noisy(self._choose(self._steps(scores), drawn_from), self.event, drawn_from.origin)

    def _steps(self, scores: Scores) -> Integers:
        steps = to_steps(as_array(scores), self.grid)
        if not isinstance(steps, np.ndarray) or steps.ndim != 1 or steps.size == 0:
            raise ParameterError("The scores must be a list of numbers, one for each candidate, and not empty.")
        return steps

    def _choose(self, steps: Integers, source: Source) -> int:
        if self.method == "laplace":
            noise = randomness.discrete_laplace(1 / self._rate(), size=steps.size, source=source)
            order = randomness.shuffle(steps.size, source=source)
            return int(order[np.argmax((steps + noise)[order])])
        choose = randomness.permute_and_flip if self.method == "permute-and-flip" else randomness.exponential_choice
        return choose(steps.max() - steps, self._rate(), source=source)

    def shortfall(self, candidates: int, confidence: Amount = "0.95") -> float:
        """How far below the best score the chosen one may lie, with this confidence, whatever the scores are.

        Exact for the exponential mechanism: the worst case has one best candidate and all others just this far
        below, where P[not the best] = (k-1)e^(-rt) / (1 + (k-1)e^(-rt)). Permute-and-flip is stochastically never
        worse. For Laplace noise: k deviates, each within its two-sided bound at confidence (1+c)/2 to the k.
        """
        if candidates < 1:
            raise ParameterError("There must be at least one candidate.")
        miss = 1 - exact_confidence(confidence)
        rate, step = float(self._rate()), float(self.grid)
        rounding = 0.0 if self.grid == 1 else step
        if candidates == 1:
            return 0.0
        if self.method == "laplace":
            return 2 * step * math.ceil(math.log(candidates / float(miss)) / rate) + rounding
        odds = float((1 - miss) / miss)
        return step * math.ceil(math.log(max((candidates - 1) * odds, 1.0)) / rate) + rounding

    def __repr__(self) -> str:
        return f"Selection({self.method}, epsilon {in_words(self.epsilon)})"


class TopK(Mechanism):
    """Choose k candidates in order, by choosing, removing and choosing again, each at epsilon/k.

    Promise: epsilon-differential privacy by composition; with `gumbel` the event also records the bounded range of
    each round, which composes to k (epsilon/k)^2/8-zCDP (Durfee & Rogers 2019).
    """

    def __init__(self, k: int, epsilon: Amount, sensitivity: Amount = 1, **options: Any) -> None:
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise ParameterError("k must be a whole number of at least 1.")
        self.k = k
        self.round = Selection(exact_epsilon(epsilon) / k, sensitivity, **options)
        once = self.round.event
        self.event: Event = once if k == 1 else RepeatedEvent(once.neighbours, once, k)

    def release(self, scores: Scores, source: Source | None = None) -> Noisy[list[int]]:
        """Choose k indices, best first."""
        drawn_from = drawing_from(source)
        steps = self.round._steps(scores)
        if steps.size < self.k:
            raise ParameterError("There are fewer candidates than k; lower k.")
        left = np.arange(steps.size)
        chosen: list[int] = []
        for _ in range(self.k):
            at = self.round._choose(steps[left], drawn_from)
            chosen.append(int(left[at]))
            left = np.delete(left, at)
        return Noisy(chosen, self.event, drawn_from.origin)

    def __repr__(self) -> str:
        return f"TopK({self.k}, {self.round!r} each)"
