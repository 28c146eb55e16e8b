"""The desk: where a process asks the clerk to write an entry for it, or becomes the clerk itself.

A process asks only after it has seen others write at the same time, and whatever goes wrong it writes by itself, under
the database's lock, as if there were no clerk. So a clerk saves time and decides nothing.

Formal guarantee: an entry asked for is written once or not at all, and the desk learns which, whoever is stopped when.

- *Told that it is done*: the clerk says so after the commit, which has synced. Nobody is told of what is not on disk.
- *Told no, or the connection ended before an entry was announced*: the clerk adds an entry to a transaction only after
  announcing it, and what it has sent can be read although it was killed. So none was added. If the clerk lives and the
  connection was closed from here, its announcement fails, and it leaves the entry out: none will be added.
- *The connection ended after an entry was announced*: this is `Doubt`. The transaction is over when we hold the lock of
  the database, since it is held until the commit is on disk and seen by all. The entry is then in the chain, with the
  hash that was announced, or it is not and will never be: no entry is added without a new announcement. Its hash binds
  its number and everything before it, so that nobody else's entry is taken for it.

Between desk and clerk an answer may be lost and an entry never; an entry whose desk is killed stays spent.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.ledger._chain import Entry, Head
from ziggurat.ledger.sharing._messages import HEAD, HELLO, LENGTH, LONGEST, frame, read_entry, read_head
from ziggurat.ledger.sharing._place import find_place, reach

if TYPE_CHECKING:
    from ziggurat.ledger.sharing._clerk import Clerk, Commission

KEEN = 1.0
"""For how many seconds a process asks for a clerk after it has seen others write, or one has written for it."""
SILENCE = 2.0
"""After how many seconds without a word a clerk is taken for stopped; then everybody writes without it for a while."""
_AWAY = 30.0  # seconds
_TRIES, _PAUSE = 20, 0.001  # seconds; a clerk needs less to begin


class Doubt(Exception):  # noqa: N818 - no error, but news for the journal
    """The clerk has gone after it announced an entry; whether it is there must be looked up."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head


class _Line:
    """A connection to a clerk, and one on which it announces what it is about to write.

    Nobody waits at the second: what comes there is read when it is needed.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._silent = connection, False
        self.usable = True
        self._head: Head | None = None
        self._limit(SILENCE)
        self._notes, theirs = socket.socketpair()
        with theirs, suppress(OSError):  # whoever has gone is found to have gone at the first order
            socket.send_fds(connection, [HELLO], [theirs.fileno()])
        self._notes.setblocking(False)

    def close(self) -> None:
        """Hear no more."""
        self._connection.close()
        self._notes.close()

    def ask(self, order: str, patience: float) -> Entry | None:
        """Have an entry written; None if the clerk would not.

        Raises `ConnectionError` if it has gone before it began, `TimeoutError` if it says nothing, and `Doubt`.
        """
        self._head = None
        with suppress(OSError):
            self._connection.sendall(frame(order))
        said = self._receive(LENGTH.size)
        if len(said) < LENGTH.size and self._silent:
            if self._call_off() is None:
                raise TimeoutError
            self._limit(patience)
            said += self._receive(LENGTH.size - len(said))
        size = LENGTH.unpack(said)[0] if len(said) == LENGTH.size else 1
        text = self._receive(size)
        if len(text) == size:
            self._announced()
            return read_entry(text) if size else None
        head = self._call_off()
        if head is None:
            raise ConnectionError
        raise Doubt(head)

    def _call_off(self) -> Head | None:
        """Keep the clerk from announcing anything more, and give what it has announced by now."""
        self.usable = False
        with suppress(OSError):
            self._notes.shutdown(socket.SHUT_RD)
        if self._head is None:
            self._head = self._announced()
        return self._head

    def _announced(self) -> Head | None:
        """Read what was announced since the last order."""
        with suppress(OSError):
            return read_head(self._notes.recv(HEAD.size))
        return None

    def _receive(self, size: int) -> bytes:
        """Receive so many bytes; less if the other side has gone, or was silent for too long.

        The kernel collects them, and wakes us when all have come.
        """
        said, self._silent = b"", False
        while len(said) < size:
            try:
                more = self._connection.recv(size - len(said), socket.MSG_WAITALL)
            except BlockingIOError:
                self._silent = True
                break
            except OSError:
                break
            if not more:
                break
            said += more
        return said

    def _limit(self, seconds: float) -> None:
        limit = struct.pack("ll", int(seconds), int(seconds % 1 * 1e6) + 1)
        self._connection.setblocking(True)
        for which in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            self._connection.setsockopt(socket.SOL_SOCKET, which, limit)


class Desk:
    """Asks the clerk of a ledger, as long as several processes write."""

    def __init__(self, names: Sequence[str], patience: float) -> None:
        self._names, self._patience = names, patience
        self._place: Path | None = None
        self._lock, self._lines = threading.Lock(), list[_Line]()
        self._clerk: Clerk | None = None
        self._until, self._away, self._closed = 0.0, 0.0, False

    def notice(self) -> None:
        """Take note that others write at the same time."""
        if self._names and not self._closed:
            self._until = time.monotonic() + KEEN

    @property
    def keen(self) -> bool:
        """Whether to ask a clerk."""
        return self._away < time.monotonic() < self._until

    def ask(self, order: str, write: Callable[[Sequence[Commission]], None]) -> Entry | None:
        """Have an entry written; None if it was not, and whoever wants it writes it. May raise `Doubt`."""
        if len(order) > LONGEST:
            return None
        for _ in range(_TRIES):
            line = self._find_line(write)
            if line is None:
                return None
            try:
                entry = line.ask(order, self._patience)
            except TimeoutError:
                self._away = time.monotonic() + _AWAY
                return None
            except ConnectionError:
                continue
            except BaseException:  # interrupted: what comes later would be taken for the answer to the next order
                line.usable = False
                raise
            finally:
                self._put_back(line)
            self.notice()
            return entry
        return None

    def close(self) -> None:
        """Ask no more, and write for nobody."""
        with self._lock:
            self._closed, self._until = True, 0.0
            lines, self._lines = self._lines, []
            clerk, self._clerk = self._clerk, None
        for line in lines:
            line.close()
        if clerk is not None:
            clerk.stop()

    def _put_back(self, line: _Line) -> None:
        with self._lock:
            if line.usable and not self._closed:
                self._lines.append(line)
                return
        line.close()

    def _find_line(self, write: Callable[[Sequence[Commission]], None]) -> _Line | None:
        """Take a connection that is free, or make one; if nobody listens, be the one who does."""
        with self._lock:
            if self._lines:
                return self._lines.pop()
        place = self._find_place()
        if place is None:
            return None
        for _ in range(_TRIES):
            connection = reach(place, SILENCE)
            if connection is not None:
                return _Line(connection)
            if not self._begin(place, write):
                time.sleep(_PAUSE)
        return None

    def _find_place(self) -> Path | None:
        if self._place is None:
            self._place = find_place(self._names)
            if self._place is None:
                self._names, self._until = (), 0.0
        return self._place

    def _begin(self, place: Path, write: Callable[[Sequence[Commission]], None]) -> bool:
        from ziggurat.ledger.sharing._clerk import Clerk

        with self._lock:
            if self._closed:
                return False
            clerk = Clerk.begin(place, write)
            if clerk is not None:
                self._clerk = clerk
            return clerk is not None
