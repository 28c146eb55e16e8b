"""Hours and lengths of trajectories as curves, original and synthetic over each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.drawing import COLOURS, NOISY, TRUE, encode, sheet, shorten
from ziggurat.errors import ParameterError
from ziggurat.sequences.mobility import HOURS, Fold, Trajectories
from ziggurat.utility.mobility._kernels import measure_reach
from ziggurat.utility.mobility._maps import FileKind
from ziggurat.utility.mobility._terms import Integers, Reals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 30
_LEFT_OUT = 0.995  # all but one in two hundred of the first set fit on the axis
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def draw_hours(
    trajectories: Trajectories | Mapping[str, Trajectories], kind: FileKind = "svg", *, fold: Fold = "day"
) -> bytes:
    """Draw when visits are: the share of each hour of the day or of the week.

    Parameters
    ----------
    trajectories
        One set, or several with a name each, whose curves are drawn over each other; all have times.
    kind
        Of the file.
    fold
        Hours of the "day" or of the "week".
    """
    sides = {"": trajectories} if isinstance(trajectories, Trajectories) else trajectories
    with sheet(7.2, 2.9) as page:
        axes = page.subplots()
        for (name, each), colour in zip(sides.items(), _colours(sides), strict=True):
            counts = np.bincount(each.hours(fold), minlength=HOURS[fold])
            _draw_stairs(axes, counts, np.arange(HOURS[fold] + 1), name, colour)
        _mark_hours(axes, fold)
        axes.set_ylabel("share of visits")
        _finish(axes, sides)
        return encode(page, kind)


def _mark_hours(axes: Axes, fold: Fold) -> None:
    axes.set_xlim(0, HOURS[fold])
    if fold == "day":
        axes.set_xticks(range(0, 25, 3), [f"{hour}:00" for hour in range(0, 25, 3)])
    else:
        axes.set_xticks(range(0, 168, 24), _DAYS, ha="left")


def _colours(sides: Mapping[str, Any]) -> tuple[str, ...]:
    """The house's colours of what is true and what is not, where there are both."""
    if len(sides) <= 2:
        return (NOISY,) if len(sides) == 1 else (TRUE, NOISY)
    return (COLOURS * len(sides))[: len(sides)]


def _draw_stairs(axes: Axes, counts: Integers, edges: Integers | Reals, name: str, colour: str) -> None:
    shares = counts / max(int(counts.sum()), 1)
    first = not axes.patches
    axes.stairs(
        shares, edges, color=colour, fill=first, alpha=0.35 if first else 1.0, linewidth=1.6, label=shorten(name, 40)
    )


def _finish(axes: Axes, sides: Mapping[str, Any]) -> None:
    axes.set_ylim(0, None)
    axes.grid(visible=True, axis="y")
    if len(sides) > 1:
        axes.legend(frameon=False, fontsize=8)


def draw_lengths(trajectories: Trajectories | Mapping[str, Trajectories], kind: FileKind = "svg") -> bytes:
    """Draw how long trajectories are: visits of one and, with coordinates, kilometres, diameters and steps.

    Parameters
    ----------
    trajectories
        One set, or several with a name each; the first decides where the axes end: what is longer than all but one in
        two hundred of its own is left out.
    kind
        Of the file.
    """
    sides = {"": trajectories} if isinstance(trajectories, Trajectories) else trajectories
    measured = {name: _measure(each) for name, each in sides.items()}
    titles = [title for title in next(iter(measured.values())) if all(title in each for each in measured.values())]
    with sheet(3.6 * min(len(titles), 2), 2.5 * (-(-len(titles) // 2))) as page:
        panels = page.subplots(-(-len(titles) // 2), min(len(titles), 2), squeeze=False).ravel()
        for axes, title in zip(panels, titles, strict=True):
            edges = _choose_edges(next(iter(measured.values()))[title], title)
            for (name, values), colour in zip(measured.items(), _colours(sides), strict=True):
                _draw_stairs(axes, np.histogram(values[title], edges)[0], edges, name, colour)
            axes.set_xlabel(title)
            axes.set_ylabel("share")
            _finish(axes, sides if axes is panels[0] else {})
        return encode(page, kind)


_VISITS = "visits of a trajectory"


def _measure(trajectories: Trajectories) -> dict[str, Reals | Integers]:
    held = trajectories.take(trajectories.lengths > 0)
    if not len(held):
        raise ParameterError("There are no visits to draw; give trajectories that have some.")
    values: dict[str, Reals | Integers] = {_VISITS: held.lengths}
    if held.ground.points is None:
        return values
    points = held.points()
    length, diameter = measure_reach(points, held.offsets)
    values |= {"length of a trajectory, km": length, "diameter of a trajectory, km": diameter}
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    inner = np.diff(np.repeat(np.arange(len(held)), held.lengths)) == 0
    return values | {"from a visit to the next, km": steps[inner]}


def _choose_edges(values: Reals | Integers, title: str) -> Reals:
    end = float(np.quantile(values, _LEFT_OUT)) if len(values) else 1.0
    if title == _VISITS:
        return np.arange(0.5, max(end, 2.0) + 1.5)
    return np.linspace(0, end or 1.0, _BINS + 1)
