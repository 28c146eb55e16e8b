"""Entries in a PostgreSQL database, in the schema `ziggurat`.

Writers queue at an advisory lock that ends with their transaction, so a role needs no more than to select and insert.
`synchronous_commit` is set for every transaction: with it off, a crash of the server may undo the newest commits.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError, MissingExtraError
from ziggurat.ledger._chain import Entry
from ziggurat.ledger.storage._store import BATCH, FOREIGN, UNPROTECTED, MakeFirst, Pointer, Store, Writer

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x5A696767_75726174  # any number that no other application is likely to lock

_REFUSE = " BEGIN RAISE EXCEPTION 'entries of a ledger are never changed or removed'; END "
_ENTRIES = f"""
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
# Beside the entries: an index for what checkpoints let go of, and large answers by their hash. Nothing rests on either
# being true: whatever they give is compared with the entries.
_INDEX = """
CREATE TABLE ziggurat.pointers (key text NOT NULL, seq bigint NOT NULL, PRIMARY KEY (key, seq));
CREATE TABLE ziggurat.answers (hash text NOT NULL PRIMARY KEY, body text NOT NULL);
CREATE TRIGGER pointers_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ziggurat.pointers
  FOR EACH STATEMENT EXECUTE FUNCTION ziggurat.refuse();
CREATE TRIGGER answers_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ziggurat.answers
  FOR EACH STATEMENT EXECUTE FUNCTION ziggurat.refuse();
"""
_COLUMNS = {
    "entries": "seq bigint, time text, kind text, body text, previous text, hash text",
    "pointers": "key text, seq bigint",
    "answers": "hash text, body text",
}
_LOCKED = f"SELECT set_config('synchronous_commit', 'on', true), pg_advisory_xact_lock({_LOCK})"
_BEGIN = f"BEGIN; {_LOCKED}"
# Not to_regclass: it may answer from a cache that is older than the lock.
_EXISTS = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'ziggurat' AND tablename = %s)"
_INSERT = "INSERT INTO ziggurat.entries (seq, time, kind, body, previous, hash) VALUES "
_VALUES = "(%s, %s, %s, %s, %s, %s)"
_TOGETHER = 100  # entries in a statement
_FIELDS = "SELECT seq, time, kind, body, previous, hash FROM ziggurat.entries"
_SELECT = f"{_FIELDS} WHERE seq >= %s ORDER BY seq LIMIT %s"
_NUMBERED = f"{_FIELDS} WHERE seq = ANY(%s) ORDER BY seq"
_NEWEST = f"{_FIELDS} WHERE kind = %s ORDER BY seq DESC LIMIT 1"
_POINTED = "SELECT seq FROM ziggurat.pointers WHERE key = %s ORDER BY seq"
_POINTED_ALL = "SELECT key, seq FROM ziggurat.pointers WHERE key = ANY(%s) ORDER BY key, seq"
_ROWS = "unnest(%s::text[], %s::bigint[]) AS new (key, seq)"
_POINT = f"INSERT INTO ziggurat.pointers (key, seq) SELECT key, seq FROM {_ROWS} ON CONFLICT DO NOTHING"  # noqa: S608
_UNPOINTED = f"SELECT key, seq FROM {_ROWS} EXCEPT SELECT key, seq FROM ziggurat.pointers"  # noqa: S608
_KEEP = "INSERT INTO ziggurat.answers (hash, body) VALUES (%s, %s) ON CONFLICT DO NOTHING"
_TEXT = "SELECT body FROM ziggurat.answers WHERE hash = %s"
_MAY_KEEP = (
    "SELECT has_table_privilege('ziggurat.answers', 'SELECT') AND has_table_privilege('ziggurat.answers', 'INSERT')"
)

# Our trigger is known by what it does: before (2) delete (8), update (16) and truncate (32), once per statement.
_OWN = """t.tgname = c.relname || '_keep' AND t.tgtype = 58 AND t.tgenabled IN ('O', 'A') AND t.tgqual IS NULL
    AND t.tgattr::text = '' AND p.prosrc = %(refuse)s"""
