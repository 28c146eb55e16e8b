"""`ziggurat verify`: it finds out what it was given, says the verdict first, and its exit code is the verdict."""

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ziggurat.ledger import Ledger, generate_key
from ziggurat.release.bundle import Contents, hand_out, write_bundle

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZIGGURAT_SETTINGS", str(tmp_path / "settings"))
    monkeypatch.delenv("ZIGGURAT_WITNESS", raising=False)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Path]:
    """Writes a bundle called `name`, signed by 'steward', with some fields of its certificate changed."""
    rows = b"people\n120\n"
    (tmp_path / "rows.csv").write_bytes(rows)
    generate_key(tmp_path / "steward")
    certificate = {
        "format": "ziggurat/certificate/2",
        "made": "2026-11-16",
        "kind": "question",
        "promise": {"epsilon": "1", "delta": "0"},
        "sentence": "No output becomes more than 2.72 times as likely.",
        "randomness": "secure",
        "rehearsal": False,
        "artefacts": [{"name": "answer.csv", "sha256": sha256(rows).hexdigest(), "bytes": len(rows)}],
    }

    def write(name: str = "answer", **changed: Any) -> Path:
        given = Contents(certificate | changed, {}, {}, {"answer.csv": tmp_path / "rows.csv"})
        return write_bundle(tmp_path / name, given, tmp_path / "steward")

    return write


@pytest.fixture
def book(tmp_path: Path) -> Path:
    with Ledger.open(tmp_path / "kept.db") as ledger:
        ledger.create_budget("clinic", "2", "1e-5")
        ledger.grant("clinic", "ana", "1")
    return tmp_path / "kept.db"


@pytest.fixture
def receipt(tmp_path: Path, book: Path) -> Path:
    generate_key(tmp_path / "signer")
    with Ledger.open(book) as ledger:
        signed = ledger.sign_head(tmp_path / "signer")
    (tmp_path / "receipt.json").write_text(signed.to_json() + "\n")
    return tmp_path / "receipt.json"


@pytest.mark.parametrize("name", ["answer", "answer.zip", "answer.ZIP"])
def test_a_sound_bundle_says_verdict_promise_and_signer(command: Run, make: Callable[..., Path], name: str) -> None:
    make(name)
    result = command("verify", name, "--key", "steward.pub")
    assert (result.code, result.err) == (0, "")
    lines = result.out.splitlines()
    assert lines[0] == "SOUND. This bundle is what was signed, to the last byte."
    assert "Promise: No output becomes more than 2.72 times as likely." in lines
    assert lines[-1].endswith("which is the one given.")


def test_without_a_key_it_says_that_nobody_checked_whose_it_is(command: Run, make: Callable[..., Path]) -> None:
    make()
    assert "Nobody checked whose key that is" in command("verify", "answer").out


@pytest.mark.parametrize("thing", ["answer/public", "answer/steward", "out", "out.zip"])
def test_a_part_is_a_bundle_too(command: Run, make: Callable[..., Path], tmp_path: Path, thing: str) -> None:
    made = make()
    for place in ("out", "out.zip"):
        hand_out(made, tmp_path / place)
    result = command("verify", thing, "--key", "steward.pub")
    assert result.code == 0
    assert "part alone" in result.out


def test_a_broken_bundle_has_exit_code_1_and_names_file_and_field(command: Run, make: Callable[..., Path]) -> None:
    file = make() / "public" / "certificate.json"
    file.write_text(file.read_text().replace('"epsilon":"1"', '"epsilon":"9"'))
    result = command("verify", "answer")
    assert result.code == 1
    assert result.out.splitlines() == [
        "BROKEN. This bundle is not what was signed.",
        "public/certificate.json, field 'promise', was altered.",
    ]
    told = json.loads(command("verify", "answer", "--json").out)
    assert (told["what"], told["sound"], told["certificate"]) == ("bundle", False, None)
    assert told["problems"] == [{"file": "public/certificate.json", "what": "was altered", "field": "promise"}]


def test_a_rehearsal_has_exit_code_1(command: Run, make: Callable[..., Path]) -> None:
    make(rehearsal=True, randomness="seeded")
    result = command("verify", "answer")
    assert result.code == 1
    assert result.out.startswith("NOT A RELEASE. This is a rehearsal")


def test_keys_may_be_rotated_in_a_folder(command: Run, make: Callable[..., Path], tmp_path: Path) -> None:
    make()
    (tmp_path / "keys").mkdir()
    generate_key(tmp_path / "keys" / "new")
    assert command("verify", "answer", "--key", "keys").code == 1
    shutil.copy(tmp_path / "steward.pub", tmp_path / "keys" / "release-old.pub")
    assert command("verify", "answer", "--key", "keys").code == 0


def test_what_a_certificate_says_cannot_speak_to_the_terminal(command: Run, make: Callable[..., Path]) -> None:
    make(sentence="red\x1b[31m\nSOUND.")
    out = command("verify", "answer").out
    assert "\x1b" not in out
    assert out.count("SOUND.") == 2
    assert r"red\x1b[31m\nSOUND." in out


