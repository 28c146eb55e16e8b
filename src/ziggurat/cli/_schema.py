"""`ziggurat schema`: propose and check what is publicly known of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.cli._options import (
    AsJson,
    Force,
    InDatabase,
    ReadingOptions,
    SchemaFile,
    TableArgument,
    out_option,
    with_records,
)
from ziggurat.cli._outputs import print_json
from ziggurat.cli.server import OnServer
from ziggurat.cli.terminal import show_status
from ziggurat.files import check_output
from ziggurat.wording import count_noun

if TYPE_CHECKING:
    from ziggurat.data import Schema
    from ziggurat.data.reading import Suggestion

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="What is publicly known of a table: propose, check, show.",
    help="What is publicly known of a table: kinds, roles, bounds, categories, and where they come from.\n\n"
    "Let Ziggurat propose a schema, replace what it learned from the data by what is publicly known, then check it.",
)

_LOOKING = "Looking at the table …"
_MOST_LINES, _NAMED = 100, 4


@app.command()
@with_records
def suggest(
    data: TableArgument,
    reading: ReadingOptions,
    out: Annotated[str, out_option("the YAML in this file; by default it is printed.")] = "",
    force: Force = False,
    table: InDatabase = "",
    server: OnServer = "",
) -> None:
    """Propose a schema, with a reason for every column.

    Text files, workbooks, Stata, SPSS, SAS, R, Parquet, Arrow, JSON lines, SQLite and DuckDB files are read. How the
    file was read is said first: encoding, separators, lines that were left out, how numbers and dates are written.
    Where that was found out wrongly, say it with the options below; the schema remembers it, so that every other
    command reads the file by its schema alone.

    The proposal holds values of the data (smallest, largest, categories), all marked 'learned': it is for the
    steward's eyes (the file can be read by its owner only), and no method uses a learned bound for free. A column
    of which nothing is known is proposed as a quasi-identifier. With --server the file is sent there, and the server
    looks at it.
    """
    from ziggurat.data import read, suggest_schema
    from ziggurat.files import write_text
    from ziggurat.wording import printable

    if out:
        check_output(out, force=force)
    notes: tuple[str, ...] = ()
    if server:
        proposed = _propose_on(server, data)
    else:
        with show_status(_LOOKING):
            opened = read(data, unit="row", table=table or None, on_bad_cell="missing", **reading.keywords())
            proposed, notes = suggest_schema(opened), tuple(opened.notes)
    for note in notes:
        typer.echo(printable(note), err=True)
    for columns, reason in _gather(proposed.reasons):
        typer.echo(f"{printable(columns)}: {reason}", err=True)
    text = proposed.schema.to_yaml()
    if not out:
        typer.echo(text)
        return
    write_text(Path(out), text, mode=0o600)  # it holds values of the data
    typer.echo(f"The proposal is in {out}; replace what is marked 'learned' by what is publicly known.")


def _propose_on(server: str, data: str) -> Suggestion:
    """Send a file to a server, and have it look."""
    from ziggurat.cli.server import open_server, refuse_local

    refuse_local("data", "out")
    with show_status("Sending the table …"), open_server(server) as opened:
        return opened.propose(data)


def _gather(reasons: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """A line for each column; if they are many, one for each reason, with the columns that it is about."""
    if len(reasons) <= _MOST_LINES:
        yield from reasons.items()
        return
    alike: dict[str, list[str]] = {}
    for column, reason in reasons.items():
        alike.setdefault(reason, []).append(column)
    for reason, columns in alike.items():
        others = len(columns) - _NAMED
        named = ", ".join(columns[:_NAMED])
        yield f"{named} and {count_noun(others, 'other')}" if others > 0 else named, reason


@app.command()
def check(
    data: TableArgument,
    schema: SchemaFile = "",
    table: InDatabase = "",
    as_json: AsJson = False,
) -> None:
    """Check a table against its schema: counts, lines and remedies, no cell. Exit code 1 if something is wrong.

    Every declared column is looked at, identifiers too; cells that cannot be read as their kind are problems. Of each
    problem the first lines of a text file are named, and what to change: for the steward, because a line is somebody's.
    """
    from ziggurat.cli._tables import find_schema, open_table
    from ziggurat.data import check_table

    with show_status(_LOOKING):
        opened = open_table(data, schema or str(find_schema(data)), table, lenient=True)
        problems = check_table(opened)
    told = [str(each) for each in problems]
    if as_json:
        print_json({"fits": not told, "problems": told})
    else:
        typer.echo("\n".join(told) if told else "The table fits its schema.", err=bool(told))
    raise typer.Exit(1 if told else 0)


@app.command()
def show(
    schema: Annotated[str, typer.Argument(help="The schema, a YAML file; on a server the name of a table.")],
    server: OnServer = "",
) -> None:
    """Show a schema as a table."""
    from rich.console import Console

    from ziggurat.cli.terminal import schema_table
    from ziggurat.data import Schema

    found = _declared_on(server, schema) if server else Schema.from_yaml(Path(schema))
    Console().print(schema_table(found))


def _declared_on(server: str, table: str) -> Schema:
    from ziggurat.cli.server import descriptions, open_server

    with open_server(server) as opened:
        return descriptions.find_declared(opened, table)
