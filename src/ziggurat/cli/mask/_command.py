"""`ziggurat mask`: take identifiers out of a table, blur what tells too much, and keep a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._options import AsJson, Force, GoOn, TableArgument, TableOptions, Where, out_option, with_records
from ziggurat.cli._outputs import TABLES, check_file, print_json
from ziggurat.cli._tables import in_database, table_name
from ziggurat.cli.mask._options import ColumnChoices
from ziggurat.cli.server import OnServer
from ziggurat.cli.terminal import show_bar
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize import MaskedTable, MaskPlan
    from ziggurat.data import Table
    from ziggurat.release import Cited


@with_records
def mask(
    data: TableArgument,
    out: Annotated[str, out_option("a .parquet, .csv, .xlsx, .dta or .sav file, with the record beside it.")],
    opening: TableOptions,
    wanted: ColumnChoices,
    plan: Annotated[str, typer.Option(help="A YAML file: for each column its technique.")] = "",
    safe_harbor: Annotated[
        bool, typer.Option("--safe-harbor", help="Plan by HIPAA's list of eighteen instead, from the schema.")
    ] = False,
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default by its name.")] = "",
    go_on: GoOn = "",
    force: Force = False,
    as_json: AsJson = False,
    server: OnServer = "",
) -> None:
    """Mask columns: drop, hash, tokenise, round, code, suppress.

    A plan says what happens to which column; columns that it does not name leave as they are, and identifiers must be
    named. Secrets come from a file or an environment variable:

      ssn: {technique: keyed-hash, secret: {file: key.txt}}

      name: drop

      income: [{technique: top-code, bound: 200000}, {technique: round, base: 1000}]

      height, weight: {technique: microaggregate, k: 5}

    Then, with the plan, with the list of eighteen kinds of identifiers of HIPAA, or with options for single columns:

      ziggurat mask patients.csv --plan plan.yaml --out masked.parquet

      ziggurat mask patients.csv --safe-harbor --out masked.csv

      ziggurat mask notes.csv --text note --names names.txt --drop first_name,last_name --out masked.csv

    Free text that nobody names is dropped. Masked text is not anonymous: a name that no list knows stays.

    A masked table about people leaves without a guarantee, which the ledger remembers for ever: the one named, or that
    of this user. Invented and public tables are remembered only where a ledger or a budget is named.

    On a server it is a job; secrets and lists of names are sent there, and the signed bundle goes beside --out.
    """
    from ziggurat.anonymize import require_named

    if not (plan or safe_harbor or wanted.given) or (plan and safe_harbor):
        raise ParameterError("Give --plan plan.yaml or --safe-harbor, one of the two, or columns, such as --text note.")
    wanted.require_consistent()
    check_file(out, TABLES, force=force)  # before the ledger remembers it
    if server:
        from ziggurat.cli.mask._remote import mask_on

        mask_on(server, data, out, plan, safe_harbor, wanted, go_on=go_on, force=force).say(out, as_json=as_json)
        return
    table = opening.open(data)
    with show_bar("Masking …", silent=as_json) as update:
        progress = None if update is None else partial(update, "Masking notes …")
        masked, reasons = _mask(table, plan, safe_harbor, wanted, progress)
    require_named(table, masked)
    named = budget or _name_to_remember(data, opening.table, bool(ledger))
    recorded = _release(masked, out, ledger, named, {"original": table, "go_on": go_on})
    if as_json:
        print_json({**masked.to_dict(), "recorded": None if recorded is None else recorded.to_dict()})
        return
    _say(masked, reasons, out, recorded)


def _mask(
    table: Table, plan: str, by_rule: bool, wanted: ColumnChoices, progress: Callable[[int, int], None] | None
) -> tuple[MaskedTable, dict[str, Any]]:
    from ziggurat.anonymize import mask as masked
    from ziggurat.anonymize import mask_plan_in, require_harmless

    if not by_rule:
        steps = mask_plan_in(plan, table.declared.names) if plan else {}
        return masked(table, wanted.add_to(steps, table, progress)), {}
    chosen, reasons = _plan_by_rule(table, wanted)
    if not chosen:
        raise DataError("No column looks like one of the eighteen kinds of identifiers; name techniques in a plan.")
    shown = masked(table, chosen)
    require_harmless(shown.table, table.declared, shown.untouched)
    return shown, reasons


def _plan_by_rule(table: Table, wanted: ColumnChoices) -> tuple[MaskPlan, dict[str, Any]]:
    """The rule's plan, but for the columns that somebody decided about."""
    from ziggurat.anonymize import safe_harbor

    made = safe_harbor(table.declared, rows=table)
    own = wanted.add_to({}, table, None)
    if wanted.text:
        raise ParameterError("Safe Harbor takes free text out, for masked text is not anonymous; leave --text out.")
    chosen: MaskPlan = {name: [each] for name, each in made.techniques.items() if name not in own}
    reasons = {name: reason for name, reason in made.reasons.items() if name not in own}
    return {**own, **chosen}, {"reasons": reasons, "unseen": made.unseen}


