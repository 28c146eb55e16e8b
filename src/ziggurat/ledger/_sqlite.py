"""Entries in an SQLite file.

Durability: in WAL mode SQLite syncs the log at every commit only under `synchronous=FULL`; under its usual `NORMAL`
a power cut may undo the newest commits, and with them reservations whose data have already been read.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from ziggurat.errors import LedgerCorruptError, LedgerError
from ziggurat.ledger._chain import FORMAT, Entry
from ziggurat.ledger._store import BATCH, Append, MakeFirst, Store

APPLICATION_ID = 0x5A696767  # "Zigg", at the place where SQLite files say whose they are

_SCHEMA = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL)",
    "CREATE TRIGGER entries_keep BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END",
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never removed'); END",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
)
_INSERT = "INSERT INTO entries (seq, time, kind, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?)"
_SELECT = "SELECT seq, time, kind, body, previous, hash FROM entries WHERE seq >= ? ORDER BY seq LIMIT ?"

# SQLite forbids any use of a connection after fork, even closing it, so a child keeps its parent's for ever.
_INHERITED: list[sqlite3.Connection] = []

_REASONS = {
    sqlite3.SQLITE_BUSY: "is in use by another writer that did not finish in time; try again",
    sqlite3.SQLITE_FULL: "could not be written because the disk is full; nothing was recorded",
    sqlite3.SQLITE_IOERR: "could not be read or written (is the disk full or failing?); nothing was recorded",
    sqlite3.SQLITE_READONLY: "may not be written; change its permissions",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the file and its folder may be read and written",
    sqlite3.SQLITE_PERM: "cannot be opened; check its permissions",
}
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


class SqliteStore(Store):
    """Entries in one SQLite file, made readable for its owner only because answers are stored in it."""

    def __init__(self, path: str | Path, create: bool, timeout: float, first: MakeFirst) -> None:
        self._path = Path(path).absolute()
        self._address, self._name = str(self._path), f"The ledger {self._path.name!r}"
        self._timeout, self._first, self._closed = timeout, first, False
        if not _exists(self._path):
            _require_absent(self._path, create)
            with _translated(self.name):
                _create(self._path, first)
        self._connect()

    @property
    def name(self) -> str:
        """The file."""
        return self._name

    def entries(self, start: int, limit: int = BATCH) -> list[Entry]:
        """Give at most `limit` entries whose number is at least `start`, in order."""
        try:
            return [Entry._make(row) for row in self._live().execute(_SELECT, (start, limit))]
        except sqlite3.Error as error:
            _raise(self._name, error)

    def version(self) -> int:
        """Give SQLite's count of commits by other connections; a connection that is new counts anew."""
        try:
            (version,) = self._live().execute("PRAGMA data_version").fetchone()
        except sqlite3.Error as error:
            _raise(self._name, error)
        return int(version)

    @contextmanager
    def writing(self) -> Iterator[Append]:
        """Become the one writer of the file."""
        connection = self._live()
        self._require_same_file()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield lambda entry: _insert(connection, entry)
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            _raise(self._name, error)
        finally:
            if connection.in_transaction:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    def another(self) -> SqliteStore:
        """Open the file once more."""
        return SqliteStore(self._path, False, self._timeout, self._first)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        if self._process == os.getpid():
            self._connection.close()

    def _live(self) -> sqlite3.Connection:
        if self._closed:
            raise LedgerError(f"{self.name} has been closed; open it again.")
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connect()
        return self._connection

    def _connect(self) -> None:
        _require_content(self._path)
        with _translated(self.name):
            self._connection = _connection(self._path, self._timeout)
            self._process, self._file = os.getpid(), _identity(self._address)
            try:
                _require_ledger(self._connection)
                _make_durable(self._connection)
            except BaseException:
                self._connection.close()
                raise

    def _require_same_file(self) -> None:
        """A file that was moved away or replaced would swallow reservations that nobody finds again."""
        try:
            same = _identity(self._address) == self._file
        except OSError:
            same = False
        if not same:
            raise LedgerError(f"{self.name} was moved or replaced while it was open; open it again.")


def _insert(connection: sqlite3.Connection, entry: Entry) -> None:
    connection.execute(_INSERT, entry)


def _identity(path: str) -> tuple[int, int]:
    status = os.stat(path)  # noqa: PTH116 - a Path costs several times as much, at every write
    return status.st_dev, status.st_ino


def _connection(path: Path, timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode=rw", uri=True, timeout=timeout, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return connection


def _make_durable(connection: sqlite3.Connection) -> None:
    """Sync at every commit; `fullfsync` makes macOS do so truly and means nothing elsewhere."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise LedgerError("A ledger cannot live on this file system; use a local disk, or PostgreSQL.")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")


def _require_ledger(connection: sqlite3.Connection) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if owner != APPLICATION_ID:
        raise LedgerError("This file is a database, but not a ledger; name another file.")
    if version != FORMAT:
        raise LedgerError(f"This version reads ledgers of format {FORMAT}, not {version}.")


def _require_absent(path: Path, create: bool) -> None:
    if not create:
        raise LedgerError(f"There is no ledger at {str(path)!r}; create it first.")
    if not path.parent.is_dir():
        raise LedgerError(f"The folder {str(path.parent)!r} does not exist; create it first.")
    # SQLite would replay the log of a ledger that was removed into the new one.
    remains = any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    if remains and not _exists(path):
        raise LedgerError(f"Remains of another ledger lie beside {path.name!r}; move them away first.")


def _exists(path: Path) -> bool:
    return _status(path) is not None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        raise LedgerError(
            f"The ledger {path.name!r} cannot be reached; check its name, folder and permissions."
        ) from None


def _require_content(path: Path) -> None:
    """An empty file may be what is left of a ledger, so it is never filled anew."""
    status = _status(path)
    if status is None:
        raise LedgerError(f"The ledger {path.name!r} has disappeared; restore it from a copy.")
    if not stat.S_ISREG(status.st_mode):
        raise LedgerError(f"{str(path)!r} is not a file; name the file of a ledger.")
    if status.st_size == 0:
        raise LedgerCorruptError(f"The ledger {path.name!r} is empty, so its entries are lost; restore it from a copy.")


def _create(path: Path, first: MakeFirst) -> None:
    """Make the ledger whole beside its place, then link it there: a crash or a race never leaves half of one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _fill(draft, first())
        with suppress(FileExistsError):
            os.link(draft, path)
        _sync_folder(path.parent)
    except OSError:
        raise LedgerError(f"The ledger {path.name!r} cannot be created; check the folder's permissions.") from None
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)


def _fill(path: Path, first: Entry) -> None:
    connection = _connection(path, 0)
    try:
        _make_durable(connection)
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        _insert(connection, first)
        connection.execute("COMMIT")
    finally:
        connection.close()


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Turn SQLite's errors into ours; its messages are dropped, because they may quote values."""
    try:
        yield
    except sqlite3.Error as error:
        _raise(name, error)


def _raise(name: str, error: sqlite3.Error) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BROKEN:
        raise LedgerCorruptError(f"{name} is not a readable ledger file; restore it from a copy.") from None
    reason = _REASONS.get(code, "failed inside the database, and nothing was recorded; verify it")
    raise LedgerError(f"{name} {reason}.") from None
