"""Requests that are sent again after a lost connection: done once, told as often as asked.

Promise: of requests of one person under one key, one is done. What it answered, its refusal too, is kept and told
again, byte for byte; one that came while it is being done is told to wait. If the process that did it has died, the
next one goes on: what was reserved is taken up, and nothing is paid a second time.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import delete, select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import ConflictError, ParameterError, PendingError
from ziggurat.service.access import Person
from ziggurat.service.store import ServiceStore, repeats, utc_now, workers

_KEY = re.compile(r"[A-Za-z0-9._:-]{8,80}")
_KEPT_DAYS = 7
_SILENT_SECONDS = 15


@dataclass(frozen=True)
class Repeated:
    """What was answered before."""

    status: int
    body: str


class Repeats:
    """Which requests were done, kept in the database.

    Parameters
    ----------
    store
        Where.
    worker
        What this process is called among those of the service.
    """

    def __init__(self, store: ServiceStore, worker: str) -> None:
        self._store, self._worker = store, worker

    def begin(self, person: Person, key: str, request: Any) -> Repeated | None:
        """Begin a request, or give what it was answered before.

        Raises
        ------
        PendingError
            It is being done right now.
        ConflictError
            Another request had this key.
        """
        if not _KEY.fullmatch(key):
            raise ParameterError("An Idempotency-Key has 8 to 80 letters, digits, dots, colons and dashes.")
        digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        row = {"person": person.id, "key": key, "request": digest, "worker": self._worker, "made": utc_now()}
        with self._store.write() as connection:
            try:
                with connection.begin_nested():
                    connection.execute(repeats.insert().values(**row))
                return None
            except IntegrityError:
                held = connection.execute(select(repeats).where(_is(person, key))).one()
            if held.request != digest:
                raise ConflictError("Another request had this Idempotency-Key; send a new one.")
            if held.body is not None:
                return Repeated(held.status, held.body)
            beat = connection.execute(select(workers.c.beat).where(workers.c.name == held.worker)).scalar()
            if held.worker != self._worker and (beat is None or beat < _ago(seconds=_SILENT_SECONDS)):
                connection.execute(update(repeats).where(_is(person, key)).values(worker=self._worker))
                return None
        raise PendingError("This request is being done right now; send it again in a moment, with the same key.")

    def end(self, person: Person, key: str, status: int, body: str) -> None:
        """Keep what a request was answered."""
        with self._store.write() as connection:
            connection.execute(update(repeats).where(_is(person, key)).values(status=status, body=body))

    def forget(self, person: Person, key: str) -> None:
        """Let a request be done anew: it failed before anything was decided."""
        with self._store.write() as connection:
            connection.execute(delete(repeats).where(_is(person, key) & repeats.c.body.is_(None)))

    def clear(self) -> int:
        """Forget what is old; gives how many."""
        with self._store.write() as connection:
            return int(connection.execute(delete(repeats).where(repeats.c.made < _ago(days=_KEPT_DAYS))).rowcount)


def _is(person: Person, key: str) -> Any:
    return (repeats.c.person == person.id) & (repeats.c.key == key)


def _ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat(timespec="microseconds").replace("+00:00", "Z")
