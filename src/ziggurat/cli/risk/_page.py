"""The report of `ziggurat risk`: one HTML file with pictures, and no request to anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ziggurat.cli.risk._command import ATTACKERS, Judged, figure_rows, sentences, set_rows, written_figure
from ziggurat.drawing import NOISY, TRUE, clean, encode, sheet
from ziggurat.pages import Grid, Picture, inline_svg, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ziggurat.attacks import Linkage
    from ziggurat.findings import Finding

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
    last = judged[-1]
    return render(
        "cli/risk/page.html",
        title=f"Risk of {name}",
        known=", ".join(last.risk.quasi_identifiers),
        verdict=_verdict(judged),
        sentences=list(sentences(judged, joined)),
        done=_done(last.certificate) if last.certificate else None,
        untouched=_finding("Columns that left as they were", last.undone) if last.undone else None,
        pictures=_pictures(judged),
        figures=_figures(judged),
        columns=_columns(judged),
        inferences=list(_inferences(judged, joined)),
        attackers=ATTACKERS,
    )


def _verdict(judged: Sequence[Judged]) -> tuple[str, str, list[str]]:
    """How it looks, what it says, and what else."""
    last = judged[-1].risk
    learned, (opened, decided) = _tell_learned(judged[-1]), _tell_undecided(judged[-1])
    look = "bad" if last.prosecutor.highest > last.threshold or opened else "" if learned or decided else "good"
    words = f"{last.prosecutor.above:.1%} of {last.rows:,} people bear a risk above {last.threshold:g}"
    first = f"before: {judged[0].risk.prosecutor.above:.1%}" if len(judged) > 1 else ""
    return look, words, [each for each in (first, learned, opened, decided) if each]


def _tell_learned(each: Judged) -> str:
    """A word on sensitive values that are certain although nobody is re-identified."""
    from ziggurat.attacks import Homogeneity

    found = [finding for finding in each.inferences.values() if isinstance(finding, Homogeneity)]
    worst = max(found, key=lambda finding: finding.learned.rate, default=None)
    if worst is None or not worst.learned.hits:
        return ""
    return f"{worst.sensitive} is certain for {worst.learned.rate:.1%}"


def _tell_undecided(each: Judged) -> tuple[str, str]:
    """A word on columns that undo the table: those of which nobody decided, and those that the steward kept."""
    found = () if each.undone is None else each.undone.columns
    kept = [name for name in found if name in each.certificate.get("kept", {})]
    opened = [name for name in found if name not in kept]
    return _list_names("undone by columns that left as they were", opened), _list_names(
        "kept by decision of the steward", kept
    )


def _list_names(what: str, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(names)}" if names else ""


def _done(said: dict[str, Any]) -> Grid:
    """What was done, as the certificate has it: levels, loss, rows left out, models, columns."""
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
    rows = [[str(name), str(value)] for name, value in facts.items()]
    return Grid("What was done", [("", "wide"), ("", "wide")], rows)


def _pictures(judged: Sequence[Judged]) -> list[Picture]:
    drawn: list[tuple[str, Callable[[Axes, Sequence[Judged]], None], float]] = [
        ("How many people share their combination", _class_sizes, 3.3),
        ("The most telling set of columns of each size", _column_sets, 1.1 + 0.5 * len(set_rows(judged))),
        ("How likely people are re-identified", _risks, 3.3),
    ]
    said = judged[-1].risk.sentence, judged[0].columns.sentence, "The table of risks below has its figures."
    return [
        Picture(inline_svg(_draw(fill, judged, height), f"risk{i}-"), f"Bars. {said[i]}", title)
        for i, (title, fill, height) in enumerate(drawn)
    ]


def _draw(fill: Callable[[Axes, Sequence[Judged]], None], judged: Sequence[Judged], height: float) -> bytes:
    with sheet(7.6, height) as page:
        fill(page.add_subplot(), judged)
        return encode(page, "svg")


def _class_sizes(axes: Axes, judged: Sequence[Judged]) -> None:
    names = [str(low) if low == high else f"{low}–{high}" if high else f"{low}+" for low, high in _BINS]
    series = [[_share_between(each, low, high) for low, high in _BINS] for each in judged]
    _side_by_side(axes, names, series, judged)
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
    axes.set_ylabel("probability, or share of people")


def _side_by_side(
    axes: Axes, names: Sequence[str], series: Sequence[Sequence[float]], judged: Sequence[Judged]
) -> None:
    width = 0.8 / len(series)
    for i, values in enumerate(series):
        places = [place + (i + 0.5) * width - 0.4 for place in range(len(names))]
        bars = axes.bar(places, values, 0.92 * width, color=_colour(judged, i), label=judged[i].title)
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
        bars = axes.barh(places, values, 0.92 * height, color=_colour(judged, i), label=each.title)
        axes.bar_label(bars, [f"{value:.1%}" for value in values], fontsize=8, padding=3)
    axes.set_yticks(range(len(rows)), [_wrap(names) for names, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, max(0.05, 1.15 * max(max(shares) for _, shares in rows)))
    axes.set_xlabel("share of people whom it singles out")
    _dress(axes, judged, "x")


def _colour(judged: Sequence[Judged], i: int) -> str:
    """The last table has the colour of what is handed out, as on the pages of a bundle."""
    return NOISY if i == len(judged) - 1 else TRUE


def _dress(axes: Axes, judged: Sequence[Judged], grid: Any = "y") -> None:
    axes.grid(axis=grid)
    axis = axes.yaxis if grid == "y" else axes.xaxis
    axis.set_major_formatter(lambda value, _: f"{value:.0%}")
    if len(judged) > 1:
        axes.legend(frameon=False, ncols=2, loc="lower left", bbox_to_anchor=(0, 1), fontsize=9)


def _wrap(names: str, width: int = 46) -> str:
    from textwrap import wrap

    lines = wrap(clean(names), width)
    return "\n".join(lines if len(lines) <= 3 else [*lines[:2], f"{lines[2][: width - 1]}…"])


def _figures(judged: Sequence[Judged]) -> Grid:
    heads = [("figure", "wide"), *((each.title, "number") for each in judged)]
    rows = [[name, *(written_figure(name, value) for value in values)] for name, *values in figure_rows(judged)]
    return Grid("Risk", heads, rows)


def _columns(judged: Sequence[Judged]) -> tuple[Grid, Grid]:
    heads = [("columns", "wide"), *((f"unique, {each.title}", "number") for each in judged)]
    sets = [[names, *(f"{share:.2%}" for share in shares)] for names, shares in set_rows(judged, _PER_SIZE)]
    parts = [[name, f"{share:.1%}"] for name, share in judged[0].columns.columns().items()]
    needed = [("column", "wide"), ("share of minimal sample uniques", "number")]
    return (
        Grid("The most telling sets of each size", heads, sets),
        Grid("How often a column is needed to single somebody out", needed, parts),
    )


def _inferences(judged: Sequence[Judged], joined: Linkage | None) -> Iterator[tuple[Grid, str]]:
    for each in judged:
        opening = f" ({each.title})" if len(judged) > 1 else ""
        for name, finding in each.inferences.items():
            yield _finding(name.capitalize() + opening, finding)
    if joined is not None:
        yield _finding("Join with the auxiliary table", joined)


def _finding(title: str, finding: Finding) -> tuple[Grid, str]:
    """Its figures, and its sentence."""
    table = finding.table
    heads = [(name, "wide" if i == 0 else "number") for i, name in enumerate(table.column_names)]
    rows = [[_cell(value) for value in row.values()] for row in table.slice(0, _MOST_ROWS).to_pylist()]
    return Grid(title, heads, rows), finding.sentence


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
