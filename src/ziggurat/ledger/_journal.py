"""The journal: keeps a state in step with a store, and appends to both, one writer at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime

from ziggurat.errors import LedgerCorruptError, LedgerError, ZigguratError
from ziggurat.ledger._chain import Entry, Head, follow, intact, now, timestamp
from ziggurat.ledger._entries import (
    Checkpoint,
    Commit,
    Genesis,
    Hold,
    Record,
    Unbounded,
    WentOn,
    WitnessNamed,
    body_of,
    record_from,
)
from ziggurat.ledger._rules import check
from ziggurat.ledger._state import State
from ziggurat.ledger.checkpoints import EVERY, make_checkpoint, open_checkpoint, point
from ziggurat.ledger.storage import BATCH, Store, Writer
from ziggurat.ledger.witness import Guard, Unfinished

Decide = Callable[[State, datetime], Record | None]


class _Request:
    """Something to be appended, and what came of it."""

    def __init__(self, decide: Decide, beside: str = "") -> None:
        self.decide, self.beside, self.done = decide, beside, False
        self.turn, self.leads = threading.Event(), False
        self._entry: Entry | None = None
        self._error: Exception | None = None

    def settle(self, entry: Entry | None, error: Exception | None) -> None:
        """Say what came of it, and wake whoever asked."""
        self._entry, self._error, self.done = entry, error, True
        self.turn.set()

    def outcome(self) -> Entry | None:
        """Give the entry, or raise what stood in its way."""
        if self._error is not None:
            raise self._error
        return self._entry


class _Apart(Exception):  # noqa: N818 - no error, but news for the journal
    """Something cannot be written together with others; nothing was."""


def _mark(state: State, moment: datetime) -> Checkpoint | None:
    """Make a checkpoint, unless another process just has."""
    due = state.head.seq >= state.base + EVERY
    return make_checkpoint(state, timestamp(moment)) if due else None


class Journal:
    """A store, and the state its entries fold to.

    The state is only ever advanced by entries that are on disk. Before each use, entries that others have appended
    meanwhile are read, checked against the chain and folded; nothing is read twice.
    """

    _state: State
    _version: int | None
    _waiting: list[_Request]
    _led: bool
    _next_mark: int

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

    def append(self, decide: Decide, beside: str = "") -> Entry | None:
        """Append the record that `decide` makes of the newest state; it may make none, or raise.

        When this returns, the entry is on disk, and with it the text of an answer that is kept `beside` the chain. The
        rules are checked while no other writer can come between. Threads that wait for their turn share a transaction,
        and so a sync: whoever comes first writes for all of them.
        """
        request, lock = _Request(decide, beside), self._alone()
        self._enqueue(request)
        try:
            request.turn.wait()
            if not request.done:
                with lock:
                    self._serve()
        finally:
            self._pass_on(request)
        return request.outcome()

    def _enqueue(self, request: _Request) -> None:
        """Wait in line; whoever finds nobody writing writes, and the others wait to be served or to be next."""
        with self._line:
            self._waiting.append(request)
            if not self._led:
                self._led = request.leads = True
                request.turn.set()

    def _pass_on(self, request: _Request) -> None:
        """Leave the line, also when interrupted; whoever wrote for the others lets the next one do so."""
        with self._line:
            if request in self._waiting:
                self._waiting.remove(request)
            if request.leads:
                self._led = bool(self._waiting)
                for following in self._waiting[:1]:
                    following.leads = True
                    following.turn.set()

    def settle(self) -> None:
        """Put back an entry that the witness was told of and that never arrived; what hinders stops the next spend."""
        with suppress(LedgerError), self.current() as state:
            left = self.guard.unfinished(state)
            if left is not None:
                self._put_back(left)

    def _serve(self) -> None:
        """Write for everybody who waits, then a checkpoint if it is time; if that fails it is tried again later."""
        with self._line:
            batch = self._waiting[:]
        # A witness can put back one entry that was announced, not several.
        together = len(batch) > 1 and self._state.witness is None
        for part in [batch] if together else [[request] for request in batch]:
            self._append_part(part)
        if self._state.head.seq >= max(self._state.base + EVERY, self._next_mark):
            self._next_mark = self._state.head.seq + EVERY
            with suppress(LedgerError):
                self._append_part([_Request(_mark)])

    def _append_part(self, part: Sequence[_Request]) -> None:
        """Write in one transaction, and keep what went wrong for those who asked.

        What went wrong may have gone wrong after the commit, so that nothing is tried twice.
        """
        while not part[0].done:
            try:
                self._append_all(part)
            except Unfinished as left:
                self._put_back(left.entry)
            except _Apart:
                for request in part:
                    self._append_part([request])
            except Exception as error:  # noqa: BLE001 - raised to those who asked
                for request in part:
                    request.settle(None, error)

    def _append_all(self, batch: Sequence[_Request]) -> None:
        """Write in one transaction, and tell those who asked when it is on disk."""
        outcomes: list[tuple[_Request, Entry | None, Exception | None]] = []
        last, folded, announced = None, False, False
        try:
            with self.store.writing(self._state.head.seq) as writer:
                self._catch_up()
                # Whoever is interrupted between the commit and the fold must read the entries from disk.
                version, self._version = self._version, None
                for request in batch:
                    if last is not None:
                        folded = True
                        self._fold(*last)
                    last, reason = self._decide(request)
                    outcomes.append((request, None if last is None else last[1], reason))
                    if last is not None:
                        if isinstance(last[0], Commit) and last[0].sha256:
                            writer.keep(last[0].sha256, request.beside)
                        announced = self._write(writer, *last, alone=len(batch) == 1)
        except BaseException as error:
            if folded:
                self._forget()
            if announced and isinstance(error, LedgerError):
                raise type(error)(f"{error} But the witness was told of it, so it will count as spent.") from None
            raise
        if last is not None:
            self._fold(*last)
        self._version = version
        for request, entry, reason in outcomes:
            if entry is not None:
                self.guard.confirm(self._state, entry)
            request.settle(entry, reason)

    def _decide(self, request: _Request) -> tuple[tuple[Record, Entry] | None, Exception | None]:
        """Make the next entry, if the request makes a record of the state and the rules let it pass."""
        moment = now()
        try:
            record, time = request.decide(self._state, moment), timestamp(moment)
            if record is None:
                return None, None
            check(self._state, record, time)
            return (record, follow(self._state.head, time, record.kind, body_of(record))), None
        except Exception as error:  # noqa: BLE001 - raised to whoever asked
            return None, error

    def _write(self, writer: Writer, record: Record, entry: Entry, alone: bool) -> bool:
        """Write an entry, and announce it; a witness can put back one that was announced, not several.

        What bears a mark goes alone as well: whether another one bears it is looked up among entries on the disk.
        """
        watched = self._state.witness is not None or isinstance(record, WitnessNamed)
        marked = isinstance(record, Hold | Unbounded | WentOn) and bool(record.mark)
        if (watched or marked) and not alone:
            raise _Apart
        if isinstance(record, Checkpoint):
            writer.index(point(self._state))
        writer.append(entry)
        if watched:
            writer.settle()
        try:
            return self.guard.announce(self._state, record, entry)
        except (LedgerError, Unfinished):
            if alone:
                raise
            raise _Apart from None

    def _put_back(self, entry: Entry) -> None:
        """Append an announced entry exactly as it was, unless whoever announced it has done so by now."""
        with self.store.writing(self._state.head.seq) as writer:
            self._catch_up()
            if self._state.head == Head(entry.seq - 1, entry.previous):
                record, self._version = self._check(entry), None
                if isinstance(record, WitnessNamed):
                    self.guard.begin(self._state, record, entry)
                if isinstance(record, Checkpoint):
                    writer.index(point(self._state))
                writer.append(entry)

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
        self._line, self._waiting, self._led, self._next_mark = threading.Lock(), [], False, 0
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
        if not self._state.head.seq:
            self._state = self._begin()
        while batch := self._newer():
            for entry in batch:
                self._take(entry)
        self._version = version

    def _begin(self) -> State:
        """Begin with what the newest checkpoint says, if there is one; it must be about the ledger that begins here."""
        found = self.store.newest(Checkpoint.kind)
        if found is None:
            return State()
        pair, first = self.store.entries(found.seq - 1, 2), self.store.entries(1, 1)
        try:
            record = record_from(found.kind, found.body)
            begun = record_from(first[0].kind, first[0].body) if first and intact(first[0]) else None
            linked = len(pair) == 2 and intact(pair[0]) and intact(found) and found.previous == pair[0].hash
            if not linked or pair[1] != found or not isinstance(record, Checkpoint) or not isinstance(begun, Genesis):
                raise LedgerError("does not follow the entry before it")
            state = open_checkpoint(record, Head(found.seq, found.hash))
            if state.ledger != begun.ledger:
                raise LedgerError("is about another ledger")
        except ZigguratError:
            raise LedgerCorruptError(f"{self.store.name} is broken at entry {found.seq}; verify it.") from None
        return state

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
            record = record_from(entry.kind, entry.body)
            if isinstance(record, Checkpoint):
                check(self._state, record, entry.time)
            self._fold(record, entry)
        except ZigguratError:
            raise LedgerCorruptError(f"{self.store.name} makes no sense at entry {entry.seq}; verify it.") from None

    def _fold(self, record: Record, entry: Entry) -> None:
        """Advance the state; if this is interrupted, the state is built anew from disk at the next use."""
        try:
            self._state.apply(record, Head(entry.seq, entry.hash))
        except BaseException:
            self._forget()
            raise
