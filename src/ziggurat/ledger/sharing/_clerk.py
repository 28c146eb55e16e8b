"""The clerk: a thread of one process that writes the entries of all, many in one transaction.

It hands what it was asked for to the journal, which decides and commits as it does for threads that wait together: one
after the other, each in the light of those before, under the database's own lock, with one sync before anybody is told.
So a clerk changes nothing of what a ledger promises, and need not be believed to be the only one: another, on another
machine or started by mistake, waits at the same lock as every writer.

A desk is told twice. *Before* its entry is added to the transaction its number and hash are sent to it; if it has gone,
the entry is left out. *After* the commit it gets the entry. What happens if the clerk stops in between is argued in
`_desk`.
"""

from __future__ import annotations

import os
import selectors
import socket
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ziggurat.ledger._chain import Entry
from ziggurat.ledger.sharing._messages import HELLO, NOTHING, Inbox, frame_entry, frame_head
from ziggurat.ledger.sharing._place import leave_place, listen, peer, take_place

IDLE = 1.0
"""For how many seconds nobody else may have asked before a clerk closes."""

_GATHER = 0.0005
"""For how many seconds to wait for those who asked lately, so that they share a sync."""

_RUNNING: weakref.WeakSet[Clerk] = weakref.WeakSet()


class _Visitor:
    """A desk as the clerk sees it."""

    def __init__(self, connection: socket.socket, process: int) -> None:
        connection.setblocking(False)
        self.connection, self._inbox = connection, Inbox(connection)
        self._notes: socket.socket | None = None
        self.foreign, self.here = process != os.getpid(), True

    def read(self) -> list[str]:
        """Read what it asks for."""
        try:
            if self._notes is None:
                self._meet()
            self.here = self._inbox.fill() and self.here
        except BlockingIOError:
            return []
        except OSError:
            self.here = False
        orders: list[str] = []
        while self.here and (text := self._inbox.next()) is not None:
            orders.append(text)
        return orders

    def _meet(self) -> None:
        """Receive the handle on which it wants to have entries announced."""
        _, handles, _, _ = socket.recv_fds(self.connection, len(HELLO), 1, socket.MSG_CMSG_CLOEXEC)
        if not handles:
            raise ConnectionError
        self._notes = socket.socket(fileno=handles[0])
        self._notes.setblocking(False)

    def announce(self, data: bytes) -> bool:
        """Send an announcement; False if it has gone, or wants no more."""
        try:
            self.here = self.here and self._notes is not None and self._notes.send(data) == len(data)
        except OSError:
            self.here = False
        return self.here

    def tell(self, data: bytes) -> None:
        """Send a message without waiting. Whoever got only a part of it is told no more."""
        try:
            self.here = self.here and self.connection.send(data) == len(data)
        except OSError:
            self.here = False

    def sockets(self) -> list[socket.socket]:
        """Give its connections."""
        return [self.connection] if self._notes is None else [self.connection, self._notes]


class Commission:
    """An entry that somebody wants to have written."""

    def __init__(self, visitor: _Visitor, order: str) -> None:
        self.visitor, self.order = visitor, order
        self._announced = False

    def announce(self, entry: Entry) -> bool:
        """Say which entry will be written; False if it must not be, because nobody waits for it."""
        if self._announced:  # something else was announced for it, which has not been written
            self.visitor.here = False
            return False
        self._announced = True
        return self.visitor.announce(frame_head(entry))

    def finish(self, written: Entry | None) -> None:
        """Say that it is on disk, or that it was not begun; in between nothing is said, and the desk has to look."""
        if written is not None:
            self.visitor.tell(frame_entry(written))
        elif not self._announced:
            self.visitor.tell(NOTHING)
        else:
            self.visitor.here = False


