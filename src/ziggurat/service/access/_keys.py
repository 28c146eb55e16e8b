"""Keys of programs: shown once, kept as a hash, with what they are for and until when; they can be revoked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update

from ziggurat.errors import ParameterError, SignInError, UnknownNameError
from ziggurat.service.access._people import Person
from ziggurat.service.access._secrets import digest_secret, make_name, make_secret, same
from ziggurat.service.store import ServiceStore, keys, people, utc_now

SCOPES = ("read", "spend", "manage")
"""What a key is for: looking, spending what its person was granted, and a steward's work."""

_MARK = "zig"
_LONGEST_LABEL = 80


@dataclass(frozen=True)
class ApiKey:
    """What is known of a key; never the key.

    Attributes
    ----------
    id, label
        What tells it apart.
    scopes
        What it is for, of `SCOPES`.
    made, expires, revoked
        When; None if never.
    """

    id: str
    label: str
    scopes: tuple[str, ...]
    made: str
    expires: str | None = None
    revoked: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "id": self.id, "label": self.label, "scopes": list(self.scopes), "made": self.made,
            "expires": self.expires, "revoked": self.revoked,
        }  # fmt: skip


class KeyRing:
    """The keys of a service, kept in its database."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def make(
        self,
        person: Person,
        label: str,
        scopes: Iterable[str] = SCOPES,
        days: float | None = 365,
        latest: str | None = None,
    ) -> tuple[ApiKey, str]:
        """Make a key; gives what is known of it, and the key, which is not kept.

        Parameters
        ----------
        person
            Whose it is.
        label
            What it is for, in words.
        scopes
            What it may be used for.
        days
            For how long; None for as long as it is not revoked.
        latest
            When it ends whatever was said: the end of the key that asks for it, which it does not outlive.
        """
        wanted = tuple(each for each in SCOPES if each in set(scopes))
        if not wanted or not set(scopes) <= set(SCOPES):
            raise ParameterError(f"A key is for some of {', '.join(SCOPES)}.")
        if not label.strip() or not label.isprintable() or len(label) > _LONGEST_LABEL:
            raise ParameterError(f"Say what the key is for, in at most {_LONGEST_LABEL} printable characters.")
        if days is not None and not 0 < days <= 36_500:
            raise ParameterError("A key lasts for more than no days, and at most 36500.")
        secret, made = make_secret(), utc_now()
        ends = [each for each in (None if days is None else _later(days), latest) if each is not None]
        expires = min(ends, default=None)
        kept = ApiKey(make_name(), label, wanted, made, expires)
        row = {**kept.to_dict(), "person": person.id, "digest": digest_secret(secret), "scopes": ",".join(wanted)}
        with self._store.write() as connection:
            connection.execute(keys.insert().values(**row))
        return kept, f"{_MARK}_{kept.id}_{secret}"

    def open(self, given: str) -> tuple[Person, ApiKey]:
        """Say whose key it is; one that is wrong, ended or revoked is refused in the same words."""
        identity, secret = _split(given)
        with self._store.read() as connection:
            joined = keys.join(people, keys.c.person == people.c.id)
            columns = (keys, people.c.name, people.c.role, people.c.chief, people.c.active)
            row = connection.execute(select(*columns).select_from(joined).where(keys.c.id == identity)).first()
        digest = digest_secret(secret)
        right = same(digest if row is None else row.digest, digest) and row is not None
        if not right or row is None or row.revoked or not row.active or (row.expires and row.expires <= utc_now()):
            raise SignInError("The key is wrong, has ended or was revoked; ask for a new one.")
        return Person(row.person, row.name, row.role, bool(row.chief), bool(row.active)), _key(row)

    def of(self, person: Person) -> list[ApiKey]:
        """All keys of somebody, oldest first."""
        with self._store.read() as connection:
            found = connection.execute(select(keys).where(keys.c.person == person.id).order_by(keys.c.made))
            return [_key(row) for row in found]

    def revoke(self, person: Person, identity: str) -> None:
        """End a key, from the next request on."""
        with self._store.write() as connection:
            wanted = (keys.c.id == identity) & (keys.c.person == person.id)
            ended = func.coalesce(keys.c.revoked, utc_now())  # one that was revoked before stays so since then
            done = connection.execute(update(keys).where(wanted).values(revoked=ended))
        if not done.rowcount:
            raise UnknownNameError("There is no such key.")


def _split(given: str) -> tuple[str, str]:
    mark, _, rest = given.partition("_")
    identity, _, secret = rest.partition("_")
    if mark != _MARK:
        return "", given
    return identity, secret


def _key(row: Any) -> ApiKey:
    return ApiKey(row.id, row.label, tuple(row.scopes.split(",")), row.made, row.expires, row.revoked)


def _later(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat(timespec="microseconds").replace("+00:00", "Z")
