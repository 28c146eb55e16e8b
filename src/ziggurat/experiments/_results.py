"""What a run found: one tidy table, its summaries, and printed values beside ours."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from ziggurat.cards import Shown
from ziggurat.data import write_csv
from ziggurat.errors import MissingExtraError
from ziggurat.experiments._types import Expected, Experiment, Figure, Module, NodeRecord
from ziggurat.experiments._values import (
    ABSENT,
    STATISTICS,
    canonical,
    conditions,
    describe,
    in_words,
    same,
    token,
    well_formed,
)
from ziggurat.files import write_text


@dataclass(frozen=True)
class PrintedComparison(Shown):
    """A printed value beside ours.

    Attributes
    ----------
    expected
        What is printed.
    ours
        The same statistic of our runs; None if no run matches.
    reproduced
        Whether ours lies within the tolerance.
    reason
        Why there is no value of ours; empty if there is one.
    """

    expected: Expected
    ours: float | None
    reproduced: bool
    reason: str = ""


class Results:
    """The records of one run, as tables.

    They are brought into the order of the file (module, trial, repeat; a run before those inside it), so that
    neither the executor nor luck changes a table. Of two records of the same node the later one counts.
    """

    def __init__(self, experiment: Experiment, records: Sequence[NodeRecord]) -> None:
        self.experiment = experiment
        self._lineages = lineages(experiment)
        self.records: tuple[NodeRecord, ...] = tuple(
            sorted({record.node: record for record in records}.values(), key=self._place)
        )
        self.drawn: dict[tuple[Figure, str], bytes] = {}

    def table(self) -> pa.Table:
        """One row per node and metric; a node without metrics has one row whose metric and value are null.

        The columns are node, module, status, cached, seconds, error, one 'module.parameter' for each parameter that
        trials vary, one 'module.repeat' for each module that is repeated, metric and value.
        """
        rows = [(record, name, value) for record in self.records for name, value in _has_metric(record)]
        owners = [record for record, _, _ in rows]
        fixed = ("node", "module", "status", "cached", "seconds", "error")
        types = (pa.string(), pa.string(), pa.string(), pa.bool_(), pa.float64(), pa.string())
        columns = {
            name: pa.array([_tell(getattr(record, name)) for record in owners], type_)
            for name, type_ in zip(fixed, types, strict=True)
        }
        columns |= self._varied_columns(owners) | self._repeat_columns(owners)
        columns["metric"] = pa.array([name for _, name, _ in rows], pa.string())
        columns["value"] = pa.array([value for _, _, value in rows], pa.float64())
        return pa.table(columns)

    def summary(self) -> pa.Table:
        """Per module, trial and metric: n, median, quartiles, mean and range over the repeats.

        Quartiles are interpolated linearly between the two nearest values.
        """
        groups = self._groups()
        first = [records[0] for records, _, _ in groups]
        columns = {"module": pa.array([record.module for record in first], pa.string())}
        columns |= self._varied_columns(first)
        columns["metric"] = pa.array([metric for _, metric, _ in groups], pa.string())
        described = [describe(values) for _, _, values in groups]
        for name in STATISTICS:
            columns[name] = pa.array([each[name] for each in described], pa.int64() if name == "n" else pa.float64())
        return pa.table(columns)

    def comparisons(self) -> list[PrintedComparison]:
        """Every expected value of the experiment, in its order, beside ours."""
        return [self._compare(expected) for expected in self.experiment.expected]

    def failures(self) -> list[NodeRecord]:
        """The runs that failed; those skipped because of them are in `skipped`."""
        return [record for record in self.records if record.status == "failed"]

    def skipped(self) -> list[NodeRecord]:
        """The runs that could not start because one they need had failed."""
        return [record for record in self.records if record.status == "skipped"]

    def counts(self) -> dict[str, int]:
        """How many runs there are in all, how many of them ended how, and how many came from the cache."""
        counts = {"all": len(self.records), "done": 0, "failed": 0, "skipped": 0, "cached": 0}
        for record in self.records:
            counts[record.status] += 1
            counts["cached"] += record.cached
        return counts

    def to_pandas(self) -> Any:
        """The tidy table as a pandas DataFrame."""
        _require("pandas")
        return self.table().to_pandas()

    def to_polars(self) -> Any:
        """The tidy table as a Polars DataFrame."""
        return _require("polars").from_arrow(self.table())

    def to_csv(self, path: str | Path) -> None:
        """Write the tidy table as CSV, whole or not at all.

        Parameters
        ----------
        path
            Where to write; its folder must exist.
        """
        buffer = io.BytesIO()
        write_csv(self.table(), buffer)
        write_text(path, buffer.getvalue().decode("utf-8"))

    def measured(self, metric: str) -> list[NodeRecord]:
        """The finished runs that measured 'module.metric'.

        Parameters
        ----------
        metric
            The name of a module and of one of its metrics.
        """
        module, _, name = metric.partition(".")
        return [
            record
            for record in self.records
            if record.module == module and record.status == "done" and name in record.metrics
        ]

    def small_output(self, name: str) -> Any:
        """The first run's 'module.output', if it is plain and small enough to stand in its record; else None.

        Parameters
        ----------
        name
            The name of a module and of one of its outputs.
        """
        module, _, output = name.partition(".")
        held = (record.outputs.get(output) for record in self.records if record.module == module)
        stored = next((each for each in held if each is not None), None)
        return json.loads(stored.inline) if stored is not None and stored.inline and stored.kind == "json" else None

    def parameter(self, record: NodeRecord, name: str) -> Any:
        """Give the value of 'module.parameter' (or 'module.repeat') that a run was made with, else `ABSENT`.

        Parameters
        ----------
        record
            The run.
        name
            A parameter of its own module, of one around it, or one that is the same throughout the experiment.
        """
        if name in record.varied:
            return record.varied[name]
        owner, _, parameter = name.partition(".")
        if parameter == "repeat" and owner in record.repeats:
            return record.repeats[owner]
        module = self._modules.get(owner)
        if module is None or parameter not in module.parameters:
            return ABSENT
        inside = any(each.id == owner for each in self._lineages.get(record.module, ()))
        constant = not any(parameter in trial for trial in module.trials)
        return module.parameters[parameter] if inside or constant else ABSENT

    @cached_property
    def _modules(self) -> dict[str, Module]:
        return {name: lineage[-1] for name, lineage in self._lineages.items()}

    @cached_property
    def _varied(self) -> list[str]:
        return list(dict.fromkeys(name for record in self.records for name in record.varied))

    @cached_property
    def _ranks(self) -> dict[str, tuple[int, dict[str, int]]]:
        """For each module its place in the file, and the place of each of its trials."""
        return {
            name: (place, {canonical(trial): i for i, trial in enumerate(module.trials)})
            for place, (name, module) in enumerate(self._modules.items())
        }

    def _place(self, record: NodeRecord) -> tuple[tuple[int, int, int], ...]:
        return tuple(self._step(record, module.id) for module in self._lineages.get(record.module, ()))

    def _step(self, record: NodeRecord, module: str) -> tuple[int, int, int]:
        place, trials = self._ranks[module]
        start = f"{module}."
        trial = {name[len(start) :]: value for name, value in record.varied.items() if name.startswith(start)}
        return place, trials.get(canonical(trial), len(trials)), record.repeats.get(module, 0)

    def _varied_columns(self, records: Sequence[NodeRecord]) -> dict[str, pa.Array]:
        return {name: _column([record.varied.get(name) for record in records]) for name in self._varied}

    def _repeat_columns(self, records: Sequence[NodeRecord]) -> dict[str, pa.Array]:
        repeated = [name for name, module in self._modules.items() if module.repeats > 1]
        taken = [f"{name}.repeat#" if f"{name}.repeat" in self._varied else f"{name}.repeat" for name in repeated]
        numbers = [pa.array([record.repeats.get(name) for record in records], pa.int64()) for name in repeated]
        return dict(zip(taken, numbers, strict=True))

    def _groups(self) -> list[tuple[list[NodeRecord], str, list[float]]]:
        groups: dict[Hashable, tuple[list[NodeRecord], str, list[float]]] = {}
        for record in (each for each in self.records if each.status == "done"):
            trial = tuple((name, token(value)) for name, value in sorted(record.varied.items()))
            for metric, value in record.metrics.items():
                records, _, values = groups.setdefault((record.module, trial, metric), ([], metric, []))
                records.append(record)
                values.append(value)
        order = {name: place for place, name in enumerate(self._modules)}
        return sorted(groups.values(), key=lambda group: order.get(group[0][0].module, len(order)))

    def _compare(self, expected: Expected) -> PrintedComparison:
        measured = self.measured(expected.metric)
        name = expected.metric.partition(".")[2]
        values = [float(record.metrics[name]) for record in measured if self._matches(record, expected.where)]
        if not values:
            return PrintedComparison(expected, None, False, self._why_none(expected, measured))
        ours = float(describe(values)[expected.statistic])
        return PrintedComparison(expected, ours, _within(ours, expected))

    def _matches(self, record: NodeRecord, where: Mapping[str, Any]) -> bool:
        return all(same(self.parameter(record, name), value) for name, value in where.items())

    def _why_none(self, expected: Expected, measured: Sequence[NodeRecord]) -> str:
        module = expected.metric.partition(".")[0]
        where = conditions(expected.where)
        lost = [r for r in self.records if r.module == module and r.status != "done"]
        if any(self._matches(record, expected.where) for record in lost):
            return "Every run that should have measured it failed or was skipped."
        if measured:
            return f"No run of {module!r} was made with {where}."
        return f"No run measured {expected.metric!r}."


def lineages(experiment: Experiment) -> dict[str, tuple[Module, ...]]:
    """For every module, in the order of the file: those around it from the outermost, then itself.

    Parameters
    ----------
    experiment
        Whose modules.
    """
    found: dict[str, tuple[Module, ...]] = {}
    waiting: list[tuple[Module, ...]] = [(module,) for module in reversed(experiment.modules)]
    while waiting:
        lineage = waiting.pop()
        found[lineage[-1].id] = lineage
        waiting += [(*lineage, module) for module in reversed(lineage[-1].modules)]
    return found


def _has_metric(record: NodeRecord) -> Iterable[tuple[str | None, float | None]]:
    return record.metrics.items() or [(None, None)]


def _tell(value: Any) -> Any:
    return well_formed(value) if isinstance(value, str) else value


def _within(ours: float, expected: Expected) -> bool:
    """Compare decimals as they are written: 0.91 lies within 0.02 of 0.93, though not as binary fractions."""
    numbers = (ours, expected.value, expected.tolerance)
    if not all(math.isfinite(number) for number in numbers):
        return False
    value, printed, tolerance = (Fraction(repr(float(number))) for number in numbers)
    return abs(value - printed) <= tolerance


def _column(values: Sequence[Any]) -> pa.Array:
    """Give all values of a parameter one Arrow type; what has none in common becomes text."""
    kinds = {type(value) for value in values if value is not None}
    for allowed, type_ in (
        ({bool}, pa.bool_()),
        ({str}, pa.string()),
        ({int}, pa.int64()),
        ({int, float}, pa.float64()),
    ):
        if kinds <= allowed:
            try:
                return pa.array(values, type_)
            except (pa.ArrowInvalid, OverflowError, UnicodeEncodeError):
                break
    return pa.array([None if value is None else in_words(value) for value in values], pa.string())


def _require(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise MissingExtraError(f"This needs {package}; add it with: pip install {package}.") from None
