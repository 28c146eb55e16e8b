"""Counts by sets of columns: which are wanted, how they are measured, and which one a model gets most wrong.

Whom a promise is about is a unit (a row, or a person of whom at most `rows` rows count) that is added or removed, or
replaced. In the table of counts by any set of columns, one row is 1 in one cell. So a unit moves it

- under add-or-remove-one by at most `rows` in l1 and, if all its rows fall into one cell, in l2;
- under replace-one, where `rows` counts go and as many come, by 2 rows in l1 and sqrt(2) rows in l2.

A measurement is discrete Gaussian noise on the integer counts: rho = (l2/sigma)^2 / 2 (Canonne, Kamath & Steinke 2020).
A choice is the exponential mechanism on scores that a unit moves by `l1` times a weight: its loss has a range of
epsilon, so rho = epsilon^2 / 8 (Cesar & Rogers 2021). Rhos add up, also where each is chosen in the light of the
answers before, as long as the sum is kept below a bound that was fixed in advance (Feldman & Zrnic 2021; Whitehouse et
al. 2023): `RhoLeft` keeps it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

from ziggurat.errors import ParameterError, PrivacyError
from ziggurat.mechanisms import DiscreteGaussian, Selection
from ziggurat.privacy import Neighbours, Relation
from ziggurat.randomness import Source
from ziggurat.synthesize.marginals._cliques import Clique, Floats, Integers

# Scores are counted in steps of 2**-10 rows, on integers, so that a unit moves them by what is stated and no more.
_STEPS = 1 << 10
# Amounts of budget are cut to multiples of this, so that sums of many of them stay short.
_FINE = 1 << 80


@dataclass(frozen=True)
class CountedUnit:
    """What one unit is: whom the promise is about, and how many rows of each count."""

    neighbours: Neighbours
    rows: int = 1

    @property
    def l1(self) -> int:
        """How far one unit moves a table of counts in l1: this many cells by 1 each."""
        return self.rows * (2 if self.neighbours.relation is Relation.REPLACE_ONE else 1)

    @property
    def l2(self) -> Fraction:
        """How far one unit moves a table of counts in l2."""
        if self.neighbours.relation is Relation.ADD_OR_REMOVE_ONE:
            return Fraction(self.rows)
        return self.rows * Fraction(math.isqrt(2 << 80) + 1, 1 << 40)

    def noise(self, rho: Fraction) -> DiscreteGaussian:
        """The noise for one table of counts."""
        try:
            return DiscreteGaussian.calibrated(rho, self.l2, coordinates=self.l1, neighbours=self.neighbours)
        except ParameterError:
            raise ParameterError("epsilon is too small for any noise that can be drawn; allow a larger one.") from None

    def choice(self, rho: Fraction, weight: int = 1) -> Selection:
        """The choice among tables by scores that change by at most `weight` for each count that changes by 1."""
        epsilon = root_below(8 * rho)
        return Selection(epsilon, self.l1 * weight * _STEPS, method="gumbel", neighbours=self.neighbours)


class RhoLeft:
    """What is left of a fixed rho."""

    def __init__(self, rho: Fraction) -> None:
        self.rho, self.left = rho, rho

    def pay(self, rho: Fraction) -> None:
        """Take out what is about to be spent, or refuse: there is no more than was planned."""
        if rho > self.left:
            raise PrivacyError("More would be spent than was planned; what was measured so far stays spent.")
        self.left -= rho


@dataclass(frozen=True, eq=False)
class NoisyCounts:
    """Noisy counts by a set of columns: safe to publish.

    Attributes
    ----------
    columns
        An axis of the counts for each.
    counts
        With noise; some may be negative.
    sigma
        The deviation of the noise of one cell as it was measured.
    cells
        How many cells as they were measured each one holds.
    """

    columns: Clique
    counts: Integers
    sigma: Fraction
    cells: Integers | None = None

    def fold(self, places: Integers) -> NoisyCounts:
        """Take cells of one column together, by the group of each."""
        counts = np.zeros(int(places.max()) + 1, dtype=np.int64)
        np.add.at(counts, places, self.counts)
        return NoisyCounts(self.columns, counts, self.sigma, np.bincount(places))

    def arrays(self, prefix: str) -> dict[str, Integers]:
        """What is stored as arrays."""
        cells = {} if self.cells is None else {f"{prefix}cells": self.cells}
        return {f"{prefix}counts": self.counts, **cells}

    @classmethod
    def restored(cls, columns: Clique, sigma: Fraction, prefix: str, arrays: Mapping[str, Any]) -> NoisyCounts:
        """Return what was stored."""
        return cls(columns, arrays[f"{prefix}counts"], sigma, arrays.get(f"{prefix}cells"))


@dataclass(frozen=True, eq=False)
class ExactCounts:
    """The exact counts of a coded table; private."""

    codes: Mapping[str, Integers]
    sizes: Mapping[str, int]

    def by(self, columns: Clique) -> Integers:
        """Count the rows by these columns."""
        shape = [self.sizes[name] for name in columns]
        cell = np.zeros(len(next(iter(self.codes.values()))), dtype=np.int64)
        for name, size in zip(columns, shape, strict=True):
            cell *= size
            cell += self.codes[name]
        return np.bincount(cell, minlength=math.prod(shape)).reshape(shape)

    def measured(self, columns: Clique, noise: DiscreteGaussian, source: Source) -> NoisyCounts:
        """Count, and add noise."""
        return NoisyCounts(columns, np.asarray(noise.release(self.by(columns), source).value), noise.sigma)

    def fold(self, places: Mapping[str, Integers]) -> ExactCounts:
        """Return the same rows with some cells of each column taken together, by the group of each."""
        sizes = {name: int(groups.max()) + 1 for name, groups in places.items()}
        small = {name: groups.astype(np.min_scalar_type(sizes[name])) for name, groups in places.items()}
        return ExactCounts({name: small[name][each] for name, each in self.codes.items()}, sizes)


def score(counts: Integers, expected: Floats, weight: int = 1, allowed: float = 0.0) -> int:
    """How far counts are from what is expected, in l1, beyond what is allowed, times a weight; in whole steps.

    Exact on integers: one count that changes by 1 moves it by at most `weight` rows.
    """
    steps = np.abs(counts * _STEPS - np.rint(expected * _STEPS).astype(np.int64)).sum()
    return weight * (int(steps) - round(allowed * _STEPS))


def noise_in(cells: int, sigma: Fraction) -> float:
    """The l1 norm that noise alone is expected to have: sigma sqrt(2/pi) a cell."""
    return float(sigma) * math.sqrt(2 / math.pi) * cells


def total_of(measured: Iterable[NoisyCounts]) -> float:
    """The number of rows, as all measurements tell it together: every one weighs as much as it is exact."""
    weights = [(float(m.counts.sum()), 1 / (float(m.sigma) ** 2 * m.counts.size)) for m in measured]
    return max(sum(total * weight for total, weight in weights) / sum(weight for _, weight in weights), 1.0)


def candidates(workload: Sequence[Clique]) -> dict[Clique, int]:
    """Return every set of columns inside one of the workload, and how much of the workload it would tell about.

    The weight of a set is the number of columns that it shares with the sets of the workload, all added up (McKenna et
    al. 2022).
    """
    inside = {part for wanted in workload for size in range(1, len(wanted) + 1) for part in combinations(wanted, size)}
    weights = {part: sum(len(set(part).intersection(wanted)) for wanted in workload) for part in sorted(inside)}
    least = math.gcd(*weights.values())
    return {part: weight // least for part, weight in weights.items()}


def all_pairs(names: Sequence[str]) -> list[Clique]:
    """The usual workload; of one column, that column."""
    return list(combinations(names, 2)) or [tuple(names)]


def check_workload(workload: Sequence[Sequence[str]] | None, names: Sequence[str]) -> list[Clique]:
    """Read a workload: sets of columns that are synthesised."""
    if workload is None:
        return all_pairs(names)
    if isinstance(workload, str) or not isinstance(workload, Sequence) or not workload:
        raise ParameterError("The workload must be a list of sets of columns, such as [('age', 'income')], or None.")
    return [_check_set(each, names) for each in workload]


def _check_set(wanted: object, names: Sequence[str]) -> Clique:
    if isinstance(wanted, str) or not isinstance(wanted, Sequence) or not 0 < len(set(wanted)) == len(wanted) <= 5:
        raise ParameterError("Every set of the workload must list 1 to 5 different columns.")
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ParameterError(f"The workload names {unknown[0]!r}, which is no column to synthesise.")
    return tuple(name for name in names if name in wanted)


def part_of(rho: Fraction, part: Fraction) -> Fraction:
    """A part of an amount, rounded down to few digits."""
    return Fraction(math.floor(rho * part * _FINE), _FINE)


def root_below(square: Fraction) -> Fraction:
    """A rational just below the square root, with few digits."""
    return Fraction(math.isqrt(math.floor(square * (1 << 80))), 1 << 40)
