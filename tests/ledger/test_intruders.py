"""Nobody can make the database swallow entries, or strip it of its protection, without the ledger noticing."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ziggurat.errors import LedgerCorruptError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.ledger.storage import _sqlite as sqlite_store
from ziggurat.privacy import Neighbours, PureEvent

EVENT = PureEvent(Neighbours(), "0.1")
IGNORE = "CREATE TRIGGER x BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END"
REMOVE = "CREATE TRIGGER x AFTER INSERT ON entries BEGIN DELETE FROM entries WHERE seq = new.seq; END"
REWRITE = "CREATE TRIGGER x AFTER INSERT ON entries BEGIN UPDATE entries SET body = '{}' WHERE seq = new.seq; END"

FOREIGN = {
    "ignored": [IGNORE],
    "removed": ["DROP TRIGGER entries_stay", REMOVE],
    "rewritten": ["DROP TRIGGER entries_keep", REWRITE],
    "a table": ["CREATE TABLE notes (x)"],
    "an index": ["CREATE INDEX i ON entries (time)"],
    "a view": ["CREATE VIEW v AS SELECT * FROM entries"],
}
UNPROTECTED = {
    "no keep": ["DROP TRIGGER entries_keep"],
    "no stay": ["DROP TRIGGER entries_stay"],
    "another keep": [
        "DROP TRIGGER entries_keep",
        "CREATE TRIGGER entries_keep BEFORE UPDATE ON entries WHEN 0 BEGIN SELECT RAISE(ABORT, 'no'); END",
    ],
}


def alter(file: Path, statements: list[str]) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_not_the_ledgers_own_is_found(ledger: Ledger, file: Path, name: str) -> None:
    ledger.close()
    alter(file, FOREIGN[name])
    problem = verify_ledger(file).problems[0]
    assert str(problem) == "The database has a trigger or table that is not its own."
    with pytest.raises(LedgerCorruptError, match="not its own; verify it"):
        Ledger.open(file)


@pytest.mark.parametrize("name", UNPROTECTED)
def test_lost_protection_is_found(ledger: Ledger, file: Path, name: str) -> None:
    ledger.close()
    alter(file, UNPROTECTED[name])
    assert "lost or changed what protects" in str(verify_ledger(file).problems[-1])
    with pytest.raises(LedgerCorruptError, match=r"(protects its entries|not its own).*; verify it"):
        Ledger.open(file)


@pytest.mark.parametrize("name", [*FOREIGN, *UNPROTECTED])
def test_what_is_added_while_a_ledger_is_open_stops_the_next_spend(ledger: Ledger, file: Path, name: str) -> None:
    ledger.reserve("clinic", "ana", EVENT)
    alter(file, {**FOREIGN, **UNPROTECTED}[name])
    with pytest.raises(LedgerCorruptError, match="nothing was recorded"):
        ledger.reserve("clinic", "ana", EVENT)
    assert ledger.left("clinic", "ana") == 1 - EVENT.epsilon
    assert ledger.head().seq == 4


@pytest.mark.parametrize("name", ["ignored", "removed", "rewritten"])
def test_an_entry_that_the_database_did_not_keep_is_not_counted_as_written(
    ledger: Ledger, file: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second line of defence: even where the foreign trigger itself goes unseen, its effect does not."""
    monkeypatch.setattr(sqlite_store, "oddities", lambda _connection: [])
    alter(file, FOREIGN[name])
    with pytest.raises(LedgerCorruptError, match="did not keep"):
        ledger.reserve("clinic", "ana", EVENT)
    assert ledger.head().seq == 3


def test_a_changed_entry_is_reported_before_the_lost_trigger(ledger: Ledger, file: Path) -> None:
    ledger.close()
    alter(file, ["DROP TRIGGER entries_keep", "UPDATE entries SET body = replace(body, '2', '9') WHERE seq = 2"])
    problems = verify_ledger(file).problems
    assert (problems[0].seq, problems[-1].seq) == (2, 0)
    assert str(problems[0]).startswith("Entry 2 was changed")


