"""The SQLite file of a history, and the mark by which others see that a run is still going on."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import IO, Any, NoReturn

from ziggurat.errors import ExperimentError

APPLICATION_ID = 0x5A696778  # "Zigx", at the place where SQLite files say whose they are
_FORMAT = 1
_TIMEOUT = 30.0
_SCHEMA = (
    "CREATE TABLE runs (id TEXT PRIMARY KEY, name TEXT NOT NULL, digest TEXT NOT NULL, started TEXT NOT NULL, "
    "finished TEXT, status TEXT NOT NULL, executor TEXT NOT NULL, quick INTEGER NOT NULL, versions TEXT NOT NULL, "
    "experiment TEXT NOT NULL)",
    "CREATE TABLE records (run TEXT NOT NULL REFERENCES runs (id), node TEXT NOT NULL, module TEXT NOT NULL, "
    "varied TEXT NOT NULL, repeats TEXT NOT NULL, parent TEXT, status TEXT NOT NULL, cached INTEGER NOT NULL, "
    "started TEXT NOT NULL, seconds REAL NOT NULL, error TEXT, metrics TEXT NOT NULL, outputs TEXT NOT NULL, "
    "key TEXT NOT NULL, UNIQUE (run, node))",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {_FORMAT}",
)
_DAMAGED = "is damaged; move it away and a new one is begun"
_REASONS = {
    sqlite3.SQLITE_BUSY: "is in use by another process that did not finish in time; try again",
    sqlite3.SQLITE_FULL: "could not be written because the disk is full; what it held before is kept",
    sqlite3.SQLITE_IOERR: "could not be read or written (is the disk full or failing?); what it held before is kept",
    sqlite3.SQLITE_READONLY: "may not be written; change its permissions",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that its folder may be read and written",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
}


class HistoryFile:
    """A connection that threads may share; every failure is one ExperimentError.

    In WAL mode with `synchronous=FULL` a commit is on the disk when it returns.
    """

    def __init__(self, path: Path) -> None:
        self._name = f"The history {str(path)!r}"
        self._lock = RLock()
        with self._translate():
            self._connection = _connect(path)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the one write transaction; it is committed at the end, or undone if anything goes wrong."""
        with self._lock, self._translate():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    with suppress(sqlite3.Error):
                        self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self, query: str, values: Sequence[str]) -> Iterator[list[tuple[Any, ...]]]:
        """Give the rows of a query; rows that cannot be understood inside the block are damage."""
        with self._lock, self._translate():
            rows = self._connection.execute(query, values).fetchall()
        try:
            yield rows
        except (ValueError, TypeError, KeyError):
            raise ExperimentError(f"{self._name} {_DAMAGED}.") from None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _translate(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            _raise(self._name, error)


def hold(path: Path) -> IO[str] | None:
    """Take a lock that the system drops when this process ends, however it ends; None where there are no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    file = path.open("w", encoding="utf-8")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def is_held(path: Path) -> bool:
    """Whether a process holds the lock; where there are no locks, whether it has not been given back."""
    try:
        import fcntl

        with path.open("r", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except ImportError:
        return path.exists()
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None, check_same_thread=False)
    try:
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("BEGIN IMMEDIATE")
        _require_history(connection, path)
        connection.execute("COMMIT")
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Try again while others switch too: for this statement SQLite does not wait by itself."""
    end = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if _code(error) not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) or time.monotonic() > end:
                raise
            time.sleep(0.02)
        else:
            return


def _require_history(connection: sqlite3.Connection, path: Path) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if owner == 0 and tables == 0:
        for statement in _SCHEMA:
            connection.execute(statement)
    elif owner != APPLICATION_ID:
        raise ExperimentError(f"{str(path)!r} is a database, but not a history; name another store.")
    elif version != _FORMAT:
        raise ExperimentError(f"This version reads histories of format {_FORMAT}, not {version}.")


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def _raise(name: str, error: sqlite3.Error) -> NoReturn:
    reason = _REASONS.get(_code(error), "failed inside the database; what it held before is kept")
    raise ExperimentError(f"{name} {reason}.") from None
