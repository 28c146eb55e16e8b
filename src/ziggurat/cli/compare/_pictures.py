"""The pictures of a comparison, as SVG in its page: small multiples, heat maps, whiskers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ziggurat.drawing import COLOURS, PALE, SOFT, clean, encode, sheet, shorten
from ziggurat.pages import inline_svg, shapes

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

    from ziggurat.release import Candidates
    from ziggurat.utility import Coefficient, ComparedRegression, Marginal, MarginalHistogram

_ORIGINAL, _SYNTHETIC = COLOURS[:2]
_WIDE, _HIGH = 260.0, 130.0
_SHOWN = 7  # categories of a small picture; the others stand together


def distribution(column: Marginal) -> Markup:
    """Draw the distribution of one column of the original and of the copies."""
    held = column.histogram
    if len(held.edges) > 1:
        return shapes.svg(_WIDE, _HIGH, _numbers(held))
    rows = _largest(held)
    step = min(28.0, _HIGH / max(1, len(rows)))
    return shapes.svg(_WIDE, step * max(1, len(rows)), _categories(rows, step))


def _categories(rows: Sequence[tuple[str, float, float]], step: float) -> Iterator[Markup]:
    """Two bars for each category, the original's above."""
    label, room = 88.0, _WIDE - 88.0 - 40
    most = max([max(ours, theirs) for _, ours, theirs in rows] + [1e-9])
    for place, (name, ours, theirs) in enumerate(rows):
        top, bar = place * step, 0.4 * step
        yield shapes.words(label - 5, top + 0.5 * step + 3.2, _fit(name, label - 9), anchor="end")
        yield shapes.rect(label, top + 0.08 * step, room * ours / most, bar, _ORIGINAL)
        yield shapes.rect(label, top + 0.08 * step + bar, room * theirs / most, bar, _SYNTHETIC)
        end = label + room * max(ours, theirs) / most + 4
        yield shapes.words(end, top + 0.5 * step + 3.2, f"{ours:.0%}" if ours >= 0.01 else "<1%", 8.5)


def _largest(held: MarginalHistogram) -> list[tuple[str, float, float]]:
    rows = list(zip(held.labels, held.original, held.synthetic, strict=True))
    if len(rows) <= _SHOWN:
        return rows
    rows.sort(key=lambda row: (row[0] == "others", -row[1]))
    rest = rows[_SHOWN - 1 :]
    return [*rows[: _SHOWN - 1], ("others", sum(row[1] for row in rest), sum(row[2] for row in rest))]


def _numbers(held: MarginalHistogram) -> Iterator[Markup]:
    """Densities: the original filled, the copies as an outline; wide ends are drawn narrower."""
    edges = [float(date.fromisoformat(each).toordinal()) if isinstance(each, str) else each for each in held.edges]
    bins = len(edges) - 1
    widths = _widths(edges)
    places = np.concatenate([[0.0], np.cumsum(widths)]) / sum(widths) * (_WIDE - 8) + 4
    heights = [np.asarray(shares[:bins]) / widths for shares in (held.original, held.synthetic)]
    top, floor = max(float(max(each.max() for each in heights)), 1e-12), _HIGH - 15
    ours, theirs = (_outline(places, each / top * (floor - 4), floor) for each in heights)
    yield shapes.path(ours, fill=_ORIGINAL, opacity=0.35)
    yield shapes.path(theirs, stroke=_SYNTHETIC)
    yield shapes.line(4, floor, _WIDE - 4, floor, SOFT)
    yield shapes.words(4, _HIGH - 3, _edge(held.edges[0]))
    yield shapes.words(_WIDE - 4, _HIGH - 3, _edge(held.edges[-1]), anchor="end")
    yield from _middle(held, places)


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


def _middle(held: MarginalHistogram, places: npt.NDArray[np.float64]) -> Iterator[Markup]:
    """A label at the edge that halves the original, if there is room for it."""
    shares = np.cumsum(held.original[: len(places) - 1])
    place = int(np.searchsorted(shares, shares[-1] / 2)) + 1
    if place >= len(held.edges) - 1 or not 75 < places[place] < _WIDE - 75:
        return
    x = float(places[place])
    yield shapes.line(x, _HIGH - 15, x, _HIGH - 11.5, SOFT)
    yield shapes.words(x, _HIGH - 3, _edge(held.edges[place]), anchor="middle")


def _edge(value: float | str) -> str:
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e7 else f"{value:.4g}"


def _fit(text: str, room: float) -> str:
    """Cut a text to the room that it has at the usual size; capitals are wider."""
    ends = np.cumsum([7.3 if letter.isupper() or letter in "MWmw" else 5.4 for letter in clean(text)])
    return shorten(text, max(2, int(np.searchsorted(ends, room)) - (1 if ends.size and ends[-1] > room else 0)))


