"""Learn trajectories from tables of counts, each protected before it is seen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ziggurat.sequences._generator import Progress
from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.counting import CountedVisits, CountingRule
from ziggurat.sequences.mobility.markov._chain import ZoneChain
from ziggurat.sequences.mobility.markov._contexts import Contexts
from ziggurat.sequences.mobility.markov._flows import FlowSpace
from ziggurat.sequences.mobility.markov._lengths import KINDS, group_lengths, kinds_of, share_lengths
from ziggurat.sequences.mobility.markov._rules import (
    count_distances,
    count_ends,
    count_first_hours,
    count_hours,
    count_last_hours,
    count_lengths,
    count_reach,
    count_spans,
    count_step_distances,
    count_steps,
    count_visits,
)
from ziggurat.sequences.mobility.markov._shrinking import shrink_towards
from ziggurat.sequences.mobility.markov._tables import BoundedTables, NoisyTable, tally
from ziggurat.sequences.mobility.markov._times import DAY, DayTimes
from ziggurat.sequences.mobility.markov._zones import Zones, blocks_at, depth_of, order_places, spread_visits

SHARES = {
    "lengths": Fraction(6, 100),
    "districts": Fraction(8, 100),
    "blocks": Fraction(6, 100),
    "places": Fraction(4, 100),
    "reach": Fraction(10, 100),
    "distances": Fraction(5, 100),
    "ends": Fraction(36, 100),
    "step distances": Fraction(5, 100),
    "steps": Fraction(20, 100),
}
TIMES = {each: Fraction(3, 100) for each in ("first hours", "last hours", "spans", "hours")}
"""What times take of the whole before the rest is shared out."""

# Regions are the cells of a grid of 3, 6 or 12 columns and rows, by how many trajectories there are per width of noise.
_SIDES = {6: 1_200.0, 12: 150_000.0}
# Visits are counted by place and by blocks of some places: how often these are to be halved still.
_LEVELS = {"districts": 6, "blocks": 3, "places": 0}
# Two regions are a context from so many widths of noise.
_CLEAR = 20.0


def shares_for(timed: bool) -> dict[str, Fraction]:
    """Which share of the budget each table has."""
    left = 1 - (sum(TIMES.values()) if timed else 0)
    whole = sum(SHARES.values())
    return {name: share * left / whole for name, share in SHARES.items()} | (dict(TIMES) if timed else {})


class TrajectoryLearning:
    """One fit. Nothing of the visits is used but through `BoundedTables.measure`."""

    def __init__(self, visits: CountedVisits, tables: BoundedTables, progress: Progress) -> None:
        self.visits, self.domain, self.tables, self.progress = visits, visits.domain, tables, progress
        self.longest = self.domain.longest
        self.measured = 0

    def learn(self) -> ZoneChain:
        """Measure all tables, and make of them one model."""
        lengths = self._lengths()
        visits = self._visits()
        zones = Zones.laid(self.domain.ground, visits, self._side(lengths))
        space = FlowSpace(zones, visits)
        reach = self._reach(space)
        kinds = tally(kinds_of(np.arange(len(lengths))), lengths, KINDS)
        ends, same = self._ends(space, kinds, reach)
        steps, contexts, stays = self._steps(space, lengths, ends[0] + 1e-3 * space.alone)
        times = self._times(kinds) if self.domain.timed else None
        square = (space.size, space.size)
        chances = steps.reshape(square) + 1e-6 * space.alone.reshape(square)
        return ZoneChain(
            lengths=lengths,
            zone=zones.of_place,
            visits=visits,
            ends=np.stack([np.zeros(square), *(each.reshape(square) for each in ends)]),
            steps=chances / chances.sum(axis=1, keepdims=True),
            region=zones.region,
            context=contexts.known,
            lift=contexts.lift,
            same=np.concatenate([[stays], same]),
            times=times,
        )

    def _measure(self, name: str, rules: Sequence[CountingRule], size: int) -> NoisyTable:
        self.measured += 1
        self.progress(name, self.measured, len(self.tables.noises))
        return self.tables.measure(name, self.visits, rules, size)

    def _lengths(self) -> Reals:
        groups = group_lengths(self.longest)
        return share_lengths(self._measure("lengths", count_lengths(groups), int(groups[-1]) + 1), groups)

    def _side(self, lengths: Reals) -> int:
        clear = float(lengths.sum()) / self.tables.width("ends")
        return max((side for side, least in _SIDES.items() if clear >= least), default=3)

    def _visits(self) -> Reals:
        """How often each place is visited."""
        ground = self.domain.ground
        rank = order_places(ground)
        levels = []
        for name, above in _LEVELS.items():
            depth = max(depth_of(ground.size) - above, 0)
            block = blocks_at(rank, depth)
            levels.append((block, self._measure(name, count_visits(block), 2**depth)))
        return spread_visits(ground.size, levels)

    def _reach(self, space: FlowSpace) -> NoisyTable:
        """How far people go, by quarter, whether they leave it or come to it."""
        return self._measure("reach", count_reach(space.zones), space.reach_size)

    def _ends(self, space: FlowSpace, kinds: Reals, reach: NoisyTable) -> tuple[list[Reals], Reals]:
        """By kind, start and end: how many; and how many of those within a zone end where they began."""
        rules = count_distances(space.zones, space.steps + 1, self.longest)
        noisy = self._measure("distances", rules, (KINDS - 1) * (space.steps + 1))
        distances = _distances_by_kind(noisy, KINDS - 1, kinds[1:])
        pairs = self._measure(
            "ends", count_ends(space.zones.of_place, space.zones.region, self.longest), space.regions**2
        )
        shares = np.maximum(kinds[1:], 1e-9) / max(float(kinds[1:].sum()), 1e-9)
        prior = space.reached(space.gravity(shares @ distances), reach)
        flows = space.spread(prior, distances, shares)
        found = shrink_towards(space.by_region(flows), pairs)
        same = distances[:, 0] / np.maximum(distances[:, :2].sum(axis=1), 1e-300)
        return space.agree(flows, distances, shares, found), same

    def _steps(self, space: FlowSpace, lengths: Reals, prior: Reals) -> tuple[Reals, Contexts, float]:
        """How many go from zone to zone in one step, what depends on two regions, and how many stay at a place."""
        noisy = self._measure("step distances", count_step_distances(space.zones, self.longest), space.steps + 1)
        distances = _distances_by_kind(noisy, 1, np.ones(1))
        flows = space.spread(prior, distances, np.ones(1))
        least = _CLEAR * self.tables.width("steps")
        contexts = Contexts.chosen(space.by_region(flows).reshape(space.regions, -1), lengths, least)
        rules = count_steps(space.zones, self.longest, contexts.cells)
        pairs, contexts = contexts.learned(self._measure("steps", rules, contexts.size))
        stays = float(distances[0, 0] / max(float(distances[0, :2].sum()), 1e-300))
        return space.agree(flows, distances, np.ones(1), pairs.ravel())[0], contexts, stays

    def _times(self, kinds: Reals) -> DayTimes:
        return DayTimes.of_tables(
            self._measure("first hours", count_first_hours(), DAY),
            self._measure("last hours", count_last_hours(), DAY),
            self._measure("spans", count_spans(self.longest), (KINDS - 1) * DAY),
            self._measure("hours", count_hours(), DAY),
            kinds,
        )


def _distances_by_kind(noisy: NoisyTable, kinds: int, totals: Reals) -> Reals:
    """Shares of distances by kind: as in all kinds, unless enough is known of one."""
    table = noisy.counts.reshape(kinds, -1)
    together = shrink_towards(
        np.ones(table.shape[1]), noisy._replace(counts=table.sum(axis=0), width=noisy.width * kinds**0.5)
    )
    found = shrink_towards(np.outer(np.maximum(totals, 1e-9), together), noisy._replace(counts=table))
    return np.asarray(found / found.sum(axis=1, keepdims=True))
