"""Maps of results, drawn offline: a panel for each series, and how densely places lie behind it in grey."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ziggurat.drawing import COLOURS, SOFT, clean, encode, sheet
from ziggurat.experiments._types import Figure
from ziggurat.experiments._values import in_words, same
from ziggurat.experiments.showing._axes import Point, levels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ACROSS, _SIDE, _MARGIN, _BLUR = 5, 2.0, 0.02, 0.7
_LEVELS, _GREYS = (0.8, 2.0, 4.0, 10.0), ("#EEF0F3", "#D9DEE3", "#BEC6CE")


def draw_map(
    figure: Figure, shown: list[Point], behind: Mapping[str, Any] | None, kind: Literal["svg", "png"]
) -> bytes:
    """Draw points in degrees; all panels show the same part of the earth."""
    names, noun = levels(point.series for point in shown), (figure.series or "").partition(".")[2]
    across = min(len(names), _ACROSS)
    down = -(-len(names) // across)
    west, south, east, north = behind["box"] if behind else _around(shown)
    stretch = 1 / max(np.cos(np.radians((south + north) / 2)), 0.1)  # a degree of longitude is shorter
    height = float(_SIDE * (north - south) * stretch / (east - west))
    with sheet(_SIDE * across + 0.4, (height + 0.3) * down + 0.55) as page:
        panels = page.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        for i, (panel, name) in enumerate(zip(panels, names, strict=False)):
            _lay_behind(panel, behind)
            own = [point for point in shown if same(point.series, name)]
            colour = COLOURS[i % len(COLOURS)]
            places: dict[str, Any] = {"color": colour, "edgecolors": "white", "linewidths": 0.6}
            panel.scatter([point.x for point in own], [point.y for point in own], s=26, zorder=3, **places)
            panel.set(xlim=(west, east), ylim=(south, north), aspect=stretch, xticks=[], yticks=[])
            panel.set_title(clean(f"{noun} {in_words(name)}") if figure.series else "", fontsize=9, pad=3)
            panel.spines[:].set(visible=True, color=SOFT, linewidth=0.6)
        page.suptitle(clean(figure.title or figure.id), x=0.01, ha="left", fontsize=11, fontweight="bold")
        page.supxlabel(clean(figure.x_label), fontsize=9)
        return encode(page, kind)


def _lay_behind(panel: Axes, behind: Mapping[str, Any] | None) -> None:
    """Shade where places lie: in shapes, so that the file stays one of shapes."""
    if behind is None:
        return
    from scipy.ndimage import gaussian_filter

    cells = gaussian_filter(np.array([[int(digit) for digit in row] for row in behind["rows"]], dtype=float), _BLUR)
    west, south, east, north = behind["box"]
    rows, columns = ((np.arange(size) + 0.5) / size for size in cells.shape)
    across, up = west + columns * (east - west), south + rows * (north - south)
    panel.contourf(across, up, cells, levels=_LEVELS, colors=_GREYS, zorder=1)


def _around(shown: list[Point]) -> tuple[float, float, float, float]:
    """A box around all points, with a margin."""
    x, y = (np.array([getattr(point, name) for point in shown], dtype=float) for name in ("x", "y"))
    wide, high = max(float(np.ptp(x)), 1e-3) * _MARGIN, max(float(np.ptp(y)), 1e-3) * _MARGIN
    return float(x.min()) - wide, float(y.min()) - high, float(x.max()) + wide, float(y.max()) + high
