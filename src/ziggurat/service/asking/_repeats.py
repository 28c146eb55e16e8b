"""Requests that are sent again after a lost connection: done once, told as often as asked.

Promise: of requests of one person under one key, one is done. What it answered, its refusal too, is kept and told
again, byte for byte; one that came while it is being done is told to wait. If the process that did it has died, the
next one goes on: what was reserved is taken up, and nothing is paid a second time.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import Connection, delete, select, update
from sqlalchemy.exc import IntegrityError

from ziggurat.errors import ConflictError, ParameterError, PendingError
from ziggurat.ledger import LedgerMark
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


@dataclass(frozen=True)
class Begun:
    """A request that is to be done now, and the mark by which the ledger knows what was paid for it already."""

    mark: LedgerMark


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
        self._doing: set[tuple[str, str]] = set()
        self._lock = Lock()  # what the database says of this process and what it does itself change together

    def begin(self, person: Person, key: str, request: Any, fresh: LedgerMark) -> Repeated | Begun:
        """Begin a request, or give what it was answered before.

        Parameters
        ----------
        person, key
            Whose request, and under which key.
        request
            What is asked, as JSON; a key stands for one request.
        fresh
            The mark of what will be paid, if it is begun for the first time; else that of then is given.

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
        with self._lock:
            with self._store.write() as connection:
                found = self._find(connection, person, key, digest, fresh)
            if isinstance(found, Begun):
                self._doing.add((person.id, key))
        return found

    def _find(
        self, connection: Connection, person: Person, key: str, digest: str, fresh: LedgerMark
    ) -> Repeated | Begun:
        written = json.dumps(fresh.to_dict())
        row = {"person": person.id, "key": key, "request": digest, "worker": self._worker, "made": utc_now()}
        try:
            with connection.begin_nested():
                connection.execute(repeats.insert().values(**row, mark=written))
            return Begun(fresh)
        except IntegrityError:
            held = connection.execute(select(repeats).where(_is(person, key))).first()
        if held is not None and held.request != digest:
            raise ConflictError("Another request had this Idempotency-Key; send a new one.")
        if held is not None and held.body is not None:
            return Repeated(held.status, held.body)
        if held is None or not self._is_left(connection, held):
            raise PendingError("This request is being done right now; send it again in a moment, with the same key.")
        # Of several who find it left, one changes the row that the others saw.
        mine = _is(person, key) & (repeats.c.worker == held.worker) & repeats.c.body.is_(None)
        taken = {"worker": self._worker, "made": utc_now()}
        if not connection.execute(update(repeats).where(mine).values(**taken)).rowcount:
            raise PendingError("This request is being done right now; send it again in a moment, with the same key.")
        return Begun(LedgerMark.from_dict(json.loads(held.mark)))

    def _is_left(self, connection: Connection, held: Any) -> bool:
        """Whether nobody does a request any more: its process has been silent, or it is this one and does not."""
        if held.worker == self._worker:
            return (held.person, held.key) not in self._doing
        beat = connection.execute(select(workers.c.beat).where(workers.c.name == held.worker)).scalar()
        return beat is None or beat < _ago(seconds=_SILENT_SECONDS)

    def end(self, person: Person, key: str, status: int, body: str) -> Repeated:
        """Keep what a request was answered, and give what is to be told.

        That is something else only if this process was thought dead, and another one has answered meanwhile.
        """
        with self._leave(person, key) as connection:
            open_yet = _is(person, key) & repeats.c.body.is_(None)
            if connection.execute(update(repeats).where(open_yet).values(status=status, body=body)).rowcount:
                return Repeated(status, body)
            held = connection.execute(select(repeats).where(_is(person, key))).first()
        return Repeated(status, body) if held is None else Repeated(held.status, held.body)

    def forget(self, person: Person, key: str) -> None:
        """Let a request be done anew: it was refused before anything can have been paid."""
        mine = _is(person, key) & repeats.c.body.is_(None) & (repeats.c.worker == self._worker)
        with self._leave(person, key) as connection:
            connection.execute(delete(repeats).where(mine))

    def let_go(self, person: Person, key: str) -> None:
        """Let the next one go on, under the same mark: it failed, and something may have been paid all the same."""
        mine = _is(person, key) & repeats.c.body.is_(None) & (repeats.c.worker == self._worker)
        with self._leave(person, key) as connection:
            connection.execute(update(repeats).where(mine).values(worker=""))

    @contextmanager
    def _leave(self, person: Person, key: str) -> Iterator[Connection]:
        """Change the row of a request that this process does no more; before it is forgotten here nobody begins it."""
        with self._lock:
            try:
                with self._store.write() as connection:
                    yield connection
            finally:
                self._doing.discard((person.id, key))

    def clear(self) -> int:
        """Forget what is old; gives how many."""
        with self._store.write() as connection:
            return int(connection.execute(delete(repeats).where(repeats.c.made < _ago(days=_KEPT_DAYS))).rowcount)


def _is(person: Person, key: str) -> Any:
    return (repeats.c.person == person.id) & (repeats.c.key == key)


def _ago(**span: float) -> str:
    return (datetime.now(UTC) - timedelta(**span)).isoformat(timespec="microseconds").replace("+00:00", "Z")
