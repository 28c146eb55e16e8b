"""What every aggregator is: teachers' votes in, noisy labels and an event out."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError
from ziggurat.pate.voting._published import Bound, GaussianBound
from ziggurat.pate.voting._votes import Ballot, Floats, Integers, Votes
from ziggurat.privacy import (
    Amount,
    Event,
    GaussianEvent,
    RepeatedEvent,
    compose_events,
    exact,
    exact_positive,
    in_words,
    profile,
    whole_number,
)
from ziggurat.randomness import Source, choose_source

UNANSWERED = -1
"""The label of a query that was not answered."""

# Powers of two: steps per scale of the noise, and the fewest and most steps per vote. The fewest hold the parts of a
# soft vote; with the most, a million teachers and their noise stay within 64 bits.
_STEPS_PER_SCALE = 46
_COARSEST, _FINEST = 16, 40
_LEAST_SCALE = Fraction(1, 4)


@dataclass(frozen=True, eq=False)
class Labels(Shown):
    """Noisy labels, what they cost in public, and whether their randomness was fit for a release.

    Attributes
    ----------
    labels
        The class of each query, or -1 where it was not answered.
    answered
        Which queries were answered.
    event
        What to write in the ledger: it depends on the labels alone, never on the votes.
    origin
        `"secure"`, or `"seeded"` for a rehearsal, which must never be published.
    """

    labels: Integers
    answered: npt.NDArray[np.bool_]
    event: Event
    origin: str

    @property
    def rehearsal(self) -> bool:
        """Whether seeded randomness was used, so that the labels must not be published."""
        return self.origin != "secure"

    def take(self, queries: slice | npt.ArrayLike) -> Labels:
        """Give the labels of some of the queries; the event is still that of all, which were paid for together."""
        chosen = queries if isinstance(queries, slice) else np.asarray(queries)
        return replace(self, labels=self.labels[chosen], answered=self.answered[chosen])


class VotingStep(ABC):
    """One noisy use of the votes on a query, with all that an accountant needs to know of it."""

    @abstractmethod
    def event(self, ballot: Ballot) -> Event:
        """State the facts of one use: what holds for all votes."""

    @abstractmethod
    def log_law(self, counts: Floats) -> Floats:
        """Give the exact log-probabilities of the outcomes, queries x outcomes, for counts in votes.

        Classes are interchangeable: permuting the counts of a row may only permute its outcomes.
        """

    def curve(self, ballot: Ballot, orders: Floats) -> Floats:
        """Give the tightest proven Rényi curve of one use that holds for all votes; infinite where none is known."""
        facts = profile(self.event(ballot))
        if facts.renyi is not None:
            return facts.renyi(orders)
        return np.full_like(orders, np.inf) if facts.rho is None else orders * float(facts.rho)

    def rounding(self, teachers: int) -> float:  # noqa: ARG002
        """Bound how far the logarithms of the law drawn are from `log_law`, because noise is drawn on a lattice."""
        return 0.0

    def published(self) -> Bound | None:
        """Give the published account of this step, where there is one."""
        return None

    def gaps(self, votes: Votes) -> Floats:
        """Give what the published account looks at: how far, in votes, every other class lies behind the best."""
        ranked = -np.sort(-votes.shares, axis=1)
        return np.asarray(ranked[:, :1] - ranked[:, 1:])

    def widest_gap(self, teachers: int) -> float:
        """Give the largest gap that so many teachers can make."""
        return float(teachers)


class ThresholdTest(VotingStep):
    """Whether the largest count, with Gaussian noise, reaches a threshold.

    Promise: (1/sigma)-Gaussian DP for one moved vote, because the largest count then moves by at most 1.
    """

    def __init__(self, threshold: Amount, sigma: Amount) -> None:
        self.threshold = exact(threshold, "threshold")
        self.sigma = exact_positive(sigma, "sigma")
        self._finer = finer_steps(self.sigma)
        self._noise = randomness.carry_gaussian(self.sigma * 2**self._finer)

    def event(self, ballot: Ballot) -> Event:
        """Gaussian noise on a number that moves by as much as votes are moved."""
        return GaussianEvent(ballot.neighbours, Fraction(ballot.moved), self.sigma)

    def log_law(self, counts: Floats) -> Floats:
        """Passed, and not passed."""
        from scipy.special import log_ndtr

        distance = (counts.max(axis=1) - float(self.threshold)) / float(self.sigma)
        return np.asarray(np.stack([log_ndtr(distance), log_ndtr(-distance)], axis=1))

    def rounding(self, teachers: int) -> float:
        """One step, times how fast the logarithm of a normal tail falls there."""
        return gaussian_rounding(self.widest_gap(teachers) / 2, self.sigma, self._finer)

    def published(self) -> Bound:
        """The bound of two classes with sqrt(2) times the noise."""
        return GaussianBound(math.sqrt(2) * float(self.sigma))

    def gaps(self, votes: Votes) -> Floats:
        """Twice the distance of the largest count to the threshold."""
        return np.asarray(2 * np.abs(votes.shares.max(axis=1, keepdims=True) - float(self.threshold)))

    def widest_gap(self, teachers: int) -> float:
        """All teachers agree, or no class has more than a few votes."""
        return 2 * max(abs(float(self.threshold)), abs(teachers - float(self.threshold)))

    def draw(self, votes: Votes, source: Source) -> npt.NDArray[np.bool_]:
        """Tell for each query whether it passes."""
        noise = randomness.rounded_gaussian(self._noise, size=len(votes), source=source)
        least = math.ceil(self.threshold * 2**self._finer)
        return np.asarray(in_steps(votes, self._finer).max(axis=1) + noise >= least)

    def __repr__(self) -> str:
        return f"ThresholdTest({in_words(self.threshold)}, sigma {in_words(self.sigma)})"


class Aggregator(VotingStep):
    """A way to label queries by the votes of teachers; the root of all aggregators, and the place to plug in others.

    A subclass states the event of one answer (`event`), its exact law (`log_law`) and how it is drawn (`draw`); all
    accounts follow from these. With a `test` every query is tested first, and only those that pass are answered.
    """

    test: ThresholdTest | None = None

    @abstractmethod
    def draw(self, votes: Votes, source: Source) -> Integers:
        """Draw a label for every query, from the law stated."""

    def release(self, votes: Votes, source: Source | None = None, *, most_answers: int | None = None) -> Labels:
        """Label the queries that pass the test, all of them where there is none.

        The event charges the tests of all queries and the answers really given. How many those are was decided by the
        data, so the charge counts against a budget that was fixed before (a privacy filter: Feldman & Zrnic 2021;
        Smith & Thakurta 2022 for Gaussian DP), as a ledger's grant is; `planned` is what to reserve. With
        `most_answers` only the first so many that pass are answered.
        """
        drawn_from = choose_source(source)
        answered = self._test(votes, drawn_from)
        if most_answers is not None:
            answered &= np.cumsum(answered) <= whole_number(most_answers, "most_answers")
        labels = np.full(len(votes), UNANSWERED, dtype=np.int64)
        if answered.any():
            labels[answered] = self.draw(votes.take(answered), drawn_from)
        event = self.planned(votes.ballot, len(votes), int(answered.sum()))
        return Labels(labels, answered, event, drawn_from.origin)

    def _test(self, votes: Votes, source: Source) -> npt.NDArray[np.bool_]:
        return np.ones(len(votes), dtype=np.bool_) if self.test is None else self.test.draw(votes, source)

    def planned(self, ballot: Ballot, queries: int, answers: int | None = None) -> Event:
        """Give the event of so many queries, of which at most `answers` are answered; all of them by default."""
        asked = whole_number(queries, "queries")
        given = asked if answers is None else whole_number(answers, "answers", 0)
        if given > asked or (self.test is None and given != asked):
            raise ParameterError("Without a test every query is answered, and never more queries than are asked.")
        parts: list[tuple[VotingStep | None, int]] = [(self.test, asked), (self, given)]
        return compose_events(_times(step.event(ballot), count) for step, count in parts if step is not None and count)


def _times(event: Event, count: int) -> Event:
    return event if count == 1 else RepeatedEvent(event.neighbours, event, count)


def finer_steps(scale: Fraction) -> int:
    """Choose into how many steps a vote is cut for noise of this scale, as a power of two.

    A step is about 2^-46 of the scale, so that the law of the maximum is nearly the continuous one: class j wins on
    the lattice at least as often as it would with its count one step lower, at most as often as with it one higher.
    """
    if scale < _LEAST_SCALE:
        raise ParameterError("Noise of less than a quarter of a vote hides no teacher; raise sigma, or lower gamma.")
    magnitude = scale.numerator.bit_length() - scale.denominator.bit_length()
    return min(max(_STEPS_PER_SCALE - magnitude, _COARSEST), _FINEST)


def gaussian_rounding(farthest: float, sigma: Fraction, finer: int) -> float:
    """Bound what one step changes in the logarithm of a probability to win from up to `farthest` votes behind.

    With the other counts and their noise given, the class wins with probability Phi(t), whose logarithm has the slope
    phi(t)/Phi(t) <= 1 + max(-t, 0) per sigma; ten sigmas are added for the noise of the others.
    """
    return math.ldexp((farthest / float(sigma) + 11) / float(sigma), -finer)


def in_steps(votes: Votes, finer: int) -> Integers:
    """Give the counts in steps of 2^-finer of a vote."""
    return np.asarray(votes.counts << (finer - votes.parts.bit_length() + 1))


def noisy_argmax(noisy: Integers, source: Source) -> Integers:
    """Give the place of the largest entry of each row, any of several with the same chance."""
    largest = noisy == noisy.max(axis=1, keepdims=True)
    winners = np.argmax(largest, axis=1)
    for row in np.flatnonzero(largest.sum(axis=1) > 1):
        tied = np.flatnonzero(largest[row])
        winners[row] = tied[randomness.uniform_below(tied.size, source=source)]
    return np.asarray(winners, dtype=np.int64)
