"""What has left a service, and who may have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select, update

from ziggurat.errors import UnknownNameError
from ziggurat.service.access import Person, Rights
from ziggurat.service.store import ServiceStore, releases, tables, utc_now


@dataclass(frozen=True)
class ShelvedRelease:
    """What is known of a release.

    Attributes
    ----------
    id, table, kind, what
        What it is called, which table it is about, and what left.
    bundle
        Where its bundle lies, from the folder of the service.
    open
        Whether everybody who may see the table may have its public part.
    person, made
        Who asked for it, and when it left.
    """

    id: str
    table: str
    kind: str
    what: str
    bundle: str
    open: bool
    person: str
    made: str

    def to_dict(self) -> dict[str, Any]:
        """Give what everybody may know who may have it."""
        return {name: getattr(self, name) for name in ("id", "table", "kind", "what", "open", "made")}


class ReleaseShelf:
    """The releases of a service; jobs put them there when they end.

    Parameters
    ----------
    store
        Where they are listed.
    rights
        Who may see which table.
    """

    def __init__(self, store: ServiceStore, rights: Rights) -> None:
        self._store, self._rights = store, rights

    def all(self, person: Person, table: str | None = None) -> list[ShelvedRelease]:
        """What somebody may have, newest first."""
        held = self._rights.of(person)
        names = sorted(held) if table is None else [table] if table in held else []
        wanted = _about_this_table().where(releases.c.table_name.in_(names) & (releases.c.made <= utc_now()))
        with self._store.read() as connection:
            found = [_release(row) for row in connection.execute(wanted.order_by(releases.c.made.desc()))]
        return [each for each in found if _may_have(person, held, each)]

    def find(self, person: Person, identity: str) -> ShelvedRelease:
        """Find a release that somebody may have; others do not exist."""
        wanted = _about_this_table().where((releases.c.id == identity) & (releases.c.made <= utc_now()))
        with self._store.read() as connection:
            row = connection.execute(wanted).first()
        if row is None or not _may_have(person, self._rights.of(person), _release(row)):
            raise UnknownNameError("There is no such release that you may have.")
        return _release(row)

    def set_open(self, identity: str, everybody: bool) -> None:
        """Say whether everybody who may see the table may have the public part."""
        with self._store.write() as connection:
            connection.execute(update(releases).where(releases.c.id == identity).values(open=everybody))


def _about_this_table() -> Any:
    """Releases of tables that are still there; those of one that was forgotten are not another's of its name."""
    same = (releases.c.table_name == tables.c.name) & (tables.c.made <= releases.c.made)
    return select(releases).join(tables, same)


def _may_have(person: Person, held: dict[str, str], release: ShelvedRelease) -> bool:
    may = held.get(release.table)
    return may == "steward" or (may is not None and (release.open or release.person == person.id))


def _release(row: Any) -> ShelvedRelease:
    return ShelvedRelease(
        row.id, row.table_name, row.kind, row.what, row.bundle, bool(row.open), row.person, row.made
    )  # fmt: skip
