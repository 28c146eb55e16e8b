"""Whole pictures: one panel for each column, a title, and the mark of a rehearsal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.drawing import LIMIT, SOFT, shorten, styled
from ziggurat.errors import ParameterError
from ziggurat.plots._column import PlottedColumn
from ziggurat.plots._shapes import fill_panel, measure_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

REHEARSED = "Rehearsal, not for publication"
"""What stands on every picture of seeded noise."""

WIDTH = 7.0
"""How wide a picture is, in inches."""

_MOST_PANELS, _WIDEST_TITLE, _PAD_BELOW_MARK = 6, 84, 19


def plot_columns(
    columns: Sequence[PlottedColumn], title: str, confidence: float, rehearsal: bool, ax: Axes | None = None
) -> Any:
    """Draw columns with their intervals, each in a panel of its own; gives the Axes, or a list of several.

    Parameters
    ----------
    columns
        Those without a number are left out.
    title
        What was asked; too long a one is cut.
    confidence
        How sure the intervals are.
    rehearsal
        Whether to mark the picture.
    ax
        Where to draw, if there is one column only; by default a new figure.
    """
    drawn = [each for each in columns if each.drawable][:_MOST_PANELS]
    if not drawn:
        raise ParameterError("There is no number in the answer that could be drawn.")
    if ax is not None and len(drawn) > 1:
        raise ParameterError("Several columns do not fit into one picture; name one of them, such as plot('n').")
    with styled():
        panels = [ax] if ax is not None else _make_panels([measure_height(each) for each in drawn])
        for column, panel in zip(drawn, panels, strict=True):
            fill_panel(panel, column, confidence)
            if rehearsal:
                mark_rehearsal(panel)
        rest = len(columns) - len(drawn)
        shown = title if rest < 1 else f"{title} ({len(drawn)} of {len(columns)} are drawn)"
        name_panel(panels[0], shown, _PAD_BELOW_MARK if rehearsal else None)
    return panels[0] if len(panels) == 1 else panels


def name_panel(axes: Axes, title: str, pad: float | None = None) -> None:
    """Set a title over a panel, in three lines at most.

    Parameters
    ----------
    axes
        The panel.
    title
        What was asked.
    pad
        How many points lie between them, if something else stands there.
    """
    text = textwrap.fill(shorten(title, 400), _WIDEST_TITLE, max_lines=3, placeholder=" …")
    axes.set_title(text, fontsize=8, color=SOFT, fontweight="normal", pad=pad)


def mark_rehearsal(axes: Axes) -> None:
    """Write over a panel that nothing of it may be published.

    Parameters
    ----------
    axes
        The panel.
    """
    axes.annotate(REHEARSED, (0, 1), (0, 3), "axes fraction", "offset points", color=LIMIT, fontsize=9,
                  fontweight="bold", ha="left", va="bottom")  # fmt: skip


def make_axes(height: float) -> Axes:
    """Make a figure with one panel that a notebook shows; to be called in the house style.

    Parameters
    ----------
    height
        In inches.
    """
    made: Axes = _make_panels([height])[0]
    return made


def _make_panels(heights: Sequence[float]) -> list[Axes]:
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(WIDTH, sum(heights) + 0.5), layout="constrained")
    return list(figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": list(heights)})[:, 0])
