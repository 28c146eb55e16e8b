"""A served witness is killed by SIGKILL, again and again, between taking a receipt and acknowledging it."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import WitnessError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.ledger.witness import FolderWitness
from ziggurat.privacy import Neighbours, PureEvent

uvicorn = pytest.importorskip("uvicorn", reason="a served witness needs uvicorn: pip install 'ziggurat[service]'")
from ziggurat.service.witness import make_witness_app  # noqa: E402

TENTH = PureEvent(Neighbours(), "0.01")
TOKEN = "token-of-this-test"
HASHES = (sha256(TOKEN.encode()).hexdigest(),)
Die = Callable[[], object]


def die_before_taking(die: Die) -> None:
    extend, calls = FolderWitness.extend, []

    def mortal(self: FolderWitness, *arguments: Any) -> bool:
        calls.append(1)
        return extend(self, *arguments) if len(calls) == 1 else bool(die())

    FolderWitness.extend = mortal  # type: ignore[method-assign]


def die_within_the_line(die: Die) -> None:
    write, calls = os.pwrite, []

    def mortal(handle: int, data: bytes, offset: int) -> int:
        calls.append(1)
        if len(calls) == 1:
            return write(handle, data, offset)
        write(handle, data[: len(data) // 2], offset)
        return int(bool(die()))

    os.pwrite = mortal


def die_after_taking(die: Die) -> None:
    extend, calls = FolderWitness.extend, []

    def mortal(self: FolderWitness, *arguments: Any) -> bool:
        calls.append(1)
        taken = extend(self, *arguments)
        return taken if len(calls) == 1 else bool(die())

    FolderWitness.extend = mortal  # type: ignore[method-assign]


def serve_mortal(folder: Path, listening: socket.socket, deaths: Path, doom: Callable[[Die], None]) -> None:
    """Serve one life: it ends while the second receipt is taken, and says so in a file before."""

    def die() -> None:
        with deaths.open("a") as file:
            file.write("x")
        os.kill(os.getpid(), signal.SIGKILL)

    doom(die)
    config = uvicorn.Config(make_witness_app(str(folder), HASHES), log_level="critical", lifespan="off")
    uvicorn.Server(config).run(sockets=[listening])


@contextmanager
def mortal_witness(folder: Path, deaths: Path, doom: Callable[[Die], None], lives: int) -> Iterator[str]:
    """A witness of several lives on one socket; a process of its own starts the next life when one has ended."""
    deaths.touch()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        keeper = os.fork()
        if not keeper:
            try:
                os.setpgid(0, 0)
                for _ in range(lives):
                    child = os.fork()
                    if not child:
                        serve_mortal(folder, listening, deaths, doom)
                        os._exit(0)
                    os.waitpid(child, 0)
            finally:
                os._exit(0)
        os.setpgid(keeper, keeper)
        port = listening.getsockname()[1]
        if lives == 1:
            listening.close()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            os.killpg(keeper, signal.SIGKILL)
            os.waitpid(keeper, 0)


@pytest.fixture
def book(file: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", TOKEN)
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)
    return file


def require_sound(file: Path, folder: Path, spent: int, url: str) -> None:
    """Everything was counted once, and the list holds one receipt for each entry, in order."""
    with Ledger.open(file) as ledger:
        assert ledger.left("clinic", "ana") == 1 - spent * TENTH.epsilon
    found = verify_ledger(file)
    assert found.problems == []
    assert "has seen all" in found.notes[-1]
    (log,) = folder.glob("*/receipts.jsonl")
    seen = list(FolderWitness(str(folder), log.parent.name).all())
    assert [one.seq for one in seen if one] == list(range(4, found.entries + 1))


@pytest.mark.parametrize(
    ("doom", "spends"),
    [(die_after_taking, 11), (die_before_taking, 4), (die_within_the_line, 4)],
    ids=["taken", "not yet taken", "half written"],
)
def test_killed_at_every_other_receipt_nothing_is_lost_and_nothing_counts_twice(
    book: Path, witness_folder: Path, tmp_path: Path, doom: Callable[[Die], None], spends: int
) -> None:
    """Whoever spends notices nothing: what was taken and never acknowledged is acknowledged when it comes again."""
    deaths = tmp_path / "deaths"
    with mortal_witness(witness_folder, deaths, doom, lives=100) as url:
        with Ledger.open(book) as ledger:
            ledger.name_witness(url)
            for value in range(spends):
                ledger.reserve("clinic", "ana", TENTH).commit(value)
        assert len(deaths.read_text()) >= 2 * spends - 2
        require_sound(book, witness_folder, spends, url)


@pytest.mark.parametrize(("remembers", "counted"), [(True, 1), (False, 2)])
def test_a_server_that_did_not_know_a_repetition_would_count_twice(
    book: Path, witness_folder: Path, tmp_path: Path, remembers: bool, counted: int
) -> None:
    """The control: one's own receipt is taken for that of a writer who was stopped, and is put back."""
    deaths = tmp_path / "deaths"

    def doom(die: Die) -> None:
        extend = FolderWitness.extend

        def mortal(self: FolderWitness, seen: Any, durable: bool) -> bool:
            return extend(self, seen, durable) and bool(not durable or deaths.read_text() or die())

        FolderWitness.extend = mortal  # type: ignore[method-assign]
        if not remembers:
            FolderWitness.holds = lambda *_: False  # type: ignore[method-assign]

    with mortal_witness(witness_folder, deaths, doom, lives=2) as url, Ledger.open(book) as ledger:
        ledger.name_witness(url)
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        assert ledger.left("clinic", "ana") == 1 - counted * TENTH.epsilon
        assert deaths.read_text() == "x"