def _name_to_remember(data: str, name: str, ledger: bool) -> str:
    """What the ledger calls a table about people; nothing if it is invented or public and no ledger was named."""
    about_people = in_database(data) or Path(data).exists()
    return table_name(name if in_database(data) else data) if about_people or ledger else ""


def _release(masked: MaskedTable, out: str, ledger: str, budget: str, options: dict[str, Any]) -> Cited | None:
    """Write the release down first, where somebody should remember it, and then the files."""
    from ziggurat.cli._books import open_ledger
    from ziggurat.release import release_masked

    masked.require_apart(out)
    if not budget:
        return release_masked(masked, out, **options).entry
    with open_ledger(ledger, create=True) as book:
        return release_masked(masked, out, ledger=book, budget=budget, **options).entry


def _say(masked: MaskedTable, reasons: dict[str, Any], out: str, recorded: Cited | None) -> None:
    from rich.console import Console
    from rich.table import Table as Shown

    from ziggurat.cli.terminal import Printed as Text
    from ziggurat.release import NOT_PROMISED_OF_MASKS

    shown = Shown(header_style="dim", box=None, padding=(0, 1))
    for heading in ("columns", "technique", "cells changed"):
        shown.add_column(heading, overflow="fold")
    for record in masked.records:
        shown.add_row(Text(", ".join(record.columns)), record.technique, f"{record.share:.1%}")
    console = Console()
    console.print(shown)
    for name, reason in reasons.get("reasons", {}).items():
        console.print(Text(f"{name}: {reason}"))
    for sentence in reasons.get("unseen", ()):
        console.print(Text(sentence))
    console.print(Text(f"As they were: {', '.join(masked.untouched) or 'none'}."))
    for sentence in _tell_of_text(masked):
        console.print(Text(sentence))
    console.print(Text(NOT_PROMISED_OF_MASKS))
    typer.echo(f"{masked.table.num_rows:,} rows are in {out!r}, the record in '{out}.mask.json'.")
    if recorded is None:
        typer.echo("Nothing was written into a ledger: the table is invented or public.")
        return
    typer.echo(
        f"Entry {recorded.seq} of the ledger says for ever that the people in {recorded.budget!r} were in a release "
        f"without a guarantee (unbounded): {recorded}."
    )


def _tell_of_text(masked: MaskedTable) -> Iterator[str]:
    """What was put into notes, how well that works on invented ones, and what codes do not hide."""
    from ziggurat.data.free_text import say_dropped

    for record in masked.records:
        if record.technique == "mask-text":
            put = ", ".join(f"{count:,} [{kind}]" for kind, count in record.tally.counts.items())
            yield f"In {', '.join(record.columns)}: {put or 'nothing was found'}."
            yield record.stated["recall"]
            yield record.stated["not_anonymous"]
        elif record.technique == "codes":
            yield f"{', '.join(record.columns)}: {record.stated['not_hidden']}"
    if masked.free_text:
        yield say_dropped(masked.free_text)
