"""One run from the first record to the report."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from ziggurat.errors import ExperimentError
from ziggurat.experiments._results import Results
from ziggurat.experiments._types import Experiment, Figure, NodeRecord, is_plain
from ziggurat.experiments._values import canonical
from ziggurat.experiments.file import expand
from ziggurat.experiments.running._cache import Cache
from ziggurat.experiments.running._run import run_plan
from ziggurat.experiments.showing import Guarded, MlflowTracker, Tracker, WandbTracker, draw, report
from ziggurat.experiments.storing import History
from ziggurat.files import write_text

Note = Callable[[str], None]

_MARK = "figures.sha256"
_MOST_RUNS = 20


def _quiet(_sentence: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Conducted:
    """A run that came to its end."""

    run_id: str
    results: Results
    report: Path

    @property
    def counts(self) -> Mapping[str, int]:
        """How many runs there were, and how they ended."""
        return self.results.counts()

    def sentences(self) -> list[str]:
        """Say how it went."""
        counts = self.counts
        said = [f"{counts['all']:,} runs, {counts['cached']:,} of them from the cache."]
        if counts["failed"]:
            said.append(
                f"{counts['failed']:,} failed and {counts['skipped']:,} were skipped because of them; "
                "the report tells why, and running again tries them again."
            )
        compared = self.results.comparisons()
        if compared:
            kept = sum(each.reproduced for each in compared)
            said.append(f"{kept} of {len(compared)} expected values are reproduced; the report explains the others.")
        return said


def trackers_for(store: Path, *, mlflow: bool, wandb: bool, note: Note = _quiet) -> list[Tracker]:
    """The trackers asked for, each guarded so that it cannot disturb the run; `note` hears of their troubles."""
    asked: list[Tracker] = []
    if mlflow:
        asked.append(MlflowTracker(store))
    if wandb:
        asked.append(WandbTracker(store))
    return [Guarded(each, note=note) for each in asked]


def conduct(
    experiment: Experiment,
    store: Path,
    *,
    executor: str = "inline",
    workers: int | None = None,
    quick: bool = False,
    trackers: Sequence[Tracker] = (),
    command: str = "",
    progress: bool = True,
    note: Note = _quiet,
) -> Conducted:
    """Run an experiment whole: what the cache does not know is run, all is recorded, and a report is written.

    Parameters
    ----------
    experiment
        What `load` read.
    store
        The folder of cache, history and reports; running again with the same one goes on where it stopped.
    executor, workers
        'inline', 'processes' or 'ray', and how many runs at a time; the numbers are the same.
    quick
        Whether `experiment` was loaded with its quick settings, for the record.
    trackers
        Further trackers, started and finished with the run; see `trackers_for`.
    command
        How to run it again, for the report.
    progress
        Whether to show a live tree.
    note
        Called with a sentence when a figure cannot be drawn.
    """
    plan = expand(experiment)
    with History(store) as history:
        run_id = history.start(experiment, executor, quick)
        for tracker in trackers:
            tracker.start(experiment, run_id)

        def take(record: NodeRecord) -> None:
            history.record(run_id, record)
            for tracker in trackers:
                tracker.record(record)

        status: Literal["done", "failed", "stopped"] = "stopped"
        try:
            cache = Cache(store / "cache")
            records = run_plan(plan, cache, executor=executor, workers=workers, on_record=take, progress=progress)
            status = "failed" if any(each.status == "failed" for each in records) else "done"
        finally:
            for tracker in trackers:
                tracker.finish(status)
            history.finish(run_id, status)
        results = history.results(run_id)
        return Conducted(run_id, results, _write(history, run_id, results, command, note))


def _write(history: History, run_id: str, results: Results, command: str, note: Note) -> Path:
    folder = history.folder(run_id)
    _recall(results, folder.parent)
    draw_all(results, folder / "figures", ("svg",), note)
    write_text(folder / _MARK, _mark(results))
    path = folder / "report.html"
    write_text(path, report(results, run_id=run_id, run=history.run(run_id), command=command))
    return path


def draw_all(results: Results, folder: Path, formats: Sequence[Literal["svg", "png"]], note: Note = _quiet) -> None:
    """Draw every figure into a folder; one that cannot be drawn is told of, and the others are drawn."""
    _make(folder)
    for figure in results.experiment.figures:
        try:
            _check_plain(figure)
            drawn = {kind: draw(figure, results, format=kind) for kind in formats}
        except ExperimentError as error:
            note(f"Figure {figure.id!r} was not drawn: {error}")
            continue
        for kind, content in drawn.items():
            (folder / f"{figure.id}.{kind}").write_bytes(content)


def _check_plain(figure: Figure) -> None:
    if not is_plain(figure.id):
        raise ExperimentError("its id cannot name a file; use letters, digits, '-', '_' and '.', at most 100.")


def _mark(results: Results) -> str:
    """What a run's pictures depend on: the file, every number in it, and what draws them."""
    drawn_by = [version("ziggurat"), version("matplotlib")]
    shown = [[record.node, record.status, dict(record.metrics)] for record in results.records]
    return hashlib.sha256(canonical([results.experiment.digest, drawn_by, shown]).encode()).hexdigest()


def _recall(results: Results, runs: Path) -> None:
    """Take the pictures of an earlier run with the same numbers; drawing them again would take longer than all else."""
    mark = _mark(results)
    for kept in sorted(runs.glob(f"*/{_MARK}"), reverse=True)[:_MOST_RUNS]:
        if kept.read_text(encoding="utf-8") == mark:
            for figure in results.experiment.figures:
                file = kept.parent / "figures" / f"{figure.id}.svg"
                if file.is_file():
                    results.drawn[figure, "svg"] = file.read_bytes()
            return


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise ExperimentError(f"The folder {str(folder)!r} cannot be made; name another.") from None
