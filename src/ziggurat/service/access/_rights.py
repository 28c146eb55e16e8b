"""What somebody may do, to which table: asked before every route does anything.

A table that somebody may not see does not exist for them: the answer is the same as for a name that is not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, select

from ziggurat.errors import AccessError, ParameterError, UnknownNameError
from ziggurat.service.access._keys import SCOPES
from ziggurat.service.access._people import Person
from ziggurat.service.store import ServiceStore, rights, tables

MAY = ("ask", "steward")
"""What somebody may do with a table: have it answered, or look after it."""


@dataclass(frozen=True)
class Caller:
    """Who makes a request, and by what.

    Attributes
    ----------
    person
        Who.
    scopes
        What the key is for; a browser is for everything that its person may.
    until
        When the key ends; None if never, and of a browser.
    """

    person: Person
    scopes: tuple[str, ...]
    until: str | None = None

    def require(self, scope: str, roles: Iterable[str] = ()) -> None:
        """Refuse unless the key is for it, and the person has one of these roles."""
        wanted = tuple(roles)
        if wanted and self.person.role not in wanted:
            who = " or ".join(f"{each}s" for each in wanted)
            raise AccessError(f"This is for {who}; ask one of them.")
        if scope not in self.scopes:
            raise AccessError(f"The key is not for this; use one with the scope {scope!r}.")

    def require_all(self) -> None:
        """Refuse a key that is for a part of what its person may, and so must not become all of it."""
        if set(self.scopes) != set(SCOPES):
            raise AccessError("The key is for a part of what you may; sign in with a browser, or use one for all.")

    def require_chief(self) -> None:
        """Refuse unless it is a steward who may do everything."""
        self.require("manage", ("steward",))
        if not self.person.chief:
            raise AccessError("This is for chief stewards; ask one of them.")


class Rights:
    """Who may do what with a table, kept in the database."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def give(self, person: Person, table: str, may: str) -> None:
        """Let somebody ask about a table, or look after it; what they had before is replaced."""
        fits = {"ask": ("analyst", "student", "steward"), "steward": ("steward",)}
        if may not in MAY or person.role not in fits[may]:
            raise ParameterError(
                f"Rights are {' and '.join(MAY)}; only stewards look after a table, and auditors see none."
            )
        with self._store.write() as connection:
            mine = (rights.c.person == person.id) & (rights.c.table_name == table)
            connection.execute(delete(rights).where(mine))
            connection.execute(rights.insert().values(person=person.id, table_name=table, may=may))

    def take(self, person: Person, table: str) -> None:
        """Take away whatever somebody may do with a table."""
        with self._store.write() as connection:
            mine = (rights.c.person == person.id) & (rights.c.table_name == table)
            connection.execute(delete(rights).where(mine))

    def of(self, person: Person) -> dict[str, str]:
        """What somebody may do, by table; one query each, so that a request asks once and looks there."""
        with self._store.read() as connection:
            if person.chief:
                return {row.name: "steward" for row in connection.execute(select(tables.c.name))}
            found = {
                row.table_name: row.may
                for row in connection.execute(select(rights).where(rights.c.person == person.id))
            }
            if person.role == "auditor":
                return {}
            public = connection.execute(select(tables.c.name).where(tables.c.public.is_(True)))
            return {**{row.name: "ask" for row in public}, **found}

    def on(self, table: str) -> dict[str, str]:
        """Who may do what with a table, by the id of the person."""
        with self._store.read() as connection:
            found = connection.execute(select(rights).where(rights.c.table_name == table))
            return {row.person: row.may for row in found}

    def require(self, person: Person, table: str, may: str = "ask") -> None:
        """Refuse unless somebody may do this with a table."""
        require_held(self.of(person), table, may)


def require_held(held: Mapping[str, object], table: str, may: str = "ask") -> None:
    """Refuse unless a table is among those that somebody holds, in the words of a name that is not taken."""
    found = held.get(table)
    if found is None:
        raise UnknownNameError(f"There is no table {table!r} that you may see.")
    if may == "steward" and found != "steward":
        raise AccessError(f"This is for the stewards of {table!r}; ask one of them.")
