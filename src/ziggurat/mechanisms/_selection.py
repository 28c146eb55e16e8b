"""Choosing one or several of a public list of candidates by private scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import MixedNeighboursError, ParameterError
from ziggurat.mechanisms._base import (
    Mechanism,
    Noisy,
    confidence_for_each,
    neighbours_or_usual,
    require_one_of,
    round_rate,
)
from ziggurat.mechanisms._lattice import Integers, fitting_grid, l1_steps, to_steps
from ziggurat.mechanisms._tails import log_of
from ziggurat.privacy import (
    Amount,
    Event,
    ExponentialEvent,
    Neighbours,
    PureEvent,
    Relation,
    RepeatedEvent,
    exact_confidence,
    exact_epsilon,
    exact_positive,
    in_words,
    whole_number,
)
from ziggurat.randomness import Source, choose_source

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
    factor 2 falls away; under replace-one, where one unit goes and another comes, that is refused. Proof: with the
    other candidates' noise fixed, i wins when its noise passes a threshold that a neighbour moves by at most twice
    (monotone: once) the sensitivity.
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
        require_one_of(method, ("permute-and-flip", "gumbel", "laplace"), "method")
        whom = neighbours_or_usual(neighbours)
        _require_monotone(monotone, whom)
        self.sensitivity = exact_positive(sensitivity, "sensitivity")
        self.method, self.monotone = method, bool(monotone)
        self.epsilon = exact_epsilon(epsilon)
        integral = self.sensitivity.denominator == 1
        self.grid = Fraction(1) if integral else fitting_grid(self.sensitivity, self.sensitivity / self.epsilon)
        moved = l1_steps(self.sensitivity, self.grid, 1)
        # How fast a candidate's odds fall with every step of its score below the best.
        self._rate = round_rate(self.epsilon / (moved if monotone else 2 * moved))
        kind = ExponentialEvent if method == "gumbel" else PureEvent
        self.event: Event = kind(whom, self.epsilon)

    def release(self, scores: Scores, source: Source | None = None) -> Noisy[int]:
        """Choose an index; integer scores are used as they are if the sensitivity is whole, others are rounded.

        Real scores with a whole sensitivity are rounded to whole numbers; state a sensitivity that is not whole, or
        multiply the scores, to have them told apart more finely.
        """
        drawn_from = choose_source(source)
        return Noisy(self._choose(self._steps(scores), drawn_from), self.event, drawn_from.origin)

    def _steps(self, scores: Scores) -> Integers:
        steps = to_steps(scores, self.grid)
        if not isinstance(steps, np.ndarray) or steps.ndim != 1 or steps.size == 0:
            raise ParameterError("The scores must be a list of numbers, one for each candidate, and not empty.")
        return steps

    def _choose(self, steps: Integers, source: Source) -> int:
        if self.method == "laplace":
            noise = randomness.discrete_laplace(1 / self._rate, size=steps.size, source=source)
            order = randomness.shuffle(steps.size, source=source)
            return int(order[np.argmax((steps + noise)[order])])
        choose = randomness.permute_and_flip if self.method == "permute-and-flip" else randomness.exponential_choice
        return choose(steps.max() - steps, self._rate, source=source)

    def shortfall(self, candidates: int, confidence: Amount = "0.95") -> float:
        """How far below the best score the chosen one may lie, with this confidence, whatever the scores are.

        Exact for the exponential mechanism: the worst case has one best candidate and all others just this far
        below, where P[not the best] = (k-1)e^(-rt) / (1 + (k-1)e^(-rt)). Permute-and-flip is stochastically never
        worse. For Laplace noise: k deviates, all within the same two-sided bound (union bound). The rounding of
        scores to the grid is included, but for real scores with a whole sensitivity, where it adds up to 1.
        """
        count, miss = whole_number(candidates, "candidates"), 1 - exact_confidence(confidence)
        if count == 1:
            return 0.0
        rate, step = float(self._rate), float(self.grid)
        rounding = 0.0 if self.grid == 1 else step
        if self.method == "laplace":
            return 2 * step * math.ceil(log_of(count / miss) / rate) + rounding
        return step * math.ceil(max(log_of((count - 1) * (1 - miss) / miss), 0.0) / rate) + rounding

    def __repr__(self) -> str:
        return f"Selection({self.method}, epsilon {in_words(self.epsilon)})"


def _require_monotone(monotone: object, whom: Neighbours) -> None:
    if not isinstance(monotone, (bool, np.bool_)):
        raise ParameterError("monotone must be True or False.")
    if monotone and whom.relation is not Relation.ADD_OR_REMOVE_ONE:
        raise MixedNeighboursError(
            "Replacing a unit lowers some scores and raises others; monotone=True is for add-or-remove-one neighbours."
        )


class TopK(Mechanism):
    """Choose k candidates in order, by choosing, removing and choosing again, each at epsilon/k.

    Promise: epsilon-differential privacy by composition; with `gumbel` the event also records the bounded range of
    each round, which composes to k (epsilon/k)^2/8-zCDP (Durfee & Rogers 2019).
    """

    def __init__(
        self,
        k: int,
        epsilon: Amount,
        sensitivity: Amount = 1,
        *,
        method: Method = "permute-and-flip",
        monotone: bool = False,
        neighbours: Neighbours | None = None,
    ) -> None:
        self.k = whole_number(k, "k")
        each = exact_epsilon(epsilon) / self.k
        self.round = Selection(each, sensitivity, method=method, monotone=monotone, neighbours=neighbours)
        once = self.round.event
        self.event: Event = once if self.k == 1 else RepeatedEvent(once.neighbours, once, self.k)

    def release(self, scores: Scores, source: Source | None = None) -> Noisy[list[int]]:
        """Choose k indices, best first."""
        drawn_from = choose_source(source)
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

    def shortfall(self, candidates: int, confidence: Amount = "0.95") -> float:
        """How far below the j-th best score the j-th choice may lie, for all k together, with this confidence.

        Every round stays within its own shortfall at a k-th of the miss (union bound), and the best of what is left
        after j - 1 choices is at least the j-th best of all.
        """
        if whole_number(candidates, "candidates") < self.k:
            raise ParameterError("There are fewer candidates than k; lower k.")
        return self.round.shortfall(candidates, confidence_for_each(confidence, self.k))

    def __repr__(self) -> str:
        return f"TopK({self.k}, {self.round!r} each)"
