"""The exponential mechanism on a record: answers close to the truth are likelier than distant ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.errors import ParameterError
from ziggurat.local._base import Floats, Integers, Privatizer
from ziggurat.local._categories import PublicList, Stated
from ziggurat.local._estimates import Frequencies, Label
from ziggurat.local._intervals import inverted_interval
from ziggurat.privacy import Amount, Event, Neighbours, PureEvent, exact, exact_confidence, exact_positive
from ziggurat.randomness import Source

if TYPE_CHECKING:
    import pyarrow as pa

Scores = Callable[[Label, Label], Amount] | Sequence[Sequence[Amount]] | npt.NDArray[Any]

_MOST = 500
_LARGEST_SCORE = 1 << 40
# A billionth of epsilon is kept back, for the last digits of a rate.
_SLACK = 1e-9
# Beyond this condition number a count would be the difference of numbers that share all their digits.
_WORST_CONDITION = 1e8


class RecordChoice(Privatizer):
    """Answer y with probability proportional to e^(rate score(x, y)), where x is the category held.

    Promise: epsilon-differential privacy of one report, replace-one. Proof: with Z_x the sum of e^(rate score(x, y)),
    the loss between x and x' is at most rate max_y (score(x, y) - score(x', y)) + log Z_x' - log Z_x. The rate is the
    largest found for which this is at most epsilon for all pairs; since the whole matrix is public, that is tight,
    where the general rule, epsilon over twice the range of the scores, would give away up to half (McSherry & Talwar
    2007). Answers are drawn exactly.

    Use it where near misses are better than far ones, such as ages in bands: answers stay useful one by one. Counts
    are estimated without bias by undoing the law of the answers.

    Parameters
    ----------
    epsilon, categories, missing, other, neighbours
        As for `Response`; at most 500 categories.
    scores
        For each category held (row) the score of each answer (column), or a function of both; by default the negative
        distance of their places in the list, which fits ordered categories. A missing value is scored as the others.
    rate
        The rate as `to_dict` wrote it; it is checked again.
    """

    kind: ClassVar[str] = "record-choice"

    def __init__(
        self,
        epsilon: Amount,
        categories: Stated,
        scores: Scores | None = None,
        *,
        missing: bool = False,
        other: str | int | None = None,
        rate: Amount | None = None,
        neighbours: Neighbours | None = None,
    ) -> None:
        super().__init__(epsilon, neighbours)
        self.list = PublicList(categories, missing, other)
        self._scores = _matrix(scores, self.list.labels)
        self._steps, unit = _whole_steps(self._scores)
        # In the unit in which scores are whole; losses are those of these steps.
        self._rate = (
            _fitting_rate(self._steps, float(self._asked))
            if rate is None
            else randomness.carry_rate(exact_positive(rate, "rate") * unit)
        )
        if largest_loss(self._steps, float(self._rate)) > float(self._asked) * (1 - _SLACK / 2):
            raise ParameterError("This rate promises less than epsilon; leave it out to have it computed.")
        self.rate = self._rate / unit
        self._undo = _inverse(self.law)
        self.event: Event = PureEvent(self.neighbours, self._asked)

    @property
    def law(self) -> Floats:
        """The probability of each answer (column) for each category held (row)."""
        weights = np.exp(-float(self._rate) * _gaps(self._steps))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def estimate(self, reports: Any, confidence: Amount = "0.95", *, population: bool = False) -> Frequencies:
        """Estimate without bias how many people hold each category, by undoing the law of the answers."""
        level = exact_confidence(confidence)
        codes = self.list.sent(self._some(reports))
        seen = np.bincount(codes, minlength=len(self.list)).astype(np.float64)
        counts, low, high = inverted_interval(self.law, self._undo, seen, level, population)
        return Frequencies(codes.size, level, population, self.list.labels, counts, low, high)

    @property
    def arrow_type(self) -> pa.DataType:
        """Text or whole numbers, as the categories."""
        return self.list.type

    def _parameters(self) -> dict[str, Any]:
        scores = [[str(score) for score in row] for row in self._scores]
        return {**self.list.parameters(), "scores": scores, "rate": str(self.rate)}

    def _read(self, values: Any) -> Integers:
        return self.list.read(values)

    def _randomize(self, values: Integers, source: Source) -> npt.NDArray[Any]:
        drawn, gaps = np.empty_like(values), _gaps(self._steps)
        for held in range(len(self.list)):
            where = np.flatnonzero(values == held)
            drawn[where] = randomness.exponential_choice(gaps[held], self._rate, size=where.size, source=source)
        return self.list.answers(drawn)

    def _check(self, sent: Any) -> npt.NDArray[Any]:
        return self.list.answers(self.list.sent(sent))


def largest_loss(steps: Integers, rate: float) -> float:
    """The largest privacy loss of one answer over all pairs of categories held, rounded up.

    With gaps below the best of each row instead of scores, the constants of the rows cancel between the terms. Sums and
    logarithms of k weights err by k units of round-off, which would show in a tiny epsilon; there twice the rate times
    the spread of a row's scores is the better bound.
    """
    gaps = _gaps(steps)
    norms = np.log(np.exp(-rate * gaps).sum(axis=1))
    furthest = np.array([(gaps - row).max(axis=1) for row in gaps])
    losses = rate * furthest + norms[None, :] - norms[:, None]
    off = 2.0**-50 * (16 + len(steps) + rate * float(furthest.max()))
    return min(float(losses.max()) + off, 2 * rate * float(gaps.max()) * (1 + 2.0**-50))


def _gaps(steps: Integers) -> Integers:
    return np.asarray(steps.max(axis=1, keepdims=True) - steps)


def _fitting_rate(steps: Integers, epsilon: float) -> Fraction:
    """The largest rate, up to a billionth, whose loss stays below epsilon; found by halving, and checked."""
    spread = float((steps.max(axis=1) - steps.min(axis=1)).max())
    if spread == 0:
        raise ParameterError("All scores of each row are equal, so that every answer says nothing; state others.")
    # Twice the spread times the rate bounds the loss from above; a few epsilon and log k more bound it from below.
    low, high = epsilon / (2 * spread), 2 * epsilon + 4 * math.log(len(steps))
    for _ in range(60):
        middle = (low + high) / 2
        fits = largest_loss(steps, middle) <= epsilon * (1 - _SLACK)
        low, high = (middle, high) if fits else (low, middle)
    return randomness.carry_rate(Fraction(low) * (1 - Fraction(1, 1 << 30)))


def _matrix(scores: Scores | None, labels: tuple[Label, ...]) -> list[list[Fraction]]:
    count = len(labels)
    if count > _MOST:
        raise ParameterError("A choice by scores takes at most 500 categories; use Response or LocalHashing.")
    if scores is None:
        return [[Fraction(-abs(i - j)) for j in range(count)] for i in range(count)]
    if callable(scores):
        return [[exact(scores(held, answer), "score") for answer in labels] for held in labels]
    rows = [list(row) if isinstance(row, (Sequence, np.ndarray)) else [] for row in scores]
    if len(rows) != count or any(len(row) != count for row in rows):
        raise ParameterError("The scores must be a square matrix: a row for each category held, a column per answer.")
    return [[exact(score, "score") for score in row] for row in rows]


def _whole_steps(scores: list[list[Fraction]]) -> tuple[Integers, Fraction]:
    """The scores as whole multiples of a unit, and the unit."""
    unit = Fraction(1, math.lcm(*(score.denominator for row in scores for score in row)))
    steps = [[score / unit for score in row] for row in scores]
    if max(abs(step) for row in steps for step in row) > _LARGEST_SCORE:
        raise ParameterError("The scores have too many digits; round them.")
    return np.array([[int(step) for step in row] for row in steps], dtype=np.int64), unit


def _inverse(law: Floats) -> Floats:
    if not np.linalg.cond(law) < _WORST_CONDITION:
        raise ParameterError(
            "Two categories get answers of nearly the same law, so that counts cannot be told apart; state other "
            "scores, fewer categories or a larger epsilon."
        )
    return np.asarray(np.linalg.inv(law).T)
