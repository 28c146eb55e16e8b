"""The ledger's side of a witness over HTTP: where it may be, how it is known, and what is never told."""

import datetime
import ipaddress
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from ziggurat.errors import LedgerError, LedgerUseError, WitnessError
from ziggurat.ledger import Ledger, verify_ledger
from ziggurat.ledger.witness import keep_access, open_witness
from ziggurat.ledger.witness._access import find_access
from ziggurat.ledger.witness._place import witness_address
from ziggurat.privacy import Neighbours, PureEvent

LEDGER = "ab" * 16
TENTH = PureEvent(Neighbours(), "0.1")
Serve = Callable[..., AbstractContextManager[Any]]


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ("https://Witness.Example.org:8474/", "https://witness.example.org:8474"),
        ("HTTPS://a.b/receipts/", "https://a.b/receipts"),
        ("http://127.0.0.1:8474", "http://127.0.0.1:8474"),
        ("http://127.8.9.1", "http://127.8.9.1"),
        ("http://localhost:1/x", "http://localhost:1/x"),
        ("http://[::1]:8474", "http://[::1]:8474"),
    ],
)
def test_an_address_is_spelled_out(given: str, spelled: str) -> None:
    assert witness_address(given) == spelled


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("http://witness.example.org", "https:// only"),
        ("http://192.168.1.7:8474", "https:// only"),
        ("http://0.0.0.0:8474", "https:// only"),
        ("http://127.0.0.1.example.org", "https:// only"),
        ("http://127.0.0.1@example.org", "leave the token out"),
        ("https://ana:hunter2@server", "leave the token out"),
        ("https://server/?token=hunter2", "leave the token out"),
        ("https://server/#hunter2", "leave the token out"),
        ("https://", "this is none"),
        ("https:///x", "this is none"),
        ("https://server:port", "this is none"),
        ("https://server:99999", "this is none"),
        ("https://ser ver", "this is none"),
        ("https://servér", "this is none"),
    ],
)
def test_an_address_that_would_give_something_away_is_refused(given: str, why: str) -> None:
    for ask in (witness_address, lambda where: open_witness(where, LEDGER)):
        with pytest.raises(LedgerUseError, match=why) as caught:
            ask(given)
        assert "hunter2" not in str(caught.value)


