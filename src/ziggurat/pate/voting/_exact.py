"""The exact cost of queries: Rényi divergences maximised over every move of one vote, in both directions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ziggurat.errors import PrivacyError
from ziggurat.pate.voting._laws import laplace_law, log_sum
from ziggurat.pate.voting._votes import Floats, Integers, Votes

if TYPE_CHECKING:
    from ziggurat.pate.voting._aggregators import VotingStep

# Quadratures are right to about 1e-13; logarithms of the laws, and their multiples, to a few units of their size.
_ROUND_OFF = 1e-12
_UNITS = 64 * 2.0**-53


class ExactCosts:
    """The exact Rényi curves of one step on given votes: for every query the worst neighbour, both ways.

    Equal queries, and those that are permutations of each other, are computed once. A query never costs more than the
    proven curve for all votes. The costs depend on private votes; `account` keeps them out of sight.
    """

    def __init__(self, step: VotingStep, votes: Votes) -> None:
        if votes.parts != 1:
            raise PrivacyError("Exact costs are known for whole votes only; make the votes with how='argmax'.")
        self._step, self._ballot, self._rounding = step, votes.ballot, step.rounding(votes.teachers)
        ranked = -np.sort(-votes.counts, axis=1)
        rows, place = np.unique(ranked, axis=0, return_inverse=True)
        self._place = place.ravel()
        owner, moved = one_vote_moves(rows)
        there = step.log_law(moved.astype(np.float64))
        # Moves that lead to the same law, as most do for a test, are one.
        told_apart = np.unique(np.column_stack([owner, there]), axis=0)
        self._starts = np.searchsorted(told_apart[:, 0], np.arange(len(rows)))
        # Outcomes first: sums over them then run along whole rows of memory.
        self._there = np.ascontiguousarray(told_apart[:, 1:].T)
        here = step.log_law(rows.astype(np.float64))
        self._here = np.ascontiguousarray(here[told_apart[:, 0].astype(np.int64)].T)

    def total(self, orders: Floats, weights: Floats | None = None) -> Floats:
        """Give the sum over the queries at each order, each query taken `weights` times."""
        given = np.ones(self._place.size) if weights is None else weights
        times = np.bincount(self._place, weights=given, minlength=self._starts.size)
        return np.asarray(times @ self._distinct(orders))

    def each(self, orders: Floats) -> Floats:
        """Give the costs, queries x orders."""
        return self._distinct(orders)[self._place]

    def _distinct(self, orders: Floats) -> Floats:
        limit = self._step.curve(self._ballot, orders)
        worst = np.stack([self._worst(float(order)) for order in orders], axis=1)
        size = max(float(np.abs(law).max()) for law in (self._here, self._there))
        return np.minimum(worst + slack(self._rounding, orders, size), limit)

    def _worst(self, order: float) -> Floats:
        onward, back = divergence(self._here, self._there, order), divergence(self._there, self._here, order)
        return np.asarray(np.maximum.reduceat(np.maximum(onward, back), self._starts))


def one_vote_moves(rows: Integers) -> tuple[Integers, Integers]:
    """Give every row that one moved vote makes of `rows`, and from which row it comes.

    The rows are in descending order. Of classes with equal counts only the first gives, and only the first other one
    takes a vote: the rest are permutations of these.
    """
    first = np.ones(rows.shape, dtype=np.bool_)
    first[:, 1:] = rows[:, 1:] != rows[:, :-1]
    classes = np.arange(rows.shape[1])
    twin = (classes[None, :] == classes[:, None] + 1) & (rows[:, None, :] == rows[:, :, None])
    gives = (first & (rows > 0))[:, :, None]
    pairs = gives & (first[:, None, :] | twin) & (classes[:, None] != classes[None, :])
    owner, giver, taker = np.nonzero(pairs)
    moved = rows[owner]
    moved[np.arange(owner.size), giver] -= 1
    moved[np.arange(owner.size), taker] += 1
    return owner.astype(np.int64), moved


def divergence(log_p: Floats, log_q: Floats, order: float) -> Floats:
    """Rényi divergence of finite laws given by logarithms, along the first axis."""
    return np.maximum(log_sum(log_p + (order - 1) * (log_p - log_q), axis=0), 0.0) / (order - 1)


def slack(rounding: float, orders: Floats, size: Floats | float) -> Floats:
    """Bound what a divergence gains if logarithms of up to `size` are off by `rounding` and by round-off."""
    return np.asarray(2 * (rounding + _ROUND_OFF + _UNITS * size) * orders / (orders - 1))


def two_class_laplace_curve(gamma: float, orders: Floats, rounding: float = 0.0) -> Floats:
    """Exact Rényi curve of the Laplace noisy maximum with two classes: the worst over all whole votes.

    Only the lead of one class counts, and a moved vote changes it by 2. The class behind wins with probability
    p < e^(-gamma lead) (1 + gamma lead / 2), so a divergence is below p e^(2 gamma order) / (order - 1): beyond a lead
    of 2 order + 60/gamma it is less than e^-50 of the largest, and is not looked at.
    """
    worst = np.array([_worst_lead(gamma, float(order)) for order in orders])
    return worst + slack(rounding, orders, 2 * gamma * (orders + 2) + 62)


def _worst_lead(gamma: float, order: float) -> float:
    leads = np.arange(-1, np.ceil(2 * order + 60 / gamma) + 1)
    here, there = (laplace_law(np.stack([at, np.zeros_like(at)], axis=1), gamma).T for at in (leads, leads + 2))
    return float(np.maximum(divergence(here, there, order), divergence(there, here, order)).max())
