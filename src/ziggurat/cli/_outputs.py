"""What commands write: checked before anything is paid for, written whole or not at all, and JSON on the screen."""

from __future__ import annotations

import json
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ziggurat.errors import DataError
from ziggurat.files import check_output, write_text

if TYPE_CHECKING:
    import pyarrow as pa

TABLES = (".parquet", ".csv", ".tsv", ".xlsx", ".dta", ".sav", ".jsonl", ".arrow", ".feather")
ANSWERS = tuple(ending for ending in TABLES if ending not in (".dta", ".sav"))  # which refuse names of columns
PICTURES = (".svg", ".png")
PAGES = (".html", ".htm")


def check_file(path: str, endings: tuple[str, ...], *, force: bool) -> None:
    """Refuse a file of a kind that is not written, or that cannot take its place; no name is no file."""
    if not path:
        return
    if Path(path).suffix.lower() not in endings:
        raise DataError(f"The name of {path!r} must end in {' or '.join(endings)}.")
    check_output(path, force=force)


def check_table(path: str, *, force: bool) -> None:
    """Refuse a file, or a folder of parts (its name ends in a slash), to which a table cannot be written."""
    from ziggurat.data.writing import check_parts_folder, names_folder

    check_parts_folder(path) if names_folder(path) else check_file(path, TABLES, force=force)


def check_folder(path: str) -> Path:
    """Refuse a folder that holds something: folders are never replaced."""
    folder = Path(path)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise DataError(f"{path!r} is there already; name another folder.")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"The folder of {path!r} does not exist; create it first.")
    return folder


def write_table(table: pa.Table, out: str) -> None:
    """Write a table to a file of any format that `TABLES` lists, whole or not at all."""
    from ziggurat.data import writing

    writing.write_table(table, out)


def write_page(page: str, out: str) -> None:
    """Write a page of exact figures about people, for its owner's eyes."""
    write_text(Path(out), page, mode=0o600)


def print_json(value: Any) -> None:
    """Print the one document that a command prints under --json."""
    typer.echo(json.dumps(value, indent=1, ensure_ascii=False, default=_write_value))


def _write_value(value: Any) -> str:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Fraction | Path):
        return str(value)
    raise TypeError


def end_with_quote(sentence: str, facts: Any, *, fits: bool, as_json: bool) -> NoReturn:
    """Print a price and stop: exit code 3 if it does not fit what is left."""
    print_json(facts) if as_json else typer.echo(sentence)
    raise typer.Exit(0 if fits else 3)
