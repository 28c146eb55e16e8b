"""What is particular to one engine: sessions, connections and what they may do."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlglot import exp, select

from ziggurat.data import Table
from ziggurat.data.engines import DuckDBEngine, PostgresEngine, SparkEngine
from ziggurat.errors import DataError, EngineError


def test_duckdb_reads_no_python_variable() -> None:
    secret = pa.table({"a": [1]})
    with DuckDBEngine() as engine, pytest.raises(EngineError):
        engine.query(select("*").from_("secret"))
    assert secret.num_rows == 1


def test_duckdb_fetches_no_extension() -> None:
    with DuckDBEngine() as engine:
        names = ("autoinstall_known_extensions", "autoload_known_extensions")
        settings = exp.select("value").from_("duckdb_settings()").where(exp.column("name").isin(*names))
        assert engine.query(settings).column("value").to_pylist() == ["false", "false"]


def test_duckdb_takes_a_moment_of_unknown_zone_for_utc() -> None:
    with DuckDBEngine() as engine:
        zone = exp.select("value").from_("duckdb_settings()").where(exp.column("name").eq("TimeZone"))
        assert engine.query(zone).column("value").to_pylist() == ["UTC"]


def test_a_closed_engine_says_so() -> None:
    engine = DuckDBEngine()
    name = engine.attach(pa.table({"a": [1]}))
    engine.close()
    with pytest.raises(EngineError, match="failed in DuckDB"):
        engine.query(select("a").from_(name))


@pytest.mark.spark
def test_spark_refuses_a_session_that_hides_overflows(spark_session: Any) -> None:
    lax = spark_session.newSession()
    lax.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(EngineError, match=r"set spark\.sql\.ansi\.enabled to true"):
        SparkEngine(lax)


@pytest.mark.spark
def test_spark_leaves_a_lent_session_open(spark_session: Any) -> None:
    SparkEngine(spark_session).close()
    assert spark_session.range(3).count() == 3


@pytest.mark.spark
def test_spark_says_what_it_can_attach(spark_session: Any) -> None:
    engine = SparkEngine(spark_session)
    with pytest.raises(DataError, match="Spark finds no file"):
        engine.attach("t.csv")
    with pytest.raises(DataError, match="pass a Spark DataFrame"):
        engine.attach(42)


@pytest.mark.postgres
def test_postgres_is_read_only(postgres_uri: str) -> None:
    with PostgresEngine(postgres_uri) as engine, pytest.raises(EngineError, match="ReadOnlySqlTransaction"):
        engine.query(exp.maybe_parse("CREATE TABLE forbidden (a INT)"))


@pytest.mark.postgres
def test_postgres_leaves_a_lent_connection_open_and_usable(postgres_uri: str) -> None:
    import psycopg

    with psycopg.connect(postgres_uri) as connection:
        engine = PostgresEngine(connection)
        with pytest.raises(EngineError):
            engine.query(select("nothing").from_("nowhere"))
        engine.close()
        assert connection.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.postgres
def test_postgres_holds_its_own_tables_only(postgres_uri: str) -> None:
    with PostgresEngine(postgres_uri) as engine, pytest.raises(DataError, match="name one with table="):
        engine.attach(pa.table({"a": [1]}))


@pytest.mark.postgres
def test_postgres_dates_at_infinity_and_numerics_with_a_fraction_are_unreadable_cells(postgres_uri: str) -> None:
    import psycopg

    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS unbounded; CREATE TABLE unbounded (d date, t timestamptz, n numeric)")
        connection.execute("INSERT INTO unbounded VALUES ('infinity', '-infinity', 1.5), ('2024-01-01', now(), 2)")
        table = Table(PostgresEngine(connection), "unbounded", on_bad_cell="missing")
        assert table.unreadable() == {"d": 1, "t": 1, "n": 1}


@pytest.mark.postgres
def test_postgres_enumerations_are_text_and_arrays_have_no_kind(postgres_uri: str) -> None:
    import psycopg

    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS odd; DROP TYPE IF EXISTS mood")
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'glad')")
        connection.execute("CREATE TABLE odd (m mood, l int[])")
        connection.execute("INSERT INTO odd VALUES ('glad', '{1}')")
        types = PostgresEngine(connection).columns("odd")
    assert (types["m"], types["l"]) == (pa.string(), pa.binary())


def test_what_does_not_fit_into_memory_goes_to_a_folder_of_this_user_alone():
    from ziggurat.data.engines._duckdb import _private

    ((folder,),) = _private().sql("SELECT current_setting('temp_directory')").fetchall()
    assert Path(folder).stat().st_mode & 0o077 == 0
    assert Path.cwd() not in Path(folder).parents
