"""What steps returned, found again by what went into them.

The key of a run is a hash of its step's version, its parameters, the hashes of its inputs and its seed. A manifest per
key, in one SQLite file, says which outputs came of it; the outputs themselves are stored by their own content.
Commits are not synced (WAL, `synchronous=NORMAL`): a killed process loses nothing, and a power cut loses at most the
newest entries, which are then computed again.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ziggurat.errors import ArtefactError
from ziggurat.experiments._steps import Step, resolve
from ziggurat.experiments._types import Gathered, Node, NodeOutput, StoredOutput
from ziggurat.experiments._values import canonical
from ziggurat.experiments.storing import Objects, StoreError, pack, parts, store_error, unpack, whole

FORMAT = 1
APPLICATION_ID = 0x5A474341  # "ZGCA", at the place where SQLite files say whose they are
_LOG = logging.getLogger("ziggurat.experiments")
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS manifests (key TEXT PRIMARY KEY, body TEXT NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS kept (digest TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS logs (key TEXT PRIMARY KEY, text BLOB NOT NULL)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {FORMAT}",
)
_ATTEMPTS = 100
_BROKEN = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}


@dataclass(frozen=True)
class RecalledRun:
    """What is known of a run that was made before: its outputs, and how long it took."""

    outputs: Mapping[str, StoredOutput]
    seconds: float


class Cache:
    """A folder of outputs; any number of processes may share it.

    Parameters
    ----------
    folder
        Made if it is not there.

    Raises
    ------
    ArtefactError
        If the folder cannot be used.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.objects = Objects(self.folder / "objects")
        self._path = self.folder / "manifests.db"
        try:
            (self.objects.folder / "tmp").mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise store_error(error) from None
        self.objects.clean()
        self._connection = self._open()

    def find(self, key: str, needed: Collection[str] | None = None) -> Mapping[str, StoredOutput] | None:
        """Return the outputs of the run with this key, or None if it was never made or is not whole.

        Files are looked for here and checked against their hashes when they are loaded.

        Parameters
        ----------
        key
            As `node_key` gives it.
        needed
            The outputs whose files must be there; None means all.
        """
        found = self.recall(key, needed)
        return None if found is None else found.outputs

    def recall(self, key: str, needed: Collection[str] | None = None) -> RecalledRun | None:
        """Return what `find` returns, and how long the run took."""
        row = self._row("SELECT body, hash FROM manifests WHERE key = ?", key)
        if row is None:
            return None
        found = _read(key, *row)
        if found is None:
            _LOG.warning("A damaged entry of the cache was removed; its run is made again.")
            self.discard(key)
            return None
        wanted = (found.outputs.get(name) for name in (found.outputs if needed is None else needed))
        return found if all(whole(stored, self.objects) for stored in wanted if stored is not None) else None

    def load(self, stored: StoredOutput) -> Any:
        """Return a stored value after its hash was checked.

        Raises
        ------
        ArtefactError
            If it is missing or damaged; a damaged file has been removed, so that running again makes it anew.
        """
        return unpack(stored, self.objects)

    def store(self, key: str, outputs: Mapping[str, Any], *, seconds: float = 0.0) -> Mapping[str, StoredOutput]:
        """Store the outputs of a run, and its manifest last.

        Raises
        ------
        ArtefactError
            If an output cannot be stored or the disk is full; then nothing is recorded under the key.
        """
        stored = {name: pack(value, self.objects, name) for name, value in outputs.items()}
        self.put(key, stored, seconds)
        self.commit()
        return stored

    def put(self, key: str, outputs: Mapping[str, StoredOutput], seconds: float) -> None:
        """Record outputs whose payloads are stored already; `commit` makes it last."""
        body = json.dumps({"outputs": {name: _row(stored) for name, stored in outputs.items()}, "seconds": seconds})
        self._write("INSERT OR REPLACE INTO manifests VALUES (?, ?, ?)", [(key, body, _check(key, body))])

    def note(self, key: str, text: str) -> None:
        """Keep what a run printed, and its traceback if it failed."""
        self._write(
            "INSERT OR REPLACE INTO logs VALUES (?, ?)", [(key, zlib.compress(text.encode("utf-8", "replace")))]
        )

    def log(self, key: str) -> str:
        """Return what the run with this key printed, and its traceback if it failed."""
        row = self._row("SELECT text FROM logs WHERE key = ?", key)
        try:
            return "" if row is None else zlib.decompress(row[0]).decode()
        except zlib.error:
            return ""

    def keep(self, stored: Iterable[StoredOutput]) -> None:
        """Protect values from `forget`: someone wants them on disk."""
        rows = [(digest,) for each in stored for digest in self.files(each)]
        self._write("INSERT OR IGNORE INTO kept VALUES (?)", rows)

    def forget(self, stored: StoredOutput) -> None:
        """Remove a value's files unless `keep` protects them; its hash stays in the manifest."""
        self.forget_files(self.files(stored))

    def forget_files(self, digests: Iterable[str]) -> None:
        """Remove files by their hashes unless `keep` protects them."""
        for digest in digests:
            if self._row("SELECT 1 FROM kept WHERE digest = ?", digest) is None:
                self.objects.remove(digest)

    def discard(self, key: str) -> None:
        """Remove a manifest."""
        self._write("DELETE FROM manifests WHERE key = ?", [(key,)])
        self.commit()

    def commit(self) -> None:
        """Make everything that was recorded last."""
        try:
            if self._connection.in_transaction:
                self._connection.execute("COMMIT")
        except sqlite3.Error as error:
            self._fail(error)

    def size(self) -> int:
        """Return the bytes on disk."""
        files = (self._path.with_name(self._path.name + ending) for ending in ("", "-wal"))
        return self.objects.size() + sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Commit and close; a cache that was not closed loses nothing that was committed."""
        self.commit()
        self._connection.close()

    def files(self, stored: StoredOutput) -> list[str]:
        """Return the hashes of the files that a value consists of; small ones need none."""
        if stored.inline is not None and stored.kind != "tree":
            return []
        with suppress(ArtefactError):
            return [part.digest for part in parts(stored, self.objects) if part.inline is None]
        return [stored.digest]

    def _row(self, query: str, *values: object) -> Any:
        try:
            return self._connection.execute(query, values).fetchone()
        except sqlite3.Error as error:
            self._fail(error)
            return None

    def _write(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        if not rows:
            return
        try:
            if not self._connection.in_transaction:
                self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(statement, rows)
        except sqlite3.Error as error:
            self._fail(error)

    def _fail(self, error: sqlite3.Error) -> None:
        """Start anew after damage: everything in the file can be computed again. Anything else stops the run."""
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code not in _BROKEN:
            raise _stop(code) from None
        self._connection.close()
        _remove(self._path)
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        code = sqlite3.SQLITE_ERROR
        for _ in range(_ATTEMPTS):
            try:
                return _open(self._path)
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if code in _BROKEN:
                _remove(self._path)
            elif code == sqlite3.SQLITE_BUSY:
                time.sleep(0.1)  # SQLite does not wait by itself while another process turns the log on
            else:
                break
        raise _stop(code)


def node_key(node: Node, inputs: Mapping[str, Any], step: Step | None = None) -> str:
    """Return the key of a node: what its outputs depend on, and nothing else.

    Parameters
    ----------
    node
        The node; its name, place and metrics do not count.
    inputs
        For every input the digest of the value, or for a gathered one the list of digests.
    step
        The node's step, if it is resolved already.
    """
    step = step or resolve(node.module.step)
    content = {
        "format": FORMAT,
        "step": step.reference,
        "version": step.version,
        "parameters": node.parameters,
        "inputs": {name: _describe(node.inputs.get(name), digest) for name, digest in inputs.items()},
        "seed": node.seed if step.takes_seed else None,
    }
    return hashlib.sha256(canonical(content).encode()).hexdigest()


def _describe(given: NodeOutput | Gathered | None, digest: Any) -> Any:
    if not isinstance(given, Gathered):
        return digest
    return [list(map(dict, given.parameters)), list(map(dict, given.repeats)), list(digest)]


def _row(stored: StoredOutput) -> list[Any]:
    return [stored.kind, stored.digest, stored.size, stored.inline]


def _check(key: str, body: str) -> str:
    return hashlib.sha256(f"{key}\n{body}".encode()).hexdigest()


def _read(key: str, body: Any, check: Any) -> RecalledRun | None:
    try:
        if _check(key, body) != check:
            return None
        content = json.loads(body)
        outputs = {name: StoredOutput(*row) for name, row in content["outputs"].items()}
        return RecalledRun(outputs, float(content["seconds"]))
    except (TypeError, ValueError, KeyError, UnicodeError):
        return None


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and (owner, version) != (APPLICATION_ID, FORMAT):
        raise ArtefactError(f"{str(path)!r} is not a cache that this version can use; name another folder.")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    if not tables:
        connection.execute("BEGIN IMMEDIATE")
        for statement in _SCHEMA:
            connection.execute(statement)
        connection.execute("COMMIT")


def _remove(path: Path) -> None:
    _LOG.warning("The index of the cache was damaged and was removed; what it listed is computed again.")
    for ending in ("", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _stop(code: int) -> StoreError:
    if code in _FULL:
        return StoreError("The disk is full, so the cache could not be written; free some space and run again.")
    if code == sqlite3.SQLITE_BUSY:
        return StoreError("The cache is in use by another process that did not finish in time; run again.")
    return StoreError("The cache cannot be opened or written; check the permissions of its folder.")
