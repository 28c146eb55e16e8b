"""`ziggurat schema`: propose and check what is publicly known of a table."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="What is publicly known of a table: propose, check, show.",
    help="What is publicly known of a table: kinds, roles, bounds, categories, and where they come from.\n\n"
    "Let Ziggurat propose a schema, replace what it learned from the data by what is publicly known, then check it.",
)

Source = Annotated[str, typer.Argument(help="A CSV, Parquet or Arrow file, or postgresql://… with --table.")]
TableName = Annotated[str, typer.Option("--table", help="The table, when the source is a database.")]


def _looking() -> AbstractContextManager[object]:
    """Show on standard error, if that is a terminal, that the table is being looked at."""
    from rich.console import Console

    return Console(stderr=True).status("Looking at the table …")


@app.command()
def suggest(
    source: Source,
    out: Annotated[str, typer.Option(help="Where to write the YAML; by default it is printed.")] = "",
    table: TableName = "",
) -> None:
    """Propose a schema, with a reason for every column.

    The proposal holds values of the data (smallest, largest, categories), all marked 'learned': it is for the
    steward's eyes (the file can be read by its owner only), and no method uses a learned bound for free. A column
    of which nothing is known is proposed as a quasi-identifier.
    """
    from ziggurat.data import read, suggest_schema
    from ziggurat.files import write_text
    from ziggurat.wording import printable

    with _looking():
        proposed = suggest_schema(read(source, table=table or None, on_bad_cell="missing"))
    for column, reason in proposed.reasons.items():
        typer.echo(f"{printable(column)}: {reason}", err=True)
    text = proposed.schema.to_yaml()
    if not out:
        typer.echo(text)
        return
    write_text(Path(out), text, mode=0o600)  # it holds values of the data
    typer.echo(f"The proposal is in {out}; replace what is marked 'learned' by what is publicly known.")


@app.command()
def check(
    source: Source,
    schema: Annotated[str, typer.Option(help="The schema, a YAML file.")],
    table: TableName = "",
) -> None:
    """Check a table against its schema; problems are counted, never shown. Exit code 1 if there are any.

    Every declared column is looked at, identifiers too; cells that cannot be read as their kind are problems.
    """
    from ziggurat.data import read

    with _looking():
        problems = read(source, Path(schema), table=table or None, on_bad_cell="missing").validate()
    for problem in problems:
        typer.echo(str(problem), err=True)
    if problems:
        raise typer.Exit(1)
    typer.echo("The table fits its schema.")


@app.command()
def show(schema: Annotated[str, typer.Argument(help="The schema, a YAML file.")]) -> None:
    """Show a schema as a table."""
    from rich.console import Console

    from ziggurat.cli.terminal import schema_table
    from ziggurat.data import Schema

    Console().print(schema_table(Schema.from_yaml(Path(schema))))
