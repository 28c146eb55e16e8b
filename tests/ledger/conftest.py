"""Ledgers on both stores, each in a place of its own."""

import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ziggurat.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parent))  # for what several modules share: `clerks`


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses and their keys are noted in a place of the test's own."""
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_WITNESS", raising=False)


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
    with fresh_database(request.getfixturevalue("postgres_uri")) as uri:
        yield uri


@contextmanager
def fresh_database(uri: str) -> Iterator[str]:
    name = f"ledger_{secrets.token_hex(6)}"
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield uri.replace("/postgres?", f"/{name}?", 1)
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def witness_folder(tmp_path: Path) -> Path:
    """A folder for a witness."""
    folder = tmp_path / "another disk"
    folder.mkdir()
    return folder


@pytest.fixture
def witness_database(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database for a witness."""
    with fresh_database(request.getfixturevalue("postgres_uri")) as uri:
        yield uri


@pytest.fixture(params=["folder", pytest.param("postgres", marks=pytest.mark.postgres)])
def witness_place(request: pytest.FixtureRequest) -> str:
    """Where a witness is to be, of each kind."""
    return str(request.getfixturevalue("witness_folder" if request.param == "folder" else "witness_database"))


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
