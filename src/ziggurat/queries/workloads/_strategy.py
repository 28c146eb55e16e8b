"""Strategies: histograms over nested partitions of every column, and the exact error of what follows from them.

The matrix mechanism (Li, Hay, Rastogi, Miklau and McGregor, PODS 2010) measures other queries than those asked, and
derives the answers by least squares. Here every measurement is a histogram: each column is cut into the blocks of one
level of its chain of nested, even partitions (level 0 is a single block), and rows are counted in every combination of
blocks. Marginals are the chains of two levels (Xiao, He, Zhang and Kifer, NeurIPS 2023, and OPT_M of McKenna, Miklau,
Hay and Machanavajjhala, VLDB 2018), hierarchies the chains of more (Hay, Rastogi, Miklau and Suciu, VLDB 2010).

Sensitivity. Every row is in exactly one block of every partition, so adding or removing r rows changes a histogram by
exactly r in l1, and in l2 by at most r, which is reached when they all fall into one block. The histograms share
nothing else, so they are measured one by one, each with noise of its own, and their events are composed.

Error. Write P(a) for the projection, per column, onto functions that are constant on the blocks of level a and sum to
zero on every block of level a - 1. The projections of one chain are orthogonal and add up to the identity. A histogram
of level m gives M'M = sum over a <= m of V(m) P(a), with V(m) the number of cells in a block. So with noise of variance
1/w(m) the information matrix is diagonal in these projections, with eigenvalues
lambda(a) = sum over m >= a of w(m) V(m), and the least-squares answer to a query q has variance
sum over a of |P(a) q|^2 / lambda(a). Below, V and |P q|^2 are divided by the number of cells of the joint domain, so
that no joint domain, however large, is ever laid out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.queries.workloads._workload import Group, Ranges

Floats = npt.NDArray[np.float64]
Levels = tuple[int, ...]


@dataclass(frozen=True)
class Chain:
    """Nested even partitions of the cells of a column: `blocks[i]` blocks at level i, from 1 to one per cell.

    Cells are added at the end, where nothing is counted, until all partitions are even.
    """

    blocks: tuple[int, ...]

    @property
    def size(self) -> int:
        """The number of cells, those added included."""
        return self.blocks[-1]

    @property
    def depth(self) -> int:
        """The finest level."""
        return len(self.blocks) - 1

    def energies(self, ranges: Ranges | None) -> Floats:
        """The squared length of the part of each query in each level, over the number of cells.

        One row for all single cells, which are alike, or one for every range.
        """
        if ranges is None:
            kept = np.array([self.blocks], dtype=float) / self.size
        else:
            kept = np.stack([_average(ranges, self.size // count) for count in self.blocks], axis=1)
        return np.diff(kept, axis=1, prepend=0.0) / self.size

    def means(self, query: Floats, level: int) -> Floats:
        """The part of a query, given on all cells, in each level up to this one, at every block of this one."""
        kept = np.stack([np.repeat(query.reshape(count, -1).mean(axis=1), self.blocks[level] // count)
                         for count in self.blocks[: level + 1]])  # fmt: skip
        return np.diff(kept, axis=0, prepend=0.0)


def _average(ranges: Ranges, width: int) -> Floats:
    """The squared length of each range after averaging over blocks of this width."""
    first, last = ranges.lows // width, (ranges.highs - 1) // width
    left, right = (first + 1) * width - ranges.lows, ranges.highs - last * width
    apart = (left.astype(float) ** 2 + right.astype(float) ** 2) / width + (last - first - 1) * float(width)
    return np.where(first == last, (ranges.highs - ranges.lows).astype(float) ** 2 / width, apart)


@dataclass(frozen=True)
class Space:
    """The columns of a workload in order, and the chain of each."""

    columns: tuple[str, ...]
    chains: tuple[Chain, ...]

    def chain(self, column: str) -> Chain:
        """The chain of one column."""
        return self.chains[self.columns.index(column)]

    def cells(self, levels: Levels) -> int:
        """How many counts a histogram at these levels has."""
        return math.prod(chain.blocks[level] for chain, level in zip(self.chains, levels, strict=True))

    def support(self, levels: Levels) -> tuple[int, ...]:
        """The places of the columns that a histogram at these levels tells apart."""
        return tuple(place for place, level in enumerate(levels) if level)

    def finest(self, columns: Sequence[str]) -> Levels:
        """The finest levels of these columns, and level 0 of all others."""
        return tuple(
            chain.depth if name in columns else 0 for name, chain in zip(self.columns, self.chains, strict=True)
        )

    def below(self, top: Levels) -> list[Levels]:
        """All levels that are nowhere finer than `top`."""
        return list(product(*(range(level + 1) for level in top)))

    def components(self, groups: Sequence[Group]) -> list[Levels]:
        """The levels in which some query has a part."""
        return sorted({levels for group in groups for levels in self.below(self.finest(group.columns))})


def contributions(space: Space, components: Sequence[Levels], measured: Sequence[Levels]) -> Floats:
    """What a unit of weight on each histogram (columns) adds to the eigenvalue of each component (rows)."""
    fine, coarse = np.array(measured), np.array(components)
    covered = np.ones((len(coarse), len(fine)), dtype=bool)
    for place in range(len(space.columns)):
        covered &= fine[None, :, place] >= coarse[:, None, place]
    return np.asarray(covered / np.array([float(space.cells(levels)) for levels in measured]))


def total_energies(
    space: Space, groups: Sequence[Group], components: Sequence[Levels], sizes: Mapping[str, int]
) -> Floats:
    """The weighted sum of all queries' squared lengths in each component; `sizes` are the cells asked for."""
    places = {levels: place for place, levels in enumerate(components)}
    found = np.zeros(len(components))
    for group in groups:
        sums = [
            space.chain(name).energies(each).sum(axis=0) * (sizes[name] if each is None else 1)
            for name, each in group.factors.items()
        ]
        columns = [space.columns.index(name) for name in group.columns]
        for levels in space.below(space.finest(group.columns)):
            part = math.prod(float(each[levels[column]]) for each, column in zip(sums, columns, strict=True))
            found[places[levels]] += group.weight * part
    return found


