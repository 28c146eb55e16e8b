"""A data-dependent cost, released with noise of its own (smooth sensitivity; Nissim et al. 2007, Papernot et al. 2018).

The published bounds see a query through one number. Let the equivalent gap e be that at which a query with all other
classes e votes behind has the same union bound. Moving a vote changes e by at most 2: it changes every gap by at most
2, and among queries with the same union bound the one with equal gaps is extreme (Jensen), because u -> s(s^-1(u) - c)
is concave and u -> s(s^-1(u) + c) convex for s the miss probability of Gaussian, Laplace or Gumbel noise. So the cost
of a query is a falling function of one number that moves by at most 2, and all sensitivities can be read off a table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ziggurat import randomness
from ziggurat.cards import Shown
from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.pate.accounting._accounts import count_asked, steps_taken
from ziggurat.pate.voting import Aggregator, Floats, Integers, Votes, VotingStep
from ziggurat.privacy import Amount, Event, RenyiEvent, exact, exact_delta, exact_positive
from ziggurat.privacy.accounting import renyi_to_epsilon, upper_rational
from ziggurat.randomness import Source, choose_source

_CELLS_PER_VOTE = 8
_MOVED = 2 * _CELLS_PER_VOTE + 1  # one more than two votes: a gap on the edge of its cell may be rounded either way
# The noise is drawn in steps of 2^-40 and the result shown in steps of 2^-12, rounded up: that the finer rounding,
# which is scaled by a private number, shows at all has a probability of less than 2^-25.
_FINE = 40
_SHOWN = Fraction(1, 2**12)


@dataclass(frozen=True)
class Sanitized(Shown):
    """A data-dependent epsilon that may be published.

    Attributes
    ----------
    epsilon, delta
        With probability `confidence` over the noise of this number, the published data-dependent account of the labels
        and the release of this number together stay within them.
    order
        The Rényi order of the account.
    labels_cost
        The released cost of the labels at that order.
    event
        What the release of this number costs, to be written down besides the labels' own event.
    confidence, origin
        How sure the bound is; `"secure"`, or `"seeded"` for a rehearsal.
    """

    epsilon: Fraction
    delta: Fraction
    order: Fraction
    labels_cost: Fraction
    event: Event
    confidence: Fraction
    origin: str


def sanitize(
    aggregator: Aggregator,
    votes: Votes,
    *,
    delta: Amount,
    order: Amount,
    noise: Amount = 5,
    beta: Amount | None = None,
    answered: npt.ArrayLike | None = None,
    confidence: Amount = "0.95",
    source: Source | None = None,
) -> Sanitized:
    """Release the published data-dependent cost of labels, with noise scaled to its smooth sensitivity.

    The cost C at `order`, summed over the queries, is released as C + S (noise Z + c) with Z standard normal, S the
    smooth sensitivity at `beta` and c such that the result is at least C with probability `confidence`.

    Promise: the event bounds the Rényi divergence at `order` between the releases of neighbours, both ways. Proof: C
    + cS moves by at most (1 + c(e^beta - 1)) times the smaller S of the two, and the rest is the exact divergence of
    two normal laws whose standard deviations differ by a factor of at most e^beta (`smooth_cost`). The account itself
    bounds one direction of the divergence of the labels, as published.

    `order`, `noise` and `beta` must be chosen without looking at the votes; beta is 1/(4 order) unless stated.
    """
    at, width, sure = _above_one(order), exact_positive(noise, "noise"), _above_half(confidence)
    fade = 1 / (4 * at) if beta is None else exact_positive(beta, "beta")
    shift = float(width) * NormalDist().inv_cdf(float(sure))
    price = smooth_cost(float(at), float(fade), float(width) / (1 + shift * math.expm1(float(fade))))
    event = RenyiEvent(votes.ballot.neighbours, (at,), (upper_rational(price),))
    cost, sensitivity = smooth_sensitivity(aggregator, votes, float(at), float(fade), answered)
    drawn_from = choose_source(source)
    deviate = Fraction(randomness.rounded_gaussian(2**_FINE, source=drawn_from), 2**_FINE)
    noisy = Fraction(cost) + Fraction(sensitivity) * (width * deviate + Fraction(shift))
    shown = max(math.ceil(noisy / _SHOWN) * _SHOWN, Fraction(0))
    total = np.array([float(shown) + price])
    epsilon = upper_rational(renyi_to_epsilon(np.array([float(at)]), total, float(exact_positive(delta, "delta"))))
    return Sanitized(epsilon, exact_delta(delta), at, shown, event, sure, drawn_from.origin)


def _above_one(order: Amount) -> Fraction:
    at = exact(order, "order")
    if at <= 1:
        raise ParameterError("order must be greater than 1, for instance 10.")
    return at


def _above_half(confidence: Amount) -> Fraction:
    sure = exact(confidence, "confidence")
    if not Fraction(1, 2) <= sure < 1:
        raise ParameterError("confidence must be at least 0.5 and less than 1, for instance 0.95.")
    return sure


def smooth_cost(order: float, beta: float, noise: float) -> float:
    """Rényi divergence of releases with noise scaled to a beta-smooth sensitivity, the worse of both directions.

    For standard deviations 1 and r, and means at most min(1, r)/noise apart, it is exactly
    order min(1, r)^2 / (2 noise^2 v) - (ln(v)/2 - order ln r)/(order - 1) with v = 1 - order + order r^2. Both terms
    grow as r falls from 1 to e^-beta; for r above 1 the first is at most its value at 1 and the second grows to e^beta.
    A printed simplification, order e^(2 beta)/noise^2 + (beta order - ln(1 - 2 order beta)/2)/(order - 1), is smaller
    than this exact value near its limit order = 1/(2 beta), and so is not a bound.
    """
    if order * -math.expm1(-2 * beta) >= 0.999:
        raise ParameterError("beta must be below 1/(2 order); choose a smaller one.")

    def spread(log_ratio: float) -> float:
        """The second term; its two parts nearly cancel for a small beta, so their round-off is added."""
        along, across = order * log_ratio, math.log1p(order * math.expm1(2 * log_ratio)) / 2
        return (along - across + 1e-12 * (abs(along) + abs(across))) / (order - 1)

    narrow = order * math.exp(-2 * beta) / (2 * noise**2 * (1 + order * math.expm1(-2 * beta)))
    return max(narrow + spread(-beta), order / (2 * noise**2) + spread(beta))


def smooth_sensitivity(
    aggregator: Aggregator, votes: Votes, order: float, beta: float, answered: npt.ArrayLike | None = None
) -> tuple[float, float]:
    """Give the published data-dependent cost at `order` and its beta-smooth sensitivity; both are private.

    One unit may change its teacher's vote on every query, so the sensitivities at distance d are summed over the
    queries first: S = max_d e^(-beta d) sum_i LS_d(i).
    """
    _, mask = count_asked(aggregator, votes, None, answered)
    cost, local = 0.0, np.zeros(votes.teachers + 1)
    for step, times in steps_taken(aggregator, np.ones(len(votes)), np.asarray(mask, dtype=np.float64)):
        cells, table = _tabulate(step, votes, order)
        taken = np.bincount(cells, weights=times, minlength=table.size).astype(np.float64)
        cost += float(taken @ table)
        local += _local_sensitivities(taken, table, votes.teachers)
    return cost, float(np.max(np.exp(-beta * np.arange(local.size)) * local))


def _tabulate(step: VotingStep, votes: Votes, order: float) -> tuple[Integers, Floats]:
    """The cell of each query's equivalent gap, rounded down, and the cost of each cell, which never rises."""
    bound, gaps = step.published(), step.gaps(votes)
    if bound is None:
        raise PrivacyError("Nothing is published about this aggregator; show its data-independent account instead.")
    edges = np.arange(math.ceil(step.widest_gap(votes.teachers)) * _CELLS_PER_VOTE + 1) / _CELLS_PER_VOTE
    unions = math.log(gaps.shape[1]) + bound.log_miss(edges)
    cells = np.searchsorted(-unions, -bound.log_union(gaps), side="right") - 1
    costs = bound.dependent(unions, gaps.shape[1] + 1, np.array([order]))[:, 0]
    return np.clip(cells, 0, edges.size - 1), np.maximum.accumulate(costs[::-1])[::-1]


def _local_sensitivities(taken: Floats, table: Floats, most: int) -> Floats:
    """Sum, over all queries, the largest change by one moved vote within d moved votes, for d = 0, 1, ..., most.

    A move leads from a cell to one at most `_MOVED` away, so the change is at most that from the lower cell of the two
    to `_MOVED` above it, and the lower cell lies within (d + 1) `_MOVED` below and d `_MOVED` above the query's.
    """
    falls = table - np.append(table[_MOVED:], np.full(min(_MOVED, table.size), table[-1]))[: table.size]
    padded = np.concatenate([np.zeros(_MOVED), falls])
    largest = np.lib.stride_tricks.sliding_window_view(padded, _MOVED + 1).max(axis=1)
    sums = np.empty(most + 1)
    for distance in range(most + 1):
        sums[distance] = taken @ largest
        lower, upper = np.roll(largest, _MOVED), np.roll(largest, -_MOVED)
        lower[:_MOVED], upper[-_MOVED:] = largest[0], largest[-1]
        largest = np.maximum(largest, np.maximum(lower, upper))
    return sums
