"""Browsers that are signed in: a cookie of 256 random bits that scripts cannot read, and a second secret for forms.

What changes anything must send the second secret in a header, which a page of another site cannot know: the cookie
alone, which the browser sends along by itself, changes nothing. Signing in always makes a new session, so that nobody
can be given one beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, select

from ziggurat.errors import AccessError, SignInError
from ziggurat.service.access._people import PeopleBook, Person
from ziggurat.service.access._secrets import digest_secret, make_secret, same
from ziggurat.service.store import ServiceStore, browser_sessions, utc_now

COOKIE = "ziggurat_session"
CSRF_HEADER = "X-Ziggurat-Csrf"


@dataclass(frozen=True)
class SignedIn:
    """A browser that has just been signed in: what its cookie holds, and what it sends in forms."""

    secret: str
    csrf: str
    expires: str


class Browsers:
    """The sessions of browsers, kept in the database as hashes."""

    def __init__(self, store: ServiceStore, hours: float = 12) -> None:
        self._store, self._hours = store, hours

    def begin(self, person: Person) -> SignedIn:
        """Sign a browser in."""
        ends = (datetime.now(UTC) + timedelta(hours=self._hours)).isoformat(timespec="microseconds")
        made = SignedIn(make_secret(), make_secret(), ends.replace("+00:00", "Z"))
        row = {
            "digest": digest_secret(made.secret), "csrf": digest_secret(made.csrf), "person": person.id,
            "made": utc_now(), "expires": made.expires,
        }  # fmt: skip
        with self._store.write() as connection:
            connection.execute(delete(browser_sessions).where(browser_sessions.c.expires <= utc_now()))
            connection.execute(browser_sessions.insert().values(**row))
        return made

    def open(self, secret: str, csrf: str | None) -> Person:
        """Say who is signed in; `csrf` is what a request that changes something sent, None for one that only reads."""
        with self._store.read() as connection:
            wanted = browser_sessions.c.digest == digest_secret(secret)
            row = connection.execute(select(browser_sessions).where(wanted)).first()
        if row is None or row.expires <= utc_now():
            raise SignInError("Nobody is signed in here any more; sign in again.")
        if csrf is not None and not same(row.csrf, digest_secret(csrf)):
            raise AccessError("The request does not come from a page of this service; load the page again.")
        found = PeopleBook(self._store).with_id(row.person)
        if not found.active:
            raise SignInError("Nobody is signed in here any more; sign in again.")
        return found

    def end(self, secret: str) -> None:
        """Sign a browser out."""
        with self._store.write() as connection:
            connection.execute(delete(browser_sessions).where(browser_sessions.c.digest == digest_secret(secret)))
