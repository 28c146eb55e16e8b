"""The journal: keeps a state in step with a store, and appends to both, one writer at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime

from ziggurat.errors import LedgerCorruptError, LedgerError, ZigguratError
from ziggurat.ledger._chain import Entry, Head, follow, intact, now, timestamp
from ziggurat.ledger._entries import Record, WitnessNamed, body_of, record_from
from ziggurat.ledger._rules import check
from ziggurat.ledger._state import State
from ziggurat.ledger.storage import BATCH, Store
from ziggurat.ledger.witness import Guard, Unfinished

Decide = Callable[[State, datetime], Record | None]


class Journal:
    """A store, and the state its entries fold to.

    The state is only ever advanced by entries that are on disk. Before each use, entries that others have appended
    meanwhile are read, checked against the chain and folded; nothing is read twice.
    """

    _state: State
    _version: int | None

    def __init__(self, store: Store, throwaway: bool = False) -> None:
        self.store, self.guard = store, Guard(store.place, store.after, throwaway)
        self._renew()
        with self.current():
            pass
        for what in store.oddities():
            raise LedgerCorruptError(f"{store.name} {what}; verify it.")

    @contextmanager
    def current(self) -> Iterator[State]:
        """Give the state of everything committed by now."""
        with self._alone():
            self._catch_up()
            yield self._state

    @property
    def seen(self) -> State:
        """The state as last seen, for guesses that may be out of date."""
        return self._state

    def append(self, decide: Decide) -> Entry | None:
        """Append the record that `decide` makes of the newest state; it may make none, or raise.

        When this returns, the entry is on disk. The rules are checked while no other writer can come between.
        """
        with self._alone():
            while True:
                try:
                    return self._append(decide)
                except Unfinished as left:
                    self._put_back(left.entry)

    def settle(self) -> None:
        """Put back an entry that the witness was told of and that never arrived; what hinders stops the next spend."""
        with suppress(LedgerError), self.current() as state:
            left = self.guard.unfinished(state)
            if left is not None:
                self._put_back(left)

    def _append(self, decide: Decide) -> Entry | None:
        announced = False
        try:
            with self.store.writing() as write:
                self._catch_up()
                moment = now()
                record, time = decide(self._state, moment), timestamp(moment)
                if record is None:
                    return None
                # Whoever is interrupted between the commit and the fold must read the entry from disk.
                version, self._version = self._version, None
                check(self._state, record, time)
                entry = follow(self._state.head, time, record.kind, body_of(record))
                write(entry)
                announced = self.guard.announce(self._state, record, entry)
        except LedgerError as error:
            if announced:
                raise type(error)(f"{error} But the witness was told of it, so it will count as spent.") from None
            raise
        self._fold(record, entry)
        self._version = version
        self.guard.confirm(self._state, entry)
        return entry

    def _put_back(self, entry: Entry) -> None:
        """Append an announced entry exactly as it was, unless whoever announced it has done so by now."""
        with self.store.writing() as write:
            self._catch_up()
            if self._state.head == Head(entry.seq - 1, entry.previous):
                record, self._version = self._check(entry), None
                if isinstance(record, WitnessNamed):
                    self.guard.begin(self._state, record, entry)
                write(entry)

    def _check(self, entry: Entry) -> Record:
        try:
            record = record_from(entry.kind, entry.body)
            check(self._state, record, entry.time)
        except ZigguratError:
            raise LedgerCorruptError(
                f"The witness was told of an entry {entry.seq} that {self.store.name} cannot take; verify it."
            ) from None
        return record

    def _alone(self) -> AbstractContextManager[bool]:
        """Give the lock; a child process starts afresh, since a fork may catch its parent in the middle of anything."""
        if self._process != os.getpid():
            self._renew()
        return self._lock

    def _renew(self) -> None:
        self._process, self._lock = os.getpid(), threading.RLock()
        self._forget()

    def _forget(self) -> None:
        """Let go of what was read, so that the state is built anew from disk at the next use."""
        self._state, self._version = State(), None

    def _catch_up(self) -> None:
        version = self.store.version()
        if version is not None and version == self._version:
            return
        # Forgotten until all is read: whoever fails half-way must look again.
        self._version = None
        while batch := self._newer():
            for entry in batch:
                self._take(entry)
        self._version = version

    def _newer(self) -> list[Entry]:
        """Read what follows the head, and the head itself to see that it is still the same."""
        head = self._state.head
        batch = self.store.entries(head.seq, BATCH)
        if head.seq and (not batch or (batch[0].seq, batch[0].hash) != (head.seq, head.hash)):
            self._forget()
            raise LedgerCorruptError(
                f"{self.store.name} has lost or changed entry {head.seq} while it was open; verify it."
            )
        return batch[1:] if head.seq else batch

    def _take(self, entry: Entry) -> None:
        head = self._state.head
        if entry.seq != head.seq + 1 or entry.previous != head.hash or not intact(entry):
            raise LedgerCorruptError(f"{self.store.name} is broken at entry {head.seq + 1}; verify it.")
        try:
            self._fold(record_from(entry.kind, entry.body), entry)
        except ZigguratError:
            raise LedgerCorruptError(f"{self.store.name} makes no sense at entry {entry.seq}; verify it.") from None

    def _fold(self, record: Record, entry: Entry) -> None:
        """Advance the state; if this is interrupted, the state is built anew from disk at the next use."""
        try:
            self._state.apply(record, Head(entry.seq, entry.hash))
        except BaseException:
            self._forget()
            raise
