"""`ziggurat synthesize`: learn a table, draw synthetic copies of it, attack them, and release them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where
from ziggurat.cli._release import GoOn
from ziggurat.cli.model import Rehearse
from ziggurat.cli.synthesize._options import Given

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from ziggurat.data import Table
    from ziggurat.release import SyntheticRelease

_INTERRUPTED = 130

Several = list[str] | None
Progress = Callable[[str, str, int, int], None]


def synthesize(
    table: Annotated[
        str, typer.Argument(help="A file, clinic, a public dataset such as adult_uci, or postgresql://… with --table.")
    ],
    out: Annotated[str, typer.Option(help="The .parquet or .csv file; several copies are NAME.1.parquet and so on.")],
    method: Annotated[
        str, typer.Option(help="cart, forest, linear, network or sample; with a guarantee, aim or mst.")
    ] = "",
    methods: Annotated[Several, typer.Option(help="income=forest,age=linear: other methods for some columns.")] = None,
    copies: Annotated[int, typer.Option(help="How many copies, independent of each other.")] = 1,
    rows: Annotated[int | None, typer.Option(help="How many rows each has; by default as many as the table.")] = None,
    partial: Annotated[
        Several, typer.Option(help="income > 70000: draw only such rows anew, once for each condition.")
    ] = None,
    columns: Annotated[Several, typer.Option(help="The columns drawn anew there; by default those it names.")] = None,
    rule: Annotated[
        Several, typer.Option(help="What holds in every row: age < 18 -> marital = 'single', once for each.")
    ] = None,
    order: Annotated[str, typer.Option(help="In which order columns are drawn: a,b,c or fewest-first or table.")] = "",
    leave_out: Annotated[Several, typer.Option(help="Columns that are not released.")] = None,
    missing: Annotated[Several, typer.Option(help="income=-8: a code for missing numbers, once for each.")] = None,
    no_smoothing: Annotated[bool, typer.Option("--no-smoothing", help="Let rare real numbers be copied.")] = False,
    save: Annotated[str, typer.Option(help="Also keep what was learned in this file, for its owner's eyes.")] = "",
    source: Annotated[str, typer.Option("--from", help="Learn nothing: draw from what --save kept.")] = "",
    checkpoint: Annotated[str, typer.Option(help="A folder that keeps each column as soon as it is learned.")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="Take up what a stopped run left in --checkpoint.")] = False,
    holdout: Annotated[
        str, typer.Option(help="The share of people kept back as a control for attacks, or a file of others.")
    ] = "0.1",
    known: Annotated[Several, typer.Option(help="The columns that attackers know; by default by the schema.")] = None,
    secret: Annotated[Several, typer.Option(help="The columns they want to learn; by default by the schema.")] = None,
    scenario: Annotated[str, typer.Option(help="With --partial: a YAML file of what an intruder knows of whom.")] = "",
    epsilon: Annotated[str, typer.Option(help="With aim or mst: what it may cost, exact: 0.5 or 1/3.")] = "",
    delta: Annotated[str, typer.Option(help="With aim or mst: the failure probability; by default 1e-9.")] = "",
    bins: Annotated[int | None, typer.Option(help="With aim or mst: into how many cells numbers are cut.")] = None,
    workload: Annotated[Several, typer.Option(help="With aim: age,income: sets whose counts matter.")] = None,
    rows_per_unit: Annotated[int | None, typer.Option(help="With aim or mst: rows of a person that count.")] = None,
    schema: Annotated[str, typer.Option(help="The schema of the table; by default the one beside it.")] = "",
    name: Annotated[str, typer.Option("--table", help="The table, when the source is a database.")] = "",
    unreadable: Unreadable = "0",
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default the file's name.")] = "",
    analyst: Annotated[str, typer.Option(help="With aim or mst: who pays.")] = "",
    note: Annotated[str, typer.Option(help="What the release is for, in a sentence.")] = "",
    go_on: GoOn = "",
    rehearse: Rehearse = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the certificate as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Draw synthetic copies of a table, attack them, and release them.

    Column by column is learned from those before it, and new rows are drawn. Some people are kept back, and the files
    are attacked with their help; the release is written down in the ledger, and only then do the files get their names:

      ziggurat synthesize clinic --out synthetic.parquet

      ziggurat synthesize survey.csv --partial "income > 70000" --known age,region --copies 5 --out survey-safe.csv

      ziggurat synthesize clinic --method aim --epsilon 1 --rows-per-unit 1 --budget clinic --analyst ada --out dp.csv

    Without aim or mst nothing is promised: the copies follow the table, and people who stand out in it may be found.
    With them the cost is paid before a row is read, and what the files tell keeps the guarantee.
    """
    given = Given(**locals())
    given.require_consistent()
    opened = _opened(table, schema, name, unreadable)
    with _watched(quiet or as_json) as told, _stopped(given.private):
        made = (_paid if given.private else _released)(given, opened, told)
        if save:
            (made.model if given.private else made.synthesizer).save(save)
    if not quiet:
        _say(made, save, as_json)


