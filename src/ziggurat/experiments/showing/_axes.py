"""What stands on the axes of a figure: every name turned into one value per run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ziggurat.errors import ExperimentError
from ziggurat.experiments._results import Results
from ziggurat.experiments._types import Figure, NodeRecord
from ziggurat.experiments._values import ABSENT, is_number, token
from ziggurat.wording import nearest


@dataclass(frozen=True)
class Point:
    """One run in a figure; `value` is what a heat map shows, and what all others show as y."""

    x: Any
    y: Any
    series: Any
    value: float


@dataclass(frozen=True)
class Mark:
    """A printed value in a figure."""

    x: Any
    series: Any
    value: float
    tolerance: float


def points(figure: Figure, results: Results) -> list[Point]:
    """One point per run that measured what the figure shows.

    A parameter on another axis is the one the run was made with. A metric there may be another module's: then the
    run is joined with the runs of that module under their nearest common ancestor, and takes their median.

    Raises
    ------
    ExperimentError
        If nobody measured what the figure shows, or a name means nothing there.
    """
    shown = _show(figure)
    runs = results.measured(shown)
    if not runs:
        raise ExperimentError(f"Figure {figure.id!r} shows {shown!r}, {_why_unmeasured(shown, results)}")
    find = {name: _finder(name, figure, runs, results) for name in _others(figure)}
    found = []
    for run in runs:
        value = float(run.metrics[shown.partition(".")[2]])
        x, y, series = (value if name == shown else find[name](run) if name else None for name in _axes(figure))
        if ABSENT not in (x, y, series):
            found.append(Point(x, y, series, value))
    if not found:
        raise ExperimentError(f"Figure {figure.id!r} has no run with a value on every axis; check its names.")
    return found


def marks(figure: Figure, results: Results) -> list[Mark]:
    """The printed values that have a place in a figure: those of its metric that say where on the x axis they stand."""
    return [
        Mark(each.where[figure.x], each.where.get(figure.series or "", ABSENT), each.value, each.tolerance)
        for each in results.experiment.expected
        if each.metric == figure.y and figure.x in each.where and figure.kind != "heatmap"
    ]


def reference(figure: Figure, results: Results) -> float | None:
    """Where the line of a figure stands: the median of its metric, if a run measured it."""
    if not figure.reference:
        return None
    name = figure.reference.partition(".")[2]
    values = [float(run.metrics[name]) for run in results.measured(figure.reference)]
    return float(np.median(values)) if values else None


def levels(values: Iterable[Any]) -> list[Any]:
    """The different values: numbers in their order, anything else in that of the experiment."""
    different: dict[Hashable, Any] = {}
    for value in values:
        different.setdefault(token(value), value)
    found = list(different.values())
    return sorted(found) if all(is_number(value) for value in found) else found


def _show(figure: Figure) -> str:
    if figure.kind != "heatmap":
        return figure.y
    if not figure.value:
        raise ExperimentError(f"Figure {figure.id!r} is a heat map, so it needs 'value': the metric to colour by.")
    return figure.value


def _axes(figure: Figure) -> tuple[str, str, str | None]:
    return figure.x, figure.y, figure.series


def _others(figure: Figure) -> Iterator[str]:
    return (name for name in _axes(figure) if name and name != _show(figure))


def _finder(name: str, figure: Figure, runs: list[NodeRecord], results: Results) -> Callable[[NodeRecord], Any]:
    if any(results.parameter(run, name) is not ABSENT for run in runs):
        return lambda run: results.parameter(run, name)
    measured = results.measured(name)
    if measured:
        return _join(name, measured, results)
    known = [*dict.fromkeys(each for run in runs for each in run.varied), *_metrics(results)]
    raise ExperimentError(
        f"Figure {figure.id!r} names {name!r}, which is neither a parameter above {runs[0].module!r} nor a metric "
        f"that a run measured; {nearest(name, known)}"
    )


def _join(name: str, measured: list[NodeRecord], results: Results) -> Callable[[NodeRecord], Any]:
    metric = name.partition(".")[2]
    known = {record.node: record for record in results.records}
    below: dict[str, list[float]] = {}
    for record in measured:
        for ancestor in _chain(record, known):
            below.setdefault(ancestor, []).append(float(record.metrics[metric]))
    medians = {ancestor: float(np.median(values)) for ancestor, values in below.items()}
    return lambda run: next((medians[node] for node in _chain(run, known) if node in medians), ABSENT)


def _chain(record: NodeRecord, known: dict[str, NodeRecord]) -> Iterator[str]:
    """A node, those around it from the inside out, and at last the experiment, which has no name."""
    node: str | None = record.node
    while node:
        yield node
        node = known[node].parent if node in known else None
    yield ""


def _metrics(results: Results) -> list[str]:
    return list(dict.fromkeys(f"{record.module}.{name}" for record in results.records for name in record.metrics))


def _why_unmeasured(shown: str, results: Results) -> str:
    module = shown.partition(".")[0]
    runs = [record for record in results.records if record.module == module]
    if runs and all(record.status != "done" for record in runs):
        return f"but every run of {module!r} failed or was skipped."
    return f"which no run measured; {nearest(shown, _metrics(results))}"
