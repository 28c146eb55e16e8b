"""A witness in PostgreSQL: the table `ziggurat_witness.receipts`, to which a role needs no more than select and insert.

Two writers of the same number meet at the primary key, so no lock is needed. A trigger refuses updates, deletions and
truncation; whoever owns the table can drop it, so the table should belong to somebody else than those who spend.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ziggurat.errors import LedgerError, MissingExtraError, WitnessError
from ziggurat.ledger._chain import Head
from ziggurat.ledger.storage import require_fsync
from ziggurat.ledger.witness._place import Seen, Witness, follows

if TYPE_CHECKING:
    import psycopg

_BATCH = 1000
_REFUSE = " BEGIN RAISE EXCEPTION 'receipts of a witness are never changed or removed'; END "
_SCHEMA = f"""
CREATE SCHEMA IF NOT EXISTS ziggurat_witness;
CREATE TABLE IF NOT EXISTS ziggurat_witness.receipts (
  ledger text NOT NULL, seq bigint NOT NULL, hash text NOT NULL, receipt text NOT NULL, PRIMARY KEY (ledger, seq)
);
CREATE OR REPLACE FUNCTION ziggurat_witness.refuse() RETURNS trigger LANGUAGE plpgsql AS $${_REFUSE}$$;
CREATE OR REPLACE TRIGGER receipts_keep BEFORE UPDATE OR DELETE OR TRUNCATE ON ziggurat_witness.receipts
  FOR EACH STATEMENT EXECUTE FUNCTION ziggurat_witness.refuse();
