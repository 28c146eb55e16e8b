"""`ziggurat synthesize`: learn a table, draw synthetic copies of it, attack them, and release them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ziggurat.cli._options import with_records
from ziggurat.cli._outputs import end_with_quote, print_json
from ziggurat.cli.synthesize._options import SynthesisOptions
from ziggurat.cli.synthesize._sequences import make_generator, plan_event, sequence_settings
from ziggurat.cli.terminal import show_bar

if TYPE_CHECKING:
    from rich.table import Table as Shown

    from ziggurat.data import Table
    from ziggurat.release import SyntheticRelease

Progress = Callable[[str, str, int, int], None]


@with_records
def synthesize(given: SynthesisOptions) -> None:
    """Draw synthetic copies of a table, attack them, and release them.

    Column by column is learned from those before it, and new rows are drawn. Some people are kept back, and the files
    are attacked with their help; the release is written down in the ledger, and only then do the files get their names:

      ziggurat synthesize clinic --out synthetic.parquet

      ziggurat synthesize survey.csv --partial "income > 70000" --known age,region --copies 5 --out survey-safe.csv

      ziggurat synthesize clinic --method aim --epsilon 1 --rows-per-unit 1 --budget clinic --analyst ada --out dp.csv

    Logs and other sequences, whose tokens the schema declares, are drawn by markov or recurrent:

      ziggurat synthesize hdfs --method markov --label label --epsilon 1 --budget hdfs --analyst ada --out logs.parquet

      ziggurat synthesize clicks.csv --method markov --sequence visit --token page --order at --longest 30
        --sequences-per-unit 5 --epsilon 1 --budget clicks --analyst ada --out clicks-safe.csv

    Visits of people to places are drawn by 'ziggurat mobility synthesize'.

    Without aim, mst, markov or recurrent nothing is promised: copies follow the table, and people who stand out in it
    may be found. With them the cost is paid before a row is read, and what the files tell keeps the guarantee.

    On a server it is a job, paid by the budget of the table; its signed bundle goes beside --out.
    """
    given.require_consistent()
    if given.server:
        _synthesize_on(given)
        return
    if given.quote:
        _price(given)
    table = given.open()
    with show_progress(given.quiet or given.as_json) as tell:
        made = _make(given)(given, table, tell)
        if given.save:
            (made.model if given.private else made.synthesizer).save(given.save)
    if not given.quiet:
        say_release(made, given.save, given.as_json)


def _synthesize_on(given: SynthesisOptions) -> None:
    from ziggurat.cli.synthesize._remote import synthesize_on

    left = synthesize_on(given)
    if not given.quiet:
        left.say(*given.files, as_json=given.as_json)


def _make(given: SynthesisOptions) -> Callable[[SynthesisOptions, Table, Progress | None], Any]:
    if given.sequences:
        return _pay_for_sequences
    return _pay if given.private else _release


def _release(given: SynthesisOptions, table: Table, tell: Progress | None) -> Any:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_synthetic

    asked = given.settings(table) | given.plain_settings() | {"progress": tell}
    maker = given.synthesizer(table)
    if not given.remembered_as:
        return release_synthetic(table, given.out, maker, **asked)
    with open_ledger(given.ledger, create=True) as book:
        return release_synthetic(table, given.out, maker, ledger=book, budget=given.remembered_as, **asked)


def _pay(given: SynthesisOptions, table: Table, tell: Progress | None) -> Any:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_synthetic_private

    asked = given.settings(table) | {"budget": given.budget, "analyst": given.analyst, "progress": tell}
    model = given.model(table.schema)
    with open_ledger(given.ledger) as book:
        return release_synthetic_private(table, given.out, model, ledger=book, **asked)


def _pay_for_sequences(given: SynthesisOptions, table: Table, tell: Progress | None) -> Any:
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_sequences

    asked = sequence_settings(given, table.declared) | {"budget": given.budget, "analyst": given.analyst}
    model = make_generator(given, table.declared)
    with open_ledger(given.ledger) as book:
        return release_sequences(table, given.out, model, ledger=book, progress=tell, **asked)


def _price(given: SynthesisOptions) -> NoReturn:
    """Say what a private model costs, by the schema alone."""
    from ziggurat.cli._books import open_to_read
    from ziggurat.cli._tables import find_table
    from ziggurat.release import Purse

    schema = find_table(given.data, given.schema, given.table).schema
    event = plan_event(given, schema) if given.sequences else given.model(schema).planned(schema)
    with open_to_read(given.ledger) as book:
        quoted = Purse(book, given.budget, given.analyst).price(event)
    end_with_quote(quoted.sentence, asdict(quoted), fits=quoted.fits, as_json=given.as_json)


@contextmanager
def show_progress(silent: bool) -> Iterator[Progress | None]:
    """A bar: columns, then rows, then attacks."""
    with show_bar("Reading the table …", silent=silent) as update:
        if update is None:
            yield None
        else:
            yield lambda stage, what, done, of: update(_describe_step(stage, what), done, of or None)


def _describe_step(stage: str, what: str) -> str:
    """What is being done, for the bar."""
    return f"Drawing {what} …" if stage == "drawing" else f"{stage.capitalize()}: {what}"


def say_release(made: Any, save: str, as_json: bool) -> None:
    """Print what left, what attacks found, and where it is written down."""
    if as_json:
        print_json(made.to_dict())
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
    kind = made.release.plan.kind
    several = f"The {kind} are in" if kind in ("sequences", "trajectories", "communities") else several
    typer.echo(f"{several} {where}; the certificate, for the steward alone, is in {str(made.certificate)!r}.")
    if save:
        typer.echo(f"What was learned is in {save!r}{_for_whom(made)}.")
    typer.echo(_cite(made))


def _for_whom(made: Any) -> str:
    return ", which holds values of the table: it is not to be published" if hasattr(made, "synthesizer") else ""


def _cite(made: Any) -> str:
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
    written = done.get("free_text", [])
    others = [name for name in done["left_out"] if name not in written]
    for names, why in ((done["as_they_were"], "as it was"), (others, "left out"), (written, "free text: left out")):
        for name in names:
            shown.add_row(Text(name), "", why)
    return shown