def test_killed_for_good_nothing_is_spent_until_another_serves_the_same_folder(
    book: Path, witness_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The receipt was taken, the answer never came: the entry is put back, and counts."""
    ledger = Ledger.open(book)
    with mortal_witness(witness_folder, tmp_path / "deaths", die_after_taking, lives=1) as url:
        ledger.name_witness(url)
        ledger.reserve("clinic", "ana", TENTH)
        with pytest.raises(WitnessError, match="that entry is put back and counts as spent") as caught:
            ledger.reserve("clinic", "ana", TENTH)
        assert TOKEN not in str(caught.value)
        assert ledger.left("clinic", "ana") == 1 - TENTH.epsilon
    with mortal_witness(witness_folder, tmp_path / "deaths", lambda _: None, lives=1) as url:
        monkeypatch.setenv("ZIGGURAT_WITNESS", url)
        ledger.reserve("clinic", "ana", TENTH).commit(1)
        ledger.close()
        require_sound(book, witness_folder, 3, url)


def test_naming_that_lost_its_answer_is_named(book: Path, witness_folder: Path, tmp_path: Path) -> None:
    def doom(die: Die) -> None:
        begin = FolderWitness.begin
        FolderWitness.begin = lambda self, first: not (begin(self, first) and die())  # type: ignore[method-assign]

    with mortal_witness(witness_folder, tmp_path / "deaths", doom, lives=2) as url:
        with Ledger.open(book) as ledger:
            assert ledger.name_witness(url).seen == 4
        assert (tmp_path / "deaths").read_text() == "x"


def test_a_server_killed_from_outside_goes_on_with_its_folder(
    book: Path, witness_folder: Path, serving: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for turn in range(2):
        with serving(witness_folder) as served:
            if served.token:
                monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", served.token)
            monkeypatch.setenv("ZIGGURAT_WITNESS", served.url)
            with Ledger.open(book) as ledger:
                if not turn:
                    ledger.name_witness(served.url)
                ledger.reserve("clinic", "ana", TENTH).commit(turn)
                require_sound(book, witness_folder, turn + 1, served.url)
                served.process.kill()
                served.process.wait()
                with pytest.raises(WitnessError, match="nothing was read"):
                    ledger.reserve("clinic", "ana", TENTH)
                assert ledger.left("clinic", "ana") == 1 - (turn + 1) * TENTH.epsilon
