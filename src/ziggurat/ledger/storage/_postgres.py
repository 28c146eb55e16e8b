"""Entries in a PostgreSQL database, in the schema `ziggurat`.

Writers queue at an advisory lock that ends with their transaction, so a role needs no more than to select and insert.
`synchronous_commit` is set for every transaction: with it off, a crash of the server may undo the newest commits.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError, MissingExtraError
from ziggurat.ledger._chain import Entry
from ziggurat.ledger.storage._store import BATCH, FOREIGN, UNPROTECTED, Append, MakeFirst, Store

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x5A696767_75726174  # any number that no other application is likely to lock

_REFUSE = " BEGIN RAISE EXCEPTION 'entries of a ledger are never changed or removed'; END "
_SCHEMA = f"""
CREATE SCHEMA IF NOT EXISTS ziggurat;
CREATE TABLE ziggurat.entries (
  seq bigint PRIMARY KEY, time text NOT NULL, kind text NOT NULL, body text NOT NULL,
  previous text NOT NULL, hash text NOT NULL
);
CREATE FUNCTION ziggurat.refuse() RETURNS trigger LANGUAGE plpgsql AS
  $${_REFUSE}$$;
CREATE TRIGGER entries_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ziggurat.entries
  FOR EACH STATEMENT EXECUTE FUNCTION ziggurat.refuse();