def test_a_ledger_forged_to_name_an_unencrypted_witness_is_told_nothing(
    file: Path, served: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger.open(file) as ledger:
        ledger.create_budget("clinic", 1)
        ledger.name_witness(served.url)
        monkeypatch.setenv("ZIGGURAT_WITNESS", "http://elsewhere.example.org")
        with pytest.raises(LedgerError, match="https:// only"):
            ledger.grant("clinic", "ana", 1)


def spend_with(file: Path, where: str) -> Ledger:
    ledger = Ledger.open(file)
    if not ledger.tables():
        ledger.create_budget("clinic", 1)
        ledger.grant("clinic", "ana", 1)
    ledger.name_witness(where)
    ledger.reserve("clinic", "ana", TENTH).commit(1)
    return ledger


def test_the_token_is_kept_for_its_owner_and_told_nowhere(
    file: Path, served: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = spend_with(file, served.url)
    monkeypatch.delenv("ZIGGURAT_WITNESS_TOKEN")
    ledger.close()
    with Ledger.open(file) as again:
        again.reserve("clinic", "ana", TENTH).commit(2)
        assert served.token not in " ".join(again.witness().sentences() + again.verify().notes)
    (kept,) = (tmp_path / "settings/witnesses/servers").iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    holders = [each for each in tmp_path.rglob("*") if each.is_file() and served.token.encode() in each.read_bytes()]
    assert holders == [kept]
    assert not any(served.token.encode() in each.read_bytes() for each in served.folder.rglob("*") if each.is_file())
    assert served.token not in repr(find_access(served.url))


def test_a_token_is_kept_for_one_address_only(served: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_access(served.url)
    monkeypatch.delenv("ZIGGURAT_WITNESS_TOKEN")
    assert find_access(served.url).token == served.token
    assert find_access("https://elsewhere.example.org").token == ""


@pytest.mark.parametrize("token", ["", "wrong", "another"])
def test_a_wrong_token_spends_nothing_and_is_not_quoted(
    file: Path, served: Any, token: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, serving: Serve
) -> None:
    spend_with(file, served.url).close()
    (tmp_path / "other").mkdir()
    with serving(tmp_path / "other") as other:
        said = other.token if token == "another" else token
        for kept in (tmp_path / "settings/witnesses/servers").iterdir():
            kept.unlink()
        monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", said)
        with Ledger.open(file) as ledger:
            with pytest.raises(WitnessError, match="refuses the token") as caught:
                ledger.reserve("clinic", "ana", TENTH)
            assert not said or f"'{said}'" not in str(caught.value)
            assert ledger.left("clinic", "ana") == 1 - TENTH.epsilon
            assert "refuses the token" in ledger.witness().trouble
    assert "refuses the token" in str(verify_ledger(file).problems[0])


@pytest.mark.parametrize("token", ["two words", "two\nlines", "é"])
def test_what_is_no_token_is_not_sent(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LedgerUseError, match="one line"):
        keep_access("https://server", token)
    monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", token)
    with pytest.raises(WitnessError, match="is not the token") as caught:
        open_witness("http://127.0.0.1:1", LEDGER).last()
    assert token not in str(caught.value)


def test_a_note_that_cannot_be_read_does_not_pass_for_none(tmp_path: Path, served: Any) -> None:
    keep_access(served.url)
    (kept,) = (tmp_path / "settings/witnesses/servers").iterdir()
    kept.write_text("{")
    with pytest.raises(WitnessError, match="mend or remove it"):
        open_witness(served.url, LEDGER).last()


@pytest.mark.parametrize(
    ("line", "what"),
    [(1, "was changed: its receipt 2 is not one"), (-1, "holds something at its end that is not a receipt")],
)
def test_what_is_changed_in_a_server_s_folder_is_found_and_said_to_be_there(
    file: Path, served: Any, line: int, what: str
) -> None:
    spend_with(file, served.url).close()
    (log,) = served.folder.glob("*/receipts.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    lines[line] = b"scratched \xff\n"
    log.write_bytes(b"".join(lines))
    assert any(what in str(problem) for problem in verify_ledger(file).problems)


def test_an_older_copy_of_a_server_s_folder_stops_the_next_spend(file: Path, served: Any) -> None:
    ledger = spend_with(file, served.url)
    (log,) = served.folder.glob("*/receipts.jsonl")
    before = log.read_bytes()
    ledger.reserve("clinic", "ana", TENTH).commit(2)
    log.write_bytes(before)
    with pytest.raises(LedgerError, match="has lost receipts"):
        ledger.reserve("clinic", "ana", TENTH)
    ledger.close()


def test_workers_end_with_the_process_that_started_them(tmp_path: Path, serving: Serve) -> None:
    (tmp_path / "two").mkdir()
    with serving(tmp_path / "two", "--workers", "2") as two:
        host, port = two.url.removeprefix("http://").split(":")
        keep_access(two.url, two.token)
        assert open_witness(two.url, LEDGER).last() is None
        two.process.kill()
        two.process.wait()
        for _ in range(1000):
            try:
                socket.create_connection((host, int(port))).close()
            except ConnectionRefusedError:
                return
            time.sleep(0.05)
    pytest.fail("a worker listens although its parent is gone")


@pytest.mark.parametrize("where", ["seen", "postgresql://server/db", "ftp://server"])
def test_only_a_server_has_a_token(where: str, tmp_path: Path) -> None:
    with pytest.raises(LedgerUseError, match="this is none"):
        keep_access(where, "token")
    assert not (tmp_path / "settings").exists()


def test_several_workers_keep_one_list(file: Path, tmp_path: Path, serving: Serve, monkeypatch: Any) -> None:
    (tmp_path / "two").mkdir()
    with serving(tmp_path / "two", "--workers", "2") as two:
        monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", two.token)
        spend_with(file, two.url).close()
        with Ledger.open(file) as one, Ledger.open(file) as other:
            for each in (one, other, one, other):
                each.reserve("clinic", "ana", TENTH).commit(1)
        assert verify_ledger(file).notes[-1].endswith("has seen all 14 entries.")


def test_a_folder_becomes_a_server_and_a_server_a_folder(
    file: Path, witness_folder: Path, serving: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend_with(file, str(witness_folder)).close()
    with serving(witness_folder) as served:
        monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", served.token)
        monkeypatch.setenv("ZIGGURAT_WITNESS", served.url)
        with Ledger.open(file) as ledger:
            ledger.reserve("clinic", "ana", TENTH).commit(2)
    monkeypatch.delenv("ZIGGURAT_WITNESS")
    assert verify_ledger(file).notes[-1].endswith("has seen all 8 entries.")


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that nobody but its maker vouches for, and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name.from_rfc4514_string("CN=a witness of a test")
    today = datetime.datetime.now(datetime.UTC)
    usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - datetime.timedelta(days=1))
        .not_valid_after(today + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    folder.mkdir()
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*plain))
    return folder / "cert.pem", folder / "key.pem"


def test_a_certificate_made_by_hand_is_pinned(
    file: Path, witness_folder: Path, tmp_path: Path, serving: Serve, monkeypatch: pytest.MonkeyPatch, command: Any
) -> None:
    (cert, key), (other, _) = make_certificate(tmp_path / "mine"), make_certificate(tmp_path / "other")
    with serving(witness_folder, "--tls-cert", str(cert), "--tls-key", str(key)) as served:
        assert served.url.startswith("https://127.0.0.1:")
        monkeypatch.setenv("ZIGGURAT_WITNESS_TOKEN", served.token)
        for wrong in ("", str(other)):
            monkeypatch.setenv("ZIGGURAT_WITNESS_CA", wrong)
            with pytest.raises(WitnessError, match="certificate is not trusted"):
                open_witness(served.url, LEDGER).last()
        monkeypatch.delenv("ZIGGURAT_WITNESS_CA")
        monkeypatch.delenv("ZIGGURAT_WITNESS_TOKEN")
        monkeypatch.setenv("ZIGGURAT_LEDGER", str(file))
        (tmp_path / "token").write_text(f"{served.token}\n")
        Ledger.open(file).close()
        said = command("ledger", "witness", served.url, "--token-file", str(tmp_path / "token"), "--ca-file", str(cert))
        assert (said.code, said.err) == (0, "")
        assert served.token not in said.out
        cert.unlink()
        with Ledger.open(file) as ledger:
            ledger.create_budget("clinic", 1)
            assert ledger.verify().notes[-1].endswith("has seen all 3 entries.")


def test_a_file_that_is_no_certificate_is_refused(file: Path, command: Any, tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no")
    said = command("ledger", "witness", "https://server", "--ca-file", "no.pem")
    assert (said.code, said.out) == (2, "")
    assert "holds no certificate" in said.err


@contextmanager
def stranger(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """A server that is no witness."""

    class Stranger(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer(self)

        def do_POST(self) -> None:
            answer(self)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def reply(status: int, body: bytes, **headers: str) -> Callable[[BaseHTTPRequestHandler], None]:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (302, b""),
        (200, b"<html>hunter2</html>"),
        (404, b"<html>hunter2</html>"),
        (404, json.dumps({"error": {"kind": "NoSuchRoute", "message": "hunter2"}}).encode()),
        (409, b"[]"),
        (500, json.dumps({"error": "hunter2"}).encode()),
        (204, b""),
    ],
)
def test_a_server_that_is_no_witness_is_not_believed_and_not_quoted(status: int, body: bytes, file: Path) -> None:
    """Above all its 404 does not mean that a witness knows no such ledger."""
    answer = reply(status, body, Location="http://127.0.0.1:1/")
    with stranger(answer) as url, Ledger.open(file) as ledger:
        witness = open_witness(url, LEDGER)
        with pytest.raises(WitnessError) as caught:
            witness.last()
        assert "hunter2" not in str(caught.value)
        with pytest.raises(WitnessError, match="nothing was read"):
            ledger.name_witness(url)
        assert ledger.head().seq == 1


@pytest.mark.parametrize("how", ["half a line", "cut in a chunk", "no end", "length missed"])
def test_a_list_that_breaks_off_is_not_taken_for_a_whole_one(how: str) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in {
            "half a line": {"Content-Length": "2"},
            "cut in a chunk": {"Transfer-Encoding": "chunked"},
            "no end": {},
            "length missed": {"Content-Length": "50"},
        }[how].items():
            handler.send_header(name, value)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(b"3\r\n{}\n\r\n" if how == "cut in a chunk" else b"{}" if how == "half a line" else b"{}\n")

    with stranger(answer) as url, pytest.raises(WitnessError):
        list(open_witness(url, LEDGER).all())


def test_what_was_sent_twice_says_so() -> None:
    """The first answer is lost; the second request is marked, so that the server can tell it from another writer's."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ziggurat.ledger import Head
    from ziggurat.ledger._chain import follow
    from ziggurat.ledger.witness import see

    paths: list[str] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        paths.append(handler.path)
        handler.rfile.read(int(handler.headers["Content-Length"]))
        if len(paths) == 1:
            handler.close_connection = True
        else:
            reply(201, b"{}")(handler)

    entry = follow(Head(), "2026-01-01T00:00:00.000000Z", "unbounded", "{}")
    with stranger(answer) as url:
        assert open_witness(url, LEDGER).extend([see(LEDGER, entry, Ed25519PrivateKey.generate(), True)], True)
    path = f"/v1/ledgers/{LEDGER}/receipts?durable=1"
    assert paths == [path, f"{path}&repeated=1"]
