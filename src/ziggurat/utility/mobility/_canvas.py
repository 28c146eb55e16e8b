"""A sheet for maps: degrees at their true aspect, public places as faint dots, and a scale in kilometres; no tiles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.drawing import DULL, INK
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import Box, Ground, Trajectories
from ziggurat.utility.mobility._terms import Around, Integers, Reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_EMPTY = "#FBFBFA"
_MARGIN = 0.02  # of the box, around it
_SCALE = 0.25  # of the width, that the scale takes at most
_TALLEST = 1.6  # times as high as wide; a narrower map is given room at its sides


def choose_box(box: Around, sides: Sequence[Trajectories]) -> Box:
    """The box that is drawn: one, or that of the places of the first, or the smallest around all visits."""
    if isinstance(box, Box):
        return box
    if box == "public":
        return sides[0].ground.require_points()[1]
    if box != "visited":
        raise ParameterError("The box is 'public', 'visited' or a Box in degrees.")
    found = [locate(each.ground) for each in sides]
    lat, lon = (
        np.concatenate([where[axis][np.unique(each.codes)] for where, each in zip(found, sides, strict=True)])
        for axis in (0, 1)
    )
    if not len(lat) or lat.min() == lat.max() or lon.min() == lon.max():
        raise ParameterError("The visits span no area; draw the 'public' box.")
    return Box(lon.min(), lat.min(), lon.max(), lat.max())


def locate(ground: Ground) -> tuple[Reals, Reals]:
    """Latitudes and longitudes of the places."""
    points, box = ground.require_points()
    return box.to_degrees(points)


def count_visits(trajectories: Trajectories) -> Integers:
    """How many visits each place has."""
    return np.bincount(trajectories.codes, minlength=trajectories.ground.size)


def aspect_of(box: Box) -> float:
    """How many times as high as wide a panel for it is."""
    return min(max(box.height / box.width, 0.4), _TALLEST)


def lay_out(axes: Axes, box: Box, title: str = "", *, ticks: bool = True) -> None:
    """Make a panel a map of the box: one kilometre is as long to the north as to the east, in its middle."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    across, up = _MARGIN * (box.east - box.west), _MARGIN * (box.north - box.south)
    axes.set_xlim(box.west - across, box.east + across)
    axes.set_ylim(box.south - up, box.north + up)
    axes.set_aspect(box.height / (box.north - box.south) * (box.east - box.west) / box.width)
    axes.set_facecolor(_EMPTY)
    axes.set_title(title)
    for spine in axes.spines.values():
        spine.set(visible=True, color=DULL)
    for line, signs in ((axes.xaxis, "EW"), (axes.yaxis, "NS")):
        line.set_major_locator(MaxNLocator(4))
        line.set_major_formatter(FuncFormatter(lambda value, _, signs=signs: _degrees(value, signs)))
    axes.tick_params(labelsize=7.5, length=3, color=DULL)
    if not ticks:
        axes.set_xticks([])
        axes.set_yticks([])
    _draw_scale(axes, box)


def _degrees(value: float, signs: str) -> str:
    text = f"{abs(value):.3f}".rstrip("0").rstrip(".")
    return f"{text}° {signs[int(value < 0)]}"


def _draw_scale(axes: Axes, box: Box) -> None:
    """A bar of a round number of kilometres in the lower right corner."""
    length = _round_down(_SCALE * box.width)
    degrees = length * (box.east - box.west) / box.width
    right, low = box.east - 0.02 * (box.east - box.west), box.south + 0.02 * (box.north - box.south)
    edge: dict[str, Any] = {"color": INK, "solid_capstyle": "butt", "zorder": 6}
    axes.plot([right - degrees, right], [low, low], linewidth=2.5, **edge)
    words = f"{length:g} km" if length >= 1 else f"{1000 * length:g} m"
    frame = {"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 1}
    axes.annotate(
        words, (right - degrees / 2, low), (0, 3), textcoords="offset points", ha="center", va="bottom", fontsize=8,
        bbox=frame, zorder=6,
    )  # fmt: skip


def _round_down(length: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is no longer."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1, 2, 5) if step * power <= length * (1 + 1e-9))


def dot_places(axes: Axes, ground: Ground, size: float = 1.0) -> None:
    """The public places as faint dots, the smaller the more there are; many of them are drawn as one image."""
    lat, lon = locate(ground)
    size *= min(max(2000 / ground.size, 1.2), 5.0)
    axes.scatter(lon, lat, s=size, color=DULL, linewidths=0, alpha=0.6, zorder=1, rasterized=ground.size > 500)