def test_rewriting_the_list_of_contents_by_its_number_is_of_no_use(ledger: Ledger, file: Path) -> None:
    """SQLite sees a new trigger only if the number of the contents has changed, and then so do we."""
    ledger.reserve("clinic", "ana", EVENT)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        (number,) = connection.execute("PRAGMA schema_version").fetchone()
        connection.execute(IGNORE)
        connection.execute(f"PRAGMA schema_version = {number}")
    ledger.reserve("clinic", "ana", EVENT)
    ledger.close()
    assert verify_ledger(file).entries == 5
    assert not verify_ledger(file).ok


SWALLOW = "CREATE FUNCTION public.swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
ERASE = (
    "CREATE FUNCTION public.erase() RETURNS trigger LANGUAGE plpgsql AS "
    "$$ BEGIN DELETE FROM ziggurat.entries WHERE seq = NEW.seq; RETURN NULL; END $$"
)
OFF = "ALTER TABLE ziggurat.entries DISABLE TRIGGER entries_keep"
POSTGRES = {
    "ignored": [
        SWALLOW,
        "CREATE TRIGGER x BEFORE INSERT ON ziggurat.entries FOR EACH ROW EXECUTE FUNCTION public.swallow()",
    ],
    "removed at the commit": [
        ERASE,
        OFF,
        "CREATE CONSTRAINT TRIGGER x AFTER INSERT ON ziggurat.entries DEFERRABLE INITIALLY DEFERRED "
        "FOR EACH ROW EXECUTE FUNCTION public.erase()",
    ],
    "a rule": ["CREATE RULE x AS ON INSERT TO ziggurat.entries DO INSTEAD NOTHING"],
    "a trigger switched off": [OFF],
    "a trigger that does nothing": [
        "CREATE OR REPLACE FUNCTION ziggurat.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$"
    ],
    "a trigger lost": ["DROP TRIGGER entries_keep ON ziggurat.entries"],
    "hidden rows": ["ALTER TABLE ziggurat.entries ENABLE ROW LEVEL SECURITY"],
    "a child table": ["CREATE TABLE public.more () INHERITS (ziggurat.entries)"],
}
HARMLESS = {
    "a column": ["ALTER TABLE ziggurat.entries ADD COLUMN note text"],
    "an index": ["CREATE INDEX i ON ziggurat.entries (time)"],
    "a constraint": ["ALTER TABLE ziggurat.entries ADD CHECK (seq > 0)"],
}


def granted(uri: str, statements: list[str]) -> Ledger:
    """A ledger whose database was altered while it was open."""
    psycopg = pytest.importorskip("psycopg", reason="PostgreSQL tests need psycopg")
    ledger = Ledger.open(uri)
    ledger.create_budget("clinic", 1)
    ledger.grant("clinic", "ana", 1)
    with psycopg.connect(uri, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    return ledger


@pytest.mark.postgres
@pytest.mark.parametrize("name", POSTGRES)
def test_what_acts_on_a_table_in_postgres_stops_the_next_spend(postgres: str, name: str) -> None:
    with granted(postgres, POSTGRES[name]) as ledger:
        with pytest.raises(LedgerCorruptError, match="nothing was recorded"):
            ledger.reserve("clinic", "ana", EVENT)
        assert ledger.head().seq == 3


@pytest.mark.postgres
@pytest.mark.parametrize("name", [*POSTGRES, *HARMLESS])
def test_what_is_not_as_created_in_postgres_is_found(postgres: str, name: str) -> None:
    granted(postgres, {**POSTGRES, **HARMLESS}[name]).close()
    assert str(verify_ledger(postgres).problems[0]).startswith("The database has")
    with pytest.raises(LedgerCorruptError, match="verify it"):
        Ledger.open(postgres)


@pytest.mark.postgres
def test_what_was_added_in_postgres_and_removed_again_stops_nobody(postgres: str) -> None:
    passing = ["CREATE TABLE public.more () INHERITS (ziggurat.entries)", "DROP TABLE public.more"]
    passing += ["CREATE RULE x AS ON INSERT TO ziggurat.entries DO INSTEAD NOTHING", "DROP RULE x ON ziggurat.entries"]
    with granted(postgres, passing) as ledger:
        ledger.reserve("clinic", "ana", EVENT).commit(1)
        assert ledger.verify().ok
