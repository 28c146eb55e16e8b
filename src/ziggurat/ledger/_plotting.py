"""Pictures of a ledger: what was granted, and how much of it was used, by whom and when."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ziggurat.drawing import COLOURS, DULL, INK, LIMIT, NOISY, PALE, shorten, styled
from ziggurat.errors import LedgerUseError
from ziggurat.ledger._left import percent, share_used
from ziggurat.plots import make_axes
from ziggurat.privacy import Filter, Spent, event_from_dict, in_words, make_filter
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.ledger._chain import Entry
    from ziggurat.ledger._statement import GrantStatement, Statement

_LONGEST_NAME = 30


def plot_grants(held: Sequence[Statement], ax: Axes | None) -> Axes:
    """Draw a bar for each grant, as long as what was granted, and filled as far as it is used."""
    grants = [(statement, grant) for statement in held for grant in statement.grants]
    if not grants:
        raise LedgerUseError("Nothing was granted yet, so that there is nothing to draw.")
    with styled():
        axes = make_axes(1.1 + 0.42 * len(grants)) if ax is None else ax
        for place, (_, grant) in enumerate(grants):
            _draw_grant(axes, place, grant)
        several = len({statement.table for statement, _ in grants}) > 1
        _mark_budget(axes, [] if several else [held_by for held_by, _ in grants[:1]])
        labels = [f"{each.table} · {one.grant.analyst}" if several else one.grant.analyst for each, one in grants]
        axes.set_yticks(range(len(grants)), [shorten(each, _LONGEST_NAME) for each in labels])
        axes.set_ylim(len(grants) - 0.4, -0.6)
        axes.set(xlabel="epsilon granted (pale), and the share of it that is used (full)")
        axes.set_title("Grants" if several else f"Grants on {grants[0][0].table}")
        axes.grid(axis="x")
    return axes


def _draw_grant(axes: Axes, place: int, grant: GrantStatement) -> None:
    whole, used = float(grant.grant.epsilon), min(1.0, float(grant.share))
    axes.barh(place, whole, 0.62, color=PALE)
    axes.barh(place, whole * used, 0.62, color=DULL if grant.closed else NOISY)
    told = f"{percent(grant.share)} used on {count_noun(grant.questions, 'question')}" + (
        ", closed" if grant.closed else ""
    )
    axes.annotate(told, (whole, place), (4, 0), textcoords="offset points", va="center", fontsize=9, color=INK)
    axes.margins(x=0.22)


def _mark_budget(axes: Axes, only: Sequence[Statement]) -> None:
    for statement in only:
        if statement.budget is not None:
            whole = float(statement.budget.epsilon)
            axes.axvline(
                whole, color=LIMIT, linestyle="--", linewidth=1.3, label=f"budget {in_words(statement.budget.epsilon)}"
            )
            axes.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0.2)


def plot_history(entries: Sequence[Entry], about: Callable[[Entry], tuple[str, str]], ax: Axes | None) -> Axes:
    """Draw for each grant how much of it was used since when; what was reserved counts from that moment on."""
    lines = follow_grants(entries, about)
    if not lines:
        raise LedgerUseError("Nothing was granted yet, so that there is nothing to draw.")
    with styled():
        axes = make_axes(3.4) if ax is None else ax
        for number, (name, points) in enumerate(lines.items()):
            moments, shares = zip(*points, strict=True)
            axes.step(moments, shares, where="post", color=COLOURS[number % len(COLOURS)], linewidth=1.7, marker="o",
                      markersize=3.5, label=shorten(name, _LONGEST_NAME))  # fmt: skip
        axes.axhline(1, color=LIMIT, linestyle="--", linewidth=1.3)
        axes.set_ylim(0, 1.08)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        axes.set(xlabel="when (UTC)", ylabel="share of the grant that is used")
        axes.grid(axis="y")
        axes.tick_params(axis="x", labelrotation=20)
        axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    return axes


def follow_grants(
    entries: Sequence[Entry], about: Callable[[Entry], tuple[str, str]]
) -> dict[str, list[tuple[datetime, float]]]:
    """Follow every grant through its entries: the share that is used after each that reserved something."""
    rules: dict[str, Filter] = {}
    spent: dict[str, Spent] = {}
    lines: dict[str, list[tuple[datetime, float]]] = {}
    for entry in entries:
        name = " · ".join(about(entry))
        if entry.kind == "grant":
            rules[name] = make_filter(entry.data["epsilon"], entry.data["delta"], entry.data["rule"])
            spent[name] = Spent()
        elif entry.kind == "reserve" and name in rules:
            spent[name] = spent[name].plus(event_from_dict(entry.data["event"]))
        else:
            continue
        share = min(1.0, float(share_used(rules[name], spent[name])))
        lines.setdefault(name, []).append((datetime.fromisoformat(entry.time), share))
    return lines
