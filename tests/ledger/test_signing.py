"""Receipts: who signed what, and whether it still holds."""

import dataclasses
import json
import os
import resource
import signal
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from ziggurat.errors import LedgerError, LedgerUseError, ParameterError
from ziggurat.ledger import Ledger, Receipt, generate_key


@pytest.fixture
def key(tmp_path: Path) -> Path:
    generate_key(tmp_path / "steward.pem")
    return tmp_path / "steward.pem"


@pytest.fixture
def public(key: Path) -> Path:
    return Path(f"{key}.pub")


def test_a_private_key_is_for_its_owner_only(key: Path, public: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert b"PUBLIC" in public.read_bytes()
    assert b"PRIVATE" not in public.read_bytes()


def test_a_key_is_never_overwritten(key: Path, public: Path) -> None:
    before = key.read_bytes(), public.read_bytes()
    with pytest.raises(LedgerError, match="not overwritten"):
        generate_key(key)
    key.unlink()
    with pytest.raises(LedgerError, match="not overwritten"):
        generate_key(key)
    assert not key.exists()
    assert public.read_bytes() == before[1]


@pytest.mark.parametrize("room", [0, 50, 115])
def test_a_full_disk_leaves_no_half_of_a_key(tmp_path: Path, room: int) -> None:
    """A limit on the size of files stands for the disk; the public half fits into 115 bytes, the private does not."""
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            with pytest.raises(LedgerUseError, match="space on the disk"):
                generate_key(tmp_path / "key")
            os._exit(0)
        except BaseException:  # noqa: BLE001 - a child must never return into pytest
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("last", [1, 2])
def test_a_failure_at_the_end_takes_back_the_other_half(
    tmp_path: Path, last: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, link = [], os.link

    def failing(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == last:
            raise OSError
        link(source, target)

    monkeypatch.setattr(os, "link", failing)
    with pytest.raises(LedgerUseError, match="cannot be written"):
        generate_key(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", ["", "a\0b", None, 3, "/"])
def test_a_key_must_be_named_by_a_file(path: object) -> None:
    with pytest.raises(ParameterError, match="file"):
        generate_key(path)  # type: ignore[arg-type]


def test_a_receipt_survives_json_and_later_entries(ledger: Ledger, key: Path, public: Path) -> None:
    receipt = ledger.sign_head(key)
    ledger.record_unbounded("clinic", "a map")
    again = Receipt.from_json(receipt.to_json())
    assert again == receipt
    assert (again.seq, again.hash) == (3, ledger.history()[2].hash)
    assert ledger.verify(public, again).ok


def test_a_receipt_signed_by_somebody_else_is_refused(ledger: Ledger, public: Path) -> None:
    receipt = ledger.sign_head(Ed25519PrivateKey.generate())
    assert ledger.verify(receipt=receipt).ok
    (problem,) = ledger.verify(public, receipt).problems
    assert "another key" in problem.what


@pytest.mark.parametrize("field", ["ledger", "seq", "hash", "time", "signature", "public_key"])
def test_a_changed_receipt_is_refused(ledger: Ledger, key: Path, field: str) -> None:
    receipt = ledger.sign_head(key)
    value = getattr(receipt, field)
    other = value + 1 if isinstance(value, int) else ("0" if value[0] != "0" else "1") + value[1:]
    verification = ledger.verify(receipt=dataclasses.replace(receipt, **{field: other}))
    assert "not valid" in verification.problems[0].what


def test_a_receipt_of_another_ledger_is_refused(ledger: Ledger, key: Path, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "other.db") as other:
        receipt = other.sign_head(key)
    assert "another ledger" in ledger.verify(receipt=receipt).problems[0].what


def test_a_public_key_alone_verifies_nothing(ledger: Ledger, public: Path) -> None:
    with pytest.raises(ParameterError, match="receipt as well"):
        ledger.verify(public)


@given(text=st.one_of(st.text(), st.recursive(st.none() | st.integers(), st.lists).map(json.dumps)))
def test_what_is_not_a_receipt_is_refused(text: str) -> None:
    with pytest.raises(LedgerError, match="not a receipt"):
        Receipt.from_json(text)


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"]
)
def test_what_is_not_a_key_is_refused(ledger: Ledger, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bad").write_bytes(content)
    with pytest.raises(LedgerError, match="key"):
        ledger.sign_head(tmp_path / "bad")
    with pytest.raises(LedgerError, match="key"):
        ledger.sign_head(tmp_path / "missing")
