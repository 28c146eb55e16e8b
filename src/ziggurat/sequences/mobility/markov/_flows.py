"""How many go from which zone to which, so that several noisy tables agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._shrinking import shrink_towards
from ziggurat.sequences.mobility.markov._tables import NoisyTable, Whole, tally
from ziggurat.sequences.mobility.markov._zones import Zones

_ROUNDS = 8
_AGREEING = 4

Margin = tuple[Whole, Reals]
"""For every pair of zones the cell of a table that it belongs to, and what these cells should sum to."""


class FlowSpace:
    """All pairs of zones, and the tables that they are counted in."""

    def __init__(self, zones: Zones, visits: Reals) -> None:
        self.zones, self.size = zones, zones.size
        self.shares = tally(zones.of_place, visits, zones.size)
        self.shares /= self.shares.sum()
        self.alone: Reals = np.outer(self.shares, self.shares).ravel()
        whence, whither = (each.ravel() for each in np.indices((self.size, self.size)))
        self.ends: list[Margin] = [(whence, self.shares), (whither, self.shares)]
        self.apart = zones.apart.ravel()
        self.regions = int(zones.region.max()) + 1
        self.pair = zones.region[whence] * self.regions + zones.region[whither]
        classes = int(zones.far.max()) + 1
        far = zones.far[self.apart]
        self.reaches = [zones.quarter[each] * classes + far for each in (whence, whither)]
        self.reach_size = (int(zones.quarter.max()) + 1) * classes
        self.steps = int(zones.apart.max()) + 1

    def gravity(self, distances: Reals) -> Reals:
        """As many to and from a zone as are there, at these distances."""
        return rake(self.alone, [(self.apart, merge_same(distances)), *self.ends], _ROUNDS)

    def reached(self, flow: Reals, noisy: NoisyTable) -> Reals:
        """The same where how far people go differs by quarter."""
        expected = tally(self.reaches[0], flow, self.reach_size)
        found = shrink_towards(expected, noisy)
        found /= found.sum()
        return rake(flow, [(each, found) for each in self.reaches], 3)

    def spread(self, prior: Reals, distances: Reals, totals: Reals) -> list[Reals]:
        """One flow for each row of distances, `totals` the share of each: much as before, but so far."""
        return [
            total * rake(prior, [(self.apart, merge_same(each)), *self.ends], _ROUNDS)
            for each, total in zip(distances, totals, strict=True)
        ]

    def by_region(self, flows: list[Reals]) -> Reals:
        """How many go from region to region in all flows together."""
        return tally(self.pair, np.sum(flows, axis=0), self.regions**2)

    def agree(self, flows: list[Reals], distances: Reals, totals: Reals, pairs: Reals) -> list[Reals]:
        """The same flows, together as many between regions as `pairs` says, and each about as far."""
        for _ in range(_AGREEING):
            flows = [
                rake(flow, [(self.apart, merge_same(each) * total)], 1)
                for flow, each, total in zip(self._fit_pairs(flows, pairs), distances, totals, strict=True)
            ]
        return self._fit_pairs(flows, pairs)

    def _fit_pairs(self, flows: list[Reals], wanted: Reals) -> list[Reals]:
        held = self.by_region(flows)
        factor = np.where(held > 0, wanted / wanted.sum() / np.maximum(held, 1e-300), 0.0)[self.pair]
        return [flow * factor for flow in flows]


def merge_same(distances: Reals) -> Reals:
    """Shares of distances between zones, those at the same place counted within one zone."""
    merged: Reals = distances[1:].copy()
    merged[0] += distances[0]
    return np.asarray(merged / merged.sum())


def rake(flow: Reals, margins: Sequence[Margin], rounds: int) -> Reals:
    """Multiply a table until it sums to all margins, one after the other (iterative proportional fitting)."""
    raked = flow.copy()
    for _ in range(rounds):
        for cells, wanted in margins:
            held = tally(cells, raked, len(wanted))
            raked *= np.where(held > 0, wanted / np.maximum(held, 1e-300), 0.0)[cells]
    return raked
