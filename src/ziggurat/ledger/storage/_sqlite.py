"""Entries in an SQLite file."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError
from ziggurat.ledger._chain import Entry
from ziggurat.ledger.storage._sqlite_file import (
    add_pointers,
    connect,
    connect_for_reading,
    create_file,
    exists,
    has_index,
    insert,
    keep_text,
    kept_text,
    make_durable,
    oddities,
    raise_ours,
    require_absent,
    require_content,
    require_ledger,
)
from ziggurat.ledger.storage._store import BATCH, MakeFirst, Pointer, Store, Writer

_SELECT = "SELECT seq, time, kind, body, previous, hash FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?"

_NEWEST = (
    "SELECT seq, time, kind, body, previous, hash FROM entries WHERE seq = "
    "(SELECT seq FROM entries WHERE kind = ? ORDER BY seq DESC LIMIT 1)"
)
_POINTED = "SELECT seq FROM pointers WHERE key = ? ORDER BY seq"

_PATIENCE, _PAUSE = 2.0, 0.0004  # seconds

# SQLite forbids any use of a connection after fork, even closing it, so a child keeps its parent's for ever.
_INHERITED: list[sqlite3.Connection] = []


class SqliteStore(Store):
    """Entries in one SQLite file, made readable for its owner only because answers are stored in it."""

    def __init__(
        self, path: str | Path, create: bool, timeout: float, first: MakeFirst, read_only: bool = False
    ) -> None:
        self._path = Path(path).absolute()
        self._address, self._name = str(self._path), f"The ledger {self._path.name!r}"
        self._timeout, self._first, self._closed, self._read_only = timeout, first, False, read_only
        if not exists(self._path):
            require_absent(self._path, create)
            with _translate_errors(self.name, writing=True):
                create_file(self._path, first)
        self._connect()

    @property
    def name(self) -> str:
        """The file."""
        return self._name

    @property
    def place(self) -> str:
        """The file, with every link resolved."""
        return str(self._path.resolve())

    @property
    def patience(self) -> float:
        """How many seconds to wait for other writers."""
        return self._timeout

    def names(self) -> tuple[str, ...]:
        """The file, by its name and by its number on the disk."""
        return () if self._read_only else ("sqlite", self.place, *map(str, self._file))

    def entries(self, start: int, limit: int = BATCH) -> list[Entry]:
        """Give at most `limit` entries whose number is at least `start`, in order."""
        try:
            return [Entry._make(row) for row in self._live().execute(_SELECT, (start, limit))]
        except sqlite3.Error as error:
            raise_ours(self._name, error, writing=False)

    def numbered(self, numbers: Sequence[int]) -> Iterator[Entry]:
        """Give the entries of these numbers, in order; what is not there is left out."""
        for seq in numbers:
            yield from (entry for entry in self.entries(seq, 1) if entry.seq == seq)

    def newest(self, kind: str) -> Entry | None:
        """Give the newest entry of a kind."""
        with _translate_errors(self.name, writing=False):
            row = self._live().execute(_NEWEST, (kind,)).fetchone()
        return None if row is None else Entry._make(row)

    def pointed(self, key: str) -> list[int]:
        """Give the numbers that the index has for a key, in order."""
        with _translate_errors(self.name, writing=False):
            if not has_index(self._live()):
                return []
            return [seq for (seq,) in self._live().execute(_POINTED, (key,))]

    def unpointed(self, pointers: Sequence[Pointer]) -> list[Pointer]:
        """Give those of some rows that the index lacks."""
        return [one for one in pointers if one[1] not in self.pointed(one[0])]

    def keeps(self) -> bool:
        """Files of earlier versions get the table at their first checkpoint."""
        with _translate_errors(self.name, writing=False):
            return has_index(self._live())

    def kept(self, sha256: str) -> str | None:
        """Give the text that is kept under a hash."""
        with _translate_errors(self.name, writing=False):
            return kept_text(self._live(), sha256) if has_index(self._live()) else None

    def version(self) -> int:
        """Give SQLite's count of commits by other connections; a connection that is new counts anew."""
        connection = self._live()
        # While we are the one writer nobody else commits.
        return self._commits if connection.in_transaction else self._pragma("data_version")

    @contextmanager
    def writing(self, start: int = 1) -> Iterator[Writer]:  # noqa: ARG002 - reading is no trip here
        """Become the one writer of the file."""
        connection = self._live()
        if self._read_only:
            raise LedgerUseError(f"{self.name} was opened for reading only; open it for writing.")
        self._require_same_file()
        try:
            self._queue(connection)
            self._require_own_contents()
            yield _SqliteWriter(connection)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise_ours(self._name, error, writing=True)
        finally:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def rest(self) -> None:
        """Take the writer's place for a moment; where that is not allowed, give a writer some time."""
        try:
            with closing(connect(self._path, self._timeout)) as other:
                other.execute("BEGIN IMMEDIATE")
        except sqlite3.Error:
            time.sleep(_PATIENCE)

    def oddities(self) -> list[str]:
        """Say what the file contains that a ledger does not, or lacks."""
        with _translate_errors(self.name, writing=False):
            return oddities(self._live())

    def another(self) -> SqliteStore:
        """Open the file once more."""
        return SqliteStore(self._path, False, self._timeout, self._first, self._read_only)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        if self._process == os.getpid():
            self._connection.close()

    def _live(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerUseError(f"{self.name} has been closed; open it again.")
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connect()
        return self._connection

    def _connect(self) -> None:
        require_content(self._path)
        with _translate_errors(self.name, writing=not self._read_only):
            make = connect_for_reading if self._read_only else connect
            self._connection = make(self._path, self._timeout)
            self._process, self._file = os.getpid(), _identity(self._address)
            self._commits = self._examined = 0  # as seen when the contents were last examined
            try:
                require_ledger(self._connection)
                if not self._read_only:
                    make_durable(self._connection)
            except BaseException:
                self._connection.close()
                raise

    def _queue(self, connection: sqlite3.Connection) -> None:
        """Wait for the writer's place. SQLite itself would sleep longer and longer, and many writers all at once."""
        until = time.monotonic() + self._timeout
        connection.execute("PRAGMA busy_timeout = 0")
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                    if not busy or time.monotonic() > until:
                        raise
                    time.sleep(_PAUSE)
                else:
                    return
        finally:
            connection.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")

    def _require_same_file(self) -> None:
        """A file that was moved away or replaced would swallow reservations that nobody finds again."""
        try:
            same = _identity(self._address) == self._file
        except OSError:
            same = False
        if not same:
            raise LedgerError(f"{self.name} was moved or replaced while it was open; open it again.")

    def _require_own_contents(self) -> None:
        """Look for foreign triggers whenever another connection has changed the list of contents."""
        commits = self._pragma("data_version")
        if commits != self._commits or not self._examined:
            contents = self._pragma("schema_version")
            if contents != self._examined:
                for what in self.oddities():
                    raise LedgerCorruptError(f"{self.name} {what}, so nothing was recorded; verify it.")
            self._commits, self._examined = commits, contents

    def _pragma(self, name: str) -> int:
        try:
            (value,) = self._live().execute(f"PRAGMA {name}").fetchone()
        except sqlite3.Error as error:
            raise_ours(self._name, error, writing=False)
        return int(value)


class _SqliteWriter(Writer):
    """The writer of a file; what it appends is in the file's log at once, and not committed yet."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def append(self, entry: Entry) -> None:
        """Add an entry and read it back."""
        insert(self._connection, entry)

    def settle(self) -> None:
        """Each entry was read back when it was added."""

    def keep(self, sha256: str, text: str) -> None:
        """Keep a text beside the entries."""
        keep_text(self._connection, sha256, text)

    def index(self, pointers: Sequence[Pointer]) -> None:
        """Add rows to the index."""
        add_pointers(self._connection, pointers)


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)  # noqa: PTH116 - a Path costs several times as much, at every write
    return status.st_dev, status.st_ino


@contextmanager
def _translate_errors(name: str, writing: bool) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise_ours(name, error, writing)
