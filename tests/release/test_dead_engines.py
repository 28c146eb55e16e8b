"""An engine that is gone is noticed before anything is paid for; one that can be reached again is."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

from ziggurat.data import Bounds, Column, Schema, Table, Unit, read
from ziggurat.data.engines import DuckDBEngine, PostgresEngine
from ziggurat.errors import DataError, EngineError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.release import Session, release_synthetic_private
from ziggurat.synthesize import MST

COUNT = "SELECT COUNT(*) AS n FROM people"
SCHEMA = Schema((Column("age", "integer", bounds=Bounds(0, 100)),), Unit.row(), "people")
MADE = "CREATE TABLE people AS SELECT generate_series % 90 AS age FROM generate_series(1, 500)"


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "dead.db") as opened:
        opened.create_budget("people", "10", "1e-5", Neighbours(Unit.row()))
        opened.grant("people", "ada", "5", "1e-6", "sum")
        yield opened


@pytest.fixture
def server(postgres_uri: str) -> Iterator[Any]:
    import psycopg

    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS people")
        connection.execute(MADE)
        yield connection


def cut(server: Any) -> None:
    """End every other connection to the server, and wait until they are gone."""
    others = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
    server.execute(f"SELECT pg_terminate_backend(pid, 10000) {others}")
    assert server.execute(f"SELECT COUNT(*) {others}").fetchone() == (0,)


def entries(book: Ledger) -> list[str]:
    return [each.kind for each in book.history("people")]


def test_after_a_cut_connection_the_next_question_is_answered_and_costs_once(
    book: Ledger, server: Any, postgres_uri: str
) -> None:
    with PostgresEngine(postgres_uri) as engine:
        session = Session(book, "ada", {"people": Table(engine, "people", SCHEMA)})
        session.ask(COUNT, "1")
        for epsilon in ("0.5", "0.25"):
            cut(server)
            answer = session.ask(COUNT, epsilon)
            assert abs(answer.value - 500) < 200
        assert session.left() == Fraction("3.25")
        assert entries(book).count("reserve") == entries(book).count("commit") == 3
        assert engine.query(Table(engine, "people").select("age")).num_rows == 500


def test_a_connection_that_is_not_ours_is_not_made_again_and_nothing_is_spent(
    book: Ledger, server: Any, postgres_uri: str
) -> None:
    import psycopg

    session = Session(book, "ada", {"people": Table(PostgresEngine(psycopg.connect(postgres_uri)), "people", SCHEMA)})
    session.ask(COUNT, "1")
    cut(server)
    before = entries(book)
    for _ in range(3):
        with pytest.raises(EngineError, match=r"PostgreSQL does not answer any more; .* nothing was spent"):
            session.ask(COUNT, "0.5")
    assert (session.left(), entries(book)) == (4, before)
    assert session.ask(COUNT, "1").replayed  # what was paid for needs no engine


def test_a_server_that_is_gone_costs_nothing(book: Ledger, server: Any, postgres_uri: str) -> None:
    with PostgresEngine(postgres_uri) as engine:
        session = Session(book, "ada", {"people": Table(engine, "people", SCHEMA)})
        cut(server)
        engine._address = "postgresql://nobody@localhost:1/nowhere"
        with pytest.raises(EngineError, match="could not be reached"):
            session.ask(COUNT, "0.5")
        assert session.left() == 5
        assert "reserve" not in entries(book)


@pytest.mark.parametrize(
    "change", ["DROP TABLE people", "ALTER TABLE people RENAME age TO years", "ALTER TABLE people ALTER age TYPE text"]
)
def test_a_table_that_is_gone_or_another_costs_nothing(
    book: Ledger, server: Any, postgres_uri: str, change: str
) -> None:
    with PostgresEngine(postgres_uri) as engine:
        session = Session(book, "ada", {"people": Table(engine, "people", SCHEMA)})
        server.execute(change)
        with pytest.raises((EngineError, DataError), match="nothing was spent"):
            session.ask(COUNT, "0.5")
        assert session.left() == 5
        assert "reserve" not in entries(book)


def own(path: Path) -> tuple[Table, Callable[[], None]]:
    connection = duckdb.connect(str(path / "own.duckdb"))
    connection.execute(MADE)
    return Table(DuckDBEngine(connection), "people", SCHEMA), connection.close


def private(_: Path) -> tuple[Table, Callable[[], None]]:
    import pyarrow as pa

    engine = DuckDBEngine()
    return read(pa.table({"age": [each % 90 for each in range(500)]}), SCHEMA, engine=engine), engine.close


def vanishing(path: Path) -> tuple[Table, Callable[[], None]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = path / "people.parquet"
    pq.write_table(pa.table({"age": [each % 90 for each in range(500)]}), file)
    return read(str(file), SCHEMA), file.unlink


@pytest.mark.parametrize("opened", [own, private, vanishing])
def test_whatever_is_closed_or_gone_costs_nothing(
    book: Ledger, tmp_path: Path, opened: Callable[[Path], tuple[Table, Callable[[], None]]]
) -> None:
    table, close = opened(tmp_path)
    session = Session(book, "ada", {"people": table})
    session.ask(COUNT, "1")
    close()
    before = entries(book)
    with pytest.raises((EngineError, DataError), match="nothing was spent"):
        session.ask(COUNT, "0.5")
    with pytest.raises((EngineError, DataError), match="nothing was spent"):
        release_synthetic_private(
            table, tmp_path / "copy.csv", MST(epsilon=1, random_state=1), ledger=book, budget="people", analyst="ada"
        )
    assert (session.left(), entries(book)) == (4, before)
    assert not (tmp_path / "copy.csv").exists()


def test_being_ready_reads_no_row(book: Ledger, server: Any, postgres_uri: str) -> None:
    """Every cell of the view fails when it is read: what is asked before a payment cannot depend on one."""
    server.execute("DROP VIEW IF EXISTS trapped")
    server.execute("CREATE VIEW trapped AS SELECT (1 / (age - age))::bigint AS age FROM people")
    with PostgresEngine(postgres_uri) as engine:
        table = Table(engine, "trapped", SCHEMA, on_bad_cell="missing")
        table.ready()
        with pytest.raises(EngineError, match="cost stays spent"):
            Session(book, "ada", {"people": table}).ask("SELECT SUM(age) AS n FROM people", "1")
        assert book.left("people", "ada") == 4
    server.execute("DROP VIEW trapped")


STOPPED = """
import sys
from ziggurat.data import Bounds, Column, Schema, Table, Unit
from ziggurat.data.engines import SparkEngine
from ziggurat.errors import EngineError
from ziggurat.ledger import Ledger
from ziggurat.release import Session
import pyarrow as pa

engine = SparkEngine()
schema = Schema((Column("age", "integer", bounds=Bounds(0, 100)),), Unit.row(), "people")
table = Table(engine, engine.attach(pa.table({"age": [3, 4]})), schema)
with Ledger.open(sys.argv[1], create=False) as book:
    session = Session(book, "ada", {"people": table})
    table.ready()
    engine.close()
    try:
        session.ask("SELECT COUNT(*) AS n FROM people", "0.5")
    except EngineError as error:
        print(error)
    print(session.left())
"""


@pytest.mark.spark
def test_a_stopped_spark_session_costs_nothing(book: Ledger, tmp_path: Path) -> None:
    """In a process of its own: to stop a session is to stop all of a process."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark tests need a Java runtime (17 or later) on the PATH")
    script = [sys.executable, "-c", STOPPED, str(tmp_path / "dead.db")]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    said, left = done.stdout.strip().splitlines()[-2:]
    assert "Spark does not answer any more" in said
    assert "nothing was spent" in said
    assert (left, entries(book).count("reserve")) == ("5", 0)
