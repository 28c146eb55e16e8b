"""What is particular to a ledger in PostgreSQL."""

import pytest

from ziggurat.errors import LedgerCorruptError, LedgerError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.privacy import Neighbours, PureEvent, exact

pytestmark = pytest.mark.postgres
psycopg = pytest.importorskip("psycopg", reason="PostgreSQL tests need psycopg")

EVENT = PureEvent(Neighbours(), "0.1")


def granted(uri: str) -> Ledger:
    ledger = Ledger.open(uri)
    ledger.create_budget("clinic", 1)
    ledger.grant("clinic", "ana", 1)
    return ledger


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ana:hunter2@127.0.0.1:1/none?connect_timeout=2",
        "postgresql://ana:hunter2@[bad/none",
        "postgresql://ana:hunter2@127.0.0.1/none?nonsense=hunter2",
    ],
)
def test_a_password_is_never_quoted(uri: str) -> None:
    with pytest.raises(LedgerError) as caught:
        Ledger.open(uri)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_the_server_refuses_changes(postgres: str) -> None:
    with granted(postgres), psycopg.connect(postgres, autocommit=True) as connection:
        for statement in (
            "UPDATE ziggurat.entries SET time = ''",
            "DELETE FROM ziggurat.entries",
            "TRUNCATE ziggurat.entries",
        ):
            with pytest.raises(psycopg.errors.RaiseException, match="never"):
                connection.execute(statement)


def test_a_change_behind_the_triggers_is_found(postgres: str) -> None:
    granted(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("ALTER TABLE ziggurat.entries DISABLE TRIGGER USER")
        connection.execute("UPDATE ziggurat.entries SET body = replace(body, '1', '2') WHERE seq = 2")
    assert verify_ledger(postgres).problems[0].seq == 2
    with pytest.raises(LedgerCorruptError, match="entry 2"):
        Ledger.open(postgres)


def test_an_emptied_ledger_is_not_begun_anew(postgres: str) -> None:
    granted(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("ALTER TABLE ziggurat.entries DISABLE TRIGGER USER")
        connection.execute("TRUNCATE ziggurat.entries")
    with pytest.raises(LedgerCorruptError, match="empty"):
        Ledger.open(postgres)


def test_a_lost_connection_is_reported_and_then_replaced(postgres: str) -> None:
    with granted(postgres) as ledger, psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with pytest.raises(LedgerError, match="cannot be reached"):
            ledger.reserve("clinic", "ana", EVENT)
        ledger.reserve("clinic", "ana", EVENT).commit(1)
        assert ledger.left("clinic", "ana") == exact("0.9")
        assert ledger.verify().ok


def test_a_ledger_in_use_by_another_writer_is_refused_in_time(postgres: str) -> None:
    with granted(postgres), Ledger.open(postgres, timeout=0.05) as impatient:
        with psycopg.connect(postgres) as connection:
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (0x5A696767_75726174,))
            with pytest.raises(LedgerError, match="another writer"):
                impatient.reserve("clinic", "ana", EVENT)
        impatient.reserve("clinic", "ana", EVENT)


def test_a_role_that_may_make_no_index_spends_on_without_one(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ledger of an earlier version: until somebody makes the tables there is no checkpoint, and spending goes on."""
    granted(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP TABLE ziggurat.pointers, ziggurat.answers")
        connection.execute("DROP ROLE IF EXISTS ledger_poor")
        connection.execute("CREATE ROLE ledger_poor LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA ziggurat TO ledger_poor")
        connection.execute("GRANT SELECT, INSERT ON ziggurat.entries TO ledger_poor")
    monkeypatch.setattr("ziggurat.ledger._journal.EVERY", 4)
    with Ledger.open(postgres.replace("postgres:@", "ledger_poor:@", 1)) as ledger:
        for number in range(5):
            ledger.reserve("clinic", "ana", EVENT, number).commit("x" * 70_000)
        assert {entry.kind for entry in ledger.history()} == {"genesis", "budget", "grant", "reserve", "commit"}
        assert ledger.verify().ok
    with Ledger.open(postgres) as ledger:
        ledger.reserve("clinic", "ana", EVENT)
        assert ledger.history()[-1].kind == "checkpoint"
    with Ledger.open(postgres) as ledger:
        assert ledger.reserve("clinic", "ana", EVENT, 2).replayed
        assert ledger.verify().ok


def test_a_role_that_may_only_select_and_insert_can_spend(postgres: str) -> None:
    granted(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS ledger_writer")
        connection.execute("CREATE ROLE ledger_writer LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA ziggurat TO ledger_writer")
        connection.execute("GRANT SELECT, INSERT ON ziggurat.entries TO ledger_writer")
    with Ledger.open(postgres.replace("postgres:@", "ledger_writer:@", 1)) as ledger:
        ledger.reserve("clinic", "ana", EVENT).commit(1)
        assert ledger.verify().ok
