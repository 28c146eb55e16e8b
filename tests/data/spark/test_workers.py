"""Two worker processes, not two threads of one: what is asked, anonymised and synthesised is what DuckDB gives."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WORKED = """
import json, sys
import pyarrow as pa
import pyarrow.parquet as pq

from ziggurat.anonymize import KAnonymity, anonymize
from ziggurat.data import Bounds, Categories, Column, Schema, Unit, read
from ziggurat.data.engines import DuckDBEngine, SparkEngine
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.randomness import seeded
from ziggurat.release import Session
from ziggurat.synthesize import MST

folder, book = sys.argv[1:]
for part in range(4):
    numbers = range(part * 500, part * 500 + 500)
    rows = {"person": [n // 3 for n in numbers], "age": [n * 7919 % 90 for n in numbers]}
    pq.write_table(pa.table({**rows, "place": ["nesw"[n * 31 % 4] for n in numbers]}), f"{folder}/part-{part}.parquet")
age = Column("age", "integer", "quasi-identifier", bounds=Bounds(0, 99))
place = Column("place", "category", "quasi-identifier", categories=Categories(tuple("nesw")))
by_row = Schema((age, place), Unit.row(), "rows")
by_person = Schema((Column("person", "integer", "identifier"), age, place), Unit.person("person"), "people")
SQL = "SELECT place, COUNT(*) AS n, SUM(age) AS s FROM {} GROUP BY place"


def answers(engine):
    rows, people = read(folder, by_row, engine=engine), read(folder, by_person, engine=engine)
    found = {}
    bounds = {"rows": {}, "people": {"rows_per_unit": 3, "groups_per_unit": 3}}  # all that anybody has
    with Ledger.open(f"{book}-{engine.title}.db", throwaway=True) as ledger:
        for name, table in (("rows", rows), ("people", people)):
            ledger.create_budget(name, 100, neighbours=Neighbours(table.unit))
            ledger.grant(name, "ada", 100)
            session = Session(ledger, "ada", {name: table}, source=seeded(1))
            found[name] = session.ask(SQL.format(name), "1", **bounds[name]).to_arrow().to_pylist()
    found["anonymised"] = sorted(map(str, anonymize(rows, KAnonymity(5)).to_arrow().to_pylist()))
    found["synthesised"] = MST(epsilon=1, delta="1e-9", random_state=1).fit(rows).sample(50, random_state=2).to_pylist()
    return json.loads(json.dumps(found, default=str))


with SparkEngine("local-cluster[2,1,1024]") as spark:
    there = answers(spark)
    executors = spark._session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    print(json.dumps({"workers": len(executors) - 1, "spark": there, "duckdb": answers(DuckDBEngine())}))
"""


@pytest.mark.slow
@pytest.mark.spark
def test_two_worker_processes_give_what_duckdb_gives(tmp_path: Path) -> None:
    """In a process of its own, whose workers know nothing of this package: everything they do is SQL."""
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("Spark tests need a Java runtime (17 or later) on the PATH")
    (tmp_path / "rows").mkdir()
    script = [sys.executable, "-c", WORKED, str(tmp_path / "rows"), str(tmp_path / "book")]
    settings = {**os.environ, "ZIGGURAT_HEAP": "1g"}
    done = subprocess.run(script, capture_output=True, text=True, check=False, timeout=300, env=settings)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert found["workers"] == 2
    for kind, answer in found["duckdb"].items():
        assert answer, kind
        assert found["spark"][kind] == answer, kind
