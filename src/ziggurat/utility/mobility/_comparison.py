"""What synthetic trajectories kept of the original ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ziggurat.errors import ParameterError
from ziggurat.findings import Finding
from ziggurat.sequences.mobility import Trajectories
from ziggurat.utility.mobility._counts import CountedPlane, count_hours, count_plane
from ziggurat.utility.mobility._measures import MobilityMeasure, list_measures
from ziggurat.utility.mobility._patterns import count_patterns
from ziggurat.utility.mobility._terms import Around, Frame, Integers, MobilityTerms, Reals
from ziggurat.utility.mobility._zones import ComparedZones, compare_zones, diverge, find_top_share, rank_alike
from ziggurat.wording import count_noun

_APART = 1.05  # so many times as many trajectories make a note
_NO_COORDINATES = (
    "The places have no coordinates: query error, hotspots, ranks, patterns and trips of cells, length, diameter and "
    "steps are left out; what is said of places and regions needs none."
)
_OTHER_GROUND = "The places of both are not the same, so they are compared on the plane only."
_NO_TIMES = "Not both have times: the hours are left out."


@dataclass(frozen=True)
class ComparedTrajectories(Finding):
    """Synthetic trajectories beside the original ones; what cannot be compared is NaN.

    Attributes
    ----------
    original, synthetic
        How many there are, without those that have no visit.
    visits, synthetic_visits
        How many visits they make.
    query_error
        By radius (a share of the box's longer side): how far the number of trajectories that cross a circle is off on
        average, relative to the true number.
    hotspots
        The share of the (by default 100) cells with most visits that is found among the synthetic's.
    ranks
        Kendall's tau-b of the number of trajectories that pass each cell: 1 if the order is the same.
    patterns
        The share of the (by default 100) most frequent runs of 2 to 8 cells that is found among the synthetic's.
    support_error
        How far the number of times that these occur is off on average, relative to the true number.
    trips
        By grid: the Jensen-Shannon divergence of pairs of the first and the last cell. This and those below are in
        nats: 0 for equal distributions, 0.693 for disjoint ones.
    length, diameter, steps
        The same of the length of a trajectory, of the largest distance between two of its visits, and of the distance
        between a visit and the next.
    sizes, hours
        The same of the number of visits of a trajectory, and of the hours of the day of all visits.
    zones
        What was kept of the places as such and of each level of regions, if both have the same.
    notes
        What was left out, and what to bear in mind.
    """

    original: int
    synthetic: int
    visits: int
    synthetic_visits: int
    query_error: Mapping[str, float]
    hotspots: float
    ranks: float
    patterns: float
    support_error: float
    trips: Mapping[str, float]
    length: float
    diameter: float
    steps: float
    sizes: float
    hours: float
    zones: tuple[ComparedZones, ...]
    notes: tuple[str, ...]
    terms: MobilityTerms = field(repr=False)

    @property
    def measures(self) -> list[MobilityMeasure]:
        """Every figure with its name, which way is better, and what it means in a sentence; NaN is left out."""
        return list_measures(self)

    @property
    def sentence(self) -> str:
        """What was found, in a sentence for a steward."""
        kept = [("the busiest cells", self.hotspots), ("the most frequent patterns", self.patterns)]
        apart = [("trips", next(iter(self.trips.values()), math.nan)), ("hours", self.hours), ("sizes", self.sizes)]
        found = " and ".join(f"{value:.0%} of {what}" for what, value in kept if not math.isnan(value))
        off = ", ".join(f"{what} {value:.3g}" for what, value in apart if not math.isnan(value))
        return (
            f"{count_noun(self.synthetic, 'synthetic trajectory')} beside {self.original:,} original ones"
            f"{f' kept {found}' if found else ''}; Jensen-Shannon divergences in nats: {off}."
        )

    @property
    def table(self) -> pa.Table:
        """One row for each figure."""
        held = self.measures
        return pa.table({each: [getattr(one, each) for one in held] for each in MobilityMeasure._fields})

    def to_dict(self) -> dict[str, Any]:
        """Return what was found, and how it was measured, as values that JSON can hold."""
        from ziggurat.plain import to_plain

        return {**super().to_dict(), "terms": to_plain(self.terms)}


def compare_trajectories(
    original: Trajectories, synthetic: Trajectories, *, box: Around = "public", terms: MobilityTerms | None = None
) -> ComparedTrajectories:
    """Compare where trajectories are and go, how far, and when: the figures of AdaTrace (CCS 2018) and some more.

    Parameters
    ----------
    original, synthetic
        On the same places, or on any two that have coordinates. Trajectories without visits do not count.
    box
        Which rectangle the grids divide: "public", that of the original's places; "visited", the smallest that holds
        the original's visits, as other tools have it; or one in degrees. Visits outside count in the nearest cell.
    terms
        How fine the grids are, and how many of the top are looked for.

    Examples
    --------
    >>> from ziggurat.sequences.mobility import Ground, TrajectoryDomain
    >>> ground = Ground.of(["home", "work", "park"], [40.70, 40.80, 40.75], [-74.0, -73.9, -73.9])
    >>> domain = TrajectoryDomain.on(ground, longest=5)
    >>> visits = Trajectories.of_visits(domain, [[("home", 420), ("work", 540)], [("home", 600), ("park", 640)]])
    >>> compare_trajectories(visits, visits).query_error
    {'1/3': 0.0, '1/10': 0.0}
    """
    asked = terms or MobilityTerms()
    ours, theirs = _drop_empty(original), _drop_empty(synthetic)
    factor = len(ours) / len(theirs) if asked.scaled else 1.0
    same = ours.ground == theirs.ground
    plane = _compare_planes(ours, theirs, box, asked, factor) if _on_plane(ours, theirs) else _NO_PLANE
    zones = compare_zones(ours, theirs, asked, factor) if same else ()
    if not zones and not plane["trips"]:
        raise ParameterError("These trajectories name different places, and not all have coordinates to compare by.")
    return ComparedTrajectories(
        original=len(ours),
        synthetic=len(theirs),
        visits=len(ours.codes),
        synthetic_visits=len(theirs.codes),
        **plane,
        sizes=_compare_sizes(ours, theirs),
        hours=_compare_hours(ours, theirs),
        zones=zones,
        notes=tuple(_write_notes(ours, theirs, asked, same)),
        terms=asked,
    )


_NO_PLANE: dict[str, Any] = {
    "query_error": {},
    "trips": {},
    **dict.fromkeys(("hotspots", "ranks", "patterns", "support_error", "length", "diameter", "steps"), math.nan),
}


def _drop_empty(trajectories: Trajectories) -> Trajectories:
    held = trajectories.take(trajectories.lengths > 0)
    if not len(held):
        raise ParameterError("There are no visits to compare; give at least one trajectory with a visit on each side.")
    return held


def _on_plane(*both: Trajectories) -> bool:
    return all(each.ground.points is not None for each in both)


def lay_on_plane(original: Trajectories, synthetic: Trajectories) -> tuple[Reals, Reals]:
    """The points of all visits in the kilometres of the original's ground."""
    (_, box), (_, other) = original.ground.require_points(), synthetic.ground.require_points()
    theirs = synthetic.points()
    return original.points(), theirs if box == other else box.to_kilometres(*other.to_degrees(theirs))


def _compare_planes(
    ours: Trajectories, theirs: Trajectories, box: Around, terms: MobilityTerms, factor: float
) -> dict[str, Any]:
    points = lay_on_plane(ours, theirs)
    frame = Frame.around(box, ours, points[0])
    one, other = (
        count_plane(where, each.offsets, frame, terms) for where, each in zip(points, (ours, theirs), strict=True)
    )
    found = count_patterns(one.ways, other.ways, terms.pattern_grid**2, terms.pattern_sizes)
    patterns, support_error = found.compare(terms.patterns, factor)
    crossings = zip(terms.radii, one.crossings, other.crossings, strict=True)
    trips = zip(terms.trip_grids, one.trips, other.trips, strict=True)
    least = terms.least_share * len(ours)
    return {
        "query_error": {_as_share(radius): _relative_error(a, factor * b, least) for radius, a, b in crossings},
        "hotspots": find_top_share(one.density, other.density, terms.hotspots),
        "ranks": rank_alike(one.passing, other.passing),
        "patterns": patterns,
        "support_error": support_error,
        "trips": {f"{side}x{side}": diverge(a.ravel(), b.ravel()) for side, a, b in trips},
        **{name: _compare_lengths(one, other, name, terms.bins) for name in ("length", "diameter", "steps")},
    }


def _as_share(radius: float) -> str:
    return f"1/{round(1 / radius)}" if math.isclose(1 / radius, round(1 / radius)) else f"{radius:g}"


def _relative_error(ours: Integers, theirs: npt.NDArray[np.floating], least: float) -> float:
    return float(np.mean(np.abs(ours - theirs) / np.maximum(ours, least)))


def find_edges(longest: float, bins: int) -> Reals:
    """Equal parts up to the longest, and one for all that is longer."""
    return np.concatenate([np.linspace(0, longest * (1 + 1e-9), bins + 1), [np.inf]])


def _compare_lengths(one: CountedPlane, other: CountedPlane, name: str, bins: int) -> float:
    ours, theirs = getattr(one, name), getattr(other, name)
    if not len(ours) or not len(theirs):
        return math.nan
    edges = find_edges(ours.max(), bins)
    return diverge(*(np.histogram(each, edges)[0] for each in (ours, theirs)))


def _compare_sizes(ours: Trajectories, theirs: Trajectories) -> float:
    most = max(ours.lengths.max(), theirs.lengths.max()) + 1
    return diverge(*(np.bincount(each.lengths, minlength=most) for each in (ours, theirs)))


def _compare_hours(ours: Trajectories, theirs: Trajectories) -> float:
    one, other = count_hours(ours), count_hours(theirs)
    return math.nan if one is None or other is None else diverge(one, other)


def _write_notes(ours: Trajectories, theirs: Trajectories, terms: MobilityTerms, same: bool) -> list[str]:
    notes = [] if _on_plane(ours, theirs) else [_NO_COORDINATES]
    notes += [] if same else [_OTHER_GROUND]
    notes += [] if ours.domain.timed and theirs.domain.timed else [_NO_TIMES]
    few, many = sorted([len(ours), len(theirs)])
    if many > few * _APART:
        counts = "scaled to as many" if terms.scaled else "not scaled, so query and support errors grow with it"
        notes.append(f"There are {len(theirs):,} synthetic trajectories for {len(ours):,} original ones; counts are "
                     f"{counts}.")  # fmt: skip
    return notes
