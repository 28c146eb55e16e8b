"""Where a chain starts: with one community for all visits of a person, found by a mixture of people.

Chains that start from random topics often merge two communities and split a third, and hardly ever leave that mode.
Here people are first sampled as wholes (collapsed Gibbs sampling of a Dirichlet-multinomial mixture, Yin and Wang 2014)
into several times as many groups as communities are wanted, so that hardly any is missed; then the two groups whose
union loses the least likelihood are joined, again and again, until there are as many as wanted, and people are sampled
once more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from ziggurat.compiling import compiled, part
from ziggurat.sequences.mobility.communities._bags import Bags, Codes, Offsets, Reals

_TIMES, _BEFORE, _AFTER = 3, 30, 15
_TOGETHER = 16  # so many chances are multiplied before a logarithm is taken: none is below 1e-12


class SeenCodes(NamedTuple):
    """Places or hours of all visits, how often a person was there before, how often each group is, and the prior."""

    codes: Codes
    earlier: Codes
    table: Reals
    prior: float
    mass: float


def start_with_people(bags: Bags, communities: int, priors: tuple[float, float], draw: np.random.Generator) -> Codes:
    """Topics to begin with, the same for all visits of a person."""
    many = _TIMES * communities
    groups = draw.integers(many, size=bags.people, dtype=np.int32)
    sample_groups(bags, groups, many, priors, draw, _BEFORE)
    groups = join_groups(bags, groups, many, priors, communities)
    sample_groups(bags, groups, communities, priors, draw, _AFTER)
    return groups[bags.people_of_visits]


def sample_groups(
    bags: Bags, groups: Codes, count: int, priors: tuple[float, float], draw: np.random.Generator, sweeps: int
) -> None:
    """Draw the group of every person anew, `sweeps` times."""
    first, second = _see(bags, groups, count, priors)
    members = np.bincount(groups, minlength=count).astype(np.float64)
    totals = np.bincount(groups, np.diff(bags.offsets), minlength=count).astype(np.float64)
    _sweep(bags.offsets, groups, members, totals, first, second, draw, sweeps)


def join_groups(bags: Bags, groups: Codes, count: int, priors: tuple[float, float], wanted: int) -> Codes:
    """Join the two groups whose union loses the least likelihood, until there are as many as wanted."""
    tables = [GroupCounts(each) for each in _see(bags, groups, count, priors) if len(each.codes)]
    names, gains = np.arange(count), np.full((count, count), -np.inf)
    for a in range(1, count):
        gains[a, :a] = sum(each.gain(a, np.arange(a)) for each in tables)
    for _ in range(count - wanted):
        gone, kept = divmod(int(np.argmax(gains)), count)
        for each in tables:
            each.join(gone, kept)
        names[names == gone] = kept
        gains[gone], gains[:, gone] = -np.inf, -np.inf
        others = np.setdiff1d(names, [kept])
        gains[np.maximum(kept, others), np.minimum(kept, others)] = sum(each.gain(kept, others) for each in tables)
    return np.unique(names, return_inverse=True)[1].astype(np.int32)[groups]


class GroupCounts:
    """How often each place, or hour, occurs in every group, and how much likelihood their unions win or lose."""

    def __init__(self, seen: SeenCodes) -> None:
        self._table, self._mass = np.ascontiguousarray(seen.table.T, dtype=np.int64), seen.mass
        most = np.arange(int(seen.table.sum(axis=1).max(initial=0)) + 1)
        self._logs = gammaln(most + seen.prior) - gammaln(seen.prior)
        self._alone = self._log_chances(self._table)

    def gain(self, group: int, others: npt.NDArray[np.int64]) -> Reals:
        """By how much the likelihood grows if a group and each of some others become one."""
        unions = self._log_chances(self._table[group] + self._table[others])
        return np.asarray(unions - self._alone[group] - self._alone[others])

    def join(self, gone: int, kept: int) -> None:
        """Make two groups one."""
        self._table[kept] += self._table[gone]
        self._alone[kept] = self._log_chances(self._table[[kept]])[0]

    def _log_chances(self, counts: npt.NDArray[np.int64]) -> Reals:
        together = gammaln(self._mass) - gammaln(counts.sum(axis=1) + self._mass)
        return np.asarray(self._logs[counts].sum(axis=1) + together)


def _see(bags: Bags, groups: Codes, count: int, priors: tuple[float, float]) -> tuple[SeenCodes, SeenCodes]:
    whose = groups[bags.people_of_visits].astype(np.int64)
    first, second = (
        _see_codes(bags.offsets, codes, size if len(codes) else 0, whose, count, prior)
        for codes, size, prior in zip((bags.first, bags.second), bags.sizes, priors, strict=True)
    )
    return first, second


def _see_codes(offsets: Offsets, codes: Codes, size: int, whose: Offsets, count: int, prior: float) -> SeenCodes:
    cells = codes * np.int64(count) + whose[: len(codes)]
    table = np.bincount(cells, minlength=size * count).reshape(size, count).astype(np.float64)
    earlier = _count_earlier(offsets, codes, size) if size else codes
    return SeenCodes(codes, earlier, table, float(prior), float(size * prior))


@compiled
def _count_earlier(offsets: Offsets, codes: Codes, size: int) -> Codes:
    """How often a person was there before, for every visit."""
    earlier, seen = np.zeros(codes.size, np.int32), np.zeros(size, np.int32)
    for person in range(offsets.size - 1):
        for i in range(offsets[person], offsets[person + 1]):
            earlier[i] = seen[codes[i]]
            seen[codes[i]] += 1
        for i in range(offsets[person], offsets[person + 1]):
            seen[codes[i]] = 0
    return earlier


@compiled
def _sweep(
    offsets: Offsets,
    groups: Codes,
    members: Reals,
    totals: Reals,
    first: SeenCodes,
    second: SeenCodes,
    draw: np.random.Generator,
    sweeps: int,
) -> None:
    told, chance = np.empty(members.size), np.empty(members.size)
    for _ in range(sweeps):
        for person in range(offsets.size - 1):
            start, stop = offsets[person], offsets[person + 1]
            _move_person(groups[person], -1.0, start, stop, members, totals, first, second)
            told[:], chance[:] = 0.0, members + 1.0
            for i in range(start, stop):
                _weigh(first, i, i - start, totals, chance)
                if second.codes.size:
                    _weigh(second, i, i - start, totals, chance)
                if (i - start) % _TOGETHER == _TOGETHER - 1:
                    told += np.log(chance)
                    chance[:] = 1.0
            groups[person] = _choose(told + np.log(chance), chance, draw.random())
            _move_person(groups[person], 1.0, start, stop, members, totals, first, second)


@part
def _move_person(
    group: int, by: float, start: int, stop: int, members: Reals, totals: Reals, first: SeenCodes, second: SeenCodes
) -> None:
    members[group] += by
    totals[group] += by * (stop - start)
    for i in range(start, stop):
        first.table[first.codes[i], group] += by
        if second.codes.size:
            second.table[second.codes[i], group] += by


@part
def _weigh(seen: SeenCodes, i: int, before: int, totals: Reals, chance: Reals) -> None:
    """Multiply in how likely each group is to make visit i after the person's visits before."""
    row, up, down = seen.table[seen.codes[i]], seen.earlier[i] + seen.prior, before + seen.mass
    for k in range(chance.size):
        chance[k] *= (row[k] + up) / (totals[k] + down)


@part
def _choose(told: Reals, chance: Reals, share: float) -> int:
    """Choose in proportion to the exponentials."""
    chance[:] = np.exp(told - told.max())
    mark, k = share * chance.sum(), 0
    while k < chance.size - 1 and mark >= chance[k]:
        mark -= chance[k]
        k += 1
    return k
