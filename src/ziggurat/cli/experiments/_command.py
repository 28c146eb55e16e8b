"""`ziggurat reproduce` and `ziggurat experiment`: nested trials from one file."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.cli._options import AsJson, Force, Report, out_option, with_records
from ziggurat.cli._outputs import PAGES, check_file, print_json
from ziggurat.errors import ExperimentError

if TYPE_CHECKING:
    from ziggurat.experiments import History, Run

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Experiments from one file: plan, run, results, compare.",
    help="Experiments from one file: modules in a chain, trials, sub-modules for every trial.\n\n"
    "Outputs are kept by content, so a second run does only what changed, and a run that was stopped goes on. A "
    "typical start:\n\n"
    "  ziggurat experiment plan mine.json\n\n"
    "  ziggurat experiment run mine.json --quick\n\n"
    "  ziggurat experiment results mine.json --out mine.csv",
)

ExperimentFile = Annotated[str, typer.Argument(help="A JSON or YAML file, or the name of a shipped experiment.")]
FileOrRun = Annotated[str, typer.Argument(help="A run, the beginning of one, or a file: its newest run.")]
Quick = Annotated[bool, typer.Option("--quick/--full", help="The small variant, or everything as published.")]
Steps = Annotated[
    list[str] | None,
    typer.Option(help="A Python file or module that registers steps of your own, and is imported; repeatable."),
]
Store = Annotated[
    str,
    typer.Option(envvar="ZIGGURAT_STORE", help="The folder for outputs, history and reports."),
]
DEFAULT_STORE = ".ziggurat"


@dataclass(frozen=True)
class RunOptions:
    """How an experiment is run, and where it is kept."""

    quick: Quick = False
    executor: Annotated[str, typer.Option(help="inline, processes or ray; the numbers are the same.")] = "inline"
    workers: Annotated[int | None, typer.Option(help="How many runs at a time; by default one for each processor.")] = (
        None
    )
    store: Store = DEFAULT_STORE
    mlflow: Annotated[bool, typer.Option("--mlflow", help="Also track with MLflow.")] = False
    wandb: Annotated[
        bool, typer.Option("--wandb", help="Also track with Weights & Biases, offline unless set otherwise.")
    ] = False
    open_report: Annotated[bool, typer.Option("--open", help="Open the report in the browser at the end.")] = False


@with_records
def reproduce(
    running: RunOptions,
    name: Annotated[str, typer.Argument(help="A shipped experiment; without it all of them are listed.")] = "",
) -> None:
    """Repeat a published result and set every printed value beside ours.

    Without a name the shipped experiments are listed by document and figure. Exit code 1 if trials failed.
    """
    from ziggurat.experiments import catalogue

    if not name:
        _list_catalogue()
        return
    again = f"ziggurat reproduce {name}{' --quick' if running.quick else ''}"
    _conduct(catalogue.path(name), (), again, running)


def _list_catalogue() -> None:
    from rich.console import Console

    from ziggurat.cli.experiments._tables import catalogue_table
    from ziggurat.experiments import catalogue

    Console().print(catalogue_table(catalogue.entries()))
    typer.echo("\nRun one with 'ziggurat reproduce NAME', on a small sample first with '--quick'.")


@app.command()
def plan(file: ExperimentFile, quick: Quick = False, steps: Steps = None, store: Store = DEFAULT_STORE) -> None:
    """Show the tree of modules with the number of runs and what is cached already; nothing is run.

    Nothing is imported either, but the shipped steps and what --steps names.
    """
    from rich.console import Console

    from ziggurat.cli.experiments._tables import plan_tree
    from ziggurat.experiments import Cache, expand, load, preview

    made = expand(load(_find_file(file), quick=quick, steps=steps or ()))
    folder = Path(store) / "cache"
    # Looking must not leave a store behind.
    seen = preview(made, Cache(folder)) if folder.is_dir() else None
    Console().print(plan_tree(made, seen))
    cached = seen.cached if seen else 0
    typer.echo(f"{len(made.nodes):,} runs, of which {cached:,} are cached.")
    if seen and seen.cached and seen.unknown:
        typer.echo(f"Of {seen.unknown:,} it cannot be said before those they depend on have run.")


@app.command()
@with_records
def run(file: ExperimentFile, running: RunOptions, steps: Steps = None) -> None:
    """Run an experiment, or what is left of it. Exit code 1 if trials failed; all others are finished first."""
    named = [each for module in steps or () for each in ("--steps", module)]
    again = shlex.join(["ziggurat", "experiment", "run", file, *named, *(["--quick"] if running.quick else [])])
    _conduct(_find_file(file), steps or (), again, running)


def _conduct(file: Path, steps: Sequence[str], again: str, running: RunOptions) -> None:
    from ziggurat.experiments import conduct, load, trackers_for

    experiment = load(file, quick=running.quick, steps=steps)
    trackers = trackers_for(Path(running.store), mlflow=running.mlflow, wandb=running.wandb, note=_warn)
    done = conduct(
        experiment,
        Path(running.store),
        executor=running.executor,
        workers=running.workers,
        quick=running.quick,
        trackers=trackers,
        command=again,
        note=_warn,
    )
    for sentence in done.sentences():
        typer.echo(sentence)
    typer.echo(f"The report is in {done.report}.")
    if running.open_report:
        typer.launch(done.report.absolute().as_uri())
    if done.counts["failed"]:
        raise typer.Exit(1)


def _warn(sentence: str) -> None:
    typer.echo(sentence, err=True)


@app.command()
def results(
    what: FileOrRun,
    out: Annotated[str, out_option("the tidy table of all trials and metrics in this .csv file.")] = "",
    report: Report = "",
    figures: Annotated[str, typer.Option(help="Draw the figures into this folder, as SVG and PNG.")] = "",
    force: Force = False,
    as_json: AsJson = False,
    store: Store = DEFAULT_STORE,
) -> None:
    """Show medians and quartiles of a run, and printed values beside ours; optionally write them out."""
    from rich.console import Console

    from ziggurat.cli.experiments._tables import comparison_table, summary_table
    from ziggurat.experiments import draw_all
    from ziggurat.experiments import report as html
    from ziggurat.files import write_text

    check_file(out, (".csv",), force=force)
    check_file(report, PAGES, force=force)
    with _open_history(store) as history:
        found = _find_run(history, what)
        made = history.results(found.id)
    if out:
        made.to_csv(out)
    if report:
        write_text(Path(report), html(made, run_id=found.id, run=found))
    if figures:
        draw_all(made, Path(figures), ("svg", "png"), _warn)
    if as_json:
        rows = made.table().to_pylist()
        print_json({"run": found.id, "name": found.name, "quick": found.quick, "status": found.status, "rows": rows})
        return
    typer.echo(f"Run {found.id} of {found.name}{' (quick)' if found.quick else ''}: {found.status}.")
    Console().print(summary_table(made))
    if made.experiment.expected:
        Console().print(comparison_table(made))
    for words, place in (("All trials and metrics are", out), ("The report is", report), ("The figures are", figures)):
        if place:
            typer.echo(f"{words} in {place}.")


@app.command()
def compare(first: FileOrRun, second: FileOrRun, store: Store = DEFAULT_STORE) -> None:
    """Say what changed between two runs: what was asked for, and the medians of the metrics."""
    from rich.console import Console

    from ziggurat.cli.experiments._tables import changes, medians_table

    with _open_history(store) as history:
        runs = [_find_run(history, what) for what in (first, second)]
        before, after = (history.results(each.id) for each in runs)
    typer.echo(f"{runs[0].id} ({runs[0].name}) and {runs[1].id} ({runs[1].name})")
    told = changes(before.experiment, after.experiment)
    for sentence in told or ["Both were asked for the same."]:
        typer.echo(sentence)
    Console().print(medians_table(before, after))


@app.command()
def schema() -> None:
    """Print the JSON schema of experiment files, for editors and other tools."""
    from ziggurat.experiments import schema_text

    typer.echo(schema_text())


def _find_file(named: str) -> Path:
    """The file of this name, or else the shipped experiment."""
    from ziggurat.experiments import catalogue

    if not Path(named).exists() and named in catalogue.names():
        return catalogue.path(named)
    return Path(named)


def _open_history(store: str) -> History:
    from ziggurat.experiments import History

    return History(Path(store), create=False)


def _find_run(history: History, what: str) -> Run:
    """The run that is meant: by its identifier, or the newest of the experiment in a file."""
    from ziggurat.experiments import catalogue, name_in

    if not Path(what).is_file() and what not in catalogue.names():
        return history.run(what)
    name = name_in(_find_file(what))
    for each in history.runs():
        if each.name == name:
            return each
    raise ExperimentError(f"{name!r} has not been run yet with this store; run it with 'ziggurat experiment run'.")
