"""The journal: keeps a state in step with a store, and appends to both, one writer at a time."""

from __future__ import annotations

import os
import threading
import time
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
from ziggurat.ledger.sharing import KEEN, Commission, Decide, Desk, Doubt
from ziggurat.ledger.storage import BATCH, Store, Writer
from ziggurat.ledger.witness import Guard, Unfinished

Understand = Callable[[Sequence[str]], Sequence[Decide | None]]
"""Reads what other processes want to have written; None for what cannot be read."""


class _Request:
    """Something to be appended, and what came of it."""

    def __init__(self, decide: Decide, beside: str = "") -> None:
        self.decide, self.beside, self.done = decide, beside, False
        self.turn, self.leads = threading.Event(), False
        self.begun: Head | None = None  # what was about to be written for it when its writer was last heard of
        self._entry: Entry | None = None
        self._error: Exception | None = None

    def announce(self, entry: Entry) -> bool:  # noqa: ARG002 - for whoever is in another process
        """Say which entry is about to be written; False if nobody waits for it any more."""
        return True

    def settle(self, entry: Entry | None, error: Exception | None) -> None:
        """Say what came of it, and wake whoever asked."""
        self._entry, self._error, self.done = entry, error, True
        self.turn.set()

    def outcome(self) -> Entry | None:
        """Give the entry, or raise what stood in its way."""
        if self._error is not None:
            raise self._error
        return self._entry


class _Commissioned(_Request):
    """A request of another process. What hinders it is not told: that process will try itself, and see."""

    def __init__(self, decide: Decide, commission: Commission) -> None:
        super().__init__(decide)
        self.commission = commission

    def announce(self, entry: Entry) -> bool:
        """Tell the other process."""
        return self.commission.announce(entry)

    def settle(self, entry: Entry | None, error: Exception | None) -> None:
        """Tell the other process."""
        super().settle(entry, error)
        self.commission.finish(entry)


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
    _looked: float
    _desk: Desk
    _next_mark: int

    def __init__(self, store: Store, throwaway: bool = False, understand: Understand | None = None) -> None:
        self.store, self.guard = store, Guard(store.place, store.after, throwaway)
        self._understand, self._throwaway = understand, throwaway
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

    def append(self, decide: Decide, beside: str = "", order: Callable[[], str | None] | None = None) -> Entry | None:
        """Append the record that `decide` makes of the newest state; it may make none, or raise.

        When this returns, the entry is on disk, and with it the text of an answer that is kept `beside` the chain. The
        rules are checked while no other writer can come between. Threads that wait for their turn share a transaction,
        and so a sync: whoever comes first writes for all of them. What has an `order`, which tells another process what
        `decide` would, is left to the clerk while several processes write.
        """
        if order is not None and self._desk.keen and self._process == os.getpid():
            entry = self._ask(order())
            if entry is not None:
                return entry
        request, lock = _Request(decide, beside), self._alone()
        self._enqueue(request)
        try:
            request.turn.wait()
            if not request.done:
                with lock:
                    if not request.done:
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

    def close(self) -> None:
        """Write for nobody else, and let go of the witness and the database."""
        if self._process == os.getpid():
            self._desk.close()
        self.guard.close()
        self.store.close()

    @property
    def helped(self) -> bool:
        """Whether another process writes what this one wants to have written."""
        return self._desk.keen

    def _ask(self, order: str | None) -> Entry | None:
        """Have the clerk write an entry; None if it did not and we must. Who watches is told by each for himself."""
        if order is None or self._state.witness is not None:
            return None
        try:
            entry = self._desk.ask(order, self._write_for_others)
        except Doubt as doubt:
            return self._find(doubt.head)
        if entry is not None and not intact(entry):
            raise LedgerCorruptError(f"{self.store.name} was written by a process that went wrong; verify it.")
        return entry

    def _find(self, head: Head) -> Entry | None:
        """Find an entry by number and hash, once nobody is writing who might still add it."""
        with self._alone(), self.store.writing(head.seq):
            found = self.store.entries(head.seq, 1)
        return found[0] if found and (found[0].seq, found[0].hash) == head else None

    def _write_for_others(self, commissions: Sequence[Commission]) -> None:
        """Write what other processes want to have written, with what waits here, as the clerk."""
        requests: list[_Commissioned] = []
        with self._alone():
            if self._state.witness is None and self._understand is not None:
                read = self._understand([each.order for each in commissions])
                pairs = zip(read, commissions, strict=True)
                requests = [_Commissioned(decide, each) for decide, each in pairs if decide is not None]
                self._serve(requests)
        # Whoever asked for what was not written will try himself, and see.
        written = {request.commission for request in requests if request.done}
        for commission in commissions:
            if commission not in written:
                commission.finish(None)

    def settle(self) -> None:
        """Put back an entry that the witness was told of and that never arrived; what hinders stops the next spend."""
        with suppress(LedgerError), self.current() as state:
            left = self.guard.unfinished(state)
            if left is not None:
                self._put_back(left)

    def _serve(self, others: Sequence[_Request] = ()) -> None:
        """Write for everybody who waits, then a checkpoint if it is time; if that fails it is tried again later."""
        with self._line:
            asked = [request for request in (*self._waiting, *others) if not request.done]
        for request in asked:
            self._look_up(request)
        batch = [request for request in asked if not request.done]
        # A witness can put back one entry that was announced, not several.
        together = len(batch) > 1 and self._state.witness is None
        for part in [batch] if together else [[request] for request in batch]:
            self._append_part(part)
        if self._state.head.seq >= max(self._state.base + EVERY, self._next_mark):
            self._next_mark = self._state.head.seq + EVERY
            with suppress(LedgerError):
                self._append_part([_Request(_mark)])

    def _look_up(self, request: _Request) -> None:
        """Find what was written by somebody who was interrupted before saying so; then it is not written again."""
        if request.begun is None:
            return
        try:
            found = self._find(request.begun)
        except LedgerError as error:
            request.settle(None, error)
        else:
            if found is not None:
                request.settle(found, None)

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
        last, folded, announced, known = None, False, False, self._state.head.seq
        try:
            with self.store.writing(self._state.head.seq) as writer:
                self._catch_up()
                self._look_round(known)
                # Whoever is interrupted between the commit and the fold must read the entries from disk.
                version, self._version = self._version, None
                for request in batch:
                    if last is not None:
                        folded = True
                        self._fold(*last)
                    last, reason = self._decide(request)
                    if last is not None and not request.announce(last[1]):
                        last = None
                    outcomes.append((request, None if last is None else last[1], reason))
                    if last is not None:
                        request.begun = Head(last[1].seq, last[1].hash)
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

    def _look_round(self, known: int) -> None:
        """See whether others have written since we last looked, not long ago: then a clerk would save time."""
        others = known and self._state.head.seq > known and self._understand is not None
        if others and time.monotonic() - self._looked < KEEN:
            self._desk.notice()
        self._looked = time.monotonic()

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
        names, self._looked = self.store.names(), 0.0
        self._desk = Desk((*names, str(self._throwaway)) if names else (), self.store.patience)
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
