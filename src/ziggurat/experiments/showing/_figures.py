"""Pictures of results: the same results give the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ziggurat.drawing import COLOURS, INK, LIMIT, clean, encode, sheet, shorten
from ziggurat.errors import ExperimentError
from ziggurat.experiments._results import Results
from ziggurat.experiments._types import Figure
from ziggurat.experiments._values import ABSENT, describe, in_words, is_number, same, token
from ziggurat.experiments.showing._axes import Mark, Point, levels, marks, points, reference
from ziggurat.experiments.showing._maps import draw_map

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Sheet

_MARKERS, _DASHES = "osD^vPX", ("-", "--", ":", "-.")
_MANY_CELLS, _MANY_COLUMNS, _MANY_TICKS, _MANY_NAMES = 150, 15, 9, 30


def draw(figure: Figure, results: Results, *, format: Literal["svg", "png"] = "svg") -> bytes:  # noqa: A002
    """Draw a figure of an experiment; the same results give the same bytes, with text as text in SVG.

    An axis is logarithmic when its values are positive and span more than two decades. Expected values stand in the
    figure as hollow diamonds with their tolerance, the `reference` as a dashed line.

    Parameters
    ----------
    figure
        What to draw.
    results
        From which runs.
    format
        'svg', or 'png' at 150 dots per inch.

    Raises
    ------
    ExperimentError
        If the figure names something that nobody measured or that is no parameter there.
    """
    if format not in ("svg", "png"):
        raise ExperimentError(f"Figures are drawn as 'svg' or 'png', not {format!r}.")
    # The file and the report show the same picture: it is drawn once.
    if (figure, format) not in results.drawn:
        results.drawn[figure, format] = _draw(figure, results, format)
    return results.drawn[figure, format]


def _draw(figure: Figure, results: Results, kind: Literal["svg", "png"]) -> bytes:
    shown, printed, line = points(figure, results), marks(figure, results), reference(figure, results)
    if figure.kind == "map":
        return draw_map(figure, shown, results.small_output(figure.behind) if figure.behind else None, kind)
    with sheet(6.8, 4.2) as page:
        axes = page.add_subplot()
        if line is not None:
            axes.axhline(line, color=LIMIT, linestyle="--", linewidth=1.5, label=label(figure.reference or ""))
        _KINDS[figure.kind](figure, shown, printed, page, axes)
        _dress(figure, axes)
        return encode(page, kind)


def label(name: str) -> str:
    """The words on an axis for 'module.name'.

    Parameters
    ----------
    name
        A parameter or metric with its module.
    """
    module, _, what = name.partition(".")
    return f"{what.replace('_', ' ')} ({module})"


def _dress(figure: Figure, axes: Axes) -> None:
    axes.set_title(clean(figure.title or figure.id), wrap=True)
    axes.set_xlabel(clean(figure.x_label or label(figure.x)))
    axes.set_ylabel(clean(figure.y_label or label(figure.y)))


def _line(figure: Figure, shown: list[Point], printed: list[Mark], sheet: Sheet, axes: Axes) -> None:
    place = _x_axis(axes, [point.x for point in shown] + [mark.x for mark in printed])
    for look, name, group in _series(figure, shown):
        rows = [(place(x), describe(values)) for x, values in _by_x(group)]
        xs = [x for x, _ in rows]
        middle, low, high = ([row[name] for _, row in rows] for name in ("median", "q1", "q3"))
        axes.plot(xs, middle, label=name, linewidth=1.8, markersize=5, **look)
        if figure.band == "quartiles" and len(xs) > 1:
            axes.fill_between(xs, low, high, color=look["color"], alpha=0.18, linewidth=0)
        elif figure.band == "quartiles":
            axes.errorbar(xs, middle, _reach(middle, low, high), color=look["color"], capsize=4, linewidth=1)
    _finish(figure, shown, printed, sheet, axes, lambda mark: place(mark.x))


def _bar(figure: Figure, shown: list[Point], printed: list[Mark], sheet: Sheet, axes: Axes) -> None:
    place, width = _side_by_side(figure, shown, printed, axes)
    for look, name, group in _series(figure, shown):
        rows = [(place(x, group[0].series), describe(values)) for x, values in _by_x(group)]
        middle, low, high = ([row[name] for _, row in rows] for name in ("median", "q1", "q3"))
        reach = _reach(middle, low, high) if figure.band == "quartiles" else None
        axes.bar(
            [x for x, _ in rows],
            middle,
            0.92 * width,
            yerr=reach,
            color=look["color"],
            label=name,
            error_kw={"ecolor": INK, "capsize": 3, "elinewidth": 1.1},
        )
    _finish(figure, shown, printed, sheet, axes, lambda mark: place(mark.x, mark.series))


def _box(figure: Figure, shown: list[Point], printed: list[Mark], sheet: Sheet, axes: Axes) -> None:
    place, width = _side_by_side(figure, shown, printed, axes)
    for look, name, group in _series(figure, shown):
        rows = [(place(x, group[0].series), values) for x, values in _by_x(group)]
        axes.boxplot(
            [values for _, values in rows],
            positions=[x for x, _ in rows],
            widths=0.7 * width,
            manage_ticks=False,
            patch_artist=True,
            boxprops={"facecolor": look["color"] + "44", "edgecolor": look["color"], "linewidth": 1.3},
            medianprops={"color": look["color"], "linewidth": 2.2},
            whiskerprops={"color": look["color"]},
            capprops={"color": look["color"]},
            flierprops={"marker": "o", "markersize": 3.5, "markeredgecolor": look["color"]},
        )
        axes.plot([], [], color=look["color"], linewidth=6, alpha=0.5, label=name)
    _finish(figure, shown, printed, sheet, axes, lambda mark: place(mark.x, mark.series))


def _scatter(figure: Figure, shown: list[Point], printed: list[Mark], sheet: Sheet, axes: Axes) -> None:
    place = _x_axis(axes, [point.x for point in shown] + [mark.x for mark in printed], few=False)
    for look, name, group in _series(figure, shown):
        axes.scatter(
            [place(point.x) for point in group],
            [point.value for point in group],
            s=30,
            color=look["color"],
            marker=look["marker"],
            alpha=0.7,
            linewidths=0,
            label=name,
        )
    _finish(figure, shown, printed, sheet, axes, lambda mark: place(mark.x))


def _heatmap(figure: Figure, shown: list[Point], printed: list[Mark], sheet: Sheet, axes: Axes) -> None:  # noqa: ARG001
    from matplotlib.colors import LogNorm, Normalize

    columns, rows = levels(point.x for point in shown), levels(point.y for point in shown)
    cells = _cells(shown, columns, rows)
    low, high = float(np.nanmin(cells)), float(np.nanmax(cells))
    norm = (LogNorm if _spans_decades([low, high]) else Normalize)(low, high)
    mesh = axes.pcolormesh(cells, cmap="cividis", norm=norm, edgecolors="white", linewidth=1.2)
    few = cells.size <= _MANY_CELLS and len(columns) <= _MANY_COLUMNS
    for line, cell in np.ndenumerate(cells) if few else ():
        dark = not np.isnan(cell) and norm(cell) < 0.5
        text = "no run" if np.isnan(cell) else f"{cell:.3g}"
        axes.text(line[1] + 0.5, line[0] + 0.5, text, ha="center", va="center", color="white" if dark else INK)
    _name_ticks(axes, np.arange(len(columns)) + 0.5, columns)
    axes.set_yticks(np.arange(len(rows)) + 0.5, [_short(row) for row in rows])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    scale = sheet.colorbar(mesh, label=label(figure.value or ""), shrink=0.9)
    if isinstance(norm, LogNorm):
        _plain_labels(scale.ax.yaxis)
    if scale.solids is not None:
        scale.solids.set(rasterized=False, edgecolor="face")  # shapes like all else, not a picture in a picture
    scale.outline.set_visible(False)


_KINDS: dict[str, Callable[[Figure, list[Point], list[Mark], Any, Any], None]] = {
    "line": _line,
    "bar": _bar,
    "box": _box,
    "scatter": _scatter,
    "heatmap": _heatmap,
}


def _series(figure: Figure, shown: list[Point]) -> list[tuple[dict[str, Any], str, list[Point]]]:
    """Each series with how it looks, what the legend calls it, and its points."""
    names = levels(point.series for point in shown)
    groups: dict[Hashable, list[Point]] = {token(name): [] for name in names}
    for point in shown:
        groups[token(point.series)].append(point)
    called = [_short(name) if figure.series else "ours" for name in names]
    return [(_look(i), name, groups[token(names[i])]) for i, name in enumerate(called)]


def _look(i: int) -> dict[str, Any]:
    dash = _DASHES[i // len(COLOURS) % len(_DASHES)]
    return {"color": COLOURS[i % len(COLOURS)], "marker": _MARKERS[i % len(_MARKERS)], "linestyle": dash}


def _by_x(group: list[Point]) -> list[tuple[Any, list[float]]]:
    values: dict[Hashable, list[float]] = {}
    for point in group:
        values.setdefault(token(point.x), []).append(point.value)
    return [(x, values[token(x)]) for x in levels(point.x for point in group)]


def _reach(middle: list[float], low: list[float], high: list[float]) -> list[list[float]]:
    below = [m - q for m, q in zip(middle, low, strict=True)]
    return [below, [q - m for m, q in zip(middle, high, strict=True)]]


def _x_axis(axes: Axes, values: Sequence[Any], few: bool = True) -> Callable[[Any], float]:
    """Prepare the x axis for numbers or names, and give what says where a value stands on it."""
    found = levels(values)
    if not all(is_number(value) for value in found):
        _name_ticks(axes, list(range(len(found))), found)
        places = {token(value): float(i) for i, value in enumerate(found)}
        return lambda value: places[token(value)]
    if _spans_decades(found):
        axes.set_xscale("log")
        _plain_labels(axes.xaxis)
    if few and len(found) <= _MANY_TICKS and _far_apart(found):
        axes.set_xticks(found, [_short(value) for value in found])
        axes.set_xticks([], minor=True)
    return float


def _side_by_side(
    figure: Figure, shown: list[Point], printed: list[Mark], axes: Axes
) -> tuple[Callable[[Any, Any], float], float]:
    """Give each x value a unit of width and each series its share of it."""
    xs = levels([point.x for point in shown] + [mark.x for mark in printed])
    series = levels(point.series for point in shown)
    _name_ticks(axes, list(range(len(xs))), xs)
    axes.set_xlim(-0.6, len(xs) - 0.4)
    width = 0.8 / len(series)
    columns = {token(x): i for i, x in enumerate(xs)}
    shifts = {token(name): (i + 0.5) * width - 0.4 for i, name in enumerate(series)}

    def place(x: Any, name: Any) -> float:
        return columns[token(x)] + (shifts.get(token(name), 0.0) if figure.series and name is not ABSENT else 0.0)

    return place, width


def _finish(
    figure: Figure,
    shown: list[Point],
    printed: list[Mark],
    sheet: Sheet,
    axes: Axes,
    place: Callable[[Mark], float],
) -> None:
    if _spans_decades([point.value for point in shown] + [mark.value for mark in printed]):
        axes.set_yscale("log")
        _plain_labels(axes.yaxis)
    axes.grid(axis="both" if figure.kind == "scatter" else "y")
    for i, mark in enumerate(printed):
        axes.errorbar(
            place(mark),
            mark.value,
            mark.tolerance,
            fmt="D",
            markersize=8,
            markerfacecolor="none",
            markeredgewidth=1.6,
            color=_colour_of(mark, shown),
            capsize=5,
            zorder=5,
            label="expected" if i == 0 else None,
        )
    if figure.series or printed or figure.reference:
        title = label(figure.series) if figure.series else None
        sheet.legend(loc="outside right upper", frameon=False, title=title, alignment="left")


def _colour_of(mark: Mark, shown: list[Point]) -> str:
    names = levels(point.series for point in shown)
    mine = [i for i, name in enumerate(names) if mark.series is not ABSENT and same(name, mark.series)]
    return COLOURS[mine[0] % len(COLOURS)] if mine else INK


def _cells(shown: list[Point], columns: list[Any], rows: list[Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    values: dict[Any, list[float]] = {}
    for point in shown:
        values.setdefault((token(point.y), token(point.x)), []).append(point.value)
    cells = [[np.median(values.get((token(y), token(x)), np.nan)) for x in columns] for y in rows]
    return np.asarray(cells, dtype=float)


def _spans_decades(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) > 100


def _far_apart(values: Sequence[float]) -> bool:
    """Whether labels at all these values would not run into each other."""
    places = np.log(values) if _spans_decades(values) else np.asarray(values, dtype=float)
    return len(values) == 1 or bool(np.min(np.diff(places)) > 0.07 * (places[-1] - places[0]))


def _plain_labels(axis: Any) -> None:
    """Write decades as numbers: the usual powers of ten need formula text, which is off so that '$' is just '$'."""
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(lambda *_: "")


def _name_ticks(axes: Axes, places: Any, values: Sequence[Any]) -> None:
    every = -(-len(values) // _MANY_NAMES)
    names = [_short(value) for value in values[::every]]
    crowded = sum(len(name) + 2 for name in names) > 70
    axes.set_xticks(places[::every], names, rotation=30 if crowded else 0, ha="right" if crowded else "center")


def _short(value: Any) -> str:
    return f"{value:g}" if is_number(value) else shorten(in_words(value), 28)