@dataclass(frozen=True, eq=False)
class Strategy:
    """Which histograms are measured, and with which share of the budget.

    Attributes
    ----------
    space
        The columns and their chains.
    measured
        The levels of each histogram.
    shares
        The share of each: of epsilon for Laplace noise, of mu squared for Gaussian noise; they add up to 1.
    """

    space: Space
    measured: tuple[Levels, ...]
    shares: tuple[float, ...]

    def eigenvalues(self, components: Sequence[Levels], weights: Floats) -> Mapping[Levels, float]:
        """lambda(a), over the number of cells, where histogram m has noise of variance 1/weights[m]."""
        values = contributions(self.space, components, self.measured) @ weights
        return dict(zip(components, map(float, values), strict=True))


def inverse_table(space: Space, group: Group, eigenvalues: Mapping[Levels, float]) -> Floats:
    """1/lambda of every component of a group's queries: one axis for each column of the group."""
    places = [space.columns.index(name) for name in group.columns]
    inverse = np.empty([space.chains[place].depth + 1 for place in places])
    for levels in space.below(space.finest(group.columns)):
        inverse[tuple(levels[place] for place in places)] = 1 / eigenvalues[levels]
    return inverse


def variances(space: Space, group: Group, eigenvalues: Mapping[Levels, float]) -> Floats:
    """The exact variance of every answer of a group; columns of single cells have one entry for all."""
    found: Any = inverse_table(space, group, eigenvalues)
    for name, each in group.factors.items():
        found = np.tensordot(found, space.chain(name).energies(each), axes=([0], [1]))
    return np.asarray(found)


def in_words(strategy: Strategy) -> str:
    """Say what is measured, for people."""
    space = strategy.space
    if len(strategy.measured) == 1:
        return f"one histogram: {_histogram(space, strategy.measured[0])}"
    leading = sorted(zip(strategy.shares, strategy.measured, strict=True), reverse=True)
    named = [f"{_histogram(space, levels)} ({share:.1%})" for share, levels in leading[:8]]
    more = f"; and {len(leading) - 8} more" if len(leading) > 8 else ""
    return f"{len(leading)} histograms: {'; '.join(named)}{more}"


def _histogram(space: Space, levels: Levels) -> str:
    parts = [
        name if level == chain.depth else f"{name} in {chain.blocks[level]} blocks"
        for name, chain, level in zip(space.columns, space.chains, levels, strict=True)
        if level
    ]
    return " x ".join(parts) if parts else "total"
