"""The pictures of a comparison, as SVG that stands in a page by itself: small multiples, heat maps, whiskers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.drawing import rendered, sheet
from ziggurat.experiments.showing import _figures as look
from ziggurat.experiments.showing import inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.release import Candidates
    from ziggurat.utility import Coefficient, ComparedRegression, Marginal, MarginalHistogram

ORIGINAL, SYNTHETIC = look.COLOURS[0], look.COLOURS[1]
_INK, _SOFT, _LINE = "#1f2933", "#5b6773", "#dde3e9"
_WIDE, _HIGH = 260.0, 130.0
_SHOWN = 7  # categories of a small picture; the others stand together
_FONT = 'font-family="system-ui, Segoe UI, Liberation Sans, Arial, sans-serif"'


def distribution(column: Marginal) -> str:
    """Draw the distribution of one column of the original and of the copies."""
    held = column.histogram
    body = _numbers(held) if len(held.edges) > 1 else _categories(held)
    return _svg(_WIDE, _HIGH, body)


def _svg(width: float, height: float, body: str, style: str = "") -> str:
    more = f' style="{style}"' if style else ""
    return f'<svg viewBox="0 0 {width:g} {height:g}" {_FONT} aria-hidden="true"{more}>{body}</svg>'


def _text(x: float, y: float, words: str, size: float = 9.5, anchor: str = "start", more: str = "") -> str:
    said = escape(words)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" fill="{_INK}" {more}>{said}</text>'
    )


def _rect(x: float, y: float, width: float, height: float, fill: str) -> str:
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{height:.1f}" fill="{fill}"/>'


def _categories(held: MarginalHistogram) -> str:
    """Two bars for each category, the original's above."""
    rows = _largest(held)
    label, room = 88.0, _WIDE - 88.0 - 40
    step = min(28.0, _HIGH / max(1, len(rows)))
    most = max([max(ours, theirs) for _, ours, theirs in rows] + [1e-9])
    parts = []
    for place, (name, ours, theirs) in enumerate(rows):
        top, bar = place * step, 0.4 * step
        parts.append(_text(label - 5, top + 0.5 * step + 3.2, _fitting(name, label - 9), anchor="end"))
        parts.append(_rect(label, top + 0.08 * step, room * ours / most, bar, ORIGINAL))
        parts.append(_rect(label, top + 0.08 * step + bar, room * theirs / most, bar, SYNTHETIC))
        end = label + room * max(ours, theirs) / most + 4
        parts.append(_text(end, top + 0.5 * step + 3.2, f"{ours:.0%}" if ours >= 0.01 else "<1%", 8.5))
    return "".join(parts)


def _largest(held: MarginalHistogram) -> list[tuple[str, float, float]]:
    rows = list(zip(held.labels, held.original, held.synthetic, strict=True))
    if len(rows) <= _SHOWN:
        return rows
    rows.sort(key=lambda row: (row[0] == "others", -row[1]))
    rest = rows[_SHOWN - 1 :]
    return [*rows[: _SHOWN - 1], ("others", sum(row[1] for row in rest), sum(row[2] for row in rest))]


def _numbers(held: MarginalHistogram) -> str:
    """Densities: the original filled, the copies as an outline; wide ends are drawn narrower."""
    edges = [float(date.fromisoformat(each).toordinal()) if isinstance(each, str) else each for each in held.edges]
    bins = len(edges) - 1
    widths = _widths(edges)
    places = np.concatenate([[0.0], np.cumsum(widths)]) / sum(widths) * (_WIDE - 8) + 4
    heights = [np.asarray(shares[:bins]) / widths for shares in (held.original, held.synthetic)]
    top, floor = max(float(max(each.max() for each in heights)), 1e-12), _HIGH - 15
    ours, theirs = (_outline(places, each / top * (floor - 4), floor) for each in heights)
    ends = (("start", 4.0, held.edges[0]), ("end", _WIDE - 4, held.edges[-1]))
    return (
        f'<path d="{ours}" fill="{ORIGINAL}" fill-opacity="0.35"/>'
        f'<path d="{theirs}" fill="none" stroke="{SYNTHETIC}" stroke-width="1.6" stroke-linejoin="round"/>'
        f'<line x1="4" x2="{_WIDE - 4:g}" y1="{floor:g}" y2="{floor:g}" stroke="{_SOFT}" stroke-width="0.8"/>'
        + "".join(_text(x, _HIGH - 3, _edge(value), anchor=anchor) for anchor, x, value in ends)
        + _middle(held, places)
    )


