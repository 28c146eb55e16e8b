"""`ziggurat schema`: propose and check what is publicly known of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ziggurat.cli._options import AsJson, Force, InDatabase, SchemaFile, TableArgument, out_option
from ziggurat.cli._outputs import print_json
from ziggurat.cli.terminal import show_status
from ziggurat.files import check_output

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="What is publicly known of a table: propose, check, show.",
    help="What is publicly known of a table: kinds, roles, bounds, categories, and where they come from.\n\n"
    "Let Ziggurat propose a schema, replace what it learned from the data by what is publicly known, then check it.",
)

_LOOKING = "Looking at the table …"


@app.command()
def suggest(
    data: TableArgument,
    out: Annotated[str, out_option("the YAML in this file; by default it is printed.")] = "",
    force: Force = False,
    table: InDatabase = "",
) -> None:
    """Propose a schema, with a reason for every column.

    The proposal holds values of the data (smallest, largest, categories), all marked 'learned': it is for the
    steward's eyes (the file can be read by its owner only), and no method uses a learned bound for free. A column
    of which nothing is known is proposed as a quasi-identifier.
    """
    from ziggurat.data import read, suggest_schema
    from ziggurat.files import write_text
    from ziggurat.wording import printable

    if out:
        check_output(out, force=force)
    with show_status(_LOOKING):
        proposed = suggest_schema(read(data, unit="row", table=table or None, on_bad_cell="missing"))
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
    data: TableArgument,
    schema: SchemaFile = "",
    table: InDatabase = "",
    as_json: AsJson = False,
) -> None:
    """Check a table against its schema; problems are counted, never shown. Exit code 1 if there are any.

    Every declared column is looked at, identifiers too; cells that cannot be read as their kind are problems.
    """
    from ziggurat.cli._tables import find_schema, open_table

    with show_status(_LOOKING):
        problems = open_table(data, schema or str(find_schema(data)), table, lenient=True).validate()
    told = [str(each) for each in problems]
    if as_json:
        print_json({"fits": not told, "problems": told})
    else:
        typer.echo("\n".join(told) if told else "The table fits its schema.", err=bool(told))
    raise typer.Exit(1 if told else 0)


@app.command()
def show(schema: Annotated[str, typer.Argument(help="The schema, a YAML file.")]) -> None:
    """Show a schema as a table."""
    from rich.console import Console

    from ziggurat.cli.terminal import schema_table
    from ziggurat.data import Schema

    Console().print(schema_table(Schema.from_yaml(Path(schema))))
