"""What was kept of places as such, and of the regions they belong to: this needs no coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.sequences.mobility import Ground, Trajectories
from ziggurat.utility._distributions import jensen_shannon
from ziggurat.utility.mobility._counts import Ways, collapse
from ziggurat.utility.mobility._kernels import count_passing
from ziggurat.utility.mobility._patterns import count_patterns
from ziggurat.utility.mobility._terms import Integers, MobilityTerms

PLACE = "place"
"""The level of the places themselves."""


@dataclass(frozen=True)
class ComparedZones:
    """Places, or the regions of one level, beside those that synthetic trajectories visit; NaN if it has no meaning.

    Attributes
    ----------
    level, zones
        "place" or the name of the level, and how many there are.
    top
        The share of the busiest (by default 100) that are among as many busiest ones of the synthetic.
    ranks
        Kendall's tau-b of how many trajectories come to each.
    patterns, support_error
        F1 of the most frequent runs of zones, and the mean relative error of how often they occur.
    trips
        The Jensen-Shannon divergence, in nats, of pairs of the first and the last zone.
    """

    level: str
    zones: int
    top: float
    ranks: float
    patterns: float
    support_error: float
    trips: float


def compare_zones(
    original: Trajectories, synthetic: Trajectories, terms: MobilityTerms, factor: float
) -> tuple[ComparedZones, ...]:
    """Compare places, and regions of every level, on one ground; no trajectory is empty."""
    levels = [(PLACE, np.arange(original.ground.size)), *_code_regions(original.ground)]
    return tuple(_compare(name, codes, (original, synthetic), terms, factor) for name, codes in levels)


def _code_regions(ground: Ground) -> list[tuple[str, Integers]]:
    regions = (ground.regions or {}).items()
    return [(str(name), np.unique(list(map(str, held)), return_inverse=True)[1]) for name, held in regions]


def _compare(
    name: str, codes: Integers, both: tuple[Trajectories, Trajectories], terms: MobilityTerms, factor: float
) -> ComparedZones:
    zones = int(codes.max()) + 1
    (ours, ways), (theirs, rivals) = ((held, collapse(held, each.offsets)) for held, each in _visited(codes, both))
    found = count_patterns(ways, rivals, zones, terms.pattern_sizes)
    return ComparedZones(
        name,
        zones,
        find_top_share(np.bincount(ours, minlength=zones), np.bincount(theirs, minlength=zones), terms.hotspots),
        rank_alike(*(count_passing(way.codes, way.starts, zones) for way in (ways, rivals))),
        *found.compare(terms.patterns, factor),
        _compare_trips(ways, rivals, zones),
    )


def _visited(codes: Integers, both: tuple[Trajectories, Trajectories]) -> list[tuple[Integers, Trajectories]]:
    return [(codes[each.codes], each) for each in both]


def _compare_trips(ours: Ways, theirs: Ways, zones: int) -> float:
    keys = [way.codes[way.starts[:-1]] * zones + way.codes[way.starts[1:] - 1] for way in (ours, theirs)]
    which = np.unique(np.concatenate(keys), return_inverse=True)[1]
    counts = [np.bincount(each, minlength=which.max() + 1) for each in np.split(which, [len(keys[0])])]
    return diverge(*counts)


def find_top(counts: Integers, most: int) -> Integers:
    """The cells with most visits, the first of equally busy ones; never one that nobody visits."""
    busiest = np.argsort(-counts, kind="stable")[:most]
    return busiest[counts[busiest] > 0]


def find_top_share(ours: Integers, theirs: Integers, most: int) -> float:
    """F1 of the busiest cells of two; NaN if there are no more cells than are looked for."""
    if len(ours) <= most:
        return math.nan
    top, rivals = find_top(ours, most), find_top(theirs, most)
    return float(np.isin(top, rivals).sum() / max(len(top), len(rivals)))


def rank_alike(ours: Integers, theirs: Integers) -> float:
    """Kendall's tau-b; NaN if one of both is everywhere the same."""
    from scipy.stats import kendalltau

    return float(kendalltau(ours, theirs).statistic)


def diverge(ours: npt.NDArray[np.integer], theirs: npt.NDArray[np.integer]) -> float:
    """The Jensen-Shannon divergence in nats, from 0 to 0.693: so the field has it, unlike `jensen_shannon`'s bits."""
    return jensen_shannon(ours, theirs) * math.log(2)
