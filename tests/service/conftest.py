"""A service in a folder of its own, with the invented clinic, a steward, and people with keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

import httpx
from starlette.testclient import TestClient

from ziggurat.data.generators import clinic_patients_schema
from ziggurat.service import ServiceSettings, make_app
from ziggurat.service._house import ServiceHouse

CLINIC = clinic_patients_schema().to_yaml()
_COUNT = {"kind": "question", "sql": "SELECT COUNT(*) AS n FROM clinic", "epsilon": "0.1", "rows_per_unit": 1}


@dataclass
class Served:
    """An application, what it works with, and the keys of its people."""

    client: TestClient
    house: ServiceHouse
    keys: dict[str, str] = field(default_factory=dict)
    count: dict[str, Any] = field(default_factory=lambda: dict(_COUNT))

    def __call__(self, who: str, method: str, path: str, json: Any = None, **rest: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.keys[who]}", **rest.pop("headers", {})}
        return self.client.request(method, path, json=json, headers=headers, **rest)

    def ask(self, who: str, question: dict[str, Any], **headers: str) -> httpx.Response:
        return self(who, "POST", "/v1/ask", {"tables": ["clinic"], "question": question}, headers=headers)

    def add(self, name: str, role: str, *, chief: bool = False) -> str:
        person = self.house.people.add(name, role, chief=chief)
        self.keys[name] = self.house.keys.make(person, "tests")[1]
        return self.keys[name]

    def clinic(self, epsilon: str = "5") -> None:
        """Register the invented clinic with a budget, and let ana spend epsilon 1 of it."""
        table = {"name": "clinic", "schema": CLINIC, "address": "invented:clinic"}
        assert self("chief", "POST", "/v1/tables", table).status_code == 201
        budget = {"table": "clinic", "epsilon": epsilon, "delta": "1e-5"}
        assert self("chief", "POST", "/v1/budgets", budget).status_code == 201
        grant = {"budget": "clinic", "analyst": "ana", "epsilon": "1", "delta": "1e-6", "rule": "sum"}
        assert self("chief", "POST", "/v1/grants", grant).status_code == 201
        assert self("chief", "PUT", "/v1/tables/clinic/rights/ana", {"may": "ask"}).status_code == 200


def make_settings(folder: Path, **said: Any) -> ServiceSettings:
    return ServiceSettings.read({"folder": folder / "service", "slot": 0.05, "rehearse": "tests", **said}, {})


@contextmanager
def open_service(folder: Path, **said: Any) -> Iterator[Served]:
    house = ServiceHouse(make_settings(folder, **said))
    with TestClient(make_app(house=house), raise_server_exceptions=False) as client:
        made = Served(client, house)
        for name, role in (("chief", "steward"), ("ana", "analyst"), ("ben", "analyst"), ("audrey", "auditor")):
            made.add(name, role, chief=name == "chief")
        yield made
    house.close()


@pytest.fixture
def database(postgres_uri: str) -> Iterator[str]:
    """A database of its own in PostgreSQL, in which somebody else already has a table of people."""
    psycopg, name = pytest.importorskip("psycopg"), f"service_{token_hex(4)}"
    address = postgres_uri.replace("/postgres?", f"/{name}?")
    with psycopg.connect(postgres_uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(address) as made:
            made.execute("CREATE TABLE people (whose text)")
        yield address
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with open_service(tmp_path) as made:
        yield made


@pytest.fixture
def clinic(served: Served) -> Served:
    served.clinic()
    return served


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with the clinic for all tests of a file that leave it as it was."""
    with open_service(tmp_path_factory.mktemp("shared"), requests_per_minute=10**6) as made:
        made.clinic()
        yield made