def _widths(edges: Sequence[float]) -> npt.NDArray[np.float64]:
    """How wide the bars are: a bar of one value as the narrowest, the first and last no wider than a sixth."""
    found = np.diff(edges)
    positive = found[found > 0]
    found[found <= 0] = positive.min() if positive.size else 1.0
    inner = float(found[1:-1].sum()) if found.size > 2 else math.inf
    for place in (0, -1):
        found[place] = min(found[place], inner / 4)
    return np.asarray(found, dtype=np.float64)


def _outline(places: npt.NDArray[np.float64], heights: npt.NDArray[np.float64], floor: float) -> str:
    steps = [f"M{places[0]:.1f} {floor:.1f}"]
    for left, right, height in zip(places[:-1], places[1:], heights, strict=True):
        steps.append(f"L{left:.1f} {floor - height:.1f}L{right:.1f} {floor - height:.1f}")
    return "".join(steps) + f"L{places[-1]:.1f} {floor:.1f}Z"


def _middle(held: MarginalHistogram, places: npt.NDArray[np.float64]) -> str:
    """A label at the edge that halves the original, if there is room for it."""
    shares = np.cumsum(held.original[: len(places) - 1])
    place = int(np.searchsorted(shares, shares[-1] / 2)) + 1
    if place >= len(held.edges) - 1 or not 75 < places[place] < _WIDE - 75:
        return ""
    mark = f'<line x1="{places[place]:.1f}" x2="{places[place]:.1f}" y1="{_HIGH - 15:g}" y2="{_HIGH - 11.5:g}" '
    return (
        mark + f'stroke="{_SOFT}"/>' + _text(float(places[place]), _HIGH - 3, _edge(held.edges[place]), anchor="middle")
    )


