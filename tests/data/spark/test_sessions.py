"""Sessions: those of the process, those that cannot be had, and Spark Connect."""

import importlib.util
import shutil
import subprocess
import sys
from typing import Any

import pytest

from ziggurat.data.engines import SparkEngine
from ziggurat.errors import EngineError, MissingExtraError


def _need_spark() -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark tests need a Java runtime (17 or later) on the PATH")


@pytest.mark.spark
def test_the_session_of_the_process_is_used_and_left_open(spark_session: Any) -> None:
    with SparkEngine() as engine:
        assert engine._session is spark_session
    assert spark_session.range(3).count() == 3


@pytest.mark.spark
def test_a_session_that_is_there_is_not_taken_for_the_address_that_was_named(spark_session: Any) -> None:
    for address in ("local[1]", "spark://nowhere:7077", "sc://nowhere"):
        with pytest.raises(EngineError, match="has a Spark session already"):
            SparkEngine(address)


def test_a_master_beside_spark_remote_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    _need_spark()
    from ziggurat.data.engines.spark import _sessions, plan_spark

    monkeypatch.setenv("SPARK_REMOTE", "sc://nowhere")
    with pytest.raises(EngineError, match="unset it"):
        _sessions._start(plan_spark("local[1]"))


def test_connect_without_its_client_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    from ziggurat.data.engines.spark import _sessions, plan_spark

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "grpc" else found(name))
    with pytest.raises(MissingExtraError, match=r"ziggurat\[connect\]"):
        _sessions._connect(plan_spark("sc://nowhere"))


CONNECTED = """
import logging, sys
import pyarrow as pa
from pyspark.sql import SparkSession
from sqlglot import exp

from ziggurat.data import Bounds, Column, Schema, Unit, read
from ziggurat.data.engines import DuckDBEngine, SparkEngine
from ziggurat.errors import EngineError
from ziggurat.randomness import seeded

logging.basicConfig(stream=sys.stdout, level=logging.DEBUG)
logging.getLogger("py4j").setLevel(logging.WARNING)
heap = {"spark.driver.memory": "1g", "spark.ui.enabled": "false"}
heap |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
session = SparkSession.builder.remote("local[2]").config(map=heap).getOrCreate()
assert "connect" in type(session).__module__
rows = pa.table({"age": list(range(100)), "place": ["north", None] * 50})
schema = Schema((Column("age", "integer", bounds=Bounds(0, 100)), Column("place", "text")), Unit.row(), "people")
seen = []
for engine in (DuckDBEngine(), SparkEngine()):
    table = read(rows, schema, engine=engine)
    table.ready()
    asked = (exp.Sum(this=exp.column("age")).as_("s"), exp.Count(this=exp.Star()).as_("n"))
    query = table.aggregate(*asked, group_by=["place"])
    passed = sum(batch.num_rows for batch in engine.batches(table.select("age")))
    drawn = engine.draw_rows(table.select("age"), 100, 10, seeded(1)).num_rows
    engine.take_back(engine.lend(rows))
    seen.append((sorted(map(str, query.to_pylist())), passed, drawn))
assert seen[0] == seen[1], seen
engine = SparkEngine()
secret = engine.attach(pa.table({"note": ["the secret cell"]}))
try:
    engine.query(exp.select(exp.cast(exp.column("note"), "BIGINT")).from_(secret))
except EngineError as error:
    print(error)
else:
    raise AssertionError("a text was read as a number")
frame = session.createDataFrame(rows)
assert read(frame, schema).engine._session is frame.sparkSession
session.stop()
"""


@pytest.mark.slow
@pytest.mark.spark
def test_spark_connect_gives_the_answers_of_duckdb_and_shows_no_cell() -> None:
    """In a process of its own: one that has a session of Spark can have none of Connect."""
    _need_spark()
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'ziggurat[connect]'")
    pytest.importorskip("zstandard", reason="Spark Connect needs zstandard: pip install 'ziggurat[connect]'")
    done = subprocess.run([sys.executable, "-c", CONNECTED], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "its own message is withheld" in done.stdout
    assert "the secret cell" not in done.stdout
