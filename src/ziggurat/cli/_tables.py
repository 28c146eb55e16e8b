"""The tables that commands name: found by what is publicly known, opened and checked whole by one opener for all."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, ParameterError

if TYPE_CHECKING:
    from ziggurat.data import Schema, Table
    from ziggurat.data.engines import Engine

_INVENTED_ROWS = 10_000


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


def open_table(
    data: str, schema: str = "", table: str = "", unreadable: str = "0", *, lenient: bool = False, unit: str = ""
) -> Table:
    """Open a table with its schema where there is one; without, kinds are guessed and columns must be named.

    `lenient` lets cells that cannot be read count as missing; `unit` is the column of people, whatever a schema says.
    """
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine, files_named

    if not in_database(data) and not files_named(data) and not schema:
        return find_table(data, table=table).open(DuckDBEngine())
    beside = not in_database(data) and _beside(data).is_file()
    found = schema or (str(_beside(data)) if beside else None)
    options: dict[str, Any] = {"unit": unit or None} | ({"on_bad_cell": "missing"} if lenient else {})
    return read(data, found, table=table or None, unreadable=unreadable, **options)


def open_if_named(data: str) -> Table | None:
    """Open a table that need not be there."""
    return open_table(data) if data else None


def open_as(data: str, schema: Schema) -> Table:
    """Open a file by this schema, or a public or invented table by its own."""
    from ziggurat.data import read
    from ziggurat.data.engines import DuckDBEngine, files_named

    return read(data, schema) if files_named(data) else find_table(data).open(DuckDBEngine())


def split_columns(schema: Schema, given: Sequence[str] | None) -> tuple[str, ...] | None:
    """The columns named, each by an option of its own or several in one with commas."""
    if not given:
        return None
    names = [[each] if each in schema else each.split(",") for each in given]
    return tuple(name.strip() for part in names for name in part)


def in_database(data: str) -> bool:
    """Whether a table is named by the address of a database, or of files that Spark reads."""
    return data.startswith(("postgresql://", "postgres://", "spark:"))


def find_table(data: str, schema: str = "", table: str = "", name: str = "", unreadable: str = "0") -> Located:
    """Find a table by a file, the address of a database, or the name of a public dataset or an invented table."""
    from ziggurat.data.engines import files_named

    if in_database(data):
        return _find_in_database(data, schema, table, name, unreadable)
    if table:
        raise ParameterError("--table names a table of a database; a file has none.")
    if files_named(data):
        return _find_file(data, schema, name, unreadable)
    if schema:
        raise DataError(f"There is no file {data!r}; --schema goes with a file or a database.")
    return _find_named(data, name)


def _find_in_database(data: str, schema: str, table: str, name: str, unreadable: str) -> Located:
    from ziggurat.data import Schema, read

    files = data.startswith("spark:") and data != "spark:"
    if not schema or not (table or files):
        wanted = "--schema" if files else "--table and --schema"
        raise ParameterError(f"For a table in a database give {wanted}.")
    declared = Schema.from_yaml(Path(schema))

    def read_now(_engine: Engine, later: bool) -> Table:
        return read(data, declared, table=table or None, unreadable=unreadable, later=later)

    called = table_name(data.rstrip("/")) if files else table.split(".")[-1]
    return Located(name or _identifier(called), declared, True, read_now)


def _find_file(data: str, schema: str, name: str, unreadable: str) -> Located:
    from ziggurat.data import Schema, read

    declared = Schema.from_yaml(Path(schema) if schema else find_schema(data))

    def read_now(engine: Engine, later: bool) -> Table:
        return read(data, declared, engine=engine, unreadable=unreadable, later=later)

    return Located(name or _identifier(table_name(data)), declared, True, read_now)


def _find_named(data: str, name: str) -> Located:
    from ziggurat.data import datasets, read
    from ziggurat.data.generators import INVENTED, invent
    from ziggurat.wording import nearest

    if data in INVENTED:
        rows, schema = invent(data, _INVENTED_ROWS, 0)
        return Located(name or data, schema, False, lambda engine, _: read(rows, schema, engine=engine))
    if data in datasets.names():
        schema = datasets.schema(data)
        load = datasets.load
        return Located(name or data, schema, False, lambda engine, _: read(load(data), schema, engine=engine))
    known = [*INVENTED, *datasets.names()]
    raise DataError(f"There is no file, public dataset or invented table {data!r}; {nearest(data, known)}")


def find_schema(data: str) -> Path:
    """The schema beside a file: clinic.yaml for clinic.csv."""
    found = _beside(data)
    if not found.is_file():
        raise DataError(
            f"There is no schema {str(found)!r}; name one with --schema, or have one proposed by "
            f"'ziggurat schema suggest {data} --out {found}' and correct it."
        )
    return found


def _beside(data: str) -> Path:
    return Path(data).with_name(f"{table_name(data)}.yaml")


def table_name(data: str) -> str:
    """What a table in a file is called: the name of the file without its endings."""
    return Path(data).name.split(".")[0]


def _identifier(text: str) -> str:
    """A name that SQL takes without quotation marks."""
    plain = re.sub(r"\W", "_", text)
    return plain if plain[:1].isalpha() else f"t_{plain}"


def find_private(named: Sequence[str], unreadable: str = "0") -> list[Located]:
    """Find further private tables, each given as name=file or name=file:schema."""
    found = []
    for each in named:
        name, path = split_pair(each, "--private visits=visits.csv")
        file, colon, schema = path.rpartition(":")
        whole = not colon or Path(path).exists()  # the name of a file may hold a colon
        found.append(find_table(path if whole else file, "" if whole else schema, name=name, unreadable=unreadable))
    return found


def open_public(named: Sequence[str], engine: Engine) -> dict[str, Table]:
    """Open public tables, each given as name=file; a schema beside the file is used if there is one."""
    from ziggurat.data import read

    opened = {}
    for each in named:
        name, path = split_pair(each, "--public regions=regions.csv")
        beside = _beside(path)
        opened[name] = read(path, beside if beside.is_file() else None, engine=engine)
    return opened


def split_pair(text: str, example: str) -> tuple[str, str]:
    """Split name=value, or say how it is written."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ParameterError(f"{text!r} must be written as name=value, for instance {example}.")
    return name, value
