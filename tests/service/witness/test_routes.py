"""What a served witness takes, gives and refuses, whoever asks."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ziggurat.ledger import Entry, Head
from ziggurat.ledger._chain import follow
from ziggurat.ledger.witness import FolderWitness, Seen, see

testing = pytest.importorskip("fastapi.testclient", reason="a served witness needs: pip install 'ziggurat[service]'")
from ziggurat.service.witness import _routes as routes  # noqa: E402
from ziggurat.service.witness import make_witness_app  # noqa: E402

LEDGER, OTHER = "ab" * 16, "cd" * 16
KEY, FOREIGN = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
TOKENS = ("first-token", "second-token")
LINES = {"Content-Type": "application/x-ndjson"}
BEGIN, EXTEND = f"/v1/ledgers/{LEDGER}", f"/v1/ledgers/{LEDGER}/receipts"


def chain(count: int, body: str = "{}") -> list[Entry]:
    made, head = [], Head()
    for _ in range(count):
        made.append(follow(head, "2026-01-01T00:00:00.000000Z", "unbounded", body))
        head = Head(made[-1].seq, made[-1].hash)
    return made


def receipt(entry: Entry, key: Ed25519PrivateKey = KEY, ledger: str = LEDGER) -> str:
    return see(ledger, entry, key, True).to_json() + "\n"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    (tmp_path / "folder").mkdir()
    app = make_witness_app(str(tmp_path / "folder"), tuple(sha256(each.encode()).hexdigest() for each in TOKENS))
    with testing.TestClient(app, raise_server_exceptions=False) as asking:
        asking.headers["Authorization"] = f"Bearer {TOKENS[0]}"
        yield asking


@pytest.fixture
def begun(client: Any) -> Any:
    """A list of three receipts."""
    lines = [receipt(each) for each in chain(3)]
    assert client.post(BEGIN, content=lines[0], headers=LINES).status_code == 201
    assert client.post(EXTEND, params={"durable": 1}, content="".join(lines[1:]), headers=LINES).json() == {"taken": 2}
    return client


def kind(response: Any, status: int) -> str:
    """The one shape of an error."""
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    (error,) = response.json().values()
    assert set(error) == {"kind", "message"}
    assert error["message"].endswith(".")
    return str(error["kind"])


def list_of(client: Any, **bounds: int) -> list[int]:
    got = client.get(EXTEND, params=bounds)
    assert got.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line)["seq"] for line in got.text.splitlines()]


ROUTES = [
    ("GET", "/v1/ledgers"),
    ("GET", "/v1/receipts"),
    ("GET", f"/v1/ledgers/{LEDGER}/newest"),
    ("GET", EXTEND),
    ("POST", BEGIN),
    ("POST", EXTEND),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "shown", [None, "", "Bearer", "Bearer wrong", "Basic first-token", "first-token", "Bearer é".encode()]
)
def test_without_its_token_nothing_is_told_and_nothing_is_taken(
    begun: Any, method: str, path: str, shown: str | bytes | None
) -> None:
    del begun.headers["Authorization"]
    content = {"content": receipt(chain(4)[3]), "headers": dict(LINES)} if method == "POST" else {"headers": {}}
    if shown is not None:
        content["headers"]["Authorization"] = shown
    refused = begun.request(method, path, **content)
    assert kind(refused, 401) == "NoToken"
    assert refused.headers["www-authenticate"] == "Bearer"
    assert LEDGER not in refused.text
    begun.headers["Authorization"] = f"Bearer {TOKENS[0]}"
    assert list_of(begun) == [1, 2, 3]


def test_every_token_whose_hash_is_kept_opens(begun: Any) -> None:
    assert begun.get("/v1/ledgers", headers={"Authorization": f"Bearer {TOKENS[1]}"}).json() == {"ledgers": [LEDGER]}


def test_health_needs_no_token_and_names_no_ledger(begun: Any, tmp_path: Path) -> None:
    del begun.headers["Authorization"]
    assert begun.get("/health").json() == {"serves": "ziggurat/witness/1"}
    (tmp_path / "folder").rename(tmp_path / "aside")
    assert kind(begun.get("/health"), 503) == "OutOfReach"


def test_an_auditor_reads_the_newest_a_range_and_everything(begun: Any) -> None:
    other = chain(1, '{"x":1}')
    assert begun.post(f"/v1/ledgers/{OTHER}", content=receipt(other[0], FOREIGN, OTHER), headers=LINES).is_success
    newest = Seen.from_json(begun.get(f"/v1/ledgers/{LEDGER}/newest").content)
    assert newest is not None
    assert (newest.seq, newest.problem(LEDGER, None)) == (3, None)
    assert list_of(begun) == [1, 2, 3]
    assert list_of(begun, first=2) == [2, 3]
    assert list_of(begun, first=2, last=2) == [2]
    assert list_of(begun, last=2) == [1, 2]
    assert list_of(begun, first=9) == []
    everything = [Seen.from_json(line) for line in begun.get("/v1/receipts").content.splitlines()]
    assert [(one.receipt.ledger, one.seq) for one in everything if one] == [(LEDGER, n) for n in (1, 2, 3)] + [
        (OTHER, 1)
    ]
    assert begun.get("/v1/ledgers").json() == {"ledgers": [LEDGER, OTHER]}


def test_what_is_no_receipt_any_more_is_shown_as_it_is(begun: Any, tmp_path: Path) -> None:
    """Whoever reads the list must see that it was changed."""
    log = tmp_path / "folder" / LEDGER / "receipts.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(lines[0] + b"scratched \xff\n" + lines[2])
    assert begun.get(EXTEND).content == log.read_bytes()


def test_a_list_that_was_changed_at_its_end_takes_nothing_and_says_so(begun: Any, tmp_path: Path) -> None:
    log = tmp_path / "folder" / LEDGER / "receipts.jsonl"
    log.write_bytes(log.read_bytes() + b"scratched\n")
    assert kind(begun.get(f"/v1/ledgers/{LEDGER}/newest"), 500) == "Damaged"
    assert kind(begun.post(EXTEND, content=receipt(chain(4)[3]), headers=LINES), 500) == "Damaged"
    assert begun.get(EXTEND).content == log.read_bytes()


@pytest.mark.parametrize("bound", ["-1", "x", "1e3", "9" * 30, "²"])
def test_a_bound_is_a_number(begun: Any, bound: str) -> None:
    assert kind(begun.get(EXTEND, params={"first": bound}), 422) == "BadNumber"


def test_what_was_sent_before_is_refused_unless_it_says_so(begun: Any, tmp_path: Path) -> None:
    log = tmp_path / "folder" / LEDGER / "receipts.jsonl"
    before = log.read_text()
    lines = before.splitlines(keepends=True)
    for again in (lines[0], lines[1], lines[2], lines[1] + lines[2]):
        assert kind(begun.post(EXTEND, content=again, headers=LINES), 409) == "DoesNotFollow"
        same = begun.post(EXTEND, params={"repeated": 1}, content=again, headers=LINES)
        assert same.status_code == 201
    assert kind(begun.post(BEGIN, content=lines[0], headers=LINES), 409) == "KnownLedger"
    assert begun.post(BEGIN, params={"repeated": 1}, content=lines[0], headers=LINES).status_code == 201
    assert log.read_text() == before


@pytest.mark.parametrize("what", ["another moment", "another history", "one too many", "a gap"])
def test_only_the_same_bytes_are_a_repetition(begun: Any, what: str) -> None:
    log = begun.get(EXTEND).text.splitlines(keepends=True)
    other = chain(5, '{"x":1}')
    offered = {
        "another moment": receipt(chain(3)[2]),
        "another history": receipt(other[2]),
        "one too many": log[2] + receipt(other[3]),
        "a gap": receipt(chain(5)[4]),
    }[what]
    assert kind(begun.post(EXTEND, params={"repeated": 1}, content=offered, headers=LINES), 409) == "DoesNotFollow"
    assert list_of(begun) == [1, 2, 3]


def test_a_repetition_is_brought_to_the_disk_before_it_is_acknowledged(
    begun: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The life before may have ended between writing and syncing."""
    from ziggurat.ledger.witness import _folder as folder

    synced: list[object] = []
    monkeypatch.setattr(folder, "sync", synced.append)
    line = begun.get(EXTEND).text.splitlines(keepends=True)[2]
    assert begun.post(EXTEND, params={"durable": 1, "repeated": 1}, content=line, headers=LINES).status_code == 201
    assert len(synced) == 1


