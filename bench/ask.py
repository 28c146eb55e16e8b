"""What a private answer costs in time over the engine's exact one, and over SmartNoise SQL on the same question.

    python bench/ask.py [--rows 10000000] [--smartnoise /path/to/python]

Row unit and person unit, DuckDB in memory, best of several runs in one process; `bench/scale.py` has memory, other
engines and the bare query about people in two stages. SmartNoise SQL needs an environment of its own (it pins other
versions): python -m venv sn && sn/bin/pip install smartnoise-sql, then --smartnoise sn/bin/python. It reads the same
rows from a Parquet file; only the execution of the question is timed there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

from ziggurat.data import Bounds, Categories, Column, Kind, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine
from ziggurat.queries import Catalogue, QuestionPlan, Terms, parse

QUESTIONS = {
    "count": "SELECT dept, COUNT(*) AS n FROM visits GROUP BY dept",
    "count, sum": "SELECT dept, COUNT(*) AS n, SUM(age) AS years FROM visits GROUP BY dept",
    "count, sum, mean of a real": "SELECT dept, COUNT(*) AS n, SUM(age) AS years, AVG(cost) AS mean "
    "FROM visits GROUP BY dept",
    "the same, filtered": "SELECT dept, COUNT(*) AS n, SUM(age) AS years, AVG(cost) AS mean "
    "FROM visits WHERE age >= 18 GROUP BY dept",
}
PEER = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import pandas, snsql
path, rows, person = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "person"
frame = pandas.read_parquet(path) if path.endswith("parquet") else pandas.read_csv(path)
table = {"rows": rows, "patient": {"type": "int", "private_id": person}, "dept": {"type": "string"},
         "age": {"type": "int", "lower": 0, "upper": 100}, "cost": {"type": "float", "lower": 0.0, "upper": 1000.0}}
table.update({"max_ids": 3} if person else {"row_privacy": True})
reader = snsql.from_df(frame, privacy=snsql.Privacy(epsilon=1.0, delta=1e-6), metadata={"": {"s": {"visits": table}}})
start = time.perf_counter()
reader.execute(sys.argv[4].replace("FROM visits", "FROM s.visits"))
print(json.dumps(time.perf_counter() - start))
"""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", type=int, default=10_000_000)
    arguments.add_argument("--smartnoise", default="", help="A Python that has smartnoise-sql.")
    arguments.add_argument("--peer-rows", type=int, default=1_000_000, help="How many rows SmartNoise SQL is given.")
    given = arguments.parse_args()
    overhead(given.rows)
    if given.smartnoise:
        against_smartnoise(given.peer_rows, given.smartnoise)


def visits(rows: int) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.sql(
        f"""CREATE TABLE visits AS SELECT (hash(i) % {max(rows // 10, 1)})::BIGINT AS patient,
        'd' || (hash(i, 1) % 40)::VARCHAR AS dept, (hash(i, 2) % 100)::BIGINT AS age,
        ((hash(i, 3) % 100000) / 100.0)::DOUBLE AS cost FROM range({rows}) AS t(i)"""
    )
    return connection


def catalogue(connection: duckdb.DuckDBPyConnection, unit: Unit) -> Catalogue:
    columns = (
        Column("patient", Kind.INTEGER),
        Column("dept", Kind.CATEGORY, categories=Categories(tuple(f"d{place}" for place in range(40)))),
        Column("age", Kind.INTEGER, bounds=Bounds(0, 100)),
        Column("cost", Kind.REAL, bounds=Bounds(0.0, 1000.0)),
    )
    return Catalogue({"visits": Table(DuckDBEngine(connection), "visits", Schema(columns, unit=unit))})


def overhead(rows: int) -> None:
    connection = visits(rows)
    by_row, by_person = catalogue(connection, Unit()), catalogue(connection, Unit.person("patient"))
    print(f"{rows:,} rows, 40 groups, DuckDB: time of a private answer over the exact one")
    print(f"{'question':<28}{'exact':>9}{'row unit':>10}{'no effects':>12}{'person unit':>13}")
    for name, sql in QUESTIONS.items():
        plans = {
            "row": QuestionPlan(parse(sql, by_row), Terms(1)),
            "plain": QuestionPlan(parse(sql, by_row), Terms(1, effects=0)),
            "person": QuestionPlan(parse(sql, by_person), Terms(1, rows_per_unit=5, groups_per_unit=3)),
        }
        exact = best(lambda sql=sql: connection.sql(sql).to_arrow_table(), 9)
        times = {kind: best(plan.run, 4 if kind == "person" else 9) for kind, plan in plans.items()}
        ratios = {kind: f"{taken / exact:.2f}x" for kind, taken in times.items()}
        print(f"{name:<28}{exact:>8.3f}s{ratios['row']:>10}{ratios['plain']:>12}{ratios['person']:>13}")


def against_smartnoise(rows: int, python: str) -> None:
    connection = visits(rows)
    sql = QUESTIONS["count, sum, mean of a real"]
    print(f"\n{rows:,} rows: SmartNoise SQL over Ziggurat, the same question")
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits.csv")
        connection.sql(f"COPY visits TO '{path}' (HEADER)")
        for kind, unit in {"row": Unit(), "person": Unit.person("patient")}.items():
            bounding = {} if kind == "row" else {"rows_per_unit": 5, "groups_per_unit": 3}
            ours = best(QuestionPlan(parse(sql, catalogue(connection, unit)), Terms(1, **bounding)).run, 3)
            told = subprocess.run(
                [python, "-c", PEER, path, str(rows), kind, sql], capture_output=True, text=True, check=True
            )
            theirs = float(json.loads(told.stdout.splitlines()[-1]))
            print(f"{kind + ' unit':<14}{theirs:>8.2f}s against {ours:.3f}s: {theirs / ours:,.0f}x")


def best(work: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


if __name__ == "__main__":
    main()
