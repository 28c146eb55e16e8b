"""Links that sign somebody in once: the first steward's, and those that a steward sends to others."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import select, update

from ziggurat.errors import SignInError
from ziggurat.service.access._people import PeopleBook, Person
from ziggurat.service.access._secrets import digest_secret, make_secret
from ziggurat.service.store import ServiceStore, links, utc_now


class OneTimeLinks:
    """Secrets that work once, and for a while only."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def make(self, person: Person, hours: float = 24) -> str:
        """Make the secret of a link for somebody."""
        secret = make_secret()
        ends = (datetime.now(UTC) + timedelta(hours=hours)).isoformat(timespec="microseconds").replace("+00:00", "Z")
        row = {"digest": digest_secret(secret), "person": person.id, "expires": ends}
        with self._store.write() as connection:
            connection.execute(links.insert().values(**row))
        return secret

    def use(self, secret: str) -> Person:
        """Say whose link it is, and end it; of two who use it at the same time, one is let in."""
        wanted = (links.c.digest == digest_secret(secret)) & links.c.used.is_(None) & (links.c.expires > utc_now())
        with self._store.write() as connection:
            done = connection.execute(update(links).where(wanted).values(used=utc_now())).rowcount
            row = connection.execute(select(links.c.person).where(links.c.digest == digest_secret(secret))).first()
        if not done or row is None:
            raise SignInError("The link is wrong, was used or has ended; ask for a new one.")
        found = PeopleBook(self._store).with_id(row.person)
        if not found.active:
            raise SignInError("The link is wrong, was used or has ended; ask for a new one.")
        return found