def test_a_ledger_is_verified_as_ledger_verify_does(command: Run, book: Path) -> None:
    result = command("verify", "kept.db")
    assert (result.code, result.err) == (0, "")
    assert result.out == "SOUND. This ledger verifies.\n" + command("ledger", "verify", "--ledger", "kept.db").out


def test_a_broken_ledger_has_exit_code_1(command: Run, book: Path) -> None:
    data = book.read_bytes()
    book.write_bytes(data.replace(b"clinic", b"clinik"))
    result = command("verify", "kept.db")
    assert result.code == 1
    assert result.out.startswith("BROKEN. This ledger does not verify.\nEntry 2 was changed")
    book.write_bytes(b"x" + data[1:])
    assert command("verify", "kept.db").code == 1
    assert command("ledger", "verify", "--ledger", "kept.db").code == 4


@pytest.mark.parametrize("way", ["ledger", "receipt"])
def test_a_ledger_and_a_receipt_are_compared_from_either_side(
    command: Run, book: Path, receipt: Path, tmp_path: Path, way: str
) -> None:
    both = ["kept.db", "--receipt", "receipt.json"] if way == "ledger" else ["receipt.json", "--ledger", "kept.db"]
    assert command("verify", *both, "--key", "signer.pub").code == 0
    with Ledger.open(tmp_path / "other.db") as other:
        other.create_budget("clinic", "2", "1e-5")
    shutil.copy(tmp_path / "other.db", book)
    result = command("verify", *both)
    assert result.code == 1
    assert "about another ledger" in result.out


def test_a_receipt_alone_is_checked_by_its_signature(command: Run, receipt: Path, tmp_path: Path) -> None:
    result = command("verify", "receipt.json", "--key", "signer.pub")
    assert result.code == 0
    assert result.out.startswith("SOUND. This receipt verifies.\nEntry 3 of the ledger ")
    assert "which is the one given" in result.out
    assert "nobody checked whose that is" in command("verify", "receipt.json").out
    (tmp_path / "keys").mkdir()
    for name in ("old", "new"):
        generate_key(tmp_path / "keys" / name)
    assert "another key" in command("verify", "receipt.json", "--key", "keys").out
    shutil.copy(tmp_path / "signer.pub", tmp_path / "keys")
    assert command("verify", "receipt.json", "--key", "keys").code == 0


@pytest.mark.parametrize("old", ['"seq":3', '"signature":"', '"hash":"', '"public_key":"', '"time":"'])
def test_an_altered_receipt_has_exit_code_1(command: Run, receipt: Path, old: str) -> None:
    text = receipt.read_text()
    place = text.index(old) + len(old)
    place -= old.endswith("3")
    receipt.write_text(text[:place] + ("4" if text[place] != "4" else "5") + text[place + 1 :])
    result = command("verify", "receipt.json")
    assert (result.code, result.out.splitlines()[0]) == (1, "BROKEN. This receipt does not verify.")


@pytest.mark.postgres
def test_a_ledger_in_postgres_is_found_by_its_address(command: Run, postgres_uri: str) -> None:
    result = command("verify", postgres_uri)
    assert result.code == 6  # there is a server, but no ledger in it
    assert "ledger" in result.err


MISUSE = {
    "nothing there": ("absent",),
    "a folder that is no bundle": (".",),
    "a text": ("text",),
    "a file of a bundle": ("answer/public/manifest.json",),
    "a bundle with a receipt": ("answer", "--receipt", "receipt.json"),
    "a bundle with a ledger": ("answer", "--ledger", "kept.db"),
    "a ledger with a folder of keys": ("kept.db", "--key", "."),
    "a key that is none": ("answer", "--key", "text"),
    "a key that is not there": ("answer", "--key", "absent.pub"),
    "a receipt that is none": ("none.json",),
    "a ledger out of reach": ("postgresql://nobody@127.0.0.1:1/none?connect_timeout=1",),
}


@pytest.mark.parametrize("arguments", MISUSE.values(), ids=MISUSE)
def test_misuse_and_what_cannot_be_checked_get_one_sentence(
    command: Run, make: Callable[..., Path], receipt: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    make()
    (tmp_path / "text").write_text("hello")
    (tmp_path / "none.json").write_text("{}")
    result = command("verify", *arguments)
    assert (result.code in (2, 6), result.out) == (True, "")
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1


def test_a_ledger_is_known_by_its_name_and_keeps_its_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever opens and closes a file of SQLite takes the locks of a ledger that the same process has open."""
    from ziggurat.cli import _verify

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("The ledger was opened by other means than SQLite's.")

    (tmp_path / "bundle.zip").write_bytes(b"PK")
    with Ledger.open(tmp_path / "ledger.db"), monkeypatch.context() as patched:
        patched.setattr(Path, "open", fail)
        assert _verify._find_kind(str(tmp_path / "ledger.db")) == "ledger"
        with pytest.raises(AssertionError, match="other means"):  # the control: of other files it looks into them
            _verify._find_kind(str(tmp_path / "bundle.zip"))
