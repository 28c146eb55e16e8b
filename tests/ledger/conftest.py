"""Ledgers on both stores, each in a place of its own."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ziggurat.ledger import Ledger


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


@pytest.fixture
def ledger(file: Path) -> Iterator[Ledger]:
    """A new ledger whose table 'clinic' has a budget of (2, 1e-5), of which 'ana' holds epsilon 1."""
    with Ledger.open(file) as opened:
        opened.create_budget("clinic", "2", "1e-5")
        opened.grant("clinic", "ana", "1")
        yield opened


@pytest.fixture
def postgres(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a fresh database."""
    uri, name = request.getfixturevalue("postgres_uri"), f"ledger_{secrets.token_hex(6)}"
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield uri.replace("/postgres?", f"/{name}?", 1)
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def address(request: pytest.FixtureRequest) -> str:
    """The address of a ledger that does not exist yet, on each store."""
    return str(request.getfixturevalue("file" if request.param == "sqlite" else "postgres"))


@pytest.fixture
def opened(address: str) -> Iterator[Callable[[], Ledger]]:
    """Opens the ledger at `address`; every one it opened is closed at the end."""
    ledgers: list[Ledger] = []

    def open_one() -> Ledger:
        ledgers.append(Ledger.open(address))
        return ledgers[-1]

    yield open_one
    for one in ledgers:
        one.close()
