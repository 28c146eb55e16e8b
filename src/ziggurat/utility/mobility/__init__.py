"""Judges of synthetic trajectories: where people are and go, how far and when, beside the original; maps of both.

Everything here is for the steward's eyes: the figures are exact and unprotected, and so are maps of original visits.
"""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.utility.mobility._comparison import ComparedTrajectories, compare_trajectories
    from ziggurat.utility.mobility._curves import draw_hours, draw_lengths
    from ziggurat.utility.mobility._maps import FileKind, draw_hotspots, draw_map, draw_top_places, draw_trips
    from ziggurat.utility.mobility._measures import MobilityMeasure
    from ziggurat.utility.mobility._page import render_before_and_after, render_synthetic
    from ziggurat.utility.mobility._terms import Around, MobilityTerms
    from ziggurat.utility.mobility._zones import ComparedZones
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_comparison": "ComparedTrajectories compare_trajectories",
            "_curves": "draw_hours draw_lengths",
            "_maps": "FileKind draw_hotspots draw_map draw_top_places draw_trips",
            "_measures": "MobilityMeasure",
            "_page": "render_before_and_after render_synthetic",
            "_terms": "Around MobilityTerms",
            "_zones": "ComparedZones",
        },
    )

__all__ = [
    "Around",
    "ComparedTrajectories",
    "ComparedZones",
    "FileKind",
    "MobilityMeasure",
    "MobilityTerms",
    "compare_trajectories",
    "draw_hotspots",
    "draw_hours",
    "draw_lengths",
    "draw_map",
    "draw_top_places",
    "draw_trips",
    "render_before_and_after",
    "render_synthetic",
]
