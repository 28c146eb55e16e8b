"""The file of a ledger: what is in it, how it is made, found and recognised, and what its failures mean.

Durability: in WAL mode SQLite syncs the log at every commit only under `synchronous=FULL`; under its usual `NORMAL`
a power cut may undo the newest commits, and with them reservations whose data have already been read.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError
from ziggurat.files import sync_path
from ziggurat.ledger._chain import FORMAT, Entry
from ziggurat.ledger.storage._store import FOREIGN, UNPROTECTED, MakeFirst, Pointer

APPLICATION_ID = 0x5A696767  # "Zigg", at the place where SQLite files say whose they are

_TABLE = (
    "CREATE TABLE entries (seq INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "previous TEXT NOT NULL, hash TEXT NOT NULL)"
)
_KEEP = (
    "CREATE TRIGGER entries_keep BEFORE UPDATE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed'); END"
)
_STAY = (
    "CREATE TRIGGER entries_stay BEFORE DELETE ON entries "
    "BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never removed'); END"
)
# Beside the entries: an index for what checkpoints let go of, and large answers by their hash. Nothing rests on either
# being true: whatever they give is compared with the entries.
_INDEX = (
    "CREATE TABLE pointers (key TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (key, seq)) WITHOUT ROWID",
    "CREATE TABLE answers (hash TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    *(
        f"CREATE TRIGGER {table}_{name} BEFORE {act} ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} of a ledger are never {done}'); END"
        for table in ("pointers", "answers")
        for name, act, done in (("keep", "UPDATE", "changed"), ("stay", "DELETE", "removed"))
    ),
)
_MARKS = (f"PRAGMA application_id = {APPLICATION_ID}", f"PRAGMA user_version = {FORMAT}")

# What SQLite's own list of a file's contents says of a ledger, and nothing else.
_CONTENTS = {
    ("table", "entries", "entries", _TABLE),
    ("trigger", "entries_keep", "entries", _KEEP),
    ("trigger", "entries_stay", "entries", _STAY),
}
_BESIDE = {(sql.split()[1].lower(), sql.split()[2], sql.split()[2].partition("_")[0], sql) for sql in _INDEX}
_INSERT = "INSERT INTO entries (seq, time, kind, body, previous, hash) VALUES (?, ?, ?, ?, ?, ?)"
_KEPT = "SELECT hash FROM entries WHERE seq = ?"

_READING = {
    sqlite3.SQLITE_BUSY: "is in use by another program that did not finish in time; try again",
    sqlite3.SQLITE_IOERR: "could not be read (is the disk failing?); try again, or restore it from a copy",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened where it lies; check that it may be read, and copy it, with any '-wal' "
    "file beside it, to a folder that may be written",
    sqlite3.SQLITE_PERM: "cannot be opened; check its permissions",
    sqlite3.SQLITE_READONLY: "may not be written; change its permissions",
}
_WRITING = {
    sqlite3.SQLITE_BUSY: "is in use by another writer that did not finish in time; try again",
    sqlite3.SQLITE_FULL: "could not be written because the disk is full; nothing was recorded",
    sqlite3.SQLITE_IOERR: "could not be read or written (is the disk full or failing?); nothing was recorded",
    sqlite3.SQLITE_READONLY: "may not be written; change its permissions",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; check that the file and its folder may be read and written",
    sqlite3.SQLITE_PERM: "cannot be opened; check its permissions",
}
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def connect(path: Path, timeout: float, options: str = "mode=rw") -> sqlite3.Connection:
    """Open an SQLite file; bytes that are no UTF-8 are kept as they are, so that verification can report them."""
    address = f"file:{quote(str(path))}?{options}"
    connection = sqlite3.connect(address, uri=True, timeout=timeout, isolation_level=None, check_same_thread=False)
    connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
    return connection


def connect_for_reading(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a ledger that will not be written, wherever it lies.

    Where it may be written it is opened so, though used for nothing but reading: a reader that may not write leaves
    the log and the index of SQLite behind, and other users may then be unable to write. On a read-only medium SQLite
    can only read a file that it may take for unchanging; nobody can be writing it if no log lies beside it.
    """
    path = path.resolve()  # a log lies beside the file itself, not beside a link to it
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        connection = connect(path, timeout)
        connection.execute("PRAGMA query_only = ON")
        return connection
    if not _has_log(path):
        return connect(path, timeout, "mode=ro&immutable=1")
    return connect(path, timeout, "mode=ro")


def _has_log(path: Path) -> bool:
    status = _status(path.with_name(path.name + "-wal"))
    return status is not None and status.st_size > 0


