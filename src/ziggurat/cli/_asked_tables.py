"""The tables that commands name: found by what is publicly known, and checked whole when they are opened."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Schema, Table
    from ziggurat.data.engines import Engine

_INVENTED_ROWS = 10_000

Unreadable = Annotated[
    str,
    typer.Option(help="The share of a column's cells that may be unreadable and count as missing, such as 0.01."),
]


@dataclass(frozen=True)
class Located:
    """A table that has not been opened.

    Attributes
    ----------
    name
        What questions call it.
    schema
        What is publicly known of it.
    secret
        Whether it may be about people: False for invented tables and named public datasets.
    read
        Opens it in an engine, at once or later.
    """

    name: str
    schema: Schema
    secret: bool
    read: Callable[[Engine, bool], Table]

    def open(self, engine: Engine) -> Table:
        """Open it and check it whole: what does not fit its schema is said here, to the steward."""
        return self.read(engine, False)

    def later(self, engine: Engine) -> Table:
        """Plan with it: it is opened and checked whole when it is made ready, before anything is reserved."""
        return self.read(engine, True)


def located(source: str, schema: str = "", table: str = "", name: str = "", unreadable: str = "0") -> Located:
    """Find a table by a file, the address of a database, or the name of a public dataset or an invented table."""
    from ziggurat.data.engines import files_named

    if source.startswith(("postgresql://", "postgres://")):
        return _in_database(source, schema, table, name, unreadable)
    if table:
        raise ParameterError("--table names a table of a database; a file has none.")
    if files_named(source):
        return _in_file(source, schema, name, unreadable)
    if schema:
        raise DataError(f"There is no file {source!r}; --schema goes with a file or a database.")
    return _named(source, name)


def _in_database(source: str, schema: str, table: str, name: str, unreadable: str) -> Located:
    from ziggurat.data import Schema, read

    if not (table and schema):
        raise ParameterError("For a table in a database give --table and --schema.")
    declared = Schema.from_yaml(Path(schema))

    def opened(_engine: Engine, later: bool) -> Table:
        return read(source, declared, table=table, unreadable=unreadable, later=later)

    return Located(name or _identifier(table.split(".")[-1]), declared, True, opened)


def _in_file(source: str, schema: str, name: str, unreadable: str) -> Located:
    from ziggurat.data import Schema, read

    declared = Schema.from_yaml(Path(schema) if schema else schema_beside(source))

    def opened(engine: Engine, later: bool) -> Table:
        return read(source, declared, engine=engine, unreadable=unreadable, later=later)

    return Located(name or _identifier(_stem(source)), declared, True, opened)


def _named(source: str, name: str) -> Located:
    from ziggurat.data import datasets, read
    from ziggurat.data.generators import INVENTED, invent
    from ziggurat.wording import nearest

    if source in INVENTED:
        rows, schema = invent(source, _INVENTED_ROWS, 0)
        return Located(name or source, schema, False, lambda engine, _: read(rows, schema, engine=engine))
    if source in datasets.names():
        schema = datasets.schema(source)
        load = datasets.load
        return Located(name or source, schema, False, lambda engine, _: read(load(source), schema, engine=engine))
    known = [*INVENTED, *datasets.names()]
    raise DataError(f"There is no file, public dataset or invented table {source!r}; {nearest(source, known)}")


def schema_beside(source: str) -> Path:
    """The schema beside a file: clinic.yaml for clinic.csv."""
    found = Path(source).with_name(f"{_stem(source)}.yaml")
    if not found.is_file():
        raise DataError(
            f"There is no schema {str(found)!r}; name one with --schema, or have one proposed by "
            f"'ziggurat schema suggest {source} --out {found}' and correct it."
        )
    return found


def _stem(source: str) -> str:
    return Path(source).name.split(".")[0]


def _identifier(text: str) -> str:
    """A name that SQL takes without quotation marks."""
    plain = re.sub(r"\W", "_", text)
    return plain if plain[:1].isalpha() else f"t_{plain}"


def further(named: Sequence[str], unreadable: str = "0") -> list[Located]:
    """Find further private tables, each given as name=file or name=file:schema."""
    found = []
    for each in named:
        name, path = pair(each, "--private visits=visits.csv")
        file, colon, schema = path.rpartition(":")
        whole = not colon or Path(path).exists()  # the name of a file may hold a colon
        found.append(located(path if whole else file, "" if whole else schema, name=name, unreadable=unreadable))
    return found


def public_tables(named: Sequence[str], engine: Engine) -> dict[str, Table]:
    """Open public tables, each given as name=file; a schema beside the file is used if there is one."""
    from ziggurat.data import read

    opened = {}
    for each in named:
        name, path = pair(each, "--public regions=regions.csv")
        beside = Path(path).with_name(f"{_stem(path)}.yaml")
        opened[name] = read(path, beside if beside.is_file() else None, engine=engine)
    return opened


def pair(text: str, example: str) -> tuple[str, str]:
    """Split name=value, or say how it is written."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ParameterError(f"{text!r} must be written as name=value, for instance {example}.")
    return name, value