class Clerk:
    """A thread that listens at a place, and has `write` see to whatever has been asked for by then."""

    def __init__(
        self, place: Path, handle: int, listening: socket.socket, write: Callable[[Sequence[Commission]], None]
    ) -> None:
        self._place, self._handle, self._listening, self._write = place, handle, listening, write
        self._visitors: dict[int, _Visitor] = {}
        self._latest, self._earlier = set[_Visitor](), set[_Visitor]()
        self._asked, self._stopped = time.monotonic(), False
        self._bell, self._ear = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="ziggurat ledger clerk", daemon=True)
        _RUNNING.add(self)
        self._thread.start()

    @classmethod
    def begin(cls, place: Path, write: Callable[[Sequence[Commission]], None]) -> Clerk | None:
        """Become the clerk at a place; None if there is one, or if that cannot be."""
        handle = take_place(place)
        if handle is None:
            return None
        listening = None
        try:
            listening = listen(place)
            return cls(place, handle, listening, write)
        except (OSError, RuntimeError):
            if listening is not None:
                listening.close()
            leave_place(place, handle)
            return None

    @property
    def running(self) -> bool:
        """Whether it still listens."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Finish what was begun, and close; who asked and was not heard will ask elsewhere."""
        self._stopped = True
        with suppress(OSError):
            self._bell.send(b"!")
        if self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._listening, selectors.EVENT_READ)
            selector.register(self._ear, selectors.EVENT_READ)
            try:
                while not self._stopped and time.monotonic() - self._asked < IDLE:
                    ready = [key.fd for key, _ in selector.select(IDLE)]
                    if self._listening.fileno() in ready:
                        self._welcome(selector)
                    orders = self._gather(selector, self._hear(ready))
                    if orders and not self._stopped:
                        self._write(orders)
                    self._see_off(selector)
            finally:
                self._close()

    def _welcome(self, selector: selectors.BaseSelector) -> None:
        with suppress(OSError):
            connection, _ = self._listening.accept()
            process = peer(connection)
            if process is None:
                connection.close()
                return
            self._visitors[connection.fileno()] = _Visitor(connection, process)
            selector.register(connection, selectors.EVENT_READ)

    def _hear(self, ready: Sequence[int]) -> list[Commission]:
        orders: list[Commission] = []
        for visitor in [self._visitors[number] for number in ready if number in self._visitors]:
            heard = visitor.read()
            orders += [Commission(visitor, text) for text in heard]
            if heard and visitor.foreign:
                self._asked = time.monotonic()
        return orders

    def _gather(self, selector: selectors.BaseSelector, orders: list[Commission]) -> list[Commission]:
        """Wait a moment until all who asked in the last two rounds have asked again."""
        until, regulars = time.monotonic() + _GATHER, self._latest | self._earlier
        while orders and regulars - {each.visitor for each in orders} and (left := until - time.monotonic()) > 0:
            orders += self._hear([key.fd for key, _ in selector.select(left)])
        if orders:
            self._latest, self._earlier = {each.visitor for each in orders}, self._latest
        return orders

    def _see_off(self, selector: selectors.BaseSelector) -> None:
        """Close the connections of those who have gone."""
        for number, visitor in [pair for pair in self._visitors.items() if not pair[1].here]:
            del self._visitors[number]
            selector.unregister(visitor.connection)
            for one in visitor.sockets():
                one.close()

    def _close(self) -> None:
        """Stop listening before leaving the place, so that nobody waits for somebody who has gone."""
        for one in self._sockets():
            one.close()
        handle, self._handle = self._handle, -1
        leave_place(self._place, handle)

    def _sockets(self) -> list[socket.socket]:
        theirs = [one for each in list(self._visitors.values()) for one in each.sockets()]
        return [self._listening, self._bell, self._ear, *theirs]

    def let_go(self) -> None:
        """Close, in a child, what was inherited: it would keep the place and the connections of its parent open."""
        for one in self._sockets():
            with suppress(OSError):
                one.close()
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)


def _let_go() -> None:
    for clerk in list(_RUNNING):
        clerk.let_go()
    _RUNNING.clear()


os.register_at_fork(after_in_child=_let_go)
