"""One HTML file that tells what was run, what came out, and whether it agrees with what is printed."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ziggurat.errors import ExperimentError
from ziggurat.experiments._as_json import experiment_to_dict
from ziggurat.experiments._results import PrintedComparison, Results, lineages
from ziggurat.experiments._types import Figure, NodeRecord
from ziggurat.experiments._values import conditions, in_words
from ziggurat.experiments.showing._figures import draw
from ziggurat.experiments.storing import Run
from ziggurat.pages import Grid, Picture, TableCell, inline_svg, render

_MOST_ROWS, _MOST_FAILURES, _LONGEST_FILE = 200, 50, 200_000
_COUNTS = {"all": "runs", "done": "done", "cached": "of them from the cache", "failed": "failed", "skipped": "skipped"}


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
    experiment, compared = results.experiment, results.comparisons()
    counts = results.counts()
    return render(
        "experiments/showing/report.html",
        title=experiment.title or experiment.name,
        description=experiment.description,
        origin=experiment.reproduces,
        verdict=_verdict(compared),
        counts=[(words, counts[name]) for name, words in _COUNTS.items()],
        compared=_comparisons(compared),
        figures=[_figure(i, figure, results) for i, figure in enumerate(experiment.figures)],
        summaries=list(_summaries(results)),
        failures=_failures(results),
        skipped=len(results.skipped()),
        facts=_facts(results, run_id, run),
        again=command or "ziggurat experiment run " + (f"runs/{run_id}/experiment.json" if run_id else "FILE"),
        file=_file(results),
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


def _verdict(compared: Sequence[PrintedComparison]) -> tuple[str, str, list[str]]:
    """How it looks, what it says, and what else."""
    if not compared:
        return "", "There is no expected value to compare with.", []
    good = sum(each.reproduced for each in compared)
    missing = sum(each.ours is None for each in compared)
    noun = "value" if len(compared) == 1 else "values"
    words = f"{good} of {len(compared)} expected {noun} reproduced"
    return "good" if good == len(compared) else "bad", words, [f"{missing} could not be compared"] if missing else []


def _comparisons(compared: Sequence[PrintedComparison]) -> Grid:
    heads = [("value", "wide"), ("expected", "number"), ("tolerance", "number"), ("ours", "number")]
    heads += [("difference", "number"), ("", ""), ("remark", "wide")]
    return Grid("Expected values beside ours", heads, [_comparison(each) for each in compared])


def _comparison(each: PrintedComparison) -> list[str | TableCell]:
    expected, ours = each.expected, each.ours
    return [
        TableCell(f"{expected.statistic} of {expected.metric}", conditions(expected.where)),
        f"{expected.value:.12g}",
        f"± {expected.tolerance:.12g}",
        "–" if ours is None else f"{ours:.6g}",
        "–" if ours is None else _sign(ours - expected.value),
        _mark(each),
        " ".join(text for text in (expected.remark, each.reason) if text),
    ]


def _sign(difference: float) -> str:
    return f"{'−' if difference < 0 else '+'}{abs(difference):.3g}"


def _mark(each: PrintedComparison) -> TableCell:
    if each.ours is None:
        return TableCell("– no value", look="none")
    return TableCell("✓ reproduced", look="good") if each.reproduced else TableCell("✗ differs", look="bad")


def _figure(i: int, figure: Figure, results: Results) -> Picture | str:
    """The picture, or why it cannot be drawn; its title stands in it."""
    try:
        return Picture(inline_svg(draw(figure, results), f"figure{i}-"), figure.title or figure.id)
    except ExperimentError as error:
        return str(error)


def _summaries(results: Results) -> Iterator[tuple[str, str, Grid]]:
    rows = results.summary().to_pylist()
    for name, lineage in lineages(results.experiment).items():
        mine = [row for row in rows if row["module"] == name]
        if mine:
            yield name, lineage[-1].step, _summary(name, mine)


def _summary(module: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    varied = [name for name in rows[0] if "." in name and any(row[name] is not None for row in rows)]
    numbers = ("n", "median", "q1", "q3", "mean", "min", "max")
    heads = [*((name, "") for name in varied), ("metric", ""), *((name, "number") for name in numbers)]
    body = [
        [*(_value(row[name]) for name in varied), row["metric"], *(number(row[name]) for name in numbers)]
        for row in rows[:_MOST_ROWS]
    ]
    rest = len(rows) - len(body)
    return Grid(f"Results of {module}", heads, body, f"{rest} more rows are in the table of results." if rest else "")


def _value(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.12g}" if isinstance(value, float) else in_words(value)


def _failures(results: Results) -> Grid:
    groups: dict[str, list[NodeRecord]] = {}
    for record in results.failures():
        groups.setdefault(record.error or "No error was recorded.", []).append(record)
    rows = [
        [TableCell(runs[0].node, f"and {len(runs) - 1} more" if len(runs) > 1 else ""), TableCell(error, look="code")]
        for error, runs in list(groups.items())[:_MOST_FAILURES]
    ]
    rest = len(groups) - len(rows)
    more = f"{rest} further kinds of error are in the table of results." if rest else ""
    return Grid("Failures", [("run", "wide"), ("error", "wide")], rows, more)


def _facts(results: Results, run_id: str, run: Run | None) -> list[tuple[str, str]]:
    experiment = results.experiment
    own = {"experiment": experiment.name, "seed": str(experiment.seed), "digest": experiment.digest or "–"}
    return list((own | _run_facts(results, run_id, run)).items())


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
    return "" if len(text) > _LONGEST_FILE else text