@pytest.mark.parametrize("path", [BEGIN, EXTEND])
def test_another_key_adds_nothing_to_a_known_ledger(begun: Any, path: str) -> None:
    for entry in (chain(1)[0], chain(4)[3]):
        assert kind(begun.post(path, content=receipt(entry, FOREIGN), headers=LINES), 403) == "AnotherKey"
    assert list_of(begun) == [1, 2, 3]


def test_two_keys_in_one_request_add_nothing(begun: Any) -> None:
    made = chain(5)
    both = receipt(made[3]) + receipt(made[4], FOREIGN)
    assert kind(begun.post(EXTEND, content=both, headers=LINES), 403) == "AnotherKey"


@pytest.mark.parametrize(
    "wrong", ["another ledger", "a signature", "a hash", "an entry", "nothing", "no JSON", "no text", "zero"]
)
def test_what_is_no_receipt_of_the_ledger_is_not_taken(begun: Any, wrong: str) -> None:
    good = receipt(chain(4)[3])
    offered: str | bytes = {
        "another ledger": receipt(chain(4)[3], KEY, OTHER),
        "a signature": good.replace('"signature":"', '"signature":"00'),
        "a hash": good.replace(chain(4)[3].hash, "0" * 64),
        "an entry": good.replace("unbounded", "unbouncer"),
        "nothing": "",
        "no JSON": "{\n",
        "no text": b"\xff\xfe\n",
        "zero": good.replace('"seq":4', '"seq":0'),
    }[wrong]
    assert kind(begun.post(EXTEND, content=offered, headers=LINES), 422) == "BadReceipt"
    assert list_of(begun) == [1, 2, 3]
    assert begun.post(EXTEND, content=good, headers=LINES).status_code == 201


