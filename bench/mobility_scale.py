"""A million people through DuckDB, or Spark: reading visits part by part, and counting them in the engine.

    python bench/mobility_scale.py [--people 1000000] [--visits 30] [--memory 1GB] [--parts 16] [--engine duckdb]

Visits are invented by DuckDB itself and written as Parquet. Each way then runs in a process of its own, whose time and
peak memory are printed: reading whole people part by part and counting each part; the same counts by aggregates of the
engine. The table of both must be the same, number by number.
"""

import argparse
import hashlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np

from ziggurat.data import Table, Unit
from ziggurat.data.engines import DuckDBEngine, Engine, SparkEngine
from ziggurat.data.schema import Column, Kind, Schema
from ziggurat.sequences.mobility import Ground, VisitLayout, stream_trajectories
from ziggurat.sequences.mobility.counting import AskedVisits, CellLookup, CountingRule, HeldVisits

_PLACES, _DAYS, _CELLS = 5_000, 14, 36
_SCHEMA = Schema(
    (Column("person", Kind.INTEGER, role="identifier"), Column("minute", Kind.INTEGER), Column("place", Kind.INTEGER)),
    Unit.person("person"),
)
_GROUND = Ground(tuple(range(_PLACES)))
_LAYOUT = VisitLayout("person", "minute", "place", longest=50)


def _rules() -> dict[str, list[CountingRule]]:
    """As `MarkovTrajectories` counts: lengths, visits by place, steps and ends between cells, hours."""
    cell = np.arange(_PLACES) * _CELLS // _PLACES
    between = CellLookup(("here", "there"), np.arange(_CELLS**2).reshape(_CELLS, _CELLS), cell)
    return {
        "lengths": [CountingRule("trajectory", (CellLookup(("length",), np.arange(51)),))],
        "visits by place": [CountingRule("visit", (CellLookup(("here",), np.arange(_PLACES)),))],
        "starts and ends": [CountingRule("trajectory", (between,))],
        "steps": [CountingRule("step", (between,))],
        "hours": [CountingRule("step", (CellLookup(("hour", "later"), np.arange(24**2).reshape(24, 24)),))],
    }


def _weigh(norms: np.ndarray) -> np.ndarray:
    return 2**20 // norms


def _invent(path: str, people: int, visits: int) -> None:
    connection = duckdb.connect()
    connection.execute("SET preserve_insertion_order = false")
    # In no order: a fixed scramble of the row decides person, minute and place.
    connection.execute(
        f"""COPY (SELECT hash(row) % {people} AS person, (hash(row + 1e12) % {_DAYS * 1440})::BIGINT AS minute,
            floor({_PLACES} * pow((hash(row + 2e12) % 1000003) / 1000003.0, 2))::BIGINT AS place
            FROM range({people * visits}) AS rows(row)) TO '{path}' (FORMAT parquet)"""
    )


def _engine(name: str, memory: str) -> Engine:
    if name == "spark":
        return SparkEngine()
    connection = duckdb.connect(config={"temp_directory": tempfile.mkdtemp(), "memory_limit": memory, "threads": 2})
    connection.execute("SET TimeZone = 'UTC'; SET preserve_insertion_order = false")
    return DuckDBEngine(connection)


def _stream(table: Table, parts: int, told: Callable[[str], None]) -> bytes:
    tables = {name: np.zeros(_CELLS**2 + _PLACES, np.int64) for name in _rules()}
    pieces = people = trajectories = 0
    for part in stream_trajectories(table, _LAYOUT, _GROUND, parts=parts):
        pieces, trajectories = pieces + 1, trajectories + len(part)
        people += 0 if part.owners is None else int(part.owners[-1]) + 1
        held = HeldVisits(part)
        for name, rules in _rules().items():
            tables[name] += held.tally(rules).weighed(len(tables[name]), _weigh)
    told(f"{people:,} people, {trajectories:,} trajectories in {pieces} pieces")
    return b"".join(tables[name].tobytes() for name in tables)


def _ask(table: Table, parts: int, told: Callable[[str], None]) -> bytes:
    asked, tables = AskedVisits(table, _LAYOUT, _GROUND, parts=parts), []
    for name, rules in _rules().items():
        start = time.perf_counter()
        found = asked.tally(rules)
        tables.append(found.weighed(_CELLS**2 + _PLACES, _weigh))
        told(f"{name}: {time.perf_counter() - start:.1f} s, {len(found.cells):,} rows come back")
    return b"".join(each.tobytes() for each in tables)


def _run(way: str, path: str, engine: str, memory: str, parts: int) -> None:
    with _engine(engine, memory) as held:
        start = time.perf_counter()
        table = Table(held, held.attach(path), _SCHEMA)
        opened = time.perf_counter() - start
        answer = {"stream": _stream, "ask": _ask}[way](table, parts, lambda text: print("   ", text, flush=True))
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    digest = hashlib.sha256(answer).hexdigest()[:16]
    print(f"  {way}: {took:.1f} s (opened and checked in {opened:.1f} s), peak {peak:.2f} GiB, tables {digest}")


def main() -> None:
    """Invent, then read and count in processes of their own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=1_000_000)
    parser.add_argument("--visits", type=int, default=30)
    parser.add_argument("--memory", default="1GB", help="what DuckDB may use before it goes to disk")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--parts", type=int, default=16, help="in how many parts of people the engine works")
    parser.add_argument("--way", choices=("stream", "ask"))
    parser.add_argument("--path")
    given = parser.parse_args()
    if given.way:
        _run(given.way, given.path, given.engine, given.memory, given.parts)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits.parquet")
        start = time.perf_counter()
        _invent(path, given.people, given.visits)
        size = Path(path).stat().st_size / 2**20
        print(
            f"{given.people * given.visits:,} visits of {given.people:,} people: {size:,.0f} MiB of Parquet in "
            f"{time.perf_counter() - start:.1f} s; {given.engine}",
            flush=True,
        )
        for way in ("stream", "ask"):
            options = [
                "--way",
                way,
                "--path",
                path,
                "--engine",
                given.engine,
                "--memory",
                given.memory,
                "--parts",
                str(given.parts),
            ]
            subprocess.run([sys.executable, __file__, *options], check=True)


if __name__ == "__main__":
    main()
