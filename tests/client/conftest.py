"""A service in a folder of its own with the invented clinic, asked through its application without a network."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra 'service' is not installed")

import httpx
import structlog
from starlette.testclient import TestClient

import ziggurat
from ziggurat.client import connect_async
from ziggurat.data.generators import clinic_patients, clinic_patients_schema
from ziggurat.service import ServiceSettings, make_app
from ziggurat.service._house import ServiceHouse

sys.path.insert(0, str(Path(__file__).parent))

URL = "http://127.0.0.1:1"
CLINIC = clinic_patients_schema().to_yaml()
SEED = "tests"
PATIENTS = clinic_patients(400)


class Awaited:
    """An object whose calls are awaited, as one whose calls wait: so that one suite is run over both."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self.inner, self.loop = inner, loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        return self._wait(found) if callable(found) else found

    def __getitem__(self, name: str) -> Any:
        return self.inner[name]

    def __repr__(self) -> str:
        return repr(self.inner)

    def _repr_html_(self) -> str:
        return str(self.inner._repr_html_())

    def _wait(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(*arguments: Any, **named: Any) -> Any:
            given = call(*arguments, **named)
            given = self.loop.run_until_complete(given) if inspect.isawaitable(given) else given
            return Awaited(given, self.loop) if type(given).__name__.startswith("Async") else given

        return waiting


@dataclass
class Service:
    """An application, what it works with, and the keys of its people."""

    app: Any
    house: ServiceHouse
    through: Any
    loop: asyncio.AbstractEventLoop
    keys: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, role: str, *, chief: bool = False) -> None:
        person = self.house.people.add(name, role, chief=chief)
        self.keys[name] = self.house.keys.make(person, "tests")[1]

    def connect(self, who: str, side: str = "waiting", transport: Any = None, **options: Any) -> Any:
        """Connect as somebody, on one of the two sides."""
        if side == "waiting":
            return ziggurat.connect(URL, self.keys[who], transport=transport or self.through, **options)
        inside = transport or httpx.ASGITransport(self.app, raise_app_exceptions=False)
        return Awaited(connect_async(URL, self.keys[who], transport=inside, **options), self.loop)


def make_settings(folder: Path, **said: Any) -> ServiceSettings:
    return ServiceSettings.read({"folder": folder / "service", "slot": 0.05, "rehearse": SEED, **said}, {})


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory(), cache_logger_on_first_use=False)
    house, loop = ServiceHouse(make_settings(tmp_path)), asyncio.new_event_loop()
    app = make_app(house=house)
    with TestClient(app, raise_server_exceptions=False) as client:
        made = Service(app, house, client._transport, loop)
        for name, role in (("chief", "steward"), ("ana", "analyst"), ("ben", "analyst"), ("audrey", "auditor")):
            made.add(name, role, chief=name == "chief")
        yield made
    loop.close()
    house.close()
    structlog.reset_defaults()


@pytest.fixture(params=["waiting", "awaited"])
def side(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clinic(service: Service) -> Service:
    """The clinic is registered with a budget, and ana may spend epsilon 1 of it."""
    with service.connect("chief") as chief:
        chief.register("clinic", PATIENTS, CLINIC)
        chief.make_budget("clinic", 5, "1e-5")
        chief.grant("clinic", "ana", 1, "1e-6", "sum")
        chief.give_right("clinic", "ana")
    return service
