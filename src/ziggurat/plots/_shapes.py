"""The shapes of a panel: a point, bars, a line over time, or points along numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import TYPE_CHECKING, Any

from ziggurat.drawing import COLOURS, INK, NOISY, SOFT, shorten
from ziggurat.plots._column import (
    MOST_UPRIGHT,
    PlottedColumn,
    find_reach,
    is_in_time,
    list_drawn,
    name_groups,
    runs_along_numbers,
    split_keys,
    write_group,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 40
"""The most bars of one picture; how many more there are is said below it."""
_LONGEST_UPRIGHT, _MOST_TICKS = 11, 14

Reached = tuple[list[float], list[list[float]]]


def measure_height(column: PlottedColumn) -> float:
    """Tell how many inches a panel needs."""
    if not column.keys:
        return 1.25
    if not _lies(column):
        return 3.4
    labels, kinds = name_groups(column)
    bars = min(len(labels), max(1, MOST_BARS // len(kinds)))
    return max(2.0, 0.9 + bars * (0.26 if len(kinds) == 1 else 0.12 + 0.14 * len(kinds)))


def fill_panel(axes: Axes, column: PlottedColumn, confidence: float) -> None:
    """Draw one column: as a point, over time, along numbers, or as bars.

    Parameters
    ----------
    axes
        Where.
    column
        What.
    confidence
        How sure the intervals are.
    """
    shown = list_drawn(column)
    said = f"{shorten(column.name, 40)} (noisy value, {confidence:.0%} interval)"
    if not any(each is not None for each in column.lows):
        said = f"{shorten(column.name, 40)} (noisy value)"
    _choose_shape(column)(axes, column, shown, said)


def _choose_shape(column: PlottedColumn) -> Callable[[Axes, PlottedColumn, list[int], str], None]:
    if not column.keys:
        return _draw_point
    place = split_keys(column)[0]
    if place is not None and is_in_time(column.keys[place], [each[place] for each in column.groups]):
        return _draw_lines
    return _draw_numbers if runs_along_numbers(column) else _draw_bars


def _lies(column: PlottedColumn) -> bool:
    """Whether bars lie, because they are many or their names long."""
    if _choose_shape(column) is not _draw_bars:
        return False
    labels = name_groups(column)[0]
    return len(labels) > MOST_UPRIGHT or max(map(len, labels), default=0) > _LONGEST_UPRIGHT


def set_scale(axis: Any, column: PlottedColumn) -> None:
    """Write numbers with thousands, and days as days."""
    if any(isinstance(each, date) for each in column.values):
        _set_days(axis)
    else:
        axis.set_major_formatter(lambda value, _: f"{value:,.10g}")


def _draw_point(axes: Axes, column: PlottedColumn, shown: list[int], said: str) -> None:
    values, reach = find_reach(column, shown)
    axes.errorbar(values, [0] * len(values), xerr=reach, fmt="o", color=NOISY, capsize=5, linewidth=1.8, markersize=7)
    told = _tell(column.values[0], column.lows[0], column.highs[0])
    axes.annotate(told, (values[0], 0), (0, 10), textcoords="offset points", ha="center", color=SOFT)
    axes.set(yticks=[], ylim=(-1, 1.4), xlabel=said)
    axes.spines["left"].set_visible(False)
    axes.margins(x=0.25)
    axes.grid(axis="x")
    set_scale(axes.xaxis, column)


def _tell(value: Any, low: Any, high: Any) -> str:
    first = _figure(value)
    return first if low is None or high is None else f"{first}  [{_figure(low)}, {_figure(high)}]"


def _figure(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _draw_lines(axes: Axes, column: PlottedColumn, shown: list[int], said: str) -> None:
    along, coloured = split_keys(column)
    assert along is not None
    kinds = name_groups(column)[1]
    for colour, kind in zip(COLOURS, kinds, strict=False):
        places = [each for each in shown if coloured is None or write_group(column.groups[each][coloured]) == kind]
        places.sort(key=lambda place: column.groups[place][along])
        values, (below, above) = find_reach(column, places)
        moments: list[Any] = [column.groups[place][along] for place in places]
        axes.plot(moments, values, color=colour, marker="o" if len(values) < 60 else "", markersize=3.5, linewidth=1.4,
                  label=kind)  # fmt: skip
        lows = [value - part for value, part in zip(values, below, strict=True)]
        highs = [value + part for value, part in zip(values, above, strict=True)]
        axes.fill_between(moments, lows, highs, color=colour, alpha=0.18, linewidth=0)
    _name_axes(axes, column, along, coloured, said)
    _tick_moments(axes, [group[along] for group in column.groups])


def _draw_numbers(axes: Axes, column: PlottedColumn, shown: list[int], said: str) -> None:
    values, reach = find_reach(column, shown)
    places = [column.groups[each][0] for each in shown]
    axes.errorbar(places, values, yerr=reach, fmt="o", color=NOISY, markersize=3, capsize=0, elinewidth=1)
    _name_axes(axes, column, 0, None, said)


def _draw_bars(axes: Axes, column: PlottedColumn, shown: list[int], said: str) -> None:
    labels, kinds = name_groups(column)
    most = max(1, MOST_BARS // len(kinds))
    named, lies = labels[:most], _lies(column)
    along, coloured = split_keys(column)
    thick = 0.8 / len(kinds)
    for number, kind in enumerate(kinds):
        mine = {place: _spot(column, place, along) for place in shown if _is_of(column, place, coloured, kind)}
        places = [place for place in mine if mine[place] in named]
        spots = [named.index(mine[place]) + (number - (len(kinds) - 1) / 2) * thick for place in places]
        _draw_bar_series(axes, spots, find_reach(column, places), (COLOURS[number % len(COLOURS)], thick, kind), lies)
    _name_bars(axes, column, named, len(labels) - len(named), said, lies)
    if coloured is not None:
        axes.legend(frameon=False, fontsize=9, title=column.keys[coloured], loc="upper left", bbox_to_anchor=(1, 1))


def _spot(column: PlottedColumn, place: int, along: int | None) -> str:
    group = column.groups[place]
    return write_group(*group) if along is None else write_group(group[along])


def _is_of(column: PlottedColumn, place: int, coloured: int | None, kind: str) -> bool:
    return coloured is None or write_group(column.groups[place][coloured]) == kind


def _draw_bar_series(
    axes: Axes,
    spots: list[float],
    drawn: tuple[list[float], list[list[float]]],
    look: tuple[str, float, str],
    lies: bool,
) -> None:
    (values, reach), (colour, thick, kind) = drawn, look
    line: Any = {"ecolor": INK, "capsize": 2.5, "elinewidth": 1}
    if lies:
        axes.barh(spots, values, thick, xerr=reach, color=colour, alpha=0.85, label=kind, error_kw=line)
    else:
        axes.bar(spots, values, thick, yerr=reach, color=colour, alpha=0.85, label=kind, error_kw=line)


def _name_bars(axes: Axes, column: PlottedColumn, named: list[str], rest: int, said: str, lies: bool) -> None:
    along = split_keys(column)[0]
    keys = " · ".join(column.keys) if along is None else column.keys[along]
    noted = f"{said}; {rest:,} more groups are not drawn" if rest > 0 else said
    if lies:
        axes.set_yticks(range(len(named)), named, fontsize=9)
        axes.set_ylim(len(named) - 0.4, -0.6)
        axes.set(xlabel=noted, ylabel=shorten(keys, 40))
    else:
        axes.set_xticks(range(len(named)), named)
        axes.set(xlabel=shorten(keys, 40) + (f" ({rest:,} more are not drawn)" if rest > 0 else ""), ylabel=said)
    axes.grid(axis="x" if lies else "y")
    set_scale(axes.xaxis if lies else axes.yaxis, column)


def _name_axes(axes: Axes, column: PlottedColumn, along: int, coloured: int | None, said: str) -> None:
    axes.set(xlabel=shorten(column.keys[along], 40), ylabel=said)
    axes.grid(axis="y")
    set_scale(axes.yaxis, column)
    if coloured is not None:
        axes.legend(frameon=False, fontsize=9, title=column.keys[coloured], loc="upper left", bbox_to_anchor=(1, 1))


def _tick_moments(axes: Axes, moments: list[Any]) -> None:
    """Put ticks where moments are: at each of a few, at some of many."""
    from matplotlib.ticker import MaxNLocator

    several = sorted(set(moments))
    if isinstance(several[0], date):
        _set_days(axes.xaxis)
    elif isinstance(several[0], int) and len(several) <= _MOST_TICKS:
        axes.set_xticks(several)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))


def _set_days(axis: Any) -> None:
    from matplotlib import dates

    untyped: Any = dates
    axis.axis_date()
    locator = untyped.AutoDateLocator(minticks=3, maxticks=7)
    axis.set_major_locator(locator)
    axis.set_major_formatter(untyped.ConciseDateFormatter(locator))
