"""Ledgers on both stores, each in a place of its own."""

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from ziggurat.ledger import Ledger

sys.path.insert(0, str(Path(__file__).parent))  # for what several modules share: `clerks`


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Witnesses and their keys are noted in a place of the test's own."""
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    for name in ("ZIGGURAT_WITNESS", "ZIGGURAT_WITNESS_TOKEN", "ZIGGURAT_WITNESS_CA"):
        monkeypatch.delenv(name, raising=False)


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


class Served(NamedTuple):
    """A witness that another process serves on this machine."""

    url: str
    token: str
    folder: Path
    process: subprocess.Popen[str]


@contextmanager
def serve_witness(folder: Path, *options: str, **environment: str) -> Iterator[Served]:
    """Run `ziggurat witness serve` on a free port, and read what it says; the token only if it says that."""
    pytest.importorskip("fastapi", reason="a served witness needs FastAPI: pip install 'ziggurat[service]'")
    command = [sys.executable, "-m", "ziggurat", "witness", "serve", "--folder", str(folder), "--port", "0", *options]
    first_start = not (folder / "token.sha256").exists()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as process:
        try:
            assert process.stdout is not None
            first = process.stdout.readline()
            token = [process.stdout.readline() for _ in range(4)][1].strip() if first_start else ""
            yield Served(first.split(" at ")[1].split(";")[0], token, folder, process)
        finally:
            process.terminate()


@pytest.fixture(scope="session")
def served_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_witness(tmp_path_factory.mktemp("served")) as served:
        yield served


@pytest.fixture
def serving() -> Callable[..., AbstractContextManager[Served]]:
    """Serves a witness of the test's own."""
    return serve_witness


@pytest.fixture
def served(served_for_all: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A served witness that knows no ledger yet; its token is in the environment."""
    for each in served_for_all.folder.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
    monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", served_for_all.token)
    return served_for_all


@pytest.fixture(params=["folder", "http", pytest.param("postgres", marks=pytest.mark.postgres)])
def witness_place(request: pytest.FixtureRequest) -> str:
    """Where a witness is to be, of each kind."""
    if request.param == "http":
        return str(request.getfixturevalue("served").url)
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
