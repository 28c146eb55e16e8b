"""Pictures of groups: errors of models side by side, and how far counts are off by size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ziggurat.drawing import COLOURS, DULL, NOISY, TRUE, encode, sheet, shorten

if TYPE_CHECKING:
    from ziggurat.utility.subgroups._errors import GroupedErrors
    from ziggurat.utility.subgroups._kept import KeptGroups

_LONGEST = 28
_MOST = 30  # groups in one picture: the largest


def draw_errors(found: GroupedErrors, kind: Literal["svg", "png"]) -> bytes:
    """Draw a line for each group, with a dot and its ends for each model."""
    shown = found.groups[:_MOST]
    with sheet(6.8, 1.4 + 0.42 * len(shown)) as figure:
        axes = figure.subplots()
        for (name, colour, mark), lift in zip(
            zip(found.models, (TRUE, NOISY), "so", strict=True), (-0.14, 0.14), strict=True
        ):
            held = [each.errors[name] for each in shown]
            ends = [[each.rate - each.low for each in held], [each.high - each.rate for each in held]]
            places = [place + lift for place in range(len(shown))]
            axes.errorbar(
                [each.rate for each in held], places, xerr=ends, fmt=mark, color=colour, label=name, capsize=2
            )
        axes.set_yticks(range(len(shown)), [f"{shorten(each.group, _LONGEST)} ({each.rows:,})" for each in shown])
        axes.invert_yaxis()
        axes.grid(axis="x")
        axes.set(xlabel=found.error, title=f"Errors by {shorten(found.by, _LONGEST)}, for the steward")
        axes.legend(frameon=False, loc="best")
        return encode(figure, kind)


def draw_kept(found: KeptGroups, kind: Literal["svg", "png"]) -> bytes:
    """Draw bars for each size: the share of groups lost, and by how much counts are off."""
    places = range(len(found.sizes))
    with sheet(6.8, 3.4) as figure:
        axes = figure.subplots()
        axes.bar(
            [each - 0.2 for each in places], [each.lost.rate for each in found.sizes], 0.4, color=DULL, label="lost"
        )
        off = [each.off for each in found.sizes]
        axes.bar([each + 0.2 for each in places], off, 0.4, color=COLOURS[0], label="count off by (median)")
        axes.set_xticks(places, [f"{each.label}\n({each.lost.trials:,})" for each in found.sizes], fontsize=8)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.grid(axis="y")
        axes.set(title=f"Groups by {shorten(', '.join(found.by), _LONGEST)}, for the steward")
        axes.legend(frameon=False)
        return encode(figure, kind)
