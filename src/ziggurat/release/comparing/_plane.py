"""The risk-utility plane: every candidate a point, useful to the right, risky to the top."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ziggurat.drawing import COLOURS, INK, SOFT, encode, sheet, shorten
from ziggurat.errors import DataError
from ziggurat.files import write_bytes
from ziggurat.release.comparing._candidate import Candidate, Candidates

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKERS = "osD^vPX<*>h"  # as many as have no divisor in common with the colours


def draw_plane(candidates: Candidates, kind: Literal["svg", "png"]) -> bytes:
    """Draw the plane as a file; DataError if no candidate has a measured risk."""
    with sheet(6.6, 4.4) as page:
        fill_plane(page.add_subplot(), candidates)
        return encode(page, kind)


def fill_plane(axes: Axes, candidates: Candidates) -> None:
    """Draw the candidates with their intervals, those that no other beats filled."""
    shown = [each for each in candidates.items if each.risk is not None]
    if not shown:
        raise DataError("No candidate has a measured risk, so there is no plane; hold rows out to compare with.")
    best = candidates.frontier
    _stairs(axes, best)
    for i, each in enumerate(shown):
        _point(axes, each, i, each in best)
    lowest = min(each.utility_ends[0] for each in shown)
    highest = max(each.risk_ends[1] for each in shown if each.risk_ends)
    axes.set_xlim(max(0.0, lowest - 0.15 * (1 - lowest) - 0.005), 1.0)
    axes.set_ylim(0, min(1.02, max(0.05, 1.12 * highest)))
    axes.set(xlabel="utility: 1 − total variation of pairs of columns", ylabel="risk: excess of the worst attack")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}" if value * 100 % 1 < 1e-6 else f"{value:.1%}")
    axes.grid()
    axes.annotate("better ↘", (0.985, 0.03), xycoords="axes fraction", ha="right", va="bottom", color=SOFT, fontsize=9)
    columns = min(4, len(shown))
    axes.legend(frameon=False, fontsize=9, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, handletextpad=0.4)


def save_plane(candidates: Candidates, file: Path) -> None:
    """Write the plane to a file that only its owner may read, whole or not at all."""
    kind: Literal["svg", "png"] = "svg" if file.suffix.lower() == ".svg" else "png"
    if file.suffix.lower() not in (".svg", ".png"):
        raise DataError("The plane is drawn into a .png or a .svg file; name one of these.")
    write_bytes(file, draw_plane(candidates, kind), mode=0o600)


def _point(axes: Axes, each: Candidate, i: int, best: bool) -> None:
    colour, (left, right) = COLOURS[i % len(COLOURS)], each.utility_ends
    low, high = each.risk_ends or (0.0, 0.0)
    risk = each.risk or 0.0
    axes.errorbar(
        [each.utility],
        [risk],
        xerr=[[each.utility - left], [right - each.utility]] if right > left else None,
        yerr=[[risk - low], [high - risk]],
        fmt=_MARKERS[i % len(_MARKERS)],
        color=colour,
        markerfacecolor=colour if best else "white",
        markersize=8,
        elinewidth=1.1,
        capsize=3,
        alpha=0.95,
        clip_on=False,
        zorder=5,
        label=shorten(each.name, 24),
    )


def _stairs(axes: Axes, best: tuple[Candidate, ...]) -> None:
    """A line along those that no other beats."""
    if len(best) > 1:
        order = sorted(best, key=lambda each: each.utility)
        places = [each.utility for each in order], [each.risk or 0.0 for each in order]
        axes.step(*places, where="post", color=INK, linewidth=0.8, linestyle=":", zorder=2)
