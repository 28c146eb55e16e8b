"""A picture of a decision: error and compensation against epsilon, and privacy at risk beside what was published."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ziggurat.cli.terminal import draw_into
from ziggurat.drawing import COLOURS, LIMIT
from ziggurat.privacy.cost import Decision, EpsilonCandidate, LaplaceNoise, edge_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ziggurat.cli.decide._page import DecisionPage

_EXACT, _PUBLISHED, _MEETS = COLOURS[:3]
_POINTS = 160


def save_picture(page: DecisionPage, file: str) -> None:
    """Draw a decision, the epsilons that meet every constraint as a band, whole or not at all."""
    decision, money = page.decision, page.decision.cost is not None
    with draw_into(file, 12.6 if money else 8.6, 3.9) as sheet:
        panels = list(np.atleast_1d(sheet.subplots(1, 3 if money else 2)))
        _error(panels[0], page)
        if money:
            _money(panels[1], page)
        for axes in panels[:-1]:
            _dress(axes, page)
        _at_risk(panels[-1], decision, page.chosen or page.candidates[-1])
        named = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
        sheet.legend(list(named.values()), list(named), loc="outside lower right", ncols=4, frameon=False, fontsize=8)


def _range(page: DecisionPage) -> list[float]:
    ends = [float(each.epsilon) for each in page.candidates]
    low, high = min(ends), max(ends)
    wider = 2.0 if low == high else 1.0
    return [float(x) for x in np.geomspace(low / wider, high * wider, _POINTS)]


def _error(axes: Axes, page: DecisionPage) -> None:
    noise, wanted, xs = page.decision.noise, page.decision.wanted, _range(page)
    axes.plot(xs, [noise.within(Fraction(x), wanted.confidence) for x in xs], color=_EXACT)
    _dots(axes, page, lambda each: each.within)
    if wanted.error is not None:
        axes.axhline(float(wanted.error), color=LIMIT, linestyle=":", linewidth=1.4, label="limit")
    axes.set(yscale="log", ylabel="error, in units of the answer")
    axes.set_title(f"{100 * float(wanted.confidence):g}% of errors are below", fontsize=10)


def _money(axes: Axes, page: DecisionPage) -> None:
    decision, xs = page.decision, _range(page)
    axes.plot(xs, [_amount(decision, Fraction(x)) for x in xs], color=_EXACT)
    _dots(axes, page, lambda each: _amount(decision, each.epsilon))
    if decision.wanted.budget is not None:
        axes.axhline(float(decision.wanted.budget.amount), color=LIMIT, linestyle=":", linewidth=1.4, label="limit")
    axes.set(ylabel=_currency(decision), ylim=(0, None))
    axes.set_title("Expected compensation", fontsize=10)


def _dots(axes: Axes, page: DecisionPage, height: Callable[[EpsilonCandidate], float]) -> None:
    for each in page.candidates:
        good = page.decision.wanted.anything and not each.unmet
        face = _MEETS if good else "white"
        place = [float(each.epsilon)], [height(each)]
        axes.plot(*place, "o", color=_MEETS if good else _EXACT, markerfacecolor=face, markersize=6)
        if each is page.chosen:
            axes.plot(*place, "o", color=_MEETS, markerfacecolor="none", markersize=13)


def _dress(axes: Axes, page: DecisionPage) -> None:
    """Logarithmic epsilon, plain numbers, and the band of epsilons that meet every constraint."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set(xscale="log", xlabel="epsilon")
    for axis in (axes.xaxis, *([axes.yaxis] if axes.get_yscale() == "log" else [])):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_minor_formatter(NullFormatter())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(axis="y")
    band = _band(page.decision)
    if band is not None:
        left, right = axes.get_xlim()
        axes.axvspan(max(band[0], left), min(band[1], right), color=_MEETS, alpha=0.1, linewidth=0, label="meets all")
        axes.set_xlim(left, right)


def _band(decision: Decision) -> tuple[float, float] | None:
    low, high = 0.0, np.inf
    for limit in decision.limits():
        place = edge_of(limit)
        if place is None:
            return None
        low, high = (max(low, place), high) if limit.from_below else (low, min(high, place))
    return (low, float(high)) if decision.wanted.anything and low <= high else None


def _at_risk(axes: Axes, decision: Decision, chosen: EpsilonCandidate) -> None:
    """Confidence, or the compensation that follows from it, against the epsilon that is promised at risk."""
    top = chosen.epsilon * (Fraction(7, 5) if decision.noise.delta else 1)
    xs = [top * i / _POINTS for i in range(1, _POINTS)]
    xs += [top * (1 - Fraction(1, 10**9)), top]  # at the level itself the confidence may jump to 1
    noise = decision.noise.at_risk(chosen.epsilon)
    _curve(axes, decision, chosen, xs, [noise.confidence(x) for x in xs], "exact", _EXACT, "-")
    if isinstance(decision.noise, LaplaceNoise):
        shares = _repeat_published(decision.noise, chosen, xs)
        _curve(axes, decision, chosen, xs, shares, "as published: not a guarantee", _PUBLISHED, "--")
    money = decision.cost is not None and not decision.noise.delta
    axes.set(xlabel="epsilon promised at risk", ylim=(0, None), xlim=(0, None))
    axes.set_ylabel(f"expected compensation, {_currency(decision)}" if money else "probability that the loss is within")
    if money:
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(axis="y")
    axes.set_title(f"At risk, noise of epsilon {float(chosen.epsilon):.4g}", fontsize=10)


def _repeat_published(noise: LaplaceNoise, chosen: EpsilonCandidate, xs: list[Fraction]) -> list[float]:
    from ziggurat.privacy import published_confidence

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the label says it
        return [published_confidence(chosen.epsilon, x, noise.coordinates) for x in xs]


def _curve(
    axes: Axes,
    decision: Decision,
    chosen: EpsilonCandidate,
    xs: list[Fraction],
    shares: list[float],
    label: str,
    colour: str,
    dash: str,
) -> None:
    places, heights = [float(x) for x in xs], shares
    if decision.cost is not None and not decision.noise.delta:
        plain = _amount(decision, chosen.epsilon)
        owed = [float(decision.cost.owed(x)) for x in xs]
        heights = [share * low + (1 - share) * plain for share, low in zip(shares, owed, strict=True)]
        best = int(np.argmin(heights))
        axes.plot(places[best], heights[best], "*", color=colour, markersize=11)
    axes.plot(places, heights, dash, color=colour, label=label)


def _amount(decision: Decision, epsilon: Fraction) -> float:
    owed = decision.compensation(epsilon)
    return 0.0 if owed is None else float(owed.amount)


def _currency(decision: Decision) -> str:
    return "" if decision.cost is None else decision.cost.currency
