"""`ziggurat data`: public datasets and invented data."""

from __future__ import annotations

from typing import Annotated

import typer

from ziggurat.cli._options import AsJson, Force, OutFile
from ziggurat.cli._outputs import TABLES, check_file, print_json, write_table
from ziggurat.files import check_output

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Data to try things on: public and invented.",
    help="Data to try things on: named public datasets, and invented ones with no person in them.\n\n"
    "Public datasets are looked for in the folder that ZIGGURAT_DATA names, then in the cache, then downloaded from\n"
    "their publishers and checked.",
)


@app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """List the named public datasets."""
    from rich.console import Console
    from rich.table import Table

    from ziggurat.data import datasets

    found = {name: datasets.info(name) for name in datasets.names()}
    if as_json:
        kept = ("name", "rows", "title", "licence", "citation", "local_only")
        print_json([{key: getattr(each, key) for key in kept} for each in found.values()])
        return
    shown = Table(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("name", no_wrap=True)
    shown.add_column("rows", no_wrap=True, justify="right")
    for heading in ("what it is", "licence", ""):
        shown.add_column(heading, overflow="fold")
    for name, item in found.items():
        shown.add_row(name, f"{item.rows:,}", item.title, item.licence, "local file only" if item.local_only else "")
    Console().print(shown)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from 'ziggurat data list'.")],
    out: OutFile = "",
    force: Force = False,
    offline: Annotated[bool, typer.Option("--offline", help="Never download.")] = False,
) -> None:
    """Load a public dataset, checked against its known content, and say where it is."""
    from ziggurat.data import datasets

    check_file(out, TABLES, force=force)
    file = datasets.path(name, offline=offline)
    typer.echo(f"{name} is in {file}.")
    if out:
        write_table(datasets.load(name, offline=True), out)


@app.command()
def invent(
    what: Annotated[
        str, typer.Argument(help="clinic, logs, commuters, fare_cards, city_visits, city_places or headlines.")
    ],
    out: OutFile,
    rows: Annotated[
        int,
        typer.Option(help="How many patients, people, cards, sequences or titles, or commuters per community.", min=1),
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    schema: Annotated[str, typer.Option(help="Also write the public schema to this YAML file.")] = "",
    force: Force = False,
) -> None:
    """Invent data with no person in it: patients, logs, commuters, fare cards, visits to a city or news titles."""
    from ziggurat.cli.terminal import show_status
    from ziggurat.data.generators import invent

    check_file(out, TABLES, force=force)
    if schema:
        check_output(schema, force=force)
    with show_status("Inventing …"):
        table, described = invent(what, rows, seed)
        write_table(table, out)
    typer.echo(f"{table.num_rows:,} rows are in {out}.")
    if schema:
        described.to_yaml(schema)
        typer.echo(f"Its schema is in {schema}.")