def heat_map(names: Sequence[str], cells: Any, *, signed: bool, least: float) -> Markup:
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
    step, longest = (22.0 if many <= 16 else 17.0), max(len(shorten(name, 20)) for name in names)
    label = 12 + 5.6 * longest
    height = 0.75 * label + 8
    width = label + many * step + 0.7 * label
    parts = [*_cells(names, size, label, height, step, top, signed), *_names(names, label, height, step)]
    parts += _scale(label, height + many * step + 12, top, signed)
    rem = min(46.0, 12 + 0.8 * many), min(46.0, max(width, 200) / 11.5)
    return shapes.svg(max(width, label + 200), height + many * step + 40, parts, rem=rem)


def _cells(
    names: Sequence[str],
    size: npt.NDArray[np.float64],
    left: float,
    above: float,
    step: float,
    top: float,
    signed: bool,
) -> Iterator[Markup]:
    for (i, one), (j, other) in product(enumerate(names), repeat=2):
        if i != j:
            place, title = (left + j * step, above + i * step), f"{one}, {other}: {_value(size[i, j])}"
            yield shapes.rect(*place, step - 1, step - 1, _shade(size[i, j], top, signed), title=title)


def _names(names: Sequence[str], left: float, above: float, step: float) -> Iterator[Markup]:
    for i, name in enumerate(names):
        middle = (i + 0.5) * step
        yield shapes.words(left - 5, above + middle + 3, shorten(name, 20), 10, "end")
        yield shapes.words(left + middle, above - 5, shorten(name, 20), 10, turn=-48)


def _value(value: float) -> str:
    return "no value" if math.isnan(value) else f"{value:.3f}"


def _shade(value: float, top: float, signed: bool) -> str:
    """White for 0, the deeper the further; what has no value is grey."""
    if math.isnan(value):
        return PALE
    full = _SYNTHETIC if signed and value > 0 else _ORIGINAL
    part = min(1.0, abs(value) / top)
    red, green, blue = (round(255 + (int(full[i : i + 2], 16) - 255) * part) for i in (1, 3, 5))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _scale(x: float, y: float, top: float, signed: bool) -> Iterator[Markup]:
    """What the shades mean."""
    ends = (-top, top) if signed else (0.0, top)
    for i in range(21):
        yield shapes.rect(x + 5 * i, y, 5.2, 9, _shade(ends[0] + (ends[1] - ends[0]) * i / 20, top, signed))
    yield shapes.rect(x, y, 105, 9, "none", stroke=PALE)
    yield shapes.words(x, y + 20, f"{ends[0]:+.2g}" if signed else "0", 10)
    yield shapes.words(x + 105, y + 20, f"{ends[1]:{'+' if signed else ''}.2g}", 10, "end")


def whiskers(found: ComparedRegression, prefix: str) -> Markup:
    """Draw the coefficients of both with their intervals, in standard errors of the original."""
    shown = found.coefficients[:_MOST_COEFFICIENTS]
    return _draw(lambda axes: _whiskers(axes, shown), 1.3 + 0.36 * len(shown), prefix)


_MOST_COEFFICIENTS = 40


def _whiskers(axes: Axes, shown: Sequence[Coefficient]) -> None:
    for shift, colour, label, part in (
        (-0.13, _ORIGINAL, "original", "original"),
        (0.13, _SYNTHETIC, "synthetic", "synthetic"),
    ):
        for place, each in enumerate(shown):
            held, unit = getattr(each, part), each.original.error or 1.0
            middle, low, high = ((end - each.original.estimate) / unit for end in (held.estimate, held.low, held.high))
            axes.plot([low, high], [place + shift] * 2, color=colour, linewidth=1.8, solid_capstyle="round")
            axes.plot(middle, place + shift, "o", color=colour, markersize=5.5, label=label if place == 0 else None)
    axes.axvline(0, color=SOFT, linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(shown)), [shorten(each.name, 34) for each in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel("away from the original's estimate, in its standard errors")
    axes.grid(axis="x")
    axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1.0), fontsize=9, borderpad=0)


def plane(found: Candidates) -> Markup:
    """Draw the risk-utility plane."""
    from ziggurat.release.comparing import fill_plane

    return _draw(lambda axes: fill_plane(axes, found), 4.3, "plane-")


def _draw(fill: Callable[[Axes], None], height: float, prefix: str) -> Markup:
    with sheet(6.6, height) as page:
        fill(page.add_subplot())
        return inline_svg(encode(page, "svg"), prefix)
