"""What labels cost: every account of one run, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.pate.accounting._orders import Curve, least_epsilon
from ziggurat.pate.accounting._private_epsilon import PrivateEpsilon
from ziggurat.pate.voting import Aggregator, Ballot, ExactCosts, Floats, Votes, VotingStep
from ziggurat.privacy import Amount, ApproximateDP, Event, compose, exact_delta, in_words, whole_number
from ziggurat.privacy.accounting import upper_rational

Weights = npt.NDArray[Any]

# How much better a step's own curve must be than what its event proves, to be worth naming.
_BETTER = Fraction(1, 10**6)


@dataclass(frozen=True, eq=False)
class PateAccount(Shown):
    """Every account of one run of an aggregator. Only the data-independent ones may be published.

    Attributes
    ----------
    queries, answers
        How many queries were asked, and how many of them were answered.
    event
        The facts, for the ledger.
    published
        Data-independent epsilon as published, with the classic conversion; None where nothing is published.
    record
        Data-independent and tight: the promise to the unit of the votes, and what a certificate shows.
    organisation
        The same for a unit that owns several teachers.
    private_published
        Data-dependent as published: classic conversion, one direction of the divergence. For comparison.
    private_exact
        Data-dependent and exact: both directions, every moved vote, improved conversion.
    """

    queries: int
    answers: int
    event: Event
    published: Fraction | None
    record: ApproximateDP
    organisation: ApproximateDP | None = None
    private_published: PrivateEpsilon | None = None
    private_exact: PrivateEpsilon | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give the public certificate: nothing in it depends on the votes but through the labels."""
        return {
            "queries": self.queries,
            "answers": self.answers,
            "event": self.event.to_dict(),
            "published": None if self.published is None else str(self.published),
            "record": _show(self.record),
            "organisation": None if self.organisation is None else _show(self.organisation),
        }

    def __str__(self) -> str:
        lines = [f"{self.answers} of {self.queries} queries answered", f"record: {self.record}"]
        if self.organisation is not None:
            lines.append(f"organisation: {self.organisation}")
        if self.published is not None:
            lines.append(f"as published, data-independent: epsilon {in_words(self.published)}")
        return "\n".join(lines)


def _show(promise: ApproximateDP) -> dict[str, Any]:
    amounts = {"epsilon": str(promise.epsilon), "delta": str(promise.delta), "route": promise.route}
    return {**promise.neighbours.to_dict(), **amounts}


def account(
    aggregator: Aggregator,
    votes: Votes | Ballot,
    *,
    delta: Amount,
    queries: int | None = None,
    answered: npt.ArrayLike | int | None = None,
    organisation: Unit | None = None,
    teachers_owned: int = 1,
) -> PateAccount:
    """Account for a run in every way that is known; the cost is the realised one.

    Parameters
    ----------
    aggregator
        What labelled the queries.
    votes
        The votes, or what is public about them (`Ballot`): then only data-independent accounts are made, for `queries`
        queries.
    delta
        The failure probability of every epsilon. At 0 there is the pure promise alone, where the noise has one: Rényi
        curves, and so what is published and what depends on votes, say nothing there.
    answered
        Which queries were answered (`labels.answered`), or how many where there are no votes. An aggregator without a
        test answers all.
    organisation, teachers_owned
        A unit that owns so many teachers: its promise is given beside that of a record.
    """
    ballot = votes.ballot if isinstance(votes, Votes) else votes
    asked, mask = count_asked(aggregator, votes, queries, answered)
    answers = int(mask.sum()) if isinstance(mask, np.ndarray) else mask
    event = aggregator.planned(ballot, asked, answers)
    published = _published_independent(aggregator, asked, answers, delta)
    record = _promise(aggregator, ballot, asked, answers, delta)
    group = None
    if organisation is not None:
        group = _promise(aggregator, ballot.owned_by(organisation, teachers_owned), asked, answers, delta)
    private: dict[str, PrivateEpsilon | None] = {}
    if isinstance(votes, Votes) and isinstance(mask, np.ndarray) and exact_delta(delta):
        private = _private(aggregator, votes, mask, delta, (published, record.epsilon))
    return PateAccount(asked, answers, event, published, record, group, **private)


def count_asked(
    aggregator: Aggregator, votes: Votes | Ballot, queries: int | None, answered: npt.ArrayLike | int | None
) -> tuple[int, Weights | int]:
    """Give how many queries were asked, and which (or, without votes, how many) of them were answered."""
    if isinstance(votes, Ballot):
        asked = whole_number(queries, "queries")
        return asked, asked if answered is None and aggregator.test is None else whole_number(answered, "answered", 0)
    if queries is not None:
        raise ParameterError("The votes tell how many queries there were; leave queries out.")
    if answered is None and aggregator.test is None:
        return len(votes), np.ones(len(votes), dtype=np.bool_)
    mask = np.asarray(answered)
    if mask.dtype.kind != "b" or mask.shape != (len(votes),):
        raise ParameterError("Say which queries were answered, as labels.answered does: one truth value for each.")
    return len(votes), mask


