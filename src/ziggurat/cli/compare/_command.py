"""`ziggurat compare`: how useful synthetic copies are beside their original, and what attacks on them learn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    Quiet,
    Rehearse,
    Report,
    TableOptions,
    rehearsal_seed,
    with_records,
)
from ziggurat.cli._outputs import PAGES, check_file, print_json, write_page
from ziggurat.cli._tables import split_columns
from ziggurat.cli.compare._inputs import Copies, cut_to, find_copies, open_holdout, read_models
from ziggurat.cli.terminal import show_bar
from ziggurat.errors import ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Table
    from ziggurat.release import Candidates

_NO_HOLDOUT = (
    "No rows were held out, so attacks have no control and were not made: without rows that the synthesiser has not "
    "seen (--holdout) nobody can tell what a copy gives away from what anybody could have guessed."
)
_REHEARSED = "This was a rehearsal: rows, attacks and candidates were drawn from a seed."


@with_records
def compare(
    original: Annotated[
        str, typer.Argument(help="A file, clinic, a public dataset such as sd2011, or postgresql://… with --table.")
    ],
    opening: TableOptions,
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
    report: Report = "",
    force: Force = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    rehearse: Rehearse = "",
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
    check_file(report, PAGES, force=force)
    if bool(synthetic) == bool(tried):
        raise ParameterError("Name files of synthetic rows, or what to --try; one of both.")
    table = opening.open(original)
    wanted = split_columns(table.schema, columns)
    options: dict[str, Any] = {
        "target": target or None,
        "formula": regression or None,
        "rows": rows,
        "known": split_columns(table.schema, known),
        "secret": split_columns(table.schema, secret),
        "random_state": rehearsal_seed(rehearse),
    }
    with _show_progress(quiet or as_json) as options["progress"]:
        if tried:
            found = _try(_cut(table, wanted), tried, holdout, copies, rows_per_unit, options)
        else:
            found = _judge(table, find_copies(synthetic or (), kind), holdout, wanted, options)
    if rehearse:
        found = replace(found, notes=(*found.notes, _REHEARSED))
    _say(found, Path(original).name, report, as_json, quiet)


def _judge(
    table: Table, given: list[Copies], holdout: str, wanted: tuple[str, ...] | None, options: dict[str, Any]
) -> Candidates:
    """Compare and attack what lies in files."""
    from ziggurat.release import Candidates
    from ziggurat.release.comparing import JudgingTerms, StepCounter, count_steps, judge_copies

    original, notes = cut_to(table, wanted, given)
    outside = open_holdout(holdout, original)
    progress = options.pop("progress")
    asked = JudgingTerms.of(original.schema, **options)
    kinds = [each.facts.get("kind") for each in given]
    told = StepCounter(progress, sum(count_steps(asked, outside is not None, kind) for kind in kinds))
    items = [
        judge_copies(
            each.name, original, list(each.paths), asked, holdout=outside, kind=kind, promise=each.promise, told=told
        )
        for each, kind in zip(given, kinds, strict=True)
    ]
    notes += [] if outside is not None else [_NO_HOLDOUT]
    return Candidates(tuple(items), original.raw.count_rows(), 0 if outside is None else outside.num_rows, tuple(notes))


def _try(table: Table, tried: str, share: str, copies: int, rows_per_unit: int, options: dict[str, Any]) -> Candidates:
    """Fit candidates, and compare and attack what they draw."""
    from ziggurat.release import candidates

    try:
        part = float(share) if share else 0.2
    except ValueError:
        raise ParameterError("With --try, --holdout is the share of rows to keep back, for instance 0.2.") from None
    models = read_models(tried, options["random_state"], None if table.unit.is_row else rows_per_unit)
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
def _show_progress(silent: bool) -> Iterator[Callable[[str, int, int], object] | None]:
    """One bar for all steps."""
    with show_bar("Reading …", silent=silent) as update:
        if update is None:
            yield None
        else:
            yield lambda what, done, of: update(f"{what} …", done, of)


def _say(found: Candidates, name: str, report: str, as_json: bool, quiet: bool) -> None:
    if report:
        from ziggurat.cli.compare._page import page

        write_page(page(name, found), report)
    if as_json:
        print_json({"original": name, **found.to_dict()})
    elif not quiet:
        from ziggurat.cli.compare._show import show

        show(found)
        if report:
            typer.echo(f"The report is in {report}; it holds exact figures about the original, so do not publish it.")
