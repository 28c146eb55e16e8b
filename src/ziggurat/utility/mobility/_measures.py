"""Every figure of a comparison, with its name and a sentence on what it means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ziggurat.utility.mobility._comparison import ComparedTrajectories
    from ziggurat.utility.mobility._terms import MobilityTerms
    from ziggurat.utility.mobility._zones import ComparedZones

_LESS, _MORE = "less", "more"


class MobilityMeasure(NamedTuple):
    """A figure: its name, its value, whether more or less of it is better, and what it means here."""

    measure: str
    value: float
    better: str
    meaning: str


def list_measures(found: ComparedTrajectories) -> list[MobilityMeasure]:
    """List what was measured, without what could not be."""
    terms = found.terms
    listed = [
        *(_query(radius, value) for radius, value in found.query_error.items()),
        _top("hotspots F1", found.hotspots, f"{terms.hotspots} busiest cells of {_grid(terms.hotspot_grid)}"),
        _ranks("visits, Kendall tau-b", found.ranks, f"cells of {_grid(terms.visit_grid)}"),
        *_patterns("", found.patterns, found.support_error, terms, f"cells of {_grid(terms.pattern_grid)}"),
        *(_trips(f"trips {grid}", value, f"cells of {_grid(grid)}") for grid, value in found.trips.items()),
        _diverged("length", found.length, "how long trajectories are"),
        _diverged("diameter", found.diameter, "how far apart the visits of a trajectory are at most"),
        _diverged("steps", found.steps, "how far it is from a visit to the next"),
        _diverged("visits per trajectory", found.sizes, "how many visits a trajectory has"),
        _diverged("hours of the day", found.hours, "when visits are"),
        *(each for zone in found.zones for each in _zones(zone, terms)),
    ]
    return [each for each in listed if not math.isnan(each.value)]


def _grid(side: int | str) -> str:
    high, _, wide = f"{side}x{side}".partition("x") if isinstance(side, int) else side.partition("x")
    return f"a grid of {high} × {wide}"


def _query(radius: str, value: float) -> MobilityMeasure:
    meaning = (
        f"How many trajectories cross a circle, its radius {radius} of the box's longer side, is off by {value:.1%} on "
        f"average."
    )
    return MobilityMeasure(f"query error {radius}", value, _LESS, meaning)


def _top(name: str, value: float, what: str) -> MobilityMeasure:
    return MobilityMeasure(name, value, _MORE, f"Of the {what}, {value:.0%} are found.")


def _ranks(name: str, value: float, what: str) -> MobilityMeasure:
    same = f"Of two {what}, ties aside, the same one is busier in {(1 + value) / 2:.0%} of all cases."
    return MobilityMeasure(name, value, _MORE, same)


def _patterns(name: str, found: float, error: float, terms: MobilityTerms, what: str) -> list[MobilityMeasure]:
    runs = f"{terms.patterns} most frequent runs of {terms.pattern_sizes[0]} to {terms.pattern_sizes[1]} {what}"
    meaning = f"How often these runs occur is off by {error:.1%} on average."
    return [
        _top(f"{name}patterns F1", found, runs),
        MobilityMeasure(f"{name}pattern support error", error, _LESS, meaning),
    ]


def _trips(name: str, value: float, what: str) -> MobilityMeasure:
    return _diverged(name, value, f"from where to where trajectories go, in {what}")


def _diverged(name: str, value: float, what: str) -> MobilityMeasure:
    share = value / math.log(2)
    meaning = f"{what[0].upper()}{what[1:]}: {share:.1%} of the way from equal to nothing in common."
    return MobilityMeasure(f"{name} JSD", value, _LESS, meaning)


def _zones(zone: ComparedZones, terms: MobilityTerms) -> list[MobilityMeasure]:
    name, what = f"{zone.level}: ", "places" if zone.level == "place" else f"regions ({zone.level})"
    return [
        _top(f"{name}top F1", zone.top, f"{terms.hotspots} busiest of {zone.zones:,} {what}"),
        _ranks(f"{name}visits, Kendall tau-b", zone.ranks, what),
        *_patterns(name, zone.patterns, zone.support_error, terms, what),
        _trips(f"{name}trips", zone.trips, what),
    ]
