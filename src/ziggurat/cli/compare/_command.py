"""`ziggurat compare`: how useful synthetic copies are beside their original, and what attacks on them learn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli.compare._inputs import Files, cut_to, files_of, held_out, models_of
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Table
    from ziggurat.release import Candidates

_NO_HOLDOUT = (
    "No rows were held out, so attacks have no control and were not made: without rows that the synthesiser has not "
    "seen (--holdout) nobody can tell what a copy gives away from what anybody could have guessed."
)
_REHEARSED = "This was a rehearsal: rows, attacks and candidates were drawn from a seed."


def compare(
    original: Annotated[
        str, typer.Argument(help="A file, clinic, a public dataset such as sd2011, or postgresql://… with --table.")
    ],
    synthetic: Annotated[
        list[str] | None,
        typer.Argument(help="Copies of one synthesis, or several candidates: cart=a.parquet forest=b.1.csv,b.2.csv."),
    ] = None,
    holdout: Annotated[
        str, typer.Option(help="Rows that no synthesiser has seen, as a file; with --try the share to keep back.")
    ] = "",
    tried: Annotated[
        str, typer.Option("--try", help="Fit these and compare them: cart,forest,linear,network,sample,mst@1,aim@1.")
    ] = "",
    copies: Annotated[int, typer.Option(help="With --try: how many copies of each.", min=1)] = 1,
    rows_per_unit: Annotated[
        int, typer.Option(help="With --try aim or mst: so many rows of one person count at most.", min=1)
    ] = 1,
    target: Annotated[str, typer.Option(help="A column to predict: learned from copies, tested on real rows.")] = "",
    regression: Annotated[str, typer.Option(help='A regression to fit on both: "income ~ age + sex".')] = "",
    kind: Annotated[str, typer.Option(help="fully or partially synthetic; by default what the files say.")] = "",
    known: Annotated[
        list[str] | None, typer.Option(help="A column that attackers know, once for each or with commas.")
    ] = None,
    secret: Annotated[
        list[str] | None, typer.Option(help="A column that attackers are after, once for each or with commas.")
    ] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="A column to compare, once for each or with commas; by default all.")
    ] = None,
    rows: Annotated[int, typer.Option(help="At most so many rows of each table are compared.", min=2)] = 100_000,
    schema: Annotated[str, typer.Option(help="The schema of the original; by default the one beside it.")] = "",
    name: Annotated[str, typer.Option("--table", help="The table, when the original is in a database.")] = "",
    unreadable: Unreadable = "0",
    report: Annotated[str, typer.Option(help="Also write a report with pictures to this .html file.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    rehearse: Annotated[int | None, typer.Option(help="A seed: the same choices again.")] = None,
) -> None:
    """Compare synthetic copies with their original, and attack them.

    How far columns, pairs of columns and correlations are from the original's, whether means, regressions and
    predictions come out alike, and what attackers learn about people who were in the original beyond what they learn
    about people who were not:

      ziggurat compare people.parquet copies.1.parquet copies.2.parquet --holdout others.parquet --report report.html

      ziggurat compare people.csv cart=cart.parquet aim=aim.parquet --holdout others.csv --known age,sex --secret income

      ziggurat compare clinic --try cart,linear,sample --report plane.html

    The figures are exact and unprotected: they are for the steward. An attack that fails is no promise.
    """
    _check(report, synthetic, tried)
    table = _opened(original, schema, name, unreadable)
    listed = {"known": _listed(table, known), "secret": _listed(table, secret)}
    options: dict[str, Any] = {"target": target or None, "formula": regression or None, "rows": rows, **listed}
    with _watched(quiet or as_json) as progress:
        more = {**options, "random_state": rehearse, "progress": progress}
        if tried:
            found = _tried(_cut(table, _listed(table, columns)), tried, holdout, copies, rows_per_unit, more)
        else:
            given = files_of(synthetic or (), kind)
            found = _judged(table, given, holdout, _listed(table, columns), more)
    if rehearse is not None:
        found = replace(found, notes=(*found.notes, _REHEARSED))
    _say(found, Path(original).name, report, as_json, quiet)


def _check(report: str, synthetic: Sequence[str] | None, tried: str) -> None:
    from ziggurat.cli.risk import _command as _risk

    _risk._check_out(report)
    if bool(synthetic) == bool(tried):
        raise ParameterError("Name files of synthetic rows, or what to --try; one of both.")


def _opened(source: str, schema: str, name: str, unreadable: str) -> Table:
    from ziggurat.cli.risk import _command as _risk

    return _risk._opened(source, schema, name, unreadable)


def _listed(table: Table, given: list[str] | None) -> tuple[str, ...] | None:
    from ziggurat.cli.risk import _command as _risk

    return _risk._columns(table, given)


def _judged(
    table: Table, given: list[Files], holdout: str, wanted: tuple[str, ...] | None, options: dict[str, Any]
) -> Candidates:
    """Compare and attack what lies in files."""
    from ziggurat.release import Candidates
    from ziggurat.release.comparing import JudgingTerms, StepCounter, judged, steps

    original, notes = cut_to(table, wanted, given)
    outside = held_out(holdout, original)
    progress = options.pop("progress")
    asked = JudgingTerms.of(original.schema, **options)
    kinds = [each.facts.get("kind") for each in given]
    told = StepCounter(progress, sum(steps(asked, outside is not None, kind) for kind in kinds))
    items = [
        judged(
            each.name, original, list(each.paths), asked, holdout=outside, kind=kind, promise=each.promise, told=told
        )
        for each, kind in zip(given, kinds, strict=True)
    ]
    notes += [] if outside is not None else [_NO_HOLDOUT]
    return Candidates(tuple(items), original.raw.count_rows(), 0 if outside is None else outside.num_rows, tuple(notes))


def _tried(
    table: Table, tried: str, share: str, copies: int, rows_per_unit: int, options: dict[str, Any]
) -> Candidates:
    """Fit candidates, and compare and attack what they draw."""
    from ziggurat.release import candidates

    try:
        part = float(share) if share else 0.2
    except ValueError:
        raise ParameterError("With --try, --holdout is the share of rows to keep back, for instance 0.2.") from None
    models = models_of(tried, options["random_state"], None if table.unit.is_row else rows_per_unit)
    return candidates(table, models, holdout=part, copies=copies, **options)


def _cut(table: Table, wanted: tuple[str, ...] | None) -> Table:
    from ziggurat.data import read

    if wanted is None:
        return table
    unit = table.unit.column
    names = [*wanted, *([unit] if unit and unit in table.schema and unit not in wanted else [])]
    schema = table.schema.select(names)
    return read(table.raw.rows(names), schema, on_bad_cell="missing")


@contextmanager
def _watched(silent: bool) -> Iterator[Callable[[str, int, int], object] | None]:
    """One bar for all steps on standard error; nothing where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if silent or not console.is_terminal:
        yield None
        return
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Reading …", total=None)

        def told(what: str, done: int, of: int) -> None:
            bar.update(task, description=f"{what} …", completed=done, total=of)

        yield told


def _say(found: Candidates, name: str, report: str, as_json: bool, quiet: bool) -> None:
    if report:
        from ziggurat.cli.compare._page import page
        from ziggurat.files import write_text

        write_text(Path(report), page(name, found), mode=0o600)  # exact figures about people
    if as_json:
        typer.echo(json.dumps({"original": name, **found.to_dict()}, indent=1))
    elif not quiet:
        from ziggurat.cli.compare._show import show

        show(found)
        if report:
            typer.echo(f"The report is in {report}; it holds exact figures about the original, so do not publish it.")