def _edge(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e7 else f"{value:.4g}"


def _fitting(text: str, room: float) -> str:
    """Cut a text to the room that it has at the usual size; capitals are wider."""
    ends = np.cumsum([7.3 if letter.isupper() or letter in "MWmw" else 5.4 for letter in look._clean(text)])
    return shortened(text, max(2, int(np.searchsorted(ends, room)) - (1 if ends.size and ends[-1] > room else 0)))


def shortened(text: str, size: int) -> str:
    """Cut a text that is too long, with a sign that it was cut."""
    clean = look._clean(text)
    return clean if len(clean) <= size else f"{clean[: size - 1]}…"


def heat_map(names: Sequence[str], cells: Any, *, signed: bool, least: float) -> str:
    """Draw a matrix of columns by columns.

    Parameters
    ----------
    names
        Of the columns.
    cells
        The matrix; NaN where there is no value, and the diagonal is left out.
    signed
        Whether values lie on both sides of 0.
    least
        The scale reaches at least so far, so that small differences look small.
    """
    size, many = np.asarray(cells, dtype=np.float64), len(names)
    apart = ~np.eye(many, dtype=np.bool_) & ~np.isnan(size)
    top = max(least, float(np.abs(size[apart]).max()) if apart.any() else 0.0)
    step, longest = (22.0 if many <= 16 else 17.0), max(len(shortened(name, 20)) for name in names)
    label = 12 + 5.6 * longest
    height = 0.75 * label + 8
    parts = [
        _cell(
            label + j * step,
            height + i * step,
            step - 1,
            _shade(size[i, j], top, signed),
            f"{one}, {other}: {_value(size[i, j])}",
        )
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if i != j
    ]
    for i, name in enumerate(names):
        middle = (i + 0.5) * step
        parts.append(_text(label - 5, height + middle + 3, shortened(name, 20), 10, "end"))
        turned = f'transform="rotate(-48 {label + middle:.1f} {height - 5:.1f})"'
        parts.append(_text(label + middle, height - 5, shortened(name, 20), 10, "start", turned))
    width = label + many * step + 0.7 * label
    parts.append(_scale(label, height + many * step + 12, top, signed))
    style = f"min-width:{min(46.0, 12 + 0.8 * many):.0f}rem;max-width:{min(46.0, max(width, 200) / 11.5):.0f}rem"
    return _svg(max(width, label + 200), height + many * step + 40, "".join(parts), style)


def _cell(x: float, y: float, side: float, fill: str, words: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}"'
    return f'<rect {place} fill="{fill}"><title>{escape(words)}</title></rect>'


def _value(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.3f}"


def _shade(value: float, top: float, signed: bool) -> str:
    """White for 0, the deeper the further; what has no value is grey."""
    if math.isnan(value):
        return "#e8ebee"
    full = SYNTHETIC if signed and value > 0 else ORIGINAL
    part = min(1.0, abs(value) / top)
    red, green, blue = (round(255 + (int(full[i : i + 2], 16) - 255) * part) for i in (1, 3, 5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _scale(x: float, y: float, top: float, signed: bool) -> str:
    """What the shades mean."""
    ends = (-top, top) if signed else (0.0, top)
    shades = [_shade(ends[0] + (ends[1] - ends[0]) * i / 20, top, signed) for i in range(21)]
    bars = "".join(_rect(x + 5 * i, y, 5.2, 9, shade) for i, shade in enumerate(shades))
    frame = f'<rect x="{x:.1f}" y="{y:.1f}" width="105" height="9" fill="none" stroke="{_LINE}"/>'
    said = [
        (x, f"{ends[0]:+.2g}" if signed else "0", "start"),
        (x + 105, f"{ends[1]:{'+' if signed else ''}.2g}", "end"),
    ]
    return bars + frame + "".join(_text(place, y + 20, words, 10, anchor) for place, words, anchor in said)


def whiskers(found: ComparedRegression, prefix: str) -> str:
    """Draw the coefficients of both with their intervals, in standard errors of the original."""
    shown = found.coefficients[:_MOST_COEFFICIENTS]
    return _drawn(lambda axes: _whiskers(axes, shown), 1.3 + 0.36 * len(shown), prefix)


_MOST_COEFFICIENTS = 40


def _whiskers(axes: Axes, shown: Sequence[Coefficient]) -> None:
    for shift, colour, label, part in (
        (-0.13, ORIGINAL, "original", "original"),
        (0.13, SYNTHETIC, "synthetic", "synthetic"),
    ):
        for place, each in enumerate(shown):
            held, unit = getattr(each, part), each.original.error or 1.0
            middle, low, high = ((end - each.original.estimate) / unit for end in (held.estimate, held.low, held.high))
            axes.plot([low, high], [place + shift] * 2, color=colour, linewidth=1.8, solid_capstyle="round")
            axes.plot(middle, place + shift, "o", color=colour, markersize=5.5, label=label if place == 0 else None)
    axes.axvline(0, color=_SOFT, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(shown)), [shortened(each.name, 34) for each in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel("away from the original's estimate, in its standard errors")
    axes.grid(axis="x")
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), fontsize=9, borderpad=0)


def plane_picture(found: Candidates) -> str:
    """Draw the risk-utility plane."""
    from ziggurat.release.comparing import fill

    return _drawn(lambda axes: fill(axes, found), 4.3, "plane-")


def _drawn(fill: Callable[[Axes], None], height: float, prefix: str) -> str:
    with sheet(6.6, height) as page:
        fill(page.add_subplot())
        return inline_svg(rendered(page, "svg"), prefix)