def steps_taken(aggregator: Aggregator, every: Any, answered: Any) -> list[tuple[VotingStep, Any]]:
    """Give each step with how often it is taken: a test on every query, the answer on those that are answered."""
    tests: list[tuple[VotingStep, Any]] = [] if aggregator.test is None else [(aggregator.test, every)]
    return [*tests, (aggregator, answered)]


def _add(curves: Iterable[Curve]) -> Curve:
    taken = list(curves)
    return lambda orders: np.asarray(np.sum([curve(orders) for curve in taken], axis=0))


def _times(curve: Curve, count: int) -> Curve:
    return lambda orders: count * curve(orders)


def _published_independent(aggregator: Aggregator, queries: int, answers: int, delta: Amount) -> Fraction | None:
    taken = [(step.published(), count) for step, count in steps_taken(aggregator, queries, answers)]
    known = [(bound, count) for bound, count in taken if bound is not None]
    if len(known) < len(taken) or not exact_delta(delta):
        return None
    curve = _add(_times(bound.independent, count) for bound, count in known)
    return upper_rational(least_epsilon(curve, delta, conversion="classic").epsilon)


def _promise(aggregator: Aggregator, ballot: Ballot, queries: int, answers: int, delta: Amount) -> ApproximateDP:
    """The least of what the event proves and of what the steps' own curves prove."""
    proven = compose(aggregator.planned(ballot, queries, answers)).approximate(delta)
    if not exact_delta(delta):
        return proven
    taken = steps_taken(aggregator, queries, answers)
    curve = _add(_times(partial(step.curve, ballot), count) for step, count in taken)
    own = least_epsilon(curve, delta).epsilon
    if np.isfinite(own) and upper_rational(own) < proven.epsilon * (1 - _BETTER):
        return ApproximateDP(ballot.neighbours, upper_rational(own), exact_delta(delta), "exact")
    return proven


def _private(
    aggregator: Aggregator, votes: Votes, answered: Weights, delta: Amount, limits: tuple[Fraction | None, Fraction]
) -> dict[str, PrivateEpsilon | None]:
    """The data-dependent accounts, none above its data-independent one."""
    published, tight = limits
    found: dict[str, PrivateEpsilon | None] = {"private_published": None, "private_exact": None}
    if published is not None:
        curve = published_curve(aggregator, votes, answered)
        least = least_epsilon(curve, delta, conversion="classic").epsilon
        found["private_published"] = PrivateEpsilon(min(least, float(published)))
    if votes.ballot.whole_votes:
        least = least_epsilon(exact_curve(aggregator, votes, answered), delta).epsilon
        found["private_exact"] = PrivateEpsilon(min(least, float(tight)))
    return found


def published_curve(aggregator: Aggregator, votes: Votes, answered: Weights) -> Curve:
    """Give the Rényi curve of the published data-dependent account; it is private.

    `answered` tells which queries were answered. For comparison with the published code it may be the probabilities
    that they are (`answer_probabilities`), whose sum is an expected cost and no promise.
    """
    taken = steps_taken(aggregator, np.ones(len(votes)), answered)
    return _add(_published_step(step, votes, times) for step, times in taken)


def _published_step(step: VotingStep, votes: Votes, times: Weights) -> Curve:
    bound, gaps = step.published(), step.gaps(votes)
    if bound is None:
        raise PrivacyError("Nothing is published about this aggregator; use its exact account.")
    unions, classes = bound.log_union(gaps), gaps.shape[1] + 1
    return lambda orders: np.asarray(times @ bound.dependent(unions, classes, orders))


def exact_curve(aggregator: Aggregator, votes: Votes, answered: Weights) -> Curve:
    """Give the exact Rényi curve of a run; it is private. `answered` is as for `published_curve`."""
    taken = steps_taken(aggregator, np.ones(len(votes)), np.asarray(answered, dtype=np.float64))
    return _add(_exact_step(step, votes, times) for step, times in taken)


def _exact_step(step: VotingStep, votes: Votes, times: Floats) -> Curve:
    paid = times > 0
    if not paid.any():
        return np.zeros_like
    return partial(ExactCosts(step, votes.take(paid)).total, weights=times[paid])


def answer_probabilities(aggregator: Aggregator, votes: Votes) -> Floats:
    """How likely each query is answered; private, as the votes are."""
    if aggregator.test is None:
        return np.ones(len(votes))
    return np.exp(aggregator.test.log_law(votes.shares)[:, 0])
