"""Pages about trajectories, one HTML file each: before and after, for the steward, and the synthetic alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from ziggurat.pages import Grid, Picture, TableCell, inline_svg, render
from ziggurat.sequences.mobility import HOURS, Fold, Trajectories
from ziggurat.utility.mobility._comparison import ComparedTrajectories, compare_trajectories
from ziggurat.utility.mobility._curves import draw_hours, draw_lengths
from ziggurat.utility.mobility._maps import draw_hotspots, draw_map, draw_trips
from ziggurat.utility.mobility._terms import Around, MobilityTerms


def render_before_and_after(
    original: Trajectories,
    synthetic: Trajectories,
    *,
    name: str = "trajectories",
    box: Around = "public",
    terms: MobilityTerms | None = None,
    rehearsal: bool = False,
) -> str:
    """Give a page with maps, hours, lengths and every figure, before and after, as one file that makes no request.

    It draws original visits: it belongs to the steward's part of a release, and says so. What may be shown to anybody
    is `render_synthetic`.

    Parameters
    ----------
    original, synthetic, box, terms
        As for `compare_trajectories`; maps show the same box.
    name
        What the original is called.
    rehearsal
        Whether the synthetic ones were drawn from a seed, which the page then says.
    """
    found = compare_trajectories(original, synthetic, box=box, terms=terms)
    sides = {"original": original, "synthetic": synthetic}
    pictures = _draw_maps(sides, box)
    if pictures:
        pictures["hotspots"] = _picture(
            draw_hotspots(original, synthetic, terms=terms, box=box),
            "hotspots",
            "Map of the busiest cells: found and missed.",
        )
    return render(
        "utility/mobility/before_and_after.html",
        title=f"{name[:1].upper()}{name[1:]}, before and after",
        found=found,
        verdict=_headline(found),
        pictures=pictures | _draw_curves(sides),
        figures=_tabulate(found),
        rehearsal=rehearsal,
    )


def render_synthetic(
    synthetic: Trajectories, *, name: str = "trajectories", box: Around = "public", rehearsal: bool = False
) -> str:
    """Give a page with maps, hours and lengths of synthetic trajectories alone: it tells no more than they do.

    Parameters
    ----------
    synthetic
        What was released; raw trajectories would be drawn as they are.
    name
        What they are called.
    box
        What maps show, as for `draw_map`; "visited" is where synthetic visits are.
    rehearsal
        Whether they were drawn from a seed, which the page then says.
    """
    sides = {"": synthetic}
    return render(
        "utility/mobility/synthetic.html",
        title=f"Synthetic {name}",
        count=int((synthetic.lengths > 0).sum()),
        visits=len(synthetic.codes),
        places=synthetic.ground.size,
        pictures=_draw_maps(sides, box) | _draw_curves(sides),
        rehearsal=rehearsal,
    )


def _draw_maps(sides: Mapping[str, Trajectories], box: Around) -> dict[str, Picture]:
    """The maps that coordinates allow for."""
    if any(each.ground.points is None for each in sides.values()):
        return {}
    both = " of original and synthetic trajectories" if len(sides) > 1 else ""
    size: Literal["", "fixed"] = "fixed" if both else ""  # two maps need all the width
    return {
        "visits": _picture(draw_map(sides, box=box), "visits", f"Maps of where visits{both} are.", size),
        "trips": _picture(draw_trips(sides, box=box), "trips", f"Maps of the most frequent trips{both}.", size),
    }


def _draw_curves(sides: Mapping[str, Trajectories]) -> dict[str, Picture]:
    pictures = {"lengths": _picture(draw_lengths(sides), "lengths", "Histograms of how long trajectories are.")}
    folds: dict[str, Fold] = {"hours": "day", "week": "week"}
    for name, fold in folds.items():
        if all(_spans(each, fold) for each in sides.values()):
            drawn = draw_hours(sides, fold=fold)
            pictures[name] = _picture(drawn, name, f"The share of visits of each hour of the {fold}.")
    return pictures


def _spans(trajectories: Trajectories, fold: Fold) -> bool:
    """Whether there is something to see: times, and for a week more than one day of it."""
    if trajectories.minutes is None:
        return False
    return fold == "day" or len(np.unique(trajectories.hours("week") // HOURS["day"])) > 1


def _picture(drawn: bytes, prefix: str, said: str, size: Literal["", "fixed"] = "") -> Picture:
    return Picture(inline_svg(drawn, f"{prefix}-"), said, size=size)


def _headline(found: ComparedTrajectories) -> tuple[str, str, list[str]]:
    """How it looks, what it says, and what else."""
    chosen = ("hotspots F1", "patterns F1", f"trips {next(iter(found.trips), '')} JSD", "hours of the day JSD")
    told = [f"{each.measure} {each.value:.2f}" for each in found.measures if each.measure in chosen]
    return "", f"{found.synthetic:,} synthetic trajectories beside {found.original:,} original ones", told


def _tabulate(found: ComparedTrajectories) -> Grid:
    heads = [("figure", ""), ("value", "number"), ("better", ""), ("what it means", "wide")]
    rows: list[list[str | TableCell]] = [
        [each.measure, f"{each.value:.3f}", TableCell(each.better, look="soft"), each.meaning]
        for each in found.measures
    ]
    return Grid("Every figure", heads, rows)
