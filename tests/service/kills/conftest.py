"""Processes of a service on sockets of this machine alone, that are killed and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest

from ziggurat.data.generators import clinic_patients_schema
from ziggurat.service import ServiceSettings
from ziggurat.service._house import ServiceHouse

SERVING = Path(__file__).with_name("serving.py")
QUESTION = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.1", "rows_per_unit": 1}
PATIENCE = 60.0


class Served:
    """A folder with a clinic and an analyst, and the processes that serve it, all on one socket each."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.alive = folder, []
        settings = ServiceSettings.read({"folder": folder, "slot": 0.05, "rehearse": "kills"}, {})
        house = ServiceHouse(settings)
        chief, ana = house.people.add("chief", "steward", chief=True), house.people.add("ana", "analyst")
        self.key = house.keys.make(ana, "tests")[1]
        house.shelf.place(chief, "clinic", clinic_patients_schema().to_yaml(), "invented:clinic")
        from ziggurat.privacy import Neighbours, Relation

        unit = house.shelf.facts("clinic").schema.unit
        house.ledger.create_budget("clinic", "10", "0", Neighbours(unit, Relation("add-or-remove-one")))
        house.ledger.grant("clinic", "ana", "1")
        house.rights.give(ana, "clinic", "ask")
        house.close()
        self.ledger_place, self.database_url = settings.ledger_place, settings.database_url

    def start(self) -> tuple[subprocess.Popen, str]:
        """Start a process; gives it and its address, once it answers."""
        bound = socket.create_server(("127.0.0.1", 0))
        process = subprocess.Popen(
            [sys.executable, str(SERVING), str(self.folder), str(bound.fileno())], pass_fds=[bound.fileno()],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        bound.close()
        self.alive.append(process)
        wait_until(lambda: is_ready(address), "it answers")
        return process, address

    def kill(self, process: subprocess.Popen) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.alive.remove(process)

    def ask(self, address: str, key: str | None = None, **changed) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.key}"} | ({"Idempotency-Key": key} if key else {})
        body = {"tables": ["clinic"], "question": {**QUESTION, **changed}}
        return httpx.post(f"{address}/v1/ask", json=body, headers=headers, timeout=PATIENCE)

    def stall(self, word: str) -> None:
        """Let the next question stop for ever at this moment."""
        with suppress(FileNotFoundError):
            (self.folder / "stalled").unlink()
        (self.folder / word).touch()

    def wait_for_stall(self) -> None:
        wait_until((self.folder / "stalled").exists, "it has stopped where it was asked to")

    def silence(self) -> None:
        """Let the processes that have died be silent for long."""
        self.set_beats("2020-01-01T00:00:00.000000Z")

    def silence_dead(self) -> None:
        """Let those that are no process any more be forgotten, as if they had been silent for long."""
        from sqlalchemy import delete, select

        from ziggurat.service.store import ServiceStore, workers

        living = {str(process.pid) for process in self.alive if process.poll() is None}
        store = ServiceStore(self.database_url)
        with store.write() as connection:
            for name in connection.execute(select(workers.c.name)).scalars().all():
                if name.split("-")[-2] not in living:
                    connection.execute(delete(workers).where(workers.c.name == name))
        store.close()

    def wait_for_answers(self, before: int, count: Callable[[], int], most: int = 60) -> None:
        """Wait until a few more questions were answered, or all were."""
        wait_until(lambda: count() >= min(before + 3, most), "a few more were answered")

    def set_beats(self, when: str) -> None:
        """Let all processes have been heard at a time."""
        from sqlalchemy import update

        from ziggurat.service.store import ServiceStore, workers

        store = ServiceStore(self.database_url)
        with store.write() as connection:
            connection.execute(update(workers).values(beat=when))
        store.close()


def is_ready(address: str) -> bool:
    with suppress(httpx.HTTPError):
        return httpx.get(f"{address}/ready", timeout=5).status_code == 200
    return False


def wait_until(done, what: str) -> None:
    ends = time.monotonic() + PATIENCE
    while not done():
        if time.monotonic() > ends:
            raise TimeoutError(f"Waited for a minute until {what}.")
        time.sleep(0.02)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    made = Served(tmp_path / "service")
    yield made
    for process in list(made.alive):
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