REVOKE ALL ON ziggurat_witness.receipts FROM PUBLIC;
"""
_EXISTS = (
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'ziggurat_witness' AND tablename = 'receipts')"
)
# Our trigger is known by what it does: before (2) delete (8), update (16) and truncate (32), once per statement.
_PROTECTED = """
SELECT c.relkind = 'r' AND NOT (c.relhasrules OR c.relrowsecurity OR c.relhassubclass)
  AND (SELECT count(*) = 1 AND bool_and(t.tgname = 'receipts_keep' AND t.tgtype = 58 AND t.tgenabled IN ('O', 'A')
         AND t.tgqual IS NULL AND t.tgattr::text = '' AND p.prosrc = %s)
       FROM pg_catalog.pg_trigger t JOIN pg_catalog.pg_proc p ON p.oid = t.tgfoid
       WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
FROM pg_catalog.pg_class c WHERE c.oid = 'ziggurat_witness.receipts'::regclass"""
_SELECT = (
    "SELECT seq, hash, receipt FROM ziggurat_witness.receipts WHERE ledger = %s AND seq > %s ORDER BY seq LIMIT %s"
)
_LAST = "SELECT seq, hash, receipt FROM ziggurat_witness.receipts WHERE ledger = %s ORDER BY seq DESC LIMIT 1"
_FIRST = "INSERT INTO ziggurat_witness.receipts (ledger, seq, hash, receipt) VALUES (%s, %s, %s, %s)"
# Taken only if the newest row is the one that the first receipt follows. `synchronous_commit` is set for this
# transaction alone: a server where it is off by default may undo the newest commits after a crash.
_EXTEND = """
INSERT INTO ziggurat_witness.receipts (ledger, seq, hash, receipt)
SELECT %(ledger)s, new.seq, new.hash, new.receipt
FROM unnest(%(seqs)s::bigint[], %(hashes)s::text[], %(receipts)s::text[]) AS new (seq, hash, receipt)
WHERE set_config('synchronous_commit', %(sync)s, true) IS NOT NULL AND (%(after)s::bigint, %(previous)s::text) = (
  SELECT r.seq, r.hash FROM ziggurat_witness.receipts r WHERE r.ledger = %(ledger)s ORDER BY r.seq DESC LIMIT 1)"""

# A connection shared with a parent process would mix up both conversations, so a child keeps it and never uses it.
_INHERITED: list[Any] = []


class PostgresWitness(Witness):
    """Receipts in one PostgreSQL database."""

    def __init__(self, uri: str, ledger: str, timeout: float = 30.0) -> None:
        try:
            import psycopg  # noqa: F401
        except ImportError:
            raise MissingExtraError(
                "A witness in PostgreSQL needs psycopg: pip install 'ziggurat[postgres]'."
            ) from None
        self._uri, self._ledger, self._timeout = uri, ledger, timeout
        self._connection: psycopg.Connection[Any] | None = None
        self._process = os.getpid()

    @property
    def name(self) -> str:
        """The database, without the address and its password."""
        return "The witness in PostgreSQL"

    def begin(self, first: Seen) -> bool:
        """Make the table where there is none, and insert the first row."""
        with self._reach() as connection:
            if not _exists(connection):
                connection.execute(_SCHEMA)
            if self.last() is not None:
                return False
            connection.execute("BEGIN")
            connection.execute("SET LOCAL synchronous_commit = on")
            connection.execute(_FIRST, (self._ledger, first.seq, first.receipt.hash, first.to_json()))
            _commit(connection)
        return True

    def last(self) -> Seen | None:
        """Read the newest row."""
        with self._reach() as connection:
            row = connection.execute(_LAST, (self._ledger,)).fetchone() if _exists(connection) else None
        if row is None:
            return None
        found = _read_row(row)
        if found is None:
            raise WitnessError(f"{self.name} holds something at its end that is not a receipt; verify the ledger")
        return found

    def extend(self, seen: Sequence[Seen], durable: bool) -> bool:
        """Insert rows in one statement; the server compares the newest."""
        before = Head(seen[0].seq - 1, seen[0].previous)
        if not follows(before, seen):
            return False
        values = {
            "ledger": self._ledger,
            "seqs": [one.seq for one in seen],
            "hashes": [one.receipt.hash for one in seen],
            "receipts": [one.to_json() for one in seen],
            "after": before.seq,
            "previous": before.hash,
            "sync": "on" if durable else "off",
        }
        import psycopg

        with self._reach() as connection:
            try:
                return connection.execute(_EXTEND, values).rowcount == len(seen)
            except (psycopg.errors.UniqueViolation, psycopg.errors.UndefinedTable):
                return False

    def all(self) -> Iterator[Seen | None]:
        """Read row after row, a batch at a time."""
        after = -1
        while batch := self._batch(after):
            yield from (_read_row(row) for row in batch)
            after = batch[-1][0]

    def close(self) -> None:
        """End the connection."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
        self._connection = None

    def _batch(self, after: int) -> list[Any]:
        with self._reach() as connection:
            if not _exists(connection):
                return []
            return connection.execute(_SELECT, (self._ledger, after, _BATCH)).fetchall()

    @contextmanager
    def _reach(self) -> Iterator[psycopg.Connection[Any]]:
        """Give this process's connection; the server's messages are dropped, because they may quote passwords."""
        import psycopg

        try:
            yield self._live()
        except psycopg.Error as error:
            state = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
            self._drop()
            raise WitnessError(f"{self.name} cannot be reached or written{state}") from None

    def _live(self) -> psycopg.Connection[Any]:
        if self._connection is not None and self._process != os.getpid():
            _INHERITED.append(self._connection)
            self._connection = None
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> psycopg.Connection[Any]:
        import psycopg

        self._process = os.getpid()
        made = psycopg.connect(self._uri, autocommit=True, connect_timeout=max(2, int(self._timeout)))
        made.execute(f"SET lock_timeout = {max(1, int(self._timeout * 1000))}")
        try:
            require_fsync(made)
        except LedgerError as error:
            raise WitnessError(f"{self.name} cannot be relied on: {str(error).rstrip('.')}") from None
        if _exists(made) and made.execute(_PROTECTED, (_REFUSE,)).fetchone() != (True,):
            made.close()
            raise WitnessError(f"{self.name} has lost or changed what protects its receipts; verify the ledger")
        return made

    def _drop(self) -> None:
        """Begin with a fresh connection next time; an open transaction ends with the old one."""
        if self._connection is not None and self._process == os.getpid():
            self._connection.close()
            self._connection = None


def _read_row(row: tuple[int, str, str]) -> Seen | None:
    found = Seen.from_json(row[2])
    return found if found is not None and found.head() == Head(row[0], row[1]) else None


def _exists(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute(_EXISTS).fetchone()
    return row is not None and bool(row[0])


def _commit(connection: psycopg.Connection[Any]) -> None:
    if connection.execute("COMMIT").statusmessage != "COMMIT":
        raise WitnessError("The witness in PostgreSQL did not keep its first receipt")
