"""A service whose jobs are done in this process, one when a test says so, and signed as real ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pytest

pytest.importorskip("dbos", reason="the extra 'service' is not installed")

from sqlalchemy import update
from starlette.testclient import TestClient

from ziggurat.service import ServiceSettings, make_app
from ziggurat.service._house import ServiceHouse
from ziggurat.service.store import jobs, releases, utc_now
from ziggurat.service.work._doing import JobHand

PATIENTS = 300
CLINIC = """
unit: {person: patient}
columns:
  patient: {kind: text, role: identifier}
  age: {kind: integer, role: quasi-identifier, bounds: [18, 99], bounds_from: public}
  sex: {kind: category, role: quasi-identifier, categories: [female, male], categories_from: public}
  smoker: {kind: boolean, role: insensitive}
  diagnosis: {kind: category, role: sensitive, categories: [asthma, flu, none], categories_from: public}
"""


@dataclass
class Workshop:
    """A service with a small clinic that was sent as a file, and a hand that does jobs."""

    client: TestClient
    house: ServiceHouse
    hand: JobHand
    keys: dict[str, str]
    upload: str = ""

    def __call__(self, who: str, method: str, path: str, json: Any = None, **rest: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.keys[who]}", **rest.pop("headers", {})}
        return self.client.request(method, path, json=json, headers=headers, **rest)

    def add(self, name: str, role: str, *, chief: bool = False) -> None:
        person = self.house.people.add(name, role, chief=chief)
        self.keys[name] = self.house.keys.make(person, "tests")[1]

    def clinic(self, name: str = "clinic") -> None:
        """Send the invented clinic as a file, with a budget that ana and the chief may spend."""
        sent = self("chief", "POST", "/v1/uploads?filename=clinic.csv", content=clinic_csv())
        self.upload = sent.json()["upload"]
        table = {"name": name, "schema": CLINIC, "address": f"upload:{self.upload}"}
        assert self("chief", "POST", "/v1/tables", table).status_code == 201
        budget = {"table": name, "epsilon": "20", "delta": "1e-3"}
        assert self("chief", "POST", "/v1/budgets", budget).status_code == 201
        for analyst in ("ana", "chief"):
            grant = {"budget": name, "analyst": analyst, "epsilon": "5", "delta": "1e-4", "rule": "sum"}
            assert self("chief", "POST", "/v1/grants", grant).status_code == 201
        assert self("chief", "PUT", f"/v1/tables/{name}/rights/ana", {"may": "ask"}).status_code == 200

    def release(self, who: str, release: dict[str, Any], **rest: Any) -> Any:
        """Ask for a release; attacks draw by chance, which stops none unless a test sets the gate."""
        headers = rest.pop("headers", {})
        body = {"description": {"table": "clinic", "release": release, "gate": {"level": "1e-9"}, **rest}}
        return self(who, "POST", "/v1/releases", body, headers=headers)

    def do(self) -> int:
        """Do all jobs that wait; gives how many."""
        found = self.house.jobs.waiting()
        return sum(self.hand.do(identity, turn) for identity, turn in found)

    def tell_now(self, identity: str) -> None:
        """Let an analyst's job be told at once, for tests that are not about its slot."""
        with self.house.store.write() as connection:
            connection.execute(update(jobs).where(jobs.c.id == identity).values(slot=None))
            connection.execute(update(releases).where(releases.c.id == identity).values(made=utc_now()))

    def finish(self, who: str, release: dict[str, Any], **rest: Any) -> dict[str, Any]:
        """Ask for a release, do the job, and give what is told of it."""
        asked = self.release(who, release, **rest)
        assert asked.status_code == 202, asked.text
        assert self.do() == 1
        self.tell_now(asked.json()["id"])
        return self.job(who, asked.json()["id"])

    def job(self, who: str, identity: str) -> dict[str, Any]:
        found: dict[str, Any] = self(who, "GET", f"/v1/jobs/{identity}").json()
        return found


def clinic_csv(patients: int = PATIENTS) -> bytes:
    """An invented clinic, the same each time; nobody in it is anybody."""
    lines = ["patient,age,sex,smoker,diagnosis"]
    for number in range(patients):
        age, sex = 20 + (number * 37) % 60, ("female", "male")[number % 2]
        smoker = str((number * 7) % 3 == 0).lower()
        lines.append(f"p{number},{age},{sex},{smoker},{('asthma', 'flu', 'none')[(number * 11) % 3]}")
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def open_workshop(tmp_path: Path) -> Iterator[Callable[..., Workshop]]:
    opened: list[tuple[ServiceHouse, TestClient]] = []

    def make(**said: Any) -> Workshop:
        given = {"folder": tmp_path / "service", "slot": 0.05, "job_slot": 0.05, **said}
        settings = ServiceSettings.read(given, {})
        house = ServiceHouse(settings)
        house.beat()
        client = TestClient(make_app(house=house), raise_server_exceptions=False)
        client.__enter__()
        opened.append((house, client))
        made = Workshop(client, house, JobHand(house.jobs, settings, house.worker, Event()), {})
        if not house.people.all():
            for name, role in (("chief", "steward"), ("ana", "analyst"), ("ben", "analyst"), ("audrey", "auditor")):
                made.add(name, role, chief=name == "chief")
        return made

    yield make
    for house, client in opened:
        client.__exit__(None, None, None)
        house.close()


@pytest.fixture
def workshop(open_workshop: Callable[..., Workshop]) -> Workshop:
    made = open_workshop()
    made.clinic()
    return made