def _opened(source: str, schema: str, name: str, unreadable: str) -> Table:
    from ziggurat.cli.risk import _command as _risk

    return _risk._opened(source, schema, name, unreadable)


def _released(given: Given, table: Table, told: Progress | None) -> Any:
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.release import release_synthetic

    asked = given.asked(table) | given.asked_of_plain() | {"progress": told}
    maker = given.synthesizer(table)
    if not given.remembered_as:
        return release_synthetic(table, given.out, maker, **asked)
    with open_ledger(given.ledger, create=True) as book:
        return release_synthetic(table, given.out, maker, ledger=book, budget=given.remembered_as, **asked)


def _paid(given: Given, table: Table, told: Progress | None) -> Any:
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.release import release_synthetic_private

    asked = given.asked(table) | {"budget": given.budget, "analyst": given.analyst, "progress": told}
    model = given.model(table)
    with open_ledger(given.ledger) as book:
        return release_synthetic_private(table, given.out, model, ledger=book, **asked)


@contextmanager
def _stopped(private: bool) -> Iterator[None]:
    """Say what Ctrl-C leaves behind: no file."""
    try:
        yield
    except KeyboardInterrupt:
        spent = " What was reserved in the ledger stays spent." if private else ""
        typer.echo(f"Stopped; nothing was released.{spent}", err=True)
        raise typer.Exit(_INTERRUPTED) from None


@contextmanager
def _watched(silent: bool) -> Iterator[Progress | None]:
    """A bar on standard error: columns, then rows, then attacks; nothing where nobody looks."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if silent or not console.is_terminal:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Reading the table …", total=None)

        def told(stage: str, what: str, done: int, of: int) -> None:
            bar.update(task, description=_doing(stage, what), completed=done, total=of or None)

        yield told


def _doing(stage: str, what: str) -> str:
    """What is being done, for the bar."""
    return f"Drawing {what} …" if stage == "drawing" else f"{stage.capitalize()}: {what}"


def _say(made: Any, save: str, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(made.to_dict(), indent=1))
        return
    from rich.console import Console

    from ziggurat.cli.compare import attack_table
    from ziggurat.cli.terminal import Printed as Text

    console = Console()
    if hasattr(made, "synthesizer"):
        console.print(_columns(made))
    if made.attacked.findings:
        console.print(attack_table(made.attacked.findings))
    for line in (made.sentence, *made.attacked.remarks):
        console.print(Text(line))
    where = ", ".join(repr(str(path)) for path in made.paths)
    several = "The table is in" if len(made.paths) == 1 else "The copies are in"
    typer.echo(f"{several} {where}; the certificate, for the steward alone, is in {str(made.certificate)!r}.")
    if save:
        typer.echo(f"What was learned is in {save!r}{_for_whom(made)}.")
    typer.echo(_remembered(made))


def _for_whom(made: Any) -> str:
    return ", which holds values of the table: it is not to be published" if hasattr(made, "synthesizer") else ""


def _remembered(made: Any) -> str:
    cited = made.recorded if hasattr(made, "synthesizer") else made.entry
    if cited is None:
        return "No ledger remembers this release; name one with --ledger or --budget, so that nobody forgets it."
    return f"The ledger {'remembers' if hasattr(made, 'synthesizer') else 'paid for'} it: {cited}."


def _columns(made: SyntheticRelease) -> Shown:
    """In which order columns were drawn, and how."""
    from rich.table import Table as Shown

    from ziggurat.cli.terminal import Printed as Text

    done = made.to_dict()["details"]
    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    for heading in ("column", "method", "drawn anew"):
        shown.add_column(heading, no_wrap=True)
    for name in done["order"]:
        marked = "every row" if done["where"] is None else f"{done['replaced'][name]:,} cells"
        shown.add_row(Text(name), done["methods"][name]["name"], marked)
    for names, why in ((done["as_they_were"], "as it was"), (done["left_out"], "left out")):
        for name in names:
            shown.add_row(Text(name), "", why)
    return shown
