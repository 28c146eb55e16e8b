"""`ziggurat data`: public datasets and invented data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.errors import DataError
from ziggurat.files import replacing

if TYPE_CHECKING:
    import pyarrow as pa


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    short_help="Data to try things on: public and invented.",
    help="Data to try things on: named public datasets, and invented ones with no person in them.\n\n"
    "Public datasets are looked for in the folder that ZIGGURAT_DATA names, then in the cache, then downloaded from\n"
    "their publishers and checked.",
)


@app.command("list")
def list_datasets() -> None:
    """List the named public datasets."""
    from rich.console import Console
    from rich.table import Table

    from ziggurat.data import datasets

    shown = Table(header_style="dim", box=None, padding=(0, 1))
    shown.add_column("name", no_wrap=True)
    shown.add_column("rows", no_wrap=True, justify="right")
    for heading in ("what it is", "licence", ""):
        shown.add_column(heading, overflow="fold")
    for name in datasets.names():
        item = datasets.info(name)
        shown.add_row(name, f"{item.rows:,}", item.title, item.licence, "local file only" if item.local_only else "")
    Console().print(shown)


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from 'ziggurat data list'.")],
    out: Annotated[str, typer.Option(help="Also write it to this .parquet or .csv file.")] = "",
    offline: Annotated[bool, typer.Option("--offline", help="Never download.")] = False,
) -> None:
    """Load a public dataset, checked against its known content, and say where it is."""
    from ziggurat.data import datasets

    file = datasets.path(name, offline=offline)
    typer.echo(f"{name} is in {file}.")
    if out:
        require_known_ending(out)
        table = datasets.load(name, offline=True)
        write_table(table, out)


@app.command()
def invent(
    what: Annotated[str, typer.Argument(help="clinic, logs or commuters.")],
    out: Annotated[str, typer.Option(help="The .parquet or .csv file to write.")],
    rows: Annotated[
        int, typer.Option(help="How many patients, sequences, or commuters per community.", min=1)
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    schema: Annotated[str, typer.Option(help="Also write the public schema to this YAML file.")] = "",
) -> None:
    """Invent data with no person in it: clinic patients, log sequences or commuters."""
    from rich.console import Console

    from ziggurat.data.generators import invent

    for wanted in filter(None, (out, schema)):
        if not Path(wanted).absolute().parent.is_dir():
            raise DataError(f"The folder of {wanted!r} does not exist; create it first.")
    require_known_ending(out)
    with Console(stderr=True).status("Inventing …"):
        table, described = invent(what, rows, seed)
        write_table(table, out)
    typer.echo(f"{table.num_rows:,} rows are in {out}.")
    if schema:
        described.to_yaml(schema)
        typer.echo(f"Its schema is in {schema}.")


def require_known_ending(out: str) -> None:
    """Refuse a file that is neither Parquet nor CSV."""
    if Path(out).suffix.lower() not in (".parquet", ".csv"):
        raise DataError("The output must be a .parquet or a .csv file.")


def write_table(table: pa.Table, out: str) -> None:
    """Write a table to a file, whole or not at all."""
    import pyarrow.parquet as parquet

    from ziggurat.data import write_csv

    suffix = Path(out).suffix.lower()
    try:
        with replacing(out) as draft:
            (parquet.write_table if suffix == ".parquet" else write_csv)(table, draft)
    except (ValueError, NotImplementedError):
        other = ".parquet" if suffix == ".csv" else ".csv"
        raise DataError(f"The columns do not fit into {out!r}; write {other} instead.") from None
