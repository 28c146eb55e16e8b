"""The weight of a penalty, chosen privately out of a public list.

Two ways, by what a method releases.

- Released sums S + Z with noise of known deviation s: fresh noise W of the same deviation makes two copies, S + Z + W
  and S + Z - W. Where Z is Gaussian their noises Z + W and Z - W are independent, so a model fitted on one copy is
  judged without bias by the other, as its squared error is linear in the sums (a coupled bootstrap: Oliveira, Lei &
  Tibshirani 2024); of Laplace noise they are merely uncorrelated, and the choice is rougher. Nothing but S + Z and
  public facts is used, so that the choice is post-processing: it costs nothing beside what the sums cost, for whatever
  unit and relation they protect, and the model still uses all of them. What is judged is the error on these rows under
  the noise of this release.
- Else a contest (Chaudhuri, Monteleoni & Sarwate 2011, Algorithm 3): rows are dealt at random into a part for each
  candidate and one more. Each candidate is fitted on its own part, and one of them is chosen by its errors on the
  last. For output perturbation that is the model, as printed: its noise is no less for more rows. For objective
  perturbation, where it is, the contest has half of epsilon and delta, and the other half is for a model of all rows
  with the weight that was chosen. On wine quality and on an invented table of 20 columns, at epsilon 0.5 to 5, that
  was better than the winner in 15 of 16 comparisons, some by little; for output perturbation in 6, and never on wine.

Proof for the contest, replace-one: which position goes to which part is drawn without looking at rows, so given that, a
replaced row changes one part, whose sizes are public. In a candidate's part it changes that candidate alone, which is
(epsilon, delta)-DP, and all that follows is post-processing, as the last part is the same. In the last part it leaves
all candidates as they are, and the choice among them by sums of errors between 0 and 1 a row, of sensitivity 1, is
epsilon-DP. A mixture over deals keeps what each of them promises; a model of all rows is composed with it.

Add-or-remove-one: every row is dealt by a throw of its own, so that one row more changes nobody else's part: given all
throws, one part has a row more, and the same follows. No part has a size that is known; the candidates promise under
add-or-remove-one up to the number of rows that all proofs allow for. In the last part a row lowers all scores, none by
more than 1, so that the choice needs half the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ziggurat import randomness
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.learn._budget import FitBudget, Kind
from ziggurat.learn._clipping import STEPS, Floats, Integers
from ziggurat.learn._moments import Quadratic
from ziggurat.mechanisms import Selection
from ziggurat.privacy import (
    Account,
    ApproximateEvent,
    Event,
    ParallelEvent,
    PureEvent,
    Relation,
    compose,
    compose_events,
)
from ziggurat.randomness import Source

# Pairs of copies over which errors are averaged; 32 were no better than 8 on wine quality.
_PAIRS = 8
_FINE = 1 << 20


def weight_of(alpha: Any, name: str = "alpha") -> float:
    """Read a public regularisation weight."""
    if isinstance(alpha, str):
        raise ParameterError(
            f"{name} is public: give a number that was not chosen by looking at these rows; some can be 'private'."
        )
    try:
        value = float(alpha)
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise ParameterError(f"{name} must be a finite number of at least 0.")
    return value


def is_private(weight: Any) -> bool:
    """Whether a weight is to be chosen privately."""
    return isinstance(weight, str) and weight == "private"


def public_grid(given: Any, name: str) -> tuple[float, ...]:
    """Read the public list of weights that one is chosen from, in rising order."""
    try:
        items = [] if isinstance(given, str) else list(given)
    except TypeError:
        items = []
    grid = sorted({weight_of(item, f"Every one of {name}") for item in items})
    if len(grid) < 2:
        raise ParameterError(f"{name} must be a public list of at least two different numbers.")
    return tuple(grid)


def squared_error(sums: Quadratic, weights: Floats, constant: float) -> float:
    """The squared residuals that these sums tell, less the square of the target, which is the same for all models."""
    found = float(weights @ sums.gram @ weights - 2 * sums.cross @ weights)
    if sums.sums is None:
        return found
    return found + constant * (2 * float(sums.sums @ weights) - 2 * sums.total + constant * sums.rows)


def judge_by_copies(
    noisy: Floats,
    deviation: float,
    fitted: Callable[[Floats], Sequence[tuple[Floats, float]]],
    told: Callable[[Floats], Quadratic],
    source: Source,
) -> int:
    """Choose a candidate by released sums alone.

    Parameters
    ----------
    noisy, deviation
        What was released, and the standard deviation of its noise.
    fitted
        From sums with noise of sqrt(2) times that deviation to the weights and intercept of every candidate.
    told
        From a released vector to the sums that it tells, linearly.
    """
    errors: Floats = np.zeros(1)
    for _ in range(_PAIRS):
        drawn = randomness.rounded_gaussian(Fraction(_FINE), size=noisy.size, source=source)
        apart = np.asarray(drawn, dtype=np.float64) * (deviation / _FINE)
        for sign in (1, -1):
            other = told(noisy - sign * apart)
            errors = errors + [squared_error(other, *model) for model in fitted(noisy + sign * apart)]
    return int(np.argmin(errors))


def each_of(rounds: int, budget: FitBudget, kind_of: Callable[[Fraction, Fraction], Kind]) -> FitBudget:
    """One of so many equal parts of what is left of a budget, with the noise that suits so much."""
    epsilon, delta = budget.epsilon * budget.share / rounds, budget.delta / rounds
    return FitBudget(epsilon, delta, kind_of(epsilon, delta), budget.neighbours)


class Contested:
    """A model with one of several ridges, chosen in a contest: the winner itself, or a model of all rows like it.

    Parameters
    ----------
    make
        From the number of rows that proofs allow for, about how many there are, and a ridge to a way to fit, within
        `budget`: it has `event`, `doubt` and `learn(data, source)`, where `data.only(positions)` is data of some rows.
    errors
        The error of a fitted model on every row of such data, between 0 and 1.
    rows, likely, ridges
        How many rows there are where that is public, else how many proofs allow for; about how many; which ridges.
    budget
        What the contest may cost; as much again goes to a model of all rows.
    again
        Whether there is one.
    """

    def __init__(
        self,
        make: Callable[[int, int | None, float], Any],
        errors: Callable[[Any, Any], Floats],
        rows: int,
        ridges: Sequence[float],
        budget: FitBudget,
        *,
        again: bool,
        likely: int | None = None,
    ) -> None:
        self.errors, self.parts = errors, len(ridges) + 1
        self.added = budget.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
        sizes = [(rows, likely and max(1, likely // self.parts))] * len(ridges)
        if not self.added:
            sizes = [(size, size) for size in part_sizes(rows, len(ridges))[:-1]]
        self.entrants = [make(*size, ridge) for size, ridge in zip(sizes, ridges, strict=True)]
        self.finals = [make(rows, likely, ridge) for ridge in ridges] if again else []
        self.selection = Selection(budget.epsilon, STEPS, monotone=self.added, neighbours=budget.neighbours)
        entry = covering([way.event for way in self.entrants], budget)
        parts = (*[entry] * len(ridges), self.selection.event)
        # Which ridge is used is known only afterwards, so what any of them keeps is stated.
        final = [covering([way.event for way in self.finals], budget)] if again else []
        self.event = compose_events([ParallelEvent(budget.neighbours, parts, may_move=False), *final])
        self.doubt = float(min(way.doubt for way in self.finals or self.entrants))

    def learn(self, data: Any, source: Source) -> Any:
        """Choose a ridge, and give the winner, or fit all rows with its ridge."""
        *own, last = [data.only(part) for part in self.dealt(len(data), source)]
        models = [way.learn(part, source) for way, part in zip(self.entrants, own, strict=True)]
        errors = [self.errors(model, last) for model in models]
        place = self.selection.release(scores(errors), source).value
        found = self.finals[place].learn(data, source) if self.finals else models[place]
        return found._replace(place=place)

    def dealt(self, rows: int, source: Source) -> list[Integers]:
        """Deal the positions of rows: a part for each candidate, and the last to judge them by."""
        if self.added:
            thrown = randomness.uniform_below(self.parts, size=rows, source=source)
            return [np.flatnonzero(thrown == part) for part in range(self.parts)]
        order, sizes = randomness.shuffle(rows, source=source), part_sizes(rows, self.parts - 1)
        return [np.sort(part) for part in np.split(order, np.cumsum(sizes)[:-1])]


def covering(events: Sequence[Event], budget: FitBudget) -> Event:
    """One event that states what each of these keeps, whichever is chosen: the epsilon and delta they were made for."""
    accounts = [compose(event) for event in events]
    if any(account.approximate(budget.delta).epsilon > budget.epsilon for account in accounts):
        raise PrivacyError("A candidate would cost more than its part of epsilon and delta; use another method.")
    if all(_is_pure(account, budget.epsilon) for account in accounts):
        return PureEvent(budget.neighbours, budget.epsilon)
    return ApproximateEvent(budget.neighbours, budget.epsilon, budget.delta)


def _is_pure(account: Account, epsilon: Fraction) -> bool:
    try:
        return account.pure().epsilon <= epsilon
    except PrivacyError:
        return False


def part_sizes(rows: int, candidates: int) -> list[int]:
    """How many rows the part of each candidate has, and the last part."""
    if rows <= candidates:
        raise ParameterError(
            f"{rows} sample(s) are too few for a private choice of {candidates} weights; shorten the list, or fix one."
        )
    each, more = divmod(rows, candidates + 1)
    return [each + (at < more) for at in range(candidates + 1)]


def scores(errors: Sequence[Floats]) -> Integers:
    """Sums of errors in whole steps, the fewer the better; a row moves each by at most `STEPS`."""
    return -np.array([np.trunc(np.clip(each, 0.0, 1.0) * STEPS).astype(np.int64).sum() for each in errors])
