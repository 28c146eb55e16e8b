"""Pictures of attacks on a model: curves on log axes beside what a promise allows, and areas with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ziggurat.cli.attack._command import AttackedCase, listed_attacks
from ziggurat.drawing import COLOURS, DULL, INK, LIMIT, NOISY, SOFT, TRUE, clean, encode, sheet
from ziggurat.pages import Picture, inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_CURVES = 4
_STYLES = ("-", "--", "-.", ":")


def draw_pictures(found: AttackedCase) -> list[Picture]:
    """All pictures of a page."""
    drawn: list[tuple[str, str, Callable[[Axes, AttackedCase], None], float]] = [
        (
            "Members named against others named falsely",
            "Both axes are logarithmic: what counts is the left, where hardly anybody is named falsely. On the dashed "
            "line an attack knows nothing; a promise keeps every curve out of the red region, on average over draws.",
            _draw_curves,
            4.6,
        ),
        (
            "How well each attack tells members from others",
            "The area under the curve with its 95% interval; one half is a coin.",
            _draw_areas,
            1.0 + 0.38 * len(listed_attacks(found)),
        ),
    ]
    return [
        Picture(inline_svg(_draw(fill, found, height), f"attack{i}-"), f"{found.learned}", title, below)
        for i, (title, below, fill, height) in enumerate(drawn)
    ]


def draw_copy(found: AttackedCase) -> Picture | None:
    """How soon the model is copied, if that was tried."""
    copied: Any = found.evidence.findings.get("extraction")
    if copied is None:
        return None
    return Picture(inline_svg(copied.draw(), "copied-"), copied.sentence, "How soon the model is copied")


def _draw(fill: Callable[[Axes, AttackedCase], None], found: AttackedCase, height: float) -> bytes:
    with sheet(7.6, height) as page:
        fill(page.add_subplot(), found)
        return encode(page, "svg")


def _draw_curves(axes: Axes, found: AttackedCase) -> None:
    report = found.membership
    left = 0.5 / max(report.others, 50)
    across = np.geomspace(left, 1, 300)
    if found.epsilon is not None:
        _draw_region(axes, across, found)
    axes.plot(across, across, color=DULL, linestyle=(0, (4, 4)), linewidth=1.2, label="knows nothing")
    best = sorted(report.attacks.items(), key=lambda item: -item[1].area.rate)[:_MOST_CURVES]
    for i, (name, each) in enumerate(best):
        _draw_curve(axes, each.curve, left, COLOURS[i], _STYLES[i], f"{clean(name)} ({each.area.rate:.2f})")
    if report.blind is not None:
        label = f"blind, without the model ({report.blind.area.rate:.2f})"
        _draw_curve(axes, report.blind.curve, left, SOFT, (0, (1, 2)), label)
    axes.set(xscale="log", yscale="log", xlim=(left, 1), ylim=(left, 1.15))
    axes.set(xlabel="others named falsely (FPR)", ylabel="members named (TPR)")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")
    axes.grid(which="major")
    axes.legend(frameon=False, fontsize=8.5, loc="lower right", title="attack (area)", title_fontsize=8.5)


def _draw_region(axes: Axes, across: Any, found: AttackedCase) -> None:
    """What the promise allows: everything below the line."""
    from ziggurat.release import PromisedRegion

    region = PromisedRegion(Fraction(found.epsilon), Fraction(found.delta))
    most = [region.most_named(value) for value in across]
    axes.fill_between(across, most, 1.15, color=LIMIT, alpha=0.07, linewidth=0)
    axes.plot(across, most, color=LIMIT, linewidth=1.4, label=f"allowed by epsilon {float(found.epsilon):.3g}")


def _draw_curve(
    axes: Axes, curve: Sequence[tuple[float, float]], left: float, colour: str, style: Any, name: str
) -> None:
    """Steps of a curve; where nobody else is named yet it begins at the left edge."""
    across, up = (np.array(each, float) for each in zip(*curve, strict=True))
    axes.step(np.maximum(across, left), up, where="post", color=colour, linestyle=style, linewidth=1.7, label=name)


def _draw_areas(axes: Axes, found: AttackedCase) -> None:
    listed = listed_attacks(found)
    for place, (_, each) in enumerate(listed):
        blind = place == len(listed) - 1 and each is found.membership.blind
        colour = SOFT if blind else TRUE if each.verdict else NOISY
        ends = [[max(0.0, each.area.rate - each.area.low)], [max(0.0, each.area.high - each.area.rate)]]
        axes.errorbar(
            [each.area.rate], [place], xerr=ends, fmt="o", color=colour, capsize=3, linewidth=1.8, markersize=6
        )
        axes.annotate(f"{each.area.rate:.3f}", (each.area.rate, place), (0, 7), textcoords="offset points", ha="center",
                      fontsize=8, color=INK)  # fmt: skip
    axes.axvline(0.5, color=DULL, linestyle=(0, (4, 4)), linewidth=1.2)
    axes.set_yticks(range(len(listed)), [clean(name) for name, _ in listed], fontsize=9)
    axes.set_ylim(len(listed) - 0.4, -0.7)
    least = min(0.45, *(each.area.low for _, each in listed))
    axes.set_xlim(max(0.0, least - 0.02), min(1.02, max(0.6, *(each.area.high + 0.03 for _, each in listed))))
    axes.set_xlabel("area under the curve")
    axes.grid(axis="x")
