"""Maps of trajectories, drawn offline: where visits are, from where to where trips go, which hotspots were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ziggurat.drawing import COLOURS, INK, NOISY, SOFT, TRUE, encode, sheet, shorten
from ziggurat.errors import ParameterError
from ziggurat.privacy import whole_number
from ziggurat.sequences.mobility import Box, Ground, Trajectories
from ziggurat.utility.mobility._canvas import aspect_of, choose_box, count_visits, dot_places, lay_out, locate
from ziggurat.utility.mobility._counts import count_trips
from ziggurat.utility.mobility._terms import Around, Frame, Integers, MobilityTerms, Reals
from ziggurat.utility.mobility._zones import find_top

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Normalize
    from matplotlib.figure import Figure

FileKind = Literal["svg", "png"]
"""Of a picture."""

_COLOURS = "viridis_r"  # even in brightness, and the same to people with any kind of colour blindness
_PANEL = 4.4  # inches that a map is wide
_SIDE, _WORDS, _BAR, _LEGEND = 0.65, 0.62, 0.75, 0.3  # inches for degrees, title and degrees, colours, and a legend
_FEW = 5  # panels in a row of small maps


def draw_map(
    trajectories: Trajectories | Mapping[str, Trajectories],
    kind: FileKind = "svg",
    *,
    cells: int = 60,
    box: Around = "public",
) -> bytes:
    """Draw where visits are: their density in cells, on a logarithmic scale, over the public places as faint dots.

    Parameters
    ----------
    trajectories
        One set, or several with a title each, which are drawn side by side on one scale. What is raw in them is as raw
        in the picture.
    kind
        Of the file.
    cells
        Into how many cells the longer side of the box is divided.
    box
        What is drawn: "public", all places; "visited", where visits are; or a box in degrees.
    """
    sides = _name_sides(trajectories)
    drawn = choose_box(box, list(sides.values()))
    densities = [_share_visits(each, drawn, whole_number(cells, "cells")) for each in sides.values()]
    scale = _choose_scale(densities)
    with sheet(_PANEL * len(sides) + _SIDE + _BAR, _PANEL * aspect_of(drawn) + _WORDS) as page:
        panels = page.subplots(1, len(sides), squeeze=False, sharey=True)[0]
        for axes, (title, each), density in zip(panels, sides.items(), densities, strict=True):
            dot_places(axes, each.ground)
            image = _fill_cells(axes, density, drawn, scale)
            lay_out(axes, drawn, shorten(title, 60))
        bar = page.colorbar(image, ax=panels.tolist(), shrink=0.75, pad=0.01, format="{x:g}")
        bar.set_label("visits per thousand, logarithmic", fontsize=8.5)
        bar.ax.tick_params(labelsize=7.5)
        return encode(page, kind)


def _name_sides(trajectories: Trajectories | Mapping[str, Trajectories]) -> Mapping[str, Trajectories]:
    sides = {"": trajectories} if isinstance(trajectories, Trajectories) else trajectories
    if not sides or not all(len(each.codes) for each in sides.values()):
        raise ParameterError("There are no visits to draw; give trajectories that have some.")
    return sides


def _share_visits(trajectories: Trajectories, box: Box, cells: int) -> Reals:
    """How many of a thousand visits lie in each cell: rows from the south, columns from the west."""
    lat, lon = locate(trajectories.ground)
    longer = max(box.width, box.height)
    bins = [max(1, round(cells * side / longer)) for side in (box.height, box.width)]
    weights = count_visits(trajectories)
    ends = [(box.south, box.north), (box.west, box.east)]
    return np.asarray(1000 * np.histogram2d(lat, lon, bins, ends, weights=weights)[0] / weights.sum(), dtype=np.float64)


def _choose_scale(densities: Sequence[Reals]) -> Normalize:
    from matplotlib.colors import LogNorm

    held = np.concatenate([each[each > 0] for each in densities])
    low, high = (held.min(), held.max()) if len(held) else (0.1, 1.0)
    return LogNorm(low, max(high, low * 10))


def _fill_cells(axes: Axes, density: Reals, box: Box, scale: Normalize) -> Any:
    shown = np.ma.masked_equal(density, 0.0)  # nobody there: the ground is seen
    extent = (box.west, box.east, box.south, box.north)
    looks: dict[str, Any] = {"cmap": _COLOURS, "norm": scale, "interpolation": "nearest", "alpha": 0.9, "zorder": 2}
    return axes.imshow(shown, origin="lower", extent=extent, aspect="auto", **looks)


def draw_trips(
    trajectories: Trajectories | Mapping[str, Trajectories],
    kind: FileKind = "svg",
    *,
    cells: int = 9,
    most: int = 40,
    box: Around = "public",
) -> bytes:
    """Draw from where to where trajectories go most often: arrows between cells, and rings for those that stay.

    Parameters
    ----------
    trajectories, kind, box
        As for `draw_map`. With two sets, arrows that are among the most frequent of both have another colour.
    cells
        Into how many rows and columns the box is divided.
    most
        How many of the most frequent trips to another cell are drawn, and a quarter as many of those that stay.
    """
    sides = _name_sides(trajectories)
    drawn = choose_box(box, list(sides.values()))
    trips = [_find_trips(each, drawn, whole_number(cells, "cells")) for each in sides.values()]
    tops = [_find_frequent(each, whole_number(most, "most")) for each in trips]
    shared = set(tops[0].tolist()).intersection(*(each.tolist() for each in tops))
    widest = max(float((each.ravel()[top] / each.sum()).max()) for each, top in zip(trips, tops, strict=True))
    below = _LEGEND if len(sides) > 1 else 0.0
    with sheet(_PANEL * len(sides) + _SIDE, _PANEL * aspect_of(drawn) + _WORDS + below) as page:
        panels = page.subplots(1, len(sides), squeeze=False, sharey=True)[0]
        for axes, (title, each), counts, top in zip(panels, sides.items(), trips, tops, strict=True):
            lay_out(axes, drawn, shorten(title, 60))
            dot_places(axes, each.ground)
            _draw_arrows(axes, counts, top, cells, drawn, widest, shared)
        if len(tops) > 1:
            for words, colour in (("among the top of both", NOISY), ("of one only", TRUE)):
                panels[0].plot([], [], color=colour, linewidth=2.5, label=words)
            _explain(page, panels[0])
        return encode(page, kind)


def _find_trips(trajectories: Trajectories, box: Box, cells: int) -> Integers:
    held = trajectories.take(trajectories.lengths > 0)
    points = box.to_kilometres(*(each[held.codes] for each in locate(held.ground)))
    return count_trips(points, held.offsets, Frame(np.zeros(2), np.array([box.width, box.height])), cells)


def _find_frequent(trips: Integers, most: int) -> Integers:
    """The most frequent trips; those that stay are counted apart, for they are so many that they would hide others."""
    staying = np.eye(len(trips), dtype=np.bool_)
    away, home = (find_top(np.where(keep, trips, 0).ravel(), many) for keep, many in
                  ((~staying, most), (staying, -(-most // 4))))  # fmt: skip
    both = np.concatenate([away, home])
    return both[np.argsort(-trips.ravel()[both], kind="stable")]


def _draw_arrows(
    axes: Axes, counts: Integers, top: Integers, cells: int, box: Box, widest: float, shared: set[int]
) -> None:
    """The most frequent ones on top; opposite ways are bent apart."""
    lon = box.west + (np.arange(cells) + 0.5) * (box.east - box.west) / cells
    lat = box.south + (np.arange(cells) + 0.5) * (box.north - box.south) / cells
    shares = counts.ravel() / counts.sum()
    for key in top[::-1].tolist():
        start, end = divmod(key, cells**2)
        (x, y), (u, v) = ((lon[each // cells], lat[each % cells]) for each in (start, end))
        colour = NOISY if key in shared else TRUE
        strength = float(np.sqrt(shares[key] / widest))
        if start == end:
            axes.plot(
                x, y, "o", ms=4 + 12 * strength, mfc="none", mec=colour, mew=0.6 + 1.8 * strength, alpha=0.85, zorder=3
            )
            continue
        bent: dict[str, Any] = {
            "arrowstyle": "-|>,head_length=0.35,head_width=0.18",
            "connectionstyle": "arc3,rad=0.18",
        }
        bent |= {"color": colour, "linewidth": 0.6 + 3.2 * strength, "alpha": 0.8, "shrinkA": 2, "shrinkB": 2}
        axes.annotate("", (u, v), (x, y), zorder=4, arrowprops=bent)


def _explain(page: Figure, axes: Axes) -> None:
    """Below the maps, where it hides nothing."""
    handles, labels = axes.get_legend_handles_labels()
    page.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8.5, frameon=False)


def draw_hotspots(
    original: Trajectories,
    synthetic: Trajectories,
    kind: FileKind = "svg",
    *,
    terms: MobilityTerms | None = None,
    box: Around = "public",
) -> bytes:
    """Draw which of the busiest cells were found, which were missed, and which are busy only in the synthetic.

    Parameters
    ----------
    original, synthetic
        As for `compare_trajectories`.
    kind
        Of the file.
    terms
        How fine the grid is, and how many cells are looked for.
    box
        As for `compare_trajectories`.
    """
    asked = terms or MobilityTerms()
    drawn = choose_box(box, [original])
    ours, theirs = (
        find_top(_count_cells(each, drawn, asked.hotspot_grid), asked.hotspots) for each in (original, synthetic)
    )
    # Marks differ in shape as well as in colour.
    groups: list[tuple[str, Integers, dict[str, Any]]] = [
        ("found", np.intersect1d(ours, theirs), {"marker": "s", "color": NOISY}),
        ("missed", np.setdiff1d(ours, theirs), {"marker": "o", "edgecolor": TRUE, "facecolor": "none"}),
        ("busy in the synthetic only", np.setdiff1d(theirs, ours), {"marker": "x", "color": INK}),
    ]
    with sheet(_PANEL * 1.25 + _SIDE, _PANEL * 1.25 * aspect_of(drawn) + _WORDS + _LEGEND) as page:
        axes = page.subplots()
        lay_out(axes, drawn)
        dot_places(axes, original.ground)
        for words, cells, looks in groups:
            x, y = _find_middles(cells, drawn, asked.hotspot_grid)
            axes.scatter(x, y, s=22, linewidths=1.2, zorder=3, label=f"{words} ({len(cells)})", **looks)
        _explain(page, axes)
        return encode(page, kind)


def _count_cells(trajectories: Trajectories, box: Box, cells: int) -> Integers:
    points = box.to_kilometres(*locate(trajectories.ground))
    east, north = Frame(np.zeros(2), np.array([box.width, box.height])).divide(points, cells)
    counts = np.bincount(east * cells + north, count_visits(trajectories), cells**2)
    return counts.astype(np.int64)


def _find_middles(cells: Integers, box: Box, side: int) -> tuple[Reals, Reals]:
    east, north = np.divmod(cells, side)
    return (
        box.west + (east + 0.5) * (box.east - box.west) / side,
        box.south + (north + 0.5) * (box.north - box.south) / side,
    )


def draw_top_places(
    ground: Ground,
    weights: npt.ArrayLike,
    kind: FileKind = "svg",
    *,
    most: int = 10,
    names: Sequence[str] | None = None,
    box: Box | None = None,
) -> bytes:
    """Draw where the places with the largest weights lie, one small map for each row of weights: communities, topics.

    Parameters
    ----------
    ground
        The public places.
    weights
        A row for each map, a number for each place: `components_` of a model, or counts of visits.
    kind
        Of the file.
    most
        How many places of each are drawn; circles have areas in proportion to the weights.
    names
        The title of each map; by default "community 1" and so on.
    box
        What is drawn; by default all places.
    """
    rows = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    titles = [f"community {place}" for place in range(1, len(rows) + 1)] if names is None else list(names)
    if rows.shape[1] != ground.size or len(titles) != len(rows):
        raise ParameterError("There must be one weight for every place, and one name for every row of weights.")
    drawn = box or ground.require_points()[1]
    wide = min(len(rows), _FEW)
    high = -(-len(rows) // wide)
    with sheet(2.2 * wide, (2.0 * aspect_of(drawn) + 0.4) * high) as page:
        panels = page.subplots(high, wide, squeeze=False).ravel()
        for axes, title, row, colour in zip(panels, titles, rows, COLOURS * len(rows), strict=False):
            lay_out(axes, drawn, shorten(title, 24), ticks=False)
            dot_places(axes, ground, 0.4)
            _circle_top(axes, ground, row, most, colour)
        for axes in panels[len(rows) :]:
            axes.set_axis_off()
        return encode(page, kind)


def _circle_top(axes: Axes, ground: Ground, weights: Reals, most: int, colour: str) -> None:
    lat, lon = locate(ground)
    top = np.argsort(-weights, kind="stable")[: whole_number(most, "most")]
    top = top[weights[top] > 0]
    sizes = 160 * weights[top] / max(weights.max(), 1e-300)
    axes.scatter(lon[top], lat[top], s=sizes + 6, color=colour, alpha=0.55, linewidths=0.8, edgecolor=SOFT, zorder=3)
