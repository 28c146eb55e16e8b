"""What was learned of trajectories: tables from which new ones are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ziggurat.sequences.mobility._generator import DrawnVisits
from ziggurat.sequences.mobility._ground import Reals
from ziggurat.sequences.mobility.markov._lengths import KINDS, kinds_of
from ziggurat.sequences.mobility.markov._tables import Whole, tally
from ziggurat.sequences.mobility.markov._times import DayTimes
from ziggurat.sequences.mobility.markov._ways import chances_to_arrive, draw_between


@dataclass(frozen=True, eq=False)
class ZoneChain:
    """Trajectories by zones: how long they are, where they begin and end, what lies between, at which place of a zone.

    Parameters
    ----------
    lengths
        How many trajectories have each number of visits.
    zone, visits
        The zone of each place, and how often it is visited.
    ends
        By kind of trajectory (see `kinds_of`), start and end: how many.
    steps
        By zone: the chance of each next one.
    region, context, lift
        See `draw_between`.
    same
        By kind, the chance that a trajectory that ends in the zone of its start ends at the very place; in the first
        place of them, that a step within a zone does.
    times
        Hours, if they were learned.
    """

    lengths: Reals
    zone: Whole
    visits: Reals
    ends: Reals
    steps: Reals
    region: Whole
    context: Whole
    lift: Reals
    same: Reals
    times: DayTimes | None

    def draw(self, count: int, draw: np.random.Generator) -> DrawnVisits:
        """Draw so many trajectories."""
        lengths = _pick_many(self.lengths, count, draw)
        kinds = kinds_of(lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        zones = self._draw_zones(lengths, kinds, offsets, draw)
        codes = self._draw_places(zones, lengths, kinds, offsets, draw)
        minutes = None if self.times is None else self.times.draw(kinds, lengths, draw)
        return DrawnVisits(codes.astype(np.int32), lengths, minutes)

    def _draw_zones(self, lengths: Whole, kinds: Whole, offsets: Whole, draw: np.random.Generator) -> Whole:
        size = len(self.steps)
        zones = np.zeros(int(offsets[-1]), dtype=np.int64)
        alone = np.flatnonzero(lengths == 1)
        zones[offsets[alone]] = _pick_many(tally(self.zone, self.visits, size), len(alone), draw)
        for kind in range(1, KINDS):
            held = np.flatnonzero(kinds == kind)
            pairs = _pick_many(self.ends[kind].ravel(), len(held), draw)
            zones[offsets[held]], zones[offsets[held + 1] - 1] = np.divmod(pairs, size)
        arrive = chances_to_arrive(self.steps, int(lengths.max(initial=0)))
        coins = draw.random(len(zones))
        draw_between(zones, offsets, self.steps, arrive, self.region, self.context, self.lift, coins)
        return zones

    def _draw_places(
        self, zones: Whole, lengths: Whole, kinds: Whole, offsets: Whole, draw: np.random.Generator
    ) -> Whole:
        """A place of each zone; the same again where a step or a whole trajectory stays in a zone, if drawn so."""
        order = np.argsort(self.zone, kind="stable")
        bounds = np.searchsorted(self.zone[order], np.arange(len(self.steps) + 1))
        before = np.concatenate([[0.0], np.cumsum(self.visits[order])])
        low, high = before[bounds[zones]], before[bounds[zones + 1]]
        at = np.searchsorted(before, low + (high - low) * draw.random(len(zones)), side="right") - 1
        places: Whole = order[np.clip(at, bounds[zones], bounds[zones + 1] - 1)]
        stays = np.zeros(len(zones), dtype=bool)
        stays[1:] = (zones[1:] == zones[:-1]) & (draw.random(max(len(zones) - 1, 0)) < self.same[0])
        stays[offsets[:-1][lengths > 0]] = False
        longer = np.flatnonzero(lengths > 1)
        first, last = offsets[longer], offsets[longer + 1] - 1
        stays[last] = False
        held = np.maximum.accumulate(np.where(stays, 0, np.arange(len(zones))))
        places = places[held]
        loops = (zones[first] == zones[last]) & (draw.random(len(longer)) < self.same[kinds[longer]])
        places[last[loops]] = places[first[loops]]
        return places


def _pick_many(weights: Reals, count: int, draw: np.random.Generator) -> Whole:
    """Draw so many cells, each by its weight."""
    before = np.cumsum(weights)
    found: Whole = np.minimum(np.searchsorted(before, draw.random(count) * before[-1], side="right"), len(weights) - 1)
    return found
