"""The report of `ziggurat risk`: one HTML file with pictures, and no request to anywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from ziggurat import drawing
from ziggurat.cli.risk._command import ATTACKERS, Judged, figure_rows, sentences, set_rows, written_figure
from ziggurat.experiments.showing import _figures as look
from ziggurat.experiments.showing import _report as sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.attacks import Finding, Linkage, Undone

_BINS = ((1, 1), (2, 2), (3, 4), (5, 9), (10, 19), (20, 49), (50, 99), (100, 999), (1000, None))
_PER_SIZE, _MOST_ROWS = 3, 12


def page(name: str, judged: Sequence[Judged], joined: Linkage | None) -> str:
    """Give the report as one HTML file that needs nothing else.

    Parameters
    ----------
    name
        What the table is called.
    judged
        The table, and the same after it was anonymised if there is one.
    joined
        What a join with another table found.
    """
    parts = [_opening(name, judged, joined), _done(judged[-1].certificate), _untouched(judged[-1].undone)]
    parts += [_pictures(judged), _figures(judged), _sets(judged)]
    parts += [_inferences(judged), _finding("Join with the auxiliary table", joined) if joined else "", _meaning()]
    return sheet.page(f"Risk of {name}", "".join(parts))


def _opening(name: str, judged: Sequence[Judged], joined: Linkage | None) -> str:
    last = judged[-1].risk
    learned = _learned(judged[-1])
    opened, decided = _undecided(judged[-1])
    kind = "bad" if last.prosecutor.highest > last.threshold or opened else "" if learned or decided else "good"
    words = f"<strong>{last.prosecutor.above:.1%} of {last.rows:,} people bear a risk above {last.threshold:g}</strong>"
    first = f"<span>before: {judged[0].risk.prosecutor.above:.1%}</span>" if len(judged) > 1 else ""
    told = "".join(f"<p>{escape(text)}</p>\n" for text in sentences(judged, joined))
    known = ", ".join(last.quasi_identifiers)
    return (
        f'<header>\n<p class="above">Unprotected figures, for the steward only</p>\n<h1>Risk of {escape(name)}</h1>\n'
        f'<p class="soft">Attackers are taken to know: {escape(known)}.</p>\n</header>\n'
        f'<div class="verdict {kind}">{words}{first}{learned}{opened}{decided}</div>\n{told}'
    )


def _learned(each: Judged) -> str:
    """A word on sensitive values that are certain although nobody is re-identified."""
    from ziggurat.attacks import Homogeneity

    found = [finding for finding in each.inferences.values() if isinstance(finding, Homogeneity)]
    worst = max(found, key=lambda finding: finding.learned.rate, default=None)
    if worst is None or not worst.learned.hits:
        return ""
    return f"<span>{escape(worst.sensitive)} is certain for {worst.learned.rate:.1%}</span>"


def _undecided(each: Judged) -> tuple[str, str]:
    """A word on columns that undo the table: those of which nobody decided, and those that the steward kept."""
    found = () if each.undone is None else each.undone.columns
    kept = [name for name in found if name in each.certificate.get("kept", {})]
    opened = [name for name in found if name not in kept]
    return _named("undone by columns that left as they were", opened), _named("kept by decision of the steward", kept)


def _named(what: str, names: Sequence[str]) -> str:
    return f"<span>{what}: {escape(', '.join(names))}</span>" if names else ""


def _done(said: dict[str, Any]) -> str:
    """What was done, as the certificate has it: levels, loss, rows left out, models, columns."""
    if not said:
        return ""
    done = said["done"]
    facts = {
        "recoding": done["recoding"],
        f"{done['metric']}": f"{done['score']:.5g}" + (" (the optimum)" if done["optimal"] else ""),
        "rows suppressed": f"{done['suppressed']:,} of {done['rows']:,}",
        "classes": f"{done['classes']:,}",
        **{f"level of {name}": "by row" if level is None else str(level) for name, level in done["levels"].items()},
        **{f"verified: {each['model']}": f"{each['figure']}: {each['measured']:.5g}" for each in said["verified"]},
        **{f"kept as it was: {name}": reason or "no reason given" for name, reason in said["kept"].items()},
        "not in the file": ", ".join(said["dropped"]) or "no column",
    }
    rows = [[escape(str(name)), escape(str(value))] for name, value in facts.items()]
    return "<h2>What was done</h2>\n" + sheet.laid_out([("", "wide"), ("", "wide")], rows)


def _untouched(found: Undone | None) -> str:
    return "" if found is None else _finding("Columns that left as they were", found)


def _pictures(judged: Sequence[Judged]) -> str:
    drawn = [
        ("How many people share their combination", _draw(lambda axes: _class_sizes(axes, judged), 3.6)),
        ("Which columns single people out", _draw(lambda axes: _column_sets(axes, judged), 5.4)),
        ("How likely people are re-identified", _draw(lambda axes: _risks(axes, judged), 3.6)),
    ]
    figures = [
        f'<figure role="img" aria-label="{escape(title)}">\n{sheet.inline_svg(picture, f"risk{i}-")}\n</figure>\n'
        for i, (title, picture) in enumerate(drawn)
    ]
    return "<h2>Pictures</h2>\n" + "".join(figures)


def _draw(fill: Callable[[Axes], None], height: float) -> bytes:
    with drawing.sheet(7.6, height) as page:
        fill(page.add_subplot())
        return drawing.rendered(page, "svg")


def _class_sizes(axes: Axes, judged: Sequence[Judged]) -> None:
    names = [str(low) if low == high else f"{low}–{high}" if high else f"{low}+" for low, high in _BINS]
    series = [[_share_between(each, low, high) for low, high in _BINS] for each in judged]
    _side_by_side(axes, names, series, judged)
    axes.set_title("How many people share their combination")
    axes.set_xlabel("people with the same combination")
    axes.set_ylabel("share of all people")


def _share_between(each: Judged, low: int, high: int | None) -> float:
    rows = sum(size * many for size, many in each.risk.sizes.items() if low <= size and (high is None or size <= high))
    return rows / each.risk.rows


def _risks(axes: Axes, judged: Sequence[Judged]) -> None:
    limit = judged[0].risk.threshold
    names = ["unique", "prosecutor,\naverage", "prosecutor,\nhighest", f"rows above\n{limit:g}", "journalist,\naverage"]
    series = [
        [
            risk.unique_share,
            risk.prosecutor.average,
            risk.prosecutor.highest,
            risk.prosecutor.above,
            risk.journalist.average,
        ]
        for risk in (each.risk for each in judged)
    ]
    _side_by_side(axes, names, series, judged)
    axes.set_title("How likely people are re-identified")
    axes.set_ylabel("probability, or share of people")


def _side_by_side(
    axes: Axes, names: Sequence[str], series: Sequence[Sequence[float]], judged: Sequence[Judged]
) -> None:
    width = 0.8 / len(series)
    for i, values in enumerate(series):
        places = [place + (i + 0.5) * width - 0.4 for place in range(len(names))]
        bars = axes.bar(places, values, 0.92 * width, color=look.COLOURS[i], label=judged[i].title)
        axes.bar_label(bars, [f"{value:.0%}" if value >= 0.005 else "" for value in values], fontsize=8, padding=2)
    axes.set_xticks(range(len(names)), names)
    axes.set_ylim(0, max(0.05, 1.12 * max(max(values) for values in series)))
    _dress(axes, judged)


def _column_sets(axes: Axes, judged: Sequence[Judged]) -> None:
    rows = set_rows(judged)
    height = 0.8 / len(judged)
    for i, each in enumerate(judged):
        places = [place + (i + 0.5) * height - 0.4 for place in range(len(rows))]
        values = [shares[i] for _, shares in rows]
        bars = axes.barh(places, values, 0.92 * height, color=look.COLOURS[i], label=each.title)
        axes.bar_label(bars, [f"{value:.1%}" for value in values], fontsize=8, padding=3)
    axes.set_yticks(range(len(rows)), [_wrapped(names) for names, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.05, 1.15 * max(max(shares) for _, shares in rows)))
    axes.set_title("The most telling set of columns of each size")
    axes.set_xlabel("share of people whom it singles out")
    _dress(axes, judged, "x")


def _dress(axes: Axes, judged: Sequence[Judged], grid: Any = "y") -> None:
    axes.grid(axis=grid)
    axis = axes.yaxis if grid == "y" else axes.xaxis
    axis.set_major_formatter(lambda value, _: f"{value:.0%}")
    if len(judged) > 1:
        axes.legend(frameon=False)


def _wrapped(names: str, width: int = 46) -> str:
    from textwrap import wrap

    lines = wrap(names, width)
    return "\n".join(lines if len(lines) <= 3 else [*lines[:2], f"{lines[2][: width - 1]}…"])


def _figures(judged: Sequence[Judged]) -> str:
    heads = [("figure", "wide"), *((each.title, "number") for each in judged)]
    rows = [[escape(name), *(written_figure(name, value) for value in values)] for name, *values in figure_rows(judged)]
    return "<h2>Risk</h2>\n" + sheet.laid_out(heads, rows)


def _sets(judged: Sequence[Judged]) -> str:
    heads = [("columns", "wide"), *((f"unique, {each.title}", "number") for each in judged)]
    rows = [[escape(names), *(f"{share:.2%}" for share in shares)] for names, shares in set_rows(judged, _PER_SIZE)]
    parts = [[escape(name), f"{share:.1%}"] for name, share in judged[0].columns.columns().items()]
    return (
        "<h2>Columns</h2>\n<h3>The most telling sets of each size</h3>\n"
        + sheet.laid_out(heads, rows)
        + "<h3>How often a column is needed to single somebody out</h3>\n"
        + sheet.laid_out([("column", "wide"), ("share of minimal sample uniques", "number")], parts)
    )


def _inferences(judged: Sequence[Judged]) -> str:
    parts = []
    for each in judged:
        opening = f" ({each.title})" if len(judged) > 1 else ""
        parts += [_finding(name.capitalize() + opening, finding) for name, finding in each.inferences.items()]
    return "".join(parts)


def _finding(title: str, finding: Finding) -> str:
    table = finding.table
    heads = [(name, "wide" if i == 0 else "number") for i, name in enumerate(table.column_names)]
    rows = [[_cell(value) for value in row.values()] for row in table.slice(0, _MOST_ROWS).to_pylist()]
    return f"<h2>{escape(title)}</h2>\n<p>{escape(finding.sentence)}</p>\n" + sheet.laid_out(heads, rows)


def _cell(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else escape(str(value))


def _meaning() -> str:
    return (
        f"<h2>What this does not say</h2>\n<p>{ATTACKERS}</p>\n"
        "<p>The figures hold for attackers who know the columns named above, and no "
        "more. They are no promise: anonymised tables give no guarantee against attackers who know other things, or "
        "against further releases of the same people.</p>\n"
    )
