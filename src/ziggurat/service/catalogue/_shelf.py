"""The tables of a service, by name: registered once, opened when they are needed, and never changed under a name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.exc import IntegrityError

from ziggurat.data import Column, Provenance, Schema, Table, datasets, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.data.generators import INVENTED, invent
from ziggurat.errors import ConflictError, DataError, EngineError, ParameterError, SchemaError, UnknownNameError
from ziggurat.service.access import Person
from ziggurat.service.catalogue._uploads import UploadFolder
from ziggurat.service.store import ServiceStore, rights, tables, utc_now

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_INVENTED_ROWS = 10_000
_DATABASES = ("postgresql://", "postgres://", "spark:")
_INSIDE = re.compile(r"[\w$ -]+(\.[\w$ -]+){0,2}")  # a path of Spark, which reads files by their names, is none
# What Spark reads elsewhere; a folder of this machine holds what is the service's own.
_FAR = ("abfs://", "abfss://", "gs://", "hdfs://", "s3://", "s3a://")


@dataclass(frozen=True)
class ShelvedTable:
    """What is known of a table without opening it.

    Attributes
    ----------
    name, schema_text
        What questions call it, and what is publicly known of it.
    address, inside
        Where it lies; for stewards' eyes only, and not even they are shown it again.
    population
        Whose account in the ledger pays for it.
    public
        Whether it is no secret, so that it can be joined for nothing.
    slot
        After how many seconds answers about it leave; None for the service's own.
    person, made
        Whose steward brought it, and when.
    """

    name: str
    schema_text: str
    address: str
    inside: str
    population: str
    public: bool
    slot: float | None
    person: str
    made: str

    @cached_property
    def schema(self) -> Schema:
        """What is publicly known of it."""
        return read_schema(self.schema_text)

    def to_dict(self) -> dict[str, Any]:
        """Give what everybody may know who may see the table."""
        view = {"name": self.name, "unit": str(self.schema.unit), "public": self.public, "slot": self.slot}
        return {**view, "population": self.population, "made": self.made}


class TableShelf:
    """The tables of a service; those of one process share an engine.

    Parameters
    ----------
    store
        Where they are listed.
    uploads
        Where files lie that were brought; the engine reads no other file, whatever it is asked.
    memory
        What the engine may use, such as "2GB".
    """

    def __init__(self, store: ServiceStore, uploads: UploadFolder, memory: str = "2GB") -> None:
        self._store, self._uploads = store, uploads
        self._engine = DuckDBEngine()
        self._engine.confine(uploads.folder, memory)
        self._opened: dict[tuple[str, str], Table] = {}
        self._lock = Lock()

    def place(
        self,
        person: Person,
        name: str,
        schema_text: str,
        address: str,
        *,
        inside: str = "",
        population: str = "",
        public: bool = False,
        slot: float | None = None,
    ) -> ShelvedTable:
        """Register a table, once it was opened and every cell checked; a name stands for one table for ever.

        Parameters
        ----------
        person
            Who brings it, and becomes its steward.
        name
            What questions call it.
        schema_text
            What is publicly known of it, as YAML.
        address
            `upload:NAME`, `invented:NAME`, `open:NAME` (a public data set), `postgresql://…`, `spark:` (a table of its
            own) or `spark:s3a://…` and such; no file of this machine.
        inside
            The table of a database.
        population
            Whose account pays; by default one of the table's own name.
        public
            That it is no secret.
        slot
            After how many seconds answers leave.
        """
        if not _NAME.fullmatch(name):
            raise ParameterError("The name of a table begins with a letter; letters, digits and _ follow, up to 64.")
        made = ShelvedTable(
            name, schema_text, address, inside, population or name, public, slot, person.id, utc_now()
        )  # fmt: skip
        self._require_new(name)
        with refuse_damaged(address):
            opened = self._read(made)
            opened.ready()
        row = {each: getattr(made, each) for each in tables.c.keys()}  # noqa: SIM118 - of SQLAlchemy
        taken = False
        with self._store.write() as connection:
            try:
                connection.execute(tables.insert().values(**row))
                connection.execute(rights.insert().values(person=person.id, table_name=name, may="steward"))
            except IntegrityError:
                taken = True
        if taken:
            raise ConflictError(f"There is a table {name!r} already; take another name.")
        with self._lock:
            self._opened[name, made.made] = opened
        return made

    def remove(self, name: str) -> None:
        """Forget a table; its account in the ledger stays, and so do its releases."""
        with self._store.write() as connection:
            connection.execute(delete(rights).where(rights.c.table_name == name))
            connection.execute(delete(tables).where(tables.c.name == name))

    def facts(self, name: str) -> ShelvedTable:
        """What is known of a table without opening it."""
        with self._store.read() as connection:
            row = connection.execute(select(tables).where(tables.c.name == name)).first()
        if row is None:
            raise UnknownNameError(f"There is no table {name!r} that you may see.")
        return ShelvedTable(**row._mapping)

    def all(self, names: Iterable[str]) -> list[ShelvedTable]:
        """What is known of several tables, by name."""
        with self._store.read() as connection:
            wanted = select(tables).where(tables.c.name.in_(sorted(names))).order_by(tables.c.name)
            return [ShelvedTable(**row._mapping) for row in connection.execute(wanted)]

    def about(self, population: str) -> list[ShelvedTable]:
        """What is known of the tables of a population, by name."""
        with self._store.read() as connection:
            wanted = select(tables).where(tables.c.population == population).order_by(tables.c.name)
            return [ShelvedTable(**row._mapping) for row in connection.execute(wanted)]

    def open(self, name: str, known: ShelvedTable | None = None) -> Table:
        """Open a table: planned with by its schema, and checked whole before the first thing is paid.

        Parameters
        ----------
        name
            What questions call it.
        known
            What is known of it, where that was looked up already.
        """
        facts = known or self.facts(name)
        with self._lock:
            found = self._opened.get((name, facts.made))
            if found is None:
                found = self._opened[name, facts.made] = self._read(facts)
        return found

    def file_of(self, facts: ShelvedTable) -> str:
        """Where a table lies, in the words of `read`: a file, an address, or the name of an open one."""
        kind, _, rest = facts.address.partition(":")
        if kind == "upload":
            return str(self._uploads.place(facts.person, rest))
        return rest if kind in ("invented", "open") else facts.address

    def _read(self, facts: ShelvedTable) -> Table:
        kind, _, rest = facts.address.partition(":")
        if kind == "upload":
            return read(self.file_of(facts), facts.schema, engine=self._engine, later=True)
        if kind == "invented" and rest in INVENTED:
            return read(invent(rest, _INVENTED_ROWS, 0)[0], facts.schema, engine=self._engine)
        if kind == "open" and rest in datasets.names():
            return read(datasets.load(rest), facts.schema, engine=self._engine)
        if facts.address.startswith(_DATABASES):
            _require_far(facts)
            return read(facts.address, facts.schema, table=facts.inside or None, later=True)
        raise ParameterError(
            "A table lies at upload:NAME, invented:NAME, open:NAME, postgresql://… or spark:…; say which."
        )

    def _require_new(self, name: str) -> None:
        with self._store.read() as connection:
            if connection.execute(select(tables.c.name).where(tables.c.name == name)).first() is not None:
                raise ConflictError(f"There is a table {name!r} already; take another name.")


@contextmanager
def refuse_damaged(address: str) -> Iterator[None]:
    """Call a file that cannot be read by what it is: the engine lives, and trying again would not help."""
    said = ""
    try:
        yield
    except EngineError as error:
        if not address.startswith("upload:"):
            raise
        said = str(error)
    if said:
        raise DataError(said)


def _require_far(facts: ShelvedTable) -> None:
    """Refuse addresses that lead to files of this machine."""
    if facts.inside and not _INSIDE.fullmatch(facts.inside):
        raise ParameterError("The table of a database is named 'table', 'schema.table' or 'catalog.schema.table'.")
    kind, _, rest = facts.address.partition(":")
    if kind == "spark" and rest and not rest.startswith(_FAR):
        raise ParameterError(
            f"Spark reads its own tables here (spark: with the table inside), and {', '.join(_FAR)}; no file of the "
            "machine of the service: send it as an upload."
        )


@lru_cache(maxsize=256)
def read_schema(text: str) -> Schema:
    """Read a schema that somebody sent: the text itself, which never names a file of this machine."""
    if ": " not in text and ":\n" not in text:
        raise SchemaError("A schema is YAML, such as 'columns: …'; send its text.")
    return Schema.from_yaml(text + "\n")


def show_public(table: Table) -> Schema:
    """What everybody may know of a table as a schema: no code for missing values, and nothing learned from cells."""
    return replace(table.schema, columns=tuple(_show_column(each) for each in table.schema.columns), file=None)


def _show_column(column: Column) -> Column:
    known = {name: getattr(column, name) for name in ("bounds", "categories", "sequence")}
    hidden: dict[str, Any] = {
        name: None for name, each in known.items() if each is not None and each.provenance is not Provenance.PUBLIC
    }
    return replace(column, missing=(), hierarchy=None, written=None, labels=(), **hidden)
