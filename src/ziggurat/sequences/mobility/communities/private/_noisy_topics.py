"""From noisy tables to communities: post-processing, which costs nothing however long it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from ziggurat.sequences.mobility.communities._bags import Codes, Reals

Truths = npt.NDArray[np.bool_]

_STARTS, _TURNS = 8, 200
_FLOOR = 0.1  # the share of a distribution that is spread evenly, so that nothing is impossible
_CAREFUL = 2.0
_EDGE = 3.0  # the largest eigenvalue of noise is seldom so far out (Tracy and Widom 1996)
_SELDOM = 0.01  # how often noise alone makes anything look clear


@dataclass(frozen=True)
class Factors:
    """Communities by their factors: `loads[k, thing]`, which may be below 0, and the deviation of the noise on them.

    `doubt` is the deviation that noise may have where it made the community, too, and not only moved its loads.
    """

    loads: Reals
    noise: Reals
    doubt: Reals

    @property
    def shares(self) -> Reals:
        """How much of all pairs of visits each community explains, in all 1."""
        mass = np.maximum(self.loads, 0.0).sum(axis=1) ** 2
        return np.asarray(mass / mass.sum())

    @property
    def clear(self) -> Truths:
        """Which loads are so large that noise alone seldom makes even one such."""
        return np.asarray(self.loads > NormalDist().inv_cdf(1 - _SELDOM / self.loads.size) * self.doubt[:, None])

    def place_chances(self, wide: int) -> Reals:
        """The first `wide` loads of each community as chances: what is within the noise counts for nothing."""
        return _to_chances(np.maximum(self.loads[:, :wide] - self.noise[:, None], 0.0))

    def hour_chances(self, wide: int) -> Reals:
        """The loads after the first `wide` as chances: those of all people, as far as noise makes the difference.

        After James and Stein (1961), doubly careful: a difference that is twice the noise in square counts half.
        """
        mine = self.loads[:, wide:]
        sums = np.maximum(mine.sum(axis=1, keepdims=True), 1e-12)
        base = sums * _to_chances(np.maximum((sums * mine).sum(axis=0, keepdims=True), 0.0), 0)
        spread = np.maximum(((mine - base) ** 2).mean(axis=1), 1e-24)
        kept = np.maximum(1 - _CAREFUL * self.noise**2 / spread, 0.0)
        return _to_chances(np.maximum(base + kept[:, None] * (mine - base), 0.0))


def factorize(matrix: Reals, communities: int, width: float, draw: np.random.Generator) -> Factors:
    """Communities of which pairs of visits are made: the matrix is about the sum of their loads times themselves.

    Where people belong to one community each, the table of pairs is W W', with one column of W, none of it negative,
    for each community. The best W W' without that condition is X X' with X of the leading eigenvectors; W is X Q with
    the rotation Q that leaves least below 0, found by turns (Huang, Sidiropoulos and Swami 2014, "Non-negative matrix
    factorization revisited"), from several starts of which the closest is kept. Largest communities first.

    `width` is the deviation of the noise on an entry. Noise E moves a row of X by its row of E times the eigenvectors
    over the roots of their eigenvalues. But noise has eigenvalues of its own, up to 2 width sqrt(size), and pushes
    others outwards: an eigenvector within that edge is nothing but noise, and the eigenvalue v of one beyond it was
    (v + sqrt(v^2 - edge^2)) / 2 (Benaych-Georges and Nadakuditi 2011). What is named must be clear of all that.
    """
    values, vectors = np.linalg.eigh(matrix)
    found = np.maximum(values[::-1][:communities], 1e-9 * max(float(values[-1]), 1e-9))
    roots = vectors[:, ::-1][:, :communities] * np.sqrt(found)
    turns = [_turn(roots, start) for start in _starts(roots, draw)]
    best = min(turns, key=lambda turn: _miss(matrix, roots @ turn))
    loads = (roots @ best).T
    noise, doubt = np.sqrt((width**2 / found) @ best**2), _doubt(found, best**2, width, len(matrix))
    order = np.argsort(-np.maximum(loads, 0.0).sum(axis=1), kind="stable")
    return Factors(loads[order], noise[order], doubt[order])


def _doubt(values: Reals, parts: Reals, width: float, size: int) -> Reals:
    """How far noise may move the loads of communities, of which `parts[vector, k]` is each eigenvector's part.

    A community that is noise by more than half may be moved by anything.
    """
    edge = 2 * width * math.sqrt(size)
    beyond = values > edge + _EDGE * width * size ** (-1 / 6)
    before = (values + np.sqrt(np.maximum(values**2 - edge**2, 0.0))) / 2
    variance = np.where(beyond, width**2 / before, values / size) @ parts
    return np.where(beyond @ parts > 1 / 2, np.sqrt(variance), np.inf)


def _starts(roots: Reals, draw: np.random.Generator) -> list[Reals]:
    size = roots.shape[1]
    return [_purest(roots), *(np.linalg.qr(draw.normal(size=(size, size)))[0] for _ in range(_STARTS - 1))]


def _purest(roots: Reals) -> Reals:
    """The rotation nearest to the rows that differ most from one another: things of one community only."""
    left, rows = roots.copy(), []
    for _ in range(roots.shape[1]):
        at = int((left**2).sum(axis=1).argmax())
        rows.append(roots[at] / max(float(np.linalg.norm(roots[at])), 1e-300))
        away = left[at] / max(float(np.linalg.norm(left[at])), 1e-300)
        left -= np.outer(left @ away, away)
    return _nearest_rotation(np.array(rows).T)


def _turn(roots: Reals, turn: Reals) -> Reals:
    for _ in range(_TURNS):
        before, turn = turn, _nearest_rotation(roots.T @ np.maximum(roots @ turn, 0.0))
        if np.array_equal(before, turn):  # so would all turns after it be
            break
    return turn


def _nearest_rotation(matrix: Reals) -> Reals:
    before, _, after = np.linalg.svd(matrix)
    return np.asarray(before @ after)


def _miss(matrix: Reals, loads: Reals) -> float:
    loads = np.maximum(loads, 0.0)
    return float(((matrix - loads @ loads.T) ** 2).sum())


def _to_chances(weights: Reals, floor: float = _FLOOR) -> Reals:
    """Weights as distributions, in which a part is spread evenly."""
    sums = weights.sum(axis=1, keepdims=True)
    even = 1 / weights.shape[1]
    told = np.divide(weights, sums, out=np.full_like(weights, even), where=sums > 0)
    return np.asarray((1 - floor) * told + floor * even)


def choose_places(weights: Reals, above: float, least: int, most: int) -> Codes:
    """The places that are worth a place in the table of pairs, by noisy weights: the clear ones, most visited first."""
    order = np.argsort(-weights, kind="stable")
    clear = int((weights > above).sum())
    return order[: min(max(clear, least), most)].astype(np.int32)


def spread_over_places(chances: Reals, groups: Codes, weights: Reals, above: float) -> Reals:
    """Chances of places, from chances of the groups that `groups` puts them into; a negative one is no group.

    Within a group places share by their noisy weights where these are clear; those that are not have one weight, what
    is left of all. Places of no group share what is theirs by these weights in every community.
    """
    wide = chances.shape[1]
    group = np.where(groups < 0, wide, groups)
    cleared = _clear_weights(weights, above)
    sums = np.bincount(group, cleared, wide + 1)
    outside = sums[wide] / sums.sum()
    padded = np.concatenate([(1 - outside) * chances, np.full((len(chances), 1), outside)], axis=1)
    return np.asarray((1 - _FLOOR) * padded[:, group] * cleared / sums[group] + _FLOOR / len(group))


def _clear_weights(weights: Reals, above: float) -> Reals:
    clear = weights > above
    told = float(weights[clear].sum())
    left = max(float(weights.sum()) - told, _FLOOR * told, 1e-9)
    return np.where(clear, weights, left / max(int((~clear).sum()), 1))