def make_durable(connection: sqlite3.Connection) -> None:
    """Sync at every commit; `fullfsync` makes macOS do so truly and means nothing elsewhere."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise LedgerError("A ledger cannot live on this file system; use a local disk, or PostgreSQL.")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")


def insert(connection: sqlite3.Connection, entry: Entry) -> None:
    """Add an entry and read it back: a trigger that was smuggled in might swallow it.

    `rowcount` counts what the statement did and `total_changes` also what triggers did, so that nothing else changed.
    """
    before = connection.total_changes
    added = connection.execute(_INSERT, entry).rowcount
    kept = connection.execute(_KEPT, (entry.seq,)).fetchone()
    if added != 1 or connection.total_changes != before + 1 or kept != (entry.hash,):
        raise LedgerCorruptError("The database did not keep the new entry, so nothing was recorded; verify the ledger.")


def oddities(connection: sqlite3.Connection) -> list[str]:
    """Compare what the file contains with what a ledger contains."""
    found = set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))
    # Ledgers of earlier versions have no index until somebody writes to them.
    wanted = _CONTENTS | _BESIDE if found & _BESIDE else _CONTENTS
    return [*([FOREIGN] if found - wanted else []), *([UNPROTECTED] if wanted - found else [])]


def has_index(connection: sqlite3.Connection) -> bool:
    """Tell whether a file has an index."""
    asked = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'pointers'"
    return bool(connection.execute(asked).fetchone()[0])


def add_pointers(connection: sqlite3.Connection, pointers: Sequence[Pointer]) -> None:
    """Add rows to the index, and make it where there is none."""
    if not has_index(connection):
        for statement in _INDEX:
            connection.execute(statement)
    connection.executemany("INSERT OR IGNORE INTO pointers (key, seq) VALUES (?, ?)", pointers)


def keep_text(connection: sqlite3.Connection, sha256: str, text: str) -> None:
    """Keep a text by its hash, and read it back."""
    connection.execute("INSERT OR IGNORE INTO answers (hash, body) VALUES (?, ?)", (sha256, text))
    if kept_text(connection, sha256) != text:
        raise LedgerCorruptError(
            "The database did not keep the new answer, so nothing was recorded; verify the ledger."
        )


def kept_text(connection: sqlite3.Connection, sha256: str) -> str | None:
    """Give the text that is kept under a hash."""
    row = connection.execute("SELECT body FROM answers WHERE hash = ?", (sha256,)).fetchone()
    return None if row is None or not isinstance(row[0], str) else row[0]


def require_ledger(connection: sqlite3.Connection) -> None:
    """Refuse a database that does not say that it is a ledger of this format."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if owner != APPLICATION_ID:
        raise LedgerError("This file is a database, but not a ledger; name another file.")
    if version != FORMAT:
        raise LedgerError(f"This version reads ledgers of format {FORMAT}, not {version}.")


def require_absent(path: Path, create: bool) -> None:
    """Refuse to make a ledger where none was asked for, or where one was before."""
    if not create:
        raise LedgerUseError(f"There is no ledger at {str(path)!r}; create it with 'ziggurat ledger budget'.")
    if not path.parent.is_dir():
        raise LedgerUseError(f"The folder {str(path.parent)!r} does not exist; create it first.")
    # SQLite would replay the log of a ledger that was removed into the new one.
    remains = any(path.with_name(path.name + ending).exists() for ending in ("-wal", "-journal"))
    if remains and not exists(path):
        raise LedgerError(f"Remains of another ledger lie beside {path.name!r}; move them away first.")


def exists(path: Path) -> bool:
    """Tell whether there is something at a path."""
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


def require_content(path: Path) -> None:
    """An empty file may be what is left of a ledger, so it is never filled anew."""
    status = _status(path)
    if status is None:
        raise LedgerError(f"The ledger {path.name!r} has disappeared; restore it from a copy.")
    if not stat.S_ISREG(status.st_mode):
        raise LedgerUseError(f"{str(path)!r} is not a file; name the file of a ledger.")
    if status.st_size == 0:
        raise LedgerCorruptError(f"The ledger {path.name!r} is empty, so its entries are lost; restore it from a copy.")


def create_file(path: Path, first: MakeFirst) -> None:
    """Make the ledger whole beside its place, then link it there: a crash or a race never leaves half of one."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _fill(draft, first())
        with suppress(FileExistsError):
            os.link(draft, path)
        sync_path(path.parent)
    except OSError:
        raise LedgerError(f"The ledger {path.name!r} cannot be created; check the folder's permissions.") from None
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            draft.with_name(draft.name + ending).unlink(missing_ok=True)


def _fill(path: Path, first: Entry) -> None:
    connection = connect(path, 0)
    try:
        make_durable(connection)
        connection.execute("BEGIN IMMEDIATE")
        for statement in (_TABLE, _KEEP, _STAY, *_INDEX, *_MARKS):
            connection.execute(statement)
        insert(connection, first)
        connection.execute("COMMIT")
    finally:
        connection.close()


def raise_ours(name: str, error: sqlite3.Error, writing: bool) -> NoReturn:
    """Turn an error of SQLite into ours; its message is dropped, because it may quote values."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code in _BROKEN:
        raise LedgerCorruptError(f"{name} is not a readable ledger file; restore it from a copy.") from None
    reasons = _WRITING if writing else _READING
    usual = "failed inside the database, and nothing was recorded" if writing else "could not be read by the database"
    raise LedgerError(f"{name} {reasons.get(code, f'{usual}; verify it')}.") from None
