"""One HTML file that tells what was run, what came out, and whether it agrees with what is printed."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._as_json import experiment_to_dict
from ziggurat.experiments._results import PrintedComparison, Results, lineages
from ziggurat.experiments._types import Figure, NodeRecord
from ziggurat.experiments._values import conditions, in_words, well_formed
from ziggurat.experiments.showing._figures import draw
from ziggurat.experiments.storing import Run

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MOST_ROWS, _MOST_FAILURES, _LONGEST_FILE = 200, 50, 200_000
_LANGUAGE = "en-GB"


def report(results: Results, *, run_id: str = "", run: Run | None = None, command: str = "") -> str:
    """Give the report as one HTML file that needs nothing else: no script, no font, no request to anywhere.

    Parameters
    ----------
    results
        What came out.
    run_id
        Under which identifier the run is recorded, if it is.
    run
        The run as the history tells it; it adds the executor, the dates and the versions of that time.
    command
        How to run it again; a general word on that unless given.
    """
    experiment = results.experiment
    title = experiment.title or experiment.name
    parts = [
        _opening(results, title),
        _comparisons(results.comparisons()),
        _figures(results),
        _summaries(results),
        _failures(results),
        _how(results, run_id, run, command),
    ]
    return page(title, "".join(parts))


def page(title: str, body: str) -> str:
    """Return one HTML page that makes no request, in the look of all reports.

    Parameters
    ----------
    title
        What it is called, as text.
    body
        What it says, as HTML.
    """
    return well_formed(
        f'<!DOCTYPE html>\n<html lang="{_LANGUAGE}">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def number(value: float) -> str:
    """A number for a reader: whole ones whole, others with four significant digits.

    Parameters
    ----------
    value
        The number.
    """
    size = abs(value)
    if float(value).is_integer() and size < 1e9:
        return f"{value:.0f}"
    return f"{value:.1f}" if 1e3 <= size < 1e9 else f"{value:#.4g}"


def _style() -> str:
    return (files("ziggurat.experiments") / "report.css").read_text(encoding="utf-8")


def _opening(results: Results, title: str) -> str:
    experiment = results.experiment
    above, remark, origin = "", "", experiment.reproduces
    if origin is not None:
        above = f'<p class="above">Reproduces document {escape(origin.document)}, {escape(origin.where)}</p>\n'
        remark = f'<p class="soft">{escape(origin.remark)}</p>\n' if origin.remark else ""
    description = f"<p>{escape(experiment.description)}</p>\n" if experiment.description else ""
    heading = f"<header>\n{above}<h1>{escape(title)}</h1>\n{description}{remark}</header>\n"
    return heading + _verdict(results.comparisons()) + _counts(results.counts())


def _verdict(compared: Sequence[PrintedComparison]) -> str:
    if not compared:
        return '<div class="verdict"><strong>There is no expected value to compare with.</strong></div>\n'
    good = sum(each.reproduced for each in compared)
    noun = "value" if len(compared) == 1 else "values"
    kind = "good" if good == len(compared) else "bad"
    words = f"<strong>{good} of {len(compared)} expected {noun} reproduced</strong>"
    missing = sum(each.ours is None for each in compared)
    rest = f"<span>{missing} could not be compared</span>" if missing else ""
    return f'<div class="verdict {kind}">{words}{rest}</div>\n'


def _counts(counts: Mapping[str, int]) -> str:
    words = {
        "all": "runs",
        "done": "done",
        "cached": "of them from the cache",
        "failed": "failed",
        "skipped": "skipped",
    }
    items = "".join(f"<li><b>{counts[name]}</b>{word}</li>" for name, word in words.items())
    return f'<ul class="counts">{items}</ul>\n'


def _comparisons(compared: Sequence[PrintedComparison]) -> str:
    if not compared:
        return ""
    heads = [("value", "wide"), ("expected", "number"), ("tolerance", "number"), ("ours", "number")]
    heads += [("difference", "number"), ("", ""), ("remark", "wide")]
    return "<h2>Expected values beside ours</h2>\n" + laid_out(heads, [_comparison(each) for each in compared])


def _comparison(each: PrintedComparison) -> list[str]:
    expected, ours = each.expected, each.ours
    remark = " ".join(text for text in (expected.remark, each.reason) if text)
    return [
        escape(f"{expected.statistic} of {expected.metric}") + _where(expected.where),
        f"{expected.value:.12g}",
        f"± {expected.tolerance:.12g}",
        "–" if ours is None else f"{ours:.6g}",
        "–" if ours is None else _signed(ours - expected.value),
        _mark(each),
        escape(remark),
    ]


def _where(where: Mapping[str, Any]) -> str:
    return f'<br><span class="soft">{escape(conditions(where))}</span>' if where else ""


def _signed(difference: float) -> str:
    return f"{'−' if difference < 0 else '+'}{abs(difference):.3g}"


def _mark(each: PrintedComparison) -> str:
    if each.ours is None:
        return '<span class="mark">– no value</span>'
    kind, words = ("good", "✓ reproduced") if each.reproduced else ("bad", "✗ differs")
    return f'<span class="mark {kind}">{words}</span>'


def _figures(results: Results) -> str:
    drawn = [_figure(i, figure, results) for i, figure in enumerate(results.experiment.figures)]
    return "<h2>Figures</h2>\n" + "".join(drawn) if drawn else ""


def _figure(i: int, figure: Figure, results: Results) -> str:
    try:
        picture = inline_svg(draw(figure, results), f"figure{i}-")
    except ExperimentError as error:
        return f'<p class="soft">Not drawn: {escape(str(error))}</p>\n'
    title = escape(figure.title or figure.id, quote=True)
    return f'<figure role="img" aria-label="{title}">\n{picture}\n</figure>\n'


def inline_svg(picture: bytes, prefix: str) -> str:
    """Make an SVG file part of a page: no prologue, and identifiers that no other picture uses.

    Parameters
    ----------
    picture
        The file.
    prefix
        What to put before every identifier.
    """
    text = picture.decode("utf-8")
    text = text[text.index("<svg") :].strip()
    text = re.sub(r'(\sid=")', rf"\g<1>{prefix}", text)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", text)


def _summaries(results: Results) -> str:
    rows = results.summary().to_pylist()
    sections = []
    for name, lineage in lineages(results.experiment).items():
        mine = [row for row in rows if row["module"] == name]
        if mine:
            step = escape(lineage[-1].step)
            sections.append(f"<h3>{escape(name)} <code>{step}</code></h3>\n" + _summary(mine))
    return "<h2>Results by module</h2>\n" + "".join(sections) if sections else ""


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    varied = [name for name in rows[0] if "." in name and any(row[name] is not None for row in rows)]
    numbers = ("n", "median", "q1", "q3", "mean", "min", "max")
    heads = [*((name, "") for name in varied), ("metric", ""), *((name, "number") for name in numbers)]
    body = [
        [*(_value(row[name]) for name in varied), escape(row["metric"]), *(number(row[name]) for name in numbers)]
        for row in rows[:_MOST_ROWS]
    ]
    rest = len(rows) - len(body)
    more = f'<p class="soft">{rest} more rows are in the table of results.</p>\n' if rest else ""
    return laid_out(heads, body) + more


def _value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else escape(in_words(value))


def _failures(results: Results) -> str:
    failed, skipped = results.failures(), results.skipped()
    if not failed and not skipped:
        return ""
    groups: dict[str, list[NodeRecord]] = {}
    for record in failed:
        groups.setdefault(record.error or "No error was recorded.", []).append(record)
    body = [
        [escape(runs[0].node) + _others(runs), f"<pre>{escape(error)}</pre>"]
        for error, runs in list(groups.items())[:_MOST_FAILURES]
    ]
    rest = len(groups) - len(body)
    more = f'<p class="soft">{rest} further kinds of error are in the table of results.</p>\n' if rest else ""
    noun = "run was" if len(skipped) == 1 else "runs were"
    tail = f"<p>{len(skipped)} {noun} skipped, because what they need had failed.</p>\n" if skipped else ""
    return "<h2>Failures</h2>\n" + laid_out([("run", "wide"), ("error", "wide")], body) + more + tail


def _others(runs: Sequence[NodeRecord]) -> str:
    return f'<br><span class="soft">and {len(runs) - 1} more</span>' if len(runs) > 1 else ""


def _how(results: Results, run_id: str, run: Run | None, command: str) -> str:
    experiment = results.experiment
    facts = {"experiment": experiment.name, "seed": str(experiment.seed), "digest": experiment.digest or "–"}
    facts |= _run_facts(results, run_id, run)
    again = command or "ziggurat experiment run " + (f"runs/{run_id}/experiment.json" if run_id else "FILE")
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in facts.items() if value)
    return (
        f"<h2>How it was run</h2>\n<dl>\n{listed}</dl>\n<h3>Run it again</h3>\n"
        f"<pre>{escape(again)}</pre>\n{_file(results)}"
    )


def _run_facts(results: Results, run_id: str, run: Run | None) -> dict[str, str]:
    began = [record.started for record in results.records if record.started]
    seconds = sum(record.seconds for record in results.records if not record.cached)
    versions = run.versions if run else {name: _version(name) for name in ("ziggurat", "numpy", "python")}
    return {
        "run": run.id if run else run_id,
        "status": run.status if run else "",
        "executor": run.executor if run else "",
        "size": ("quick: on a small sample" if run.quick else "full") if run else "",
        "started": run.started if run else min(began, default=""),
        "finished": (run.finished or "") if run else "",
        "time in steps": f"{seconds:.1f} s",
        "versions": ", ".join(f"{name} {value}" for name, value in sorted(versions.items())),
    }


def _version(name: str) -> str:
    return platform.python_version() if name == "python" else importlib.metadata.version(name)


def _file(results: Results) -> str:
    text = json.dumps(experiment_to_dict(results.experiment), indent=2, ensure_ascii=False, default=str)
    if len(text) > _LONGEST_FILE:
        return ""
    return f"<details>\n<summary>The experiment, whole</summary>\n<pre>{escape(text)}</pre>\n</details>\n"


def laid_out(heads: Sequence[tuple[str, str]], rows: Iterable[Sequence[str]]) -> str:
    """Lay out cells that are HTML already under heads with their classes."""
    kinds = [f' class="{kind}"' if kind else "" for _, kind in heads]
    top = "".join(f"<th{kind}>{escape(name)}</th>" for (name, _), kind in zip(heads, kinds, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>\n"
        for row in rows
    )
    return f'<div class="scroll"><table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table></div>\n'
