"""People of a service: each has one role, and signs in by a key, a password, a link or their institution."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import ConflictError, LimitError, ParameterError, SignInError, UnknownNameError
from ziggurat.service.access._secrets import make_name
from ziggurat.service.store import ServiceStore, browser_sessions, people, utc_now

ROLES = ("steward", "analyst", "student", "auditor")
"""What somebody is: stewards release, analysts ask, students have queries labelled, auditors verify and see no data."""

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,63}")
_SHORTEST, _LONGEST = 12, 1024  # of passwords
_NOBODY = "$argon2id$v=19$m=65536,t=3,p=4$MDEyMzQ1Njc4OWFiY2RlZg$J8tTP+9DT+kQd7LgcVPPX9sj1G4b7ZxPIGHnWNZqGbM"
_AT_ONCE = 4  # each takes 64 MiB and a good part of a second, and nobody has signed in yet who asks for one
_PATIENCE = 10.0
_CROWDED = "Too many sign in at once; come back in a few seconds."
_effort = BoundedSemaphore(_AT_ONCE)
_line = BoundedSemaphore(3 * _AT_ONCE)  # more than these neither hash nor wait: they would take the threads of all


@dataclass(frozen=True)
class Person:
    """Somebody whom the service knows.

    Attributes
    ----------
    id, name
        What tells them apart; the ledger knows analysts by their name.
    role
        One of `ROLES`.
    chief
        Of a steward: may do everything, to every table and person.
    active
        Whether they may still sign in.
    """

    id: str
    name: str
    role: str
    chief: bool = False
    active: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Give the person as JSON."""
        return {"name": self.name, "role": self.role, "chief": self.chief, "active": self.active}


class PeopleBook:
    """The people of a service, kept in its database."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def add(self, name: str, role: str, *, chief: bool = False, password: str = "", subject: str = "") -> Person:
        """Add somebody.

        Parameters
        ----------
        name
            Small letters, digits, dots, dashes; what grants of the ledger call them.
        role
            One of `ROLES`.
        chief
            Of a steward: whether they may do everything.
        password
            For signing in by a browser; kept as argon2id.
        subject
            What their institution's OpenID Connect calls them.
        """
        if not _NAME.fullmatch(name):
            raise ParameterError(
                "A name begins with a small letter; letters, digits, dots and dashes follow, up to 64."
            )
        if role not in ROLES or (chief and role != "steward"):
            raise ParameterError(f"A role is one of {', '.join(ROLES)}; only stewards can be chief.")
        made = Person(make_name(), name, role, chief)
        row = {
            "id": made.id, "name": name, "role": role, "chief": chief, "active": True, "made": utc_now(),
            "password": _hash(password) if password else None, "subject": subject or None,
        }  # fmt: skip
        taken = False
        with self._store.write() as connection:
            try:
                connection.execute(people.insert().values(**row))
            except IntegrityError:
                taken = True
        if taken:
            raise ConflictError(f"There is a person {name!r} already, or one whom the provider calls so.")
        return made

    def named(self, name: str) -> Person:
        """Find somebody by name."""
        return self._one(people.c.name == name, f"There is no person {name!r}.")

    def with_id(self, identity: str) -> Person:
        """Find somebody by what never changes."""
        return self._one(people.c.id == identity, "There is no such person.")

    def with_subject(self, subject: str) -> Person:
        """Find somebody by what their institution calls them."""
        return self._one(
            people.c.subject == subject, "The provider knows you, but this service does not; ask a steward."
        )

    def all(self) -> list[Person]:
        """Everybody, by name."""
        with self._store.read() as connection:
            return [_person(row) for row in connection.execute(select(people).order_by(people.c.name))]

    def sign_in(self, name: str, password: str) -> Person:
        """Check a password; whether the name, the password or both are wrong is not said, and takes as long."""
        from argon2 import PasswordHasher
        from argon2.exceptions import Argon2Error, InvalidHashError

        with self._store.read() as connection:
            row = connection.execute(select(people).where(people.c.name == name)).first()
        kept = row.password if row is not None and row.password and row.active else _NOBODY
        right = True
        with _exert():
            try:
                PasswordHasher().verify(kept, password[:_LONGEST])
            except (Argon2Error, InvalidHashError):
                right = False
        if row is None or not right or kept == _NOBODY:
            raise SignInError("Name or password is wrong.")
        return _person(row)

    def set_password(self, person: Person, password: str) -> None:
        """Change a password; whoever was signed in under the old one is signed out."""
        hashed = _hash(password)
        with self._store.write() as connection:
            connection.execute(update(people).where(people.c.id == person.id).values(password=hashed))
            connection.execute(delete(browser_sessions).where(browser_sessions.c.person == person.id))

    def set_active(self, person: Person, active: bool) -> None:
        """Let somebody in, or keep them out: keys and browsers of who is not active are refused from now on.

        The last chief steward stays, because nobody could let anybody in any more.
        """
        chiefs = select(people.c.id).where(people.c.chief.is_(True) & people.c.active.is_(True))
        with self._store.write() as connection:
            # Locked, so that of two who keep each other out at the same time one waits, and finds nobody left.
            left = connection.execute(chiefs.order_by(people.c.id).with_for_update()).scalars().all()
            last = person.chief and not active and not set(left) - {person.id}
            if not last:
                connection.execute(update(people).where(people.c.id == person.id).values(active=active))
                connection.execute(delete(browser_sessions).where(browser_sessions.c.person == person.id))
        if last:
            raise ConflictError("The last chief steward stays, because nobody else could let anybody in; add another.")

    def _one(self, where: Any, missing: str) -> Person:
        with self._store.read() as connection:
            row = connection.execute(select(people).where(where)).first()
        if row is None:
            raise UnknownNameError(missing)
        return _person(row)


def _person(row: Any) -> Person:
    return Person(row.id, row.name, row.role, bool(row.chief), bool(row.active))


def _hash(password: str) -> str:
    from argon2 import PasswordHasher

    if not _SHORTEST <= len(password) <= _LONGEST:
        raise ParameterError(f"A password has {_SHORTEST} to {_LONGEST} characters.")
    with _exert():
        return PasswordHasher().hash(password)


@contextmanager
def _exert() -> Iterator[None]:
    """Hash a few passwords at a time: many at once would take the memory of everybody."""
    if not _line.acquire(blocking=False):
        raise LimitError(_CROWDED)
    try:
        if not _effort.acquire(timeout=_PATIENCE):
            raise LimitError(_CROWDED)
        try:
            yield
        finally:
            _effort.release()
    finally:
        _line.release()
