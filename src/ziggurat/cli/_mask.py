"""`ziggurat mask`: take identifiers out of a table, blur what tells too much, and keep a record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ziggurat.cli._asked_tables import Unreadable
from ziggurat.cli._ledger import Where
from ziggurat.cli._release import GoOn
from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.anonymize import MaskedTable
    from ziggurat.data import Table
    from ziggurat.release import Cited


def mask(
    table: Annotated[
        str, typer.Argument(help="A file, clinic, a public dataset, or postgresql://… with --table and --schema.")
    ],
    out: Annotated[str, typer.Option(help="The .parquet or .csv file to write; the record is written beside it.")],
    plan: Annotated[str, typer.Option(help="A YAML file: for each column its technique.")] = "",
    safe_harbor: Annotated[
        bool, typer.Option("--safe-harbor", help="Plan by HIPAA's list of eighteen instead, from the schema.")
    ] = False,
    schema: Annotated[str, typer.Option(help="The schema of the table; by default the one beside it.")] = "",
    name: Annotated[str, typer.Option("--table", help="The table, when the source is a database.")] = "",
    unreadable: Unreadable = "0",
    ledger: Where = "",
    budget: Annotated[str, typer.Option(help="What the ledger calls the table; by default by its name.")] = "",
    go_on: GoOn = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the record as JSON.")] = False,
) -> None:
    """Mask columns: drop, hash, tokenise, round, code, suppress.

    A plan says what happens to which column; columns that it does not name leave as they are, and identifiers must be
    named. Secrets come from a file or an environment variable:

      ssn: {technique: keyed-hash, secret: {file: key.txt}}

      name: drop

      income: [{technique: top-code, bound: 200000}, {technique: round, base: 1000}]

      height, weight: {technique: microaggregate, k: 5}

    Then, with the plan or with the list of eighteen kinds of identifiers of HIPAA:

      ziggurat mask patients.csv --plan plan.yaml --out masked.parquet

      ziggurat mask patients.csv --safe-harbor --out masked.csv

    A masked table about people leaves without a guarantee, which the ledger remembers for ever: the one named, or that
    of this user. Invented and public tables are remembered only where a ledger or a budget is named.
    """
    from ziggurat.anonymize import require_named
    from ziggurat.cli.risk import _command as _risk

    if bool(plan) == safe_harbor:
        raise ParameterError("Give --plan plan.yaml or --safe-harbor, one of the two.")
    if Path(out).suffix.lower() not in (".parquet", ".csv"):
        raise DataError("The output must be a .parquet or a .csv file.")
    if not Path(out).absolute().parent.is_dir():
        raise DataError(f"The folder of {out!r} does not exist; create it first.")  # before the ledger remembers it
    opened = _risk._opened(table, schema, name, unreadable)
    masked, reasons = _planned(opened, plan)
    require_named(opened, masked)
    named = budget or _remembered_as(table, name, bool(ledger))
    recorded = _release(masked, out, ledger, named, {"original": opened, "go_on": go_on})
    if as_json:
        shown = None if recorded is None else recorded.to_dict()
        typer.echo(json.dumps({**masked.to_dict(), "recorded": shown}, indent=1))
        return
    _say(masked, reasons, out, recorded)


def _planned(table: Table, plan: str) -> tuple[MaskedTable, dict[str, Any]]:
    from ziggurat.anonymize import MaskPlan, mask_plan_in, require_harmless, safe_harbor
    from ziggurat.anonymize import mask as masked

    if plan:
        return masked(table, mask_plan_in(plan, table.declared.names)), {}
    made = safe_harbor(table.declared)
    if not made.techniques:
        raise DataError("No column looks like one of the eighteen kinds of identifiers; name techniques in a plan.")
    chosen: MaskPlan = {name: [each] for name, each in made.techniques.items()}
    shown = masked(table, chosen)
    require_harmless(shown.table, table.declared, shown.untouched)
    return shown, {"reasons": made.reasons, "unseen": made.unseen}


def _remembered_as(source: str, name: str, ledger: bool) -> str:
    """What the ledger calls a table about people; nothing if it is invented or public and no ledger was named."""
    in_database = source.startswith(("postgresql://", "postgres://"))
    about_people = in_database or Path(source).exists()
    return (name if in_database else Path(source).name).split(".")[0] if about_people or ledger else ""


def _release(masked: MaskedTable, out: str, ledger: str, budget: str, options: dict[str, Any]) -> Cited | None:
    """Write the release down first, where somebody should remember it, and then the files."""
    from ziggurat.cli._ledger import open_ledger
    from ziggurat.cli.pate import require_file
    from ziggurat.release import release_masked

    require_file(out)
    masked.require_apart(out)
    if not budget:
        return release_masked(masked, out, **options).entry
    with open_ledger(ledger, create=True) as book:
        return release_masked(masked, out, ledger=book, table=budget, **options).entry


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
    console.print(Text(NOT_PROMISED_OF_MASKS))
    typer.echo(f"{masked.table.num_rows:,} rows are in {out!r}, the record in '{out}.mask.json'.")
    if recorded is None:
        typer.echo("Nothing was written into a ledger: the table is invented or public.")
        return
    typer.echo(
        f"Entry {recorded.seq} of the ledger says for ever that the people in {recorded.budget!r} were in a release "
        f"without a guarantee (unbounded): {recorded}."
    )
