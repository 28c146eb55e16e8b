"""A picture of every generalisation: what it loses, and how exposed people are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ziggurat.drawing import DULL, INK, LIMIT, NOISY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.anonymize.generalizing._anonymize import Anonymized


def fill_frontier(axes: Axes, made: Anonymized) -> None:
    """Draw loss against average risk for every generalisation, the chosen one marked."""
    found = made.solutions
    published = found.suppressed < found.rows
    risk, good = found.average_risk, found.satisfied
    for flags, colour, label in (
        (~good, DULL, "does not satisfy the models"),
        (good, NOISY, "satisfies the models"),
    ):
        shown, name = flags & published, f"{label} ({int(flags.sum()):,})"
        axes.scatter(found.score[shown], risk[shown], s=9, color=colour, linewidths=0, alpha=0.7, label=name)
    best = [node for node in found.frontier() if published[node]]
    axes.step(found.score[best], risk[best], where="post", color=INK, linewidth=0.8, label="frontier")
    here = made.classes / (made.rows - made.suppressed)
    axes.scatter([made.score], [here], s=140, marker="*", color=LIMIT, zorder=5, label=f"chosen ({made.recoding})")
    _name_axes(axes, made)


def _name_axes(axes: Axes, made: Anonymized) -> None:
    columns, nodes = len(made.question.quasi_identifiers), made.lattice.nodes
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g}%")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.set(xlabel=f"{made.metric} (less is better)", ylabel="average risk of re-identification")
    axes.set_title(f"Every generalisation of {columns} columns: {nodes:,}", loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