_TRIGGERS = "pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid"
# A quick look at what the server notes of the table; it may err on the side of caution, and then all is examined.
_QUICK = f"""c.relkind = 'r' AND NOT (c.relhasrules OR c.relrowsecurity OR c.relhassubclass)
  AND (SELECT count(*) = 1 AND bool_and({_OWN}) FROM {_TRIGGERS} WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)"""  # noqa: S608
# Whether anything could act on the table that is not ours; whether all that is ours is there.
_STRANGE = """c.relkind <> 'r' OR c.relrowsecurity
  OR EXISTS (SELECT FROM pg_catalog.pg_trigger t
             WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND t.tgname <> c.relname || '_keep')
  OR EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid)
  OR EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent))
  OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype NOT IN ('p', 'n'))
  OR EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND NOT x.indisprimary)"""
_WHOLE = f"""EXISTS (SELECT FROM {_TRIGGERS} WHERE t.tgrelid = c.oid AND {_OWN})
  AND (SELECT string_agg(a.attname || ' ' || pg_catalog.format_type(a.atttypid, a.atttypmod), ', ' ORDER BY a.attnum)
              || bool_and(a.attnotnull AND NOT a.atthasdef)
       FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
    = %(columns)s || 'true'"""  # noqa: S608 - constants only
_OF = "FROM pg_catalog.pg_class c WHERE c.oid = %(table)s::regclass"
_EXAMINE = f"SELECT {_STRANGE}, {_WHOLE} {_OF}"
# Whether the entries are there and nothing could remove them again: 1, or an error that undoes them. Asked after the
# insertion, whose lock keeps triggers and rules from being added before the commit; so both may go in one trip.
_KEPT = f"""
SELECT 1 / ((SELECT count(*) FROM ziggurat.entries
             WHERE seq >= %(first)s AND hash = ANY(string_to_array(%(hashes)s, ','))) = %(count)s
  AND CASE WHEN {_QUICK} THEN true ELSE NOT ({_STRANGE}) AND {_WHOLE} END)::int
{_OF}"""  # noqa: S608 - constants only

# A connection shared with a parent process would mix up both conversations, so a child keeps it and never uses it.
_INHERITED: list[Any] = []