def test_a_list_begins_with_one_receipt(client: Any) -> None:
    made = chain(2)
    two = receipt(made[0]) + receipt(made[1])
    assert kind(client.post(BEGIN, content=two, headers=LINES), 422) == "BadReceipt"
    assert kind(client.post(EXTEND, content=receipt(made[1]), headers=LINES), 404) == "UnknownLedger"
    assert kind(client.get(f"/v1/ledgers/{LEDGER}/newest"), 404) == "UnknownLedger"
    assert kind(client.get(EXTEND), 404) == "UnknownLedger"


NAMES = ["%2e%2e", "..%2f..%2fetc", "%2e%2e%2fx", "a%00b", "AB", "x.y", "a" * 65, "token.sha256", "é", "%0a"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rest", ["", "/receipts", "/newest"])
def test_a_name_that_no_ledger_has_leads_nowhere(begun: Any, tmp_path: Path, name: str, rest: str) -> None:
    before = sorted(str(each) for each in tmp_path.rglob("*"))
    line = receipt(chain(1)[0], KEY, "..")
    assert begun.get(f"/v1/ledgers/{name}{rest}").status_code in (404, 405)
    assert begun.post(f"/v1/ledgers/{name}{rest}", content=line, headers=LINES).status_code in (404, 405, 422)
    assert sorted(str(each) for each in tmp_path.rglob("*")) == before


def test_a_folder_is_never_named_after_a_receipt_of_a_foreign_name(client: Any, tmp_path: Path) -> None:
    line = receipt(chain(1)[0], KEY, "..")
    assert kind(client.post("/v1/ledgers/x", content=line, headers=LINES), 422) == "BadReceipt"
    line = receipt(chain(1)[0], KEY, "x")
    assert kind(client.post("/v1/ledgers/x", content=line, headers=LINES), 404) == "UnknownLedger"
    assert list((tmp_path / "folder").iterdir()) == []


@pytest.mark.parametrize("how", ["announced", "not announced", "announced in no number"])
def test_a_body_that_is_too_large_is_refused(begun: Any, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routes, "LARGEST_BODY", 2000)
    content: Any = (b"x" * 500 for _ in range(5)) if how == "not announced" else b"x" * 2500
    headers = {**LINES, "Content-Length": "many"} if how == "announced in no number" else LINES
    assert kind(begun.post(EXTEND, content=content, headers=headers), 413) == "TooLarge"
    assert begun.post(EXTEND, content=receipt(chain(4)[3]), headers=LINES).status_code == 201


@pytest.mark.parametrize("content_type", ["", "application/json", "text/plain", "multipart/form-data; boundary=x"])
def test_another_content_type_is_refused(begun: Any, content_type: str) -> None:
    line = receipt(chain(4)[3])
    assert kind(begun.post(EXTEND, content=line, headers={"Content-Type": content_type}), 415) == "NotLines"


def test_an_address_where_nothing_is_and_a_method_that_does_nothing(begun: Any) -> None:
    assert kind(begun.get("/nothing"), 404) == "NoSuchRoute"
    assert kind(begun.get("/docs"), 404) == "NoSuchRoute"
    assert kind(begun.get("/openapi.json"), 404) == "NoSuchRoute"
    for method in ("PUT", "DELETE", "PATCH"):
        assert kind(begun.request(method, EXTEND), 405) == "NoSuchMethod"
    assert list_of(begun) == [1, 2, 3]


def test_a_folder_out_of_reach_is_said_without_its_name(begun: Any, tmp_path: Path) -> None:
    (tmp_path / "folder").rename(tmp_path / "aside")
    for refused in (
        begun.get("/v1/ledgers"),
        begun.get(EXTEND),
        begun.post(EXTEND, content=receipt(chain(4)[3]), headers=LINES),
    ):
        assert kind(refused, 503) == "OutOfReach"
        assert str(tmp_path) not in refused.text


def test_what_nobody_foresaw_is_not_quoted(
    begun: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("hunter2")

    monkeypatch.setattr(FolderWitness, "last_line", fail)
    refused = begun.get(f"/v1/ledgers/{LEDGER}/newest")
    assert kind(refused, 500) == "Unexpected"
    assert "hunter2" not in refused.text + caplog.text
    assert "RuntimeError" in caplog.text
