"""Where a witness listens, what its start says, and what is kept of its token."""

import os
import socket
import ssl
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ziggurat.errors import LedgerUseError, MissingExtraError, ParameterError
from ziggurat.service.witness import ServedWitness, TokenFile
from ziggurat.service.witness import _serving as serving

pytest.importorskip("fastapi", reason="a served witness needs: pip install 'ziggurat[service]'")


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., list[str]]:
    """Starts a witness that listens but answers nobody; gives what it says."""
    addresses: list[tuple[Any, ...]] = []

    def run(self: ServedWitness, folder: str, hashes: tuple[str, ...], listening: socket.socket) -> None:
        addresses.append(listening.getsockname())

    monkeypatch.setattr(ServedWitness, "_run", run)

    def start(**options: Any) -> list[str]:
        said: list[str] = []
        ServedWitness(str(tmp_path), port=0, **options).serve(said.append)
        assert str(addresses[-1][1]) in said[0]
        return said

    return start


def test_the_first_start_says_the_token_once_and_what_to_do_with_it(
    started: Callable[..., list[str]], tmp_path: Path
) -> None:
    first, again = started(), started()
    token = first[2].strip()
    assert len(token) == 43  # 256 bits, six in a letter
    assert first[-1].strip().startswith(f"ZIGGURAT_WITNESS_TOKEN={token} ziggurat ledger witness http://127.0.0.1:")
    assert len(again) == 1
    kept = tmp_path / "token.sha256"
    assert kept.read_text() == sha256(token.encode()).hexdigest() + "\n"
    assert kept.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [kept]


def test_two_tokens_are_never_the_same(tmp_path: Path) -> None:
    tokens = [TokenFile(tmp_path / str(number)).make() for number in range(20)]
    assert len(set(tokens)) == 20


def test_the_hash_may_lie_elsewhere(started: Callable[..., list[str]], tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    assert len(started(token_file=str(tmp_path / "etc/hash"))) == 5
    assert (tmp_path / "etc/hash").exists()
    assert not (tmp_path / "token.sha256").exists()
    with pytest.raises(LedgerUseError, match="cannot be kept"):
        started(token_file=str(tmp_path / "absent/hash"))


@pytest.mark.parametrize("text", ["", "the token itself", "0" * 63, "0" * 64 + "\nx", "é"])
def test_a_file_that_holds_no_hash_lets_nobody_in(started: Callable[..., list[str]], tmp_path: Path, text: str) -> None:
    (tmp_path / "token.sha256").write_text(text)
    with pytest.raises(LedgerUseError, match="holds no SHA-256"):
        started()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.7", "witness.example.org", ""])
def test_beyond_this_machine_nothing_listens_without_tls(started: Callable[..., list[str]], host: str) -> None:
    with pytest.raises(ParameterError, match="with TLS only"):
        started(host=host)


def test_a_word_of_the_steward_lets_it_listen(started: Callable[..., list[str]]) -> None:
    assert started(host="0.0.0.0", without_tls=True)[0].startswith("The witness listens at http://")
    assert "--ca-file" not in started(host="0.0.0.0", without_tls=True)[-1]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"certificate": "cert.pem"}, "go together"),
        ({"key": "key.pem"}, "go together"),
        ({"certificate": "absent", "key": "absent"}, "cannot be read"),
        ({"host": "no such host"}, "Nothing can listen"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_is_made(
    tmp_path: Path, options: dict[str, Any], why: str
) -> None:
    options = {"without_tls": "host" in options, "port": 0, **options}
    with pytest.raises((ParameterError, LedgerUseError), match=why):
        ServedWitness(str(tmp_path), **options).serve(print)
    assert list(tmp_path.iterdir()) == []


def test_files_that_are_no_certificate_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no")
    text = str(tmp_path / "no.pem")
    with pytest.raises(LedgerUseError, match="certificate or its private key cannot be used"):
        ServedWitness(str(tmp_path), port=0, certificate=text, key=text).serve(lambda _: None)
    assert issubclass(ssl.SSLError, OSError)


def test_a_port_that_is_taken_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(LedgerUseError, match="in use"):
        ServedWitness(str(tmp_path), port=taken.getsockname()[1]).serve(print)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    """A disk that is not mounted must not be taken for a witness that has forgotten everything."""
    with pytest.raises(LedgerUseError, match="mount its disk"):
        ServedWitness(str(tmp_path / "absent")).serve(print)
    assert not (tmp_path / "absent").exists()


def test_without_the_extra_the_command_that_adds_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ziggurat\[service\]'"):
        ServedWitness(str(tmp_path)).serve(print)


def test_a_stop_is_said_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(uvicorn.Server, "run", stop)
    with pytest.raises(KeyboardInterrupt, match="keeps whatever it acknowledged"):
        ServedWitness(str(tmp_path), port=0).serve(lambda _: None)


def test_a_name_that_has_an_address_here_is_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serving.is_loopback("localhost")
    assert not serving.is_loopback("localhost.example.org")


def test_what_the_command_serves_is_what_it_was_told(
    command: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[ServedWitness] = []
    monkeypatch.setattr(ServedWitness, "serve", lambda self, tell: told.append(self))
    options = ("--folder", "x", "--host", "h", "--port", "1", "--token-file", "t", "--tls-cert", "c", "--tls-key", "k")
    assert command("witness", "serve", *options, "--without-tls", "--workers", "3").code == 0
    assert told == [ServedWitness("x", "h", 1, "t", "c", "k", True, 3)]
    assert command("witness", "serve").code == 2
    assert os.listdir(tmp_path) == []  # noqa: PTH208