_REASONS = {
    "55P03": "is in use by another writer that did not finish in time; try again",
    "53100": "could not be written because the server's disk is full; nothing was recorded",
    "42501": "may not be read or written by this role; grant it SELECT and INSERT on all tables of the schema ziggurat",
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
        self._closed, self._read_only, self._indexed = False, read_only, False
        self._ahead: tuple[tuple[int, int], list[Entry]] | None = None
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

    @property
    def patience(self) -> float:
        """How many seconds to wait for other writers."""
        return self._timeout

    def names(self) -> tuple[str, ...]:
        """The address with everything but passwords: one role may be allowed what another is not."""
        return () if self._read_only else ("postgresql", *_describe(self._uri))

    def entries(self, start: int, limit: int = BATCH) -> list[Entry]:
        """Give at most `limit` entries whose number is at least `start`, in order."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None and ahead[0] == (start, limit):
            return ahead[1]
        with _translate_errors(self.name):
            return [Entry._make(row) for row in self._live().execute(_SELECT, (start, limit))]

    def numbered(self, numbers: Sequence[int]) -> Iterator[Entry]:
        """Give the entries of these numbers, in order; what is not there is left out."""
        for place in range(0, len(numbers), BATCH):
            with _translate_errors(self.name):
                rows = self._live().execute(_NUMBERED, (list(numbers[place : place + BATCH]),)).fetchall()
            yield from map(Entry._make, rows)

    def newest(self, kind: str) -> Entry | None:
        """Give the newest entry of a kind."""
        with _translate_errors(self.name):
            row = self._live().execute(_NEWEST, (kind,)).fetchone()
        return None if row is None else Entry._make(row)

    def pointed(self, key: str) -> list[int]:
        """Give the numbers that the index has for a key, in order."""
        with _translate_errors(self.name):
            return [seq for (seq,) in self._live().execute(_POINTED, (key,))] if self._has_index() else []

    def pointed_all(self, keys: Sequence[str]) -> dict[str, list[int]]:
        """Give the numbers that the index has for each of several keys."""
        found: dict[str, list[int]] = {key: [] for key in keys}
        with _translate_errors(self.name):
            for key, seq in self._live().execute(_POINTED_ALL, (list(keys),)) if self._has_index() else []:
                found[key].append(seq)
        return found

    def unpointed(self, pointers: Sequence[Pointer]) -> list[Pointer]:
        """Give those of some rows that the index lacks."""
        with _translate_errors(self.name):
            if not self._has_index():
                return list(pointers)
            return self._live().execute(_UNPOINTED, _columns(pointers)).fetchall()

    def keeps(self) -> bool:
        """Ledgers of earlier versions have no table for it, and a role may lack the right to use it."""
        with _translate_errors(self.name):
            if not self._has_index():
                return False
            row = self._live().execute(_MAY_KEEP).fetchone()
            return row is not None and bool(row[0])

    def kept(self, sha256: str) -> str | None:
        """Give the text that is kept under a hash."""
        with _translate_errors(self.name):
            row = self._live().execute(_TEXT, (sha256,)).fetchone() if self._has_index() else None
        return None if row is None else str(row[0])

    @contextmanager
    def writing(self, start: int = 1) -> Iterator[Writer]:
        """Become the one writer of the database; what is there from `start` on comes along on the same trip."""
        if self._read_only:
            raise LedgerUseError(f"{self.name} was opened for reading only; open it for writing.")
        with _translate_errors(self.name):
            connection = self._live()
            writer = _PostgresWriter(connection, self._has_index)
            try:
                self._ahead = (start, BATCH), _begin(connection, start, BATCH)
                yield writer
                writer.commit()
            except BaseException:
                _roll_back(connection)
                raise
            finally:
                self._ahead = None

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
            own = list(_COLUMNS) if self._has_index() else ["entries"]
            found = [what for table in own for what in _oddities(self._live(), table)]
        return list(dict.fromkeys(found))

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
        return _exists(self._connection, "entries")

    def _has_index(self) -> bool:
        """Ledgers of earlier versions have no index until somebody who may make one writes to them."""
        self._indexed = self._indexed or _exists(self._live(), "pointers")
        return self._indexed

    def _create(self) -> None:
        """Make the tables and the first entry in one transaction, unless another process just has."""
        with _translate_errors(self.name):
            connection = self._connection
            try:
                connection.execute(_BEGIN)
                if not self._holds_ledger():
                    connection.execute(_ENTRIES)
                    connection.execute(_INDEX)
                    writer = _PostgresWriter(connection, self._has_index)
                    writer.append(self._first())
                    writer.commit()
            finally:
                _roll_back(connection)


class _PostgresWriter(Writer):
    """The writer of a database: entries, the question whether they were kept, and the commit go in one trip.

    That question is put so that its "no" is an error, after which the server answers COMMIT with a rollback.
    """

    def __init__(self, connection: psycopg.Connection[Any], has_index: Callable[[], bool]) -> None:
        self._connection, self._has_index = connection, has_index
        self._waiting: list[Entry] = []

    def append(self, entry: Entry) -> None:
        """Add an entry at the next trip."""
        self._waiting.append(entry)

    def settle(self) -> None:
        """Send what was appended, and see that it was kept."""
        self._send(and_commit=False)

    def index(self, pointers: Sequence[Pointer]) -> None:
        """Add rows to the index, and make it where there is none."""
        if not self._has_index():
            self._connection.execute(_INDEX)
        self._connection.execute(_POINT, _columns(pointers))

    def keep(self, sha256: str, text: str) -> None:
        """Keep a text beside the entries, and read it back."""
        self._connection.execute(_KEEP, (sha256, text))
        if self._connection.execute(_TEXT, (sha256,)).fetchone() != (text,):
            raise LedgerCorruptError(
                "The ledger in PostgreSQL did not keep the new answer, so nothing was recorded; verify it."
            )

    def commit(self) -> None:
        """Send the rest, and commit; after a failed statement the server answers COMMIT with a silent ROLLBACK."""
        self._send(and_commit=True)

    def _send(self, and_commit: bool) -> None:
        import psycopg

        sent, self._waiting = self._waiting, []
        last = None
        try:
            with self._connection.pipeline():
                for part in (sent[place : place + _TOGETHER] for place in range(0, len(sent), _TOGETHER)):
                    values = ", ".join([_VALUES] * len(part))
                    self._connection.execute(f"{_INSERT}{values}", [item for entry in part for item in entry])
                kept = self._connection.execute(_KEPT, _asked(sent)) if sent else None
                last = self._connection.execute("COMMIT") if and_commit else None
        except psycopg.errors.DivisionByZero:
            self._explain()
        if kept is not None and kept.fetchone() != (1,):
            self._explain()
        if last is not None and last.statusmessage != "COMMIT":
            raise LedgerError("The server rolled the transaction back; nothing was recorded.")

    def _explain(self) -> NoReturn:
        _roll_back(self._connection)
        what = next(iter(_oddities(self._connection, "entries")), "did not keep the new entry")
        raise LedgerCorruptError(f"The ledger in PostgreSQL {what}, so nothing was recorded; verify it.")


def _begin(connection: psycopg.Connection[Any], start: int, limit: int) -> list[Entry]:
    """Take the lock, and read what is there from `start` on; one message, since numbers need no quoting."""
    cursor = connection.execute(f"{_BEGIN}; {_FIELDS} WHERE seq >= {int(start)} ORDER BY seq LIMIT {int(limit)}")
    while cursor.nextset():
        pass
    return [Entry._make(row) for row in cursor.fetchall()]


def _asked(entries: Sequence[Entry]) -> dict[str, Any]:
    hashes = ",".join(entry.hash for entry in entries)
    return {"first": entries[0].seq, "hashes": hashes, "count": len(entries), **_examined("entries")}


def _examined(table: str) -> dict[str, str]:
    return {"table": f"ziggurat.{table}", "columns": _COLUMNS[table], "refuse": _REFUSE}


def _columns(pointers: Sequence[Pointer]) -> tuple[list[str], list[int]]:
    return [key for key, _ in pointers], [seq for _, seq in pointers]


def _exists(connection: psycopg.Connection[Any], table: str) -> bool:
    row = connection.execute(_EXISTS, (table,)).fetchone()
    return row is not None and bool(row[0])


def place_of(uri: str) -> str:
    """Name the server and the database of an address, without user and password."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(uri)
    return " ".join(f"{name}={parts[name]}" for name in ("host", "hostaddr", "port", "dbname") if parts.get(name))


def _describe(uri: str) -> list[str]:
    """Spell out an address, and what the environment adds to it, without secrets."""
    from psycopg.conninfo import conninfo_to_dict

    added = {name: value for name, value in os.environ.items() if name.startswith("PG")}
    said = {**{name: str(value) for name, value in conninfo_to_dict(uri).items()}, **added}
    return [f"{name}={value}" for name, value in sorted(said.items()) if "pass" not in name.lower()]


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


def _oddities(connection: psycopg.Connection[Any], table: str) -> list[str]:
    foreign, whole = connection.execute(_EXAMINE, _examined(table)).fetchone() or (True, False)
    return [*([FOREIGN] if foreign else []), *([] if whole else [UNPROTECTED])]


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