"""
_BEGIN = f"BEGIN; SET LOCAL synchronous_commit = on; SELECT pg_advisory_xact_lock({_LOCK})"
# Not to_regclass: it may answer from a cache that is older than the lock.
_EXISTS = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'ziggurat' AND tablename = 'entries')"
_INSERT = "INSERT INTO ziggurat.entries (seq, time, kind, body, previous, hash) VALUES (%s, %s, %s, %s, %s, %s)"
_SELECT = "SELECT seq, time, kind, body, previous, hash FROM ziggurat.entries WHERE seq >= %s ORDER BY seq LIMIT %s"

# Our trigger is known by what it does: before (2) delete (8), update (16) and truncate (32), once per statement.
_OWN = """t.tgname = 'entries_keep' AND t.tgtype = 58 AND t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL
    AND t.tgattr::text = '' AND p.prosrc = %(refuse)s"""
_TRIGGERS = "pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid"
# Whether an entry is there and nothing could remove it again. Asked after the insertion, whose lock keeps triggers and
# rules from being added before the commit. A quick look at what the server notes of the table; it may err on the side
# of caution, and then all is examined.
_KEPT = f"""
SELECT EXISTS (SELECT FROM ziggurat.entries WHERE seq = %(seq)s AND hash = %(hash)s),
  c.relkind = 'r' AND NOT (c.relhasrules OR c.relrowsecurity OR c.relhassubclass)
  AND (SELECT count(*) = 1 AND bool_and({_OWN}) FROM {_TRIGGERS} WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
FROM pg_catalog.pg_class c WHERE c.oid = 'ziggurat.entries'::regclass"""  # noqa: S608 - constants only
# Whether anything could act on the table that is not ours; whether all that is ours is there.
_EXAMINE = f"""
SELECT c.relkind <> 'r' OR c.relrowsecurity
  OR EXISTS (SELECT FROM pg_catalog.pg_trigger t
             WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgname <> 'entries_keep')
  OR EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid)
  OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
  OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'n'))
  OR EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND NOT x.indisprimary),
  EXISTS (SELECT FROM {_TRIGGERS} WHERE t.tgrelid = c.oid AND {_OWN})
  AND (SELECT string_agg(a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
              || bool_and(a.attnotnull AND NOT a.atthasdef)
       FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
    = 'seq bigint, time text, kind text, body text, previous text, hash texttrue'
FROM pg_catalog.pg_class c WHERE c.oid = 'ziggurat.entries'::regclass"""  # noqa: S608 - constants only

# A connection shared with a parent process would mix up both conversations, so a child keeps it and never uses it.
_INHERITED: list[Any] = []

_REASONS = {
    "55P03": "is in use by another writer that did not finish in time; try again",
    "53100": "could not be written because the server's disk is full; nothing was recorded",
    "42501": "may not be read or written by this role; grant it SELECT and INSERT on ziggurat.entries",
    "23505": "was written to by somebody who did not wait; nothing was recorded, try again",
    "P0001": "has a trigger that refused the entry; nothing was recorded, verify it",
}


class PostgresStore(Store):
    """Entries in one PostgreSQL database."""

    def __init__(self, uri: str, create: bool, timeout: float, first: MakeFirst, read_only: bool = False) -> None:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError("A ledger in PostgreSQL needs psycopg: pip install 'ziggurat[postgres]'.") from None
        self._uri, self._timeout, self._first = uri, timeout, first
        self._closed, self._read_only = False, read_only
        self._connect()
        try:
            self._require_ledger(create)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """The database, without the address and its password."""
        return "The ledger in PostgreSQL"

    @property
    def place(self) -> str:
        """The server and the database, without who asks."""
        return place_of(self._uri)

    def entries(self, start: int, limit: int = BATCH) -> list[Entry]:
        """Give at most `limit` entries whose number is at least `start`, in order."""
        with _translate_errors(self.name):
            return [Entry._make(row) for row in self._live().execute(_SELECT, (start, limit))]

    @contextmanager
    def writing(self) -> Iterator[Append]:
        """Become the one writer of the database."""
        if self._read_only:
            raise LedgerUseError(f"{self.name} was opened for reading only; open it for writing.")
        with _translate_errors(self.name):
            connection = self._live()
            try:
                connection.execute(_BEGIN)
                yield lambda entry: _insert(connection, entry)
                _commit(connection)
            except BaseException:
                _roll_back(connection)
                raise

    def rest(self) -> None:
        """Take the writer's place for a moment; anybody may wait at the lock."""
        with _translate_errors(self.name):
            connection = self._live()
            try:
                connection.execute(_BEGIN)
            finally:
                _roll_back(connection)

    def oddities(self) -> list[str]:
        """Say what acts on the table that is not ours, or what of ours is gone."""
        with _translate_errors(self.name):
            return _oddities(self._live())

    def another(self) -> PostgresStore:
        """Connect once more."""
        return PostgresStore(self._uri, False, self._timeout, self._first, self._read_only)

    def close(self) -> None:
        """End the connection."""
        self._closed = True
        if self._process == os.getpid():
            self._connection.close()

    def _live(self) -> psycopg.Connection[Any]:
        """Give this process's connection; one that broke or belongs to a parent is replaced."""
        if self._closed:
            raise LedgerUseError(f"{self.name} has been closed; open it again.")
        if self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connect()
        elif self._connection.closed:
            self._connect()
        return self._connection

    def _connect(self) -> None:
        import psycopg

        with _translate_errors(self.name):
            self._process = os.getpid()
            self._connection = psycopg.connect(self._uri, autocommit=True, connect_timeout=max(2, int(self._timeout)))
            self._connection.execute(f"SET lock_timeout = {max(1, int(self._timeout * 1000))}")
            self._connection.execute("SET default_transaction_isolation = 'read committed'")
            require_fsync(self._connection)

    def _require_ledger(self, create: bool) -> None:
        with _translate_errors(self.name):
            if not self._holds_ledger():
                if not create:
                    raise LedgerUseError(
                        "There is no ledger in this PostgreSQL database; create it with 'ziggurat ledger budget'."
                    )
                self._create()
        if not self.entries(1, 1):
            raise LedgerCorruptError(f"{self.name} is empty, so its entries are lost; restore it from a copy.")

    def _holds_ledger(self) -> bool:
        row = self._connection.execute(_EXISTS).fetchone()
        return row is not None and bool(row[0])

    def _create(self) -> None:
        """Make the table and its first entry in one transaction, unless another process just has."""
        with self.writing() as append:
            if not self._holds_ledger():
                self._connection.execute(_SCHEMA)
                append(self._first())


def place_of(uri: str) -> str:
    """Name the server and the database of an address, without user and password."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(uri)
    return " ".join(f"{name}={parts[name]}" for name in ("host", "hostaddr", "port", "dbname") if parts.get(name))


def has_password(uri: str) -> bool:
    """Tell whether an address holds a password."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtraError("PostgreSQL needs psycopg: pip install 'ziggurat[postgres]'.") from None
    try:
        parts = conninfo_to_dict(uri)
    except psycopg.Error:
        raise LedgerUseError("This is not the address of a PostgreSQL database.") from None
    return bool(parts.get("password") or parts.get("sslpassword"))


def require_fsync(connection: psycopg.Connection[Any]) -> None:
    """Refuse a server that may lose commits."""
    row = connection.execute("SHOW fsync").fetchone()
    if row is None or row[0] != "on":
        connection.close()
        raise LedgerError("This PostgreSQL server runs with fsync off and may lose commits; switch it on.")


def _insert(connection: psycopg.Connection[Any], entry: Entry) -> None:
    """Add an entry and read it back: a trigger or rule that was smuggled in might swallow it, even at the commit."""
    connection.execute(_INSERT, entry)
    asked = {"seq": entry.seq, "hash": entry.hash, "refuse": _REFUSE}
    kept, sound = connection.execute(_KEPT, asked).fetchone() or (False, False)
    odd = [] if sound else _oddities(connection)
    if odd or not kept:
        what = odd[0] if odd else "did not keep the new entry"
        raise LedgerCorruptError(f"The ledger in PostgreSQL {what}, so nothing was recorded; verify it.")


def _oddities(connection: psycopg.Connection[Any]) -> list[str]:
    foreign, whole = connection.execute(_EXAMINE, {"refuse": _REFUSE}).fetchone() or (True, False)
    return [*([FOREIGN] if foreign else []), *([] if whole else [UNPROTECTED])]


def _commit(connection: psycopg.Connection[Any]) -> None:
    """Commit; after a failed statement the server answers COMMIT with a silent ROLLBACK."""
    if connection.execute("COMMIT").statusmessage != "COMMIT":
        raise LedgerError("The server rolled the transaction back; nothing was recorded.")


def _roll_back(connection: psycopg.Connection[Any]) -> None:
    """Undo what was not committed; a connection that cannot even do that is dropped, which undoes it too."""
    import psycopg

    try:
        connection.execute("ROLLBACK")
    except psycopg.Error:
        with suppress(psycopg.Error):
            connection.close()


@contextmanager
def _translate_errors(name: str) -> Iterator[None]:
    """Turn the server's errors into ours; its messages are dropped, because they may quote values or passwords."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        _raise(name, error)


def _raise(name: str, error: psycopg.Error) -> NoReturn:
    reason = _REASONS.get(error.sqlstate or "")
    if reason is None:
        state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
        reason = f"cannot be reached or failed{state}; check the address, the server and its disk"
    raise LedgerError(f"{name} {reason}.") from None
