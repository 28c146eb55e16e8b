"""Which cell of each table a visit, a step or a trajectory falls into: by what is public, and by noisy tables before.

These are rules, so that the same tables are counted in memory or by the engine that holds the visits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ziggurat.sequences.mobility.counting import LEFT_OUT, CellLookup, CountingRule
from ziggurat.sequences.mobility.markov._lengths import kinds_of
from ziggurat.sequences.mobility.markov._tables import Whole
from ziggurat.sequences.mobility.markov._times import DAY
from ziggurat.sequences.mobility.markov._zones import Zones

_STAYS = CellLookup(("same",), np.array([0, -1]))  # from a distance of 1 within a zone to 0 at the very place


def count_lengths(groups: Whole) -> list[CountingRule]:
    """Trajectories by the group of their length."""
    return [CountingRule("trajectory", (CellLookup(("length",), groups),))]


def count_visits(block: Whole) -> list[CountingRule]:
    """Visits by the block of their place."""
    return [CountingRule("visit", (CellLookup(("here",), block),))]


def count_reach(zones: Zones) -> list[CountingRule]:
    """Steps by quarter and class of distance, once where they begin and once where they end."""
    values = zones.quarter[:, None] * (int(zones.far.max()) + 1) + zones.far[zones.apart]
    ways = CellLookup(("here", "there"), values, zones.of_place), CellLookup(("there", "here"), values, zones.of_place)
    return [CountingRule("step", (way,)) for way in ways]


def count_distances(zones: Zones, wide: int, longest: int) -> list[CountingRule]:
    """Trajectories of two visits or more by kind and by how far they end from where they began."""
    lengths = np.arange(longest + 1)
    kinds = CellLookup(("length",), np.where(lengths > 1, (kinds_of(lengths) - 1) * wide, LEFT_OUT))
    return [CountingRule("trajectory", (kinds, _far(zones), _STAYS))]


def count_ends(zone: Whole, region: Whole, longest: int) -> list[CountingRule]:
    """Trajectories of two visits or more by the regions where they begin and end: those of the zones of places."""
    wide = int(region.max()) + 1
    pairs = np.arange(wide**2).reshape(wide, wide)
    return [CountingRule("trajectory", (_longer(longest, 1), CellLookup(("here", "there"), pairs, region[zone])))]


def count_step_distances(zones: Zones, longest: int) -> list[CountingRule]:
    """Steps of trajectories of three visits or more by how far they go."""
    return [CountingRule("step", (_longer(longest, 2), _far(zones), _STAYS))]


def count_steps(zones: Zones, longest: int, cells: Callable[[Whole, Whole, Whole], Whole]) -> list[CountingRule]:
    """Steps of trajectories of three visits or more by `cells` of three regions: before (-1 for none), from and to."""
    wide = int(zones.region.max()) + 1
    before, here, there = np.indices((wide + 1, wide, wide))
    values = cells(np.where(before == wide, -1, before), here, there)
    groups = np.append(zones.region[zones.of_place], wide)
    return [CountingRule("step", (_longer(longest, 2), CellLookup(("before", "here", "there"), values, groups)))]


def count_first_hours() -> list[CountingRule]:
    """Trajectories by the hour of their first visit."""
    return [CountingRule("trajectory", (CellLookup(("hour",), np.arange(DAY)),))]


def count_last_hours() -> list[CountingRule]:
    """Trajectories by the hour of their last visit."""
    return [CountingRule("trajectory", (CellLookup(("later",), np.arange(DAY)),))]


def count_spans(longest: int) -> list[CountingRule]:
    """Trajectories of two visits or more by kind and by how many hours they take, those within one day."""
    lengths = np.arange(longest + 1)
    kinds = CellLookup(("length",), np.where(lengths > 1, (kinds_of(lengths) - 1) * DAY, LEFT_OUT))
    hour, later = np.indices((DAY, DAY))
    spans = CellLookup(("hour", "later"), np.where(later >= hour, later - hour, LEFT_OUT))
    return [CountingRule("trajectory", (kinds, spans))]


def count_hours() -> list[CountingRule]:
    """Visits by their hour."""
    return [CountingRule("visit", (CellLookup(("hour",), np.arange(DAY)),))]


def _far(zones: Zones) -> CellLookup:
    return CellLookup(("here", "there"), 1 + zones.apart, zones.of_place)


def _longer(longest: int, than: int) -> CellLookup:
    return CellLookup(("length",), np.where(np.arange(longest + 1) > than, 0, LEFT_OUT))
