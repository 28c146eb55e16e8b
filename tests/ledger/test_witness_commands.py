"""`ziggurat ledger witness`, `show` and `verify` as a person meets them."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ziggurat.ledger import Ledger
from ziggurat.ledger._chain import digest
from ziggurat.privacy import Neighbours, PureEvent

Run = Callable[..., Any]


@pytest.fixture
def run(command: Run) -> Run:
    """Runs a command about the ledger in book.db, which has a budget, a grant and a witness in the folder 'seen'."""
    Path("seen").mkdir()
    book = partial(command, "ledger")
    assert book("budget", "clinic", "--epsilon", "2").code == 0
    assert book("grant", "clinic", "ana", "--epsilon", "1").code == 0
    assert book("witness", "seen").code == 0
    return book


def spend() -> None:
    with Ledger.open("book.db") as ledger:
        ledger.reserve("clinic", "ana", PureEvent(Neighbours(), "0.1")).commit(1)


def forge() -> None:
    """Make one question ten times cheaper, and rehash everything after it."""
    with closing(sqlite3.connect("book.db", isolation_level=None)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        link = "0" * 64
        for seq, time, kind, body in connection.execute("SELECT seq, time, kind, body FROM entries").fetchall():
            text = body.replace('"1/10"', '"1/100"')
            own = digest(seq, time, kind, text, link)
            values = (text, link, own, seq)
            connection.execute("UPDATE entries SET body = ?, previous = ?, hash = ? WHERE seq = ?", values)
            link = own
        for _, statement in triggers:
            connection.execute(statement)


def test_the_command_names_the_witness_its_key_and_where_that_lies(command: Run, tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    command("ledger", "budget", "clinic", "--epsilon", "2")
    said = command("ledger", "witness", "seen")
    assert (said.code, said.err) == (0, "")
    assert f"The witness is '{tmp_path / 'seen'}' (key " in said.out
    assert "it has seen all 3 entries." in said.out
    assert "From now on nothing is spent without it. Its signing key is in " in said.out
    assert str(tmp_path / "settings" / "witnesses") in said.out
    assert "It lies on the disk of the ledger" in said.out


def test_show_mentions_the_witness_and_its_counter(run: Run) -> None:
    spend()
    assert "it has seen all 6 entries." in run("show").out
    Path("seen").rename("aside")
    assert "it cannot be asked now, and without it nothing is spent: " in run("show").out


def test_show_says_that_there_is_no_witness(command: Run) -> None:
    command("ledger", "budget", "clinic", "--epsilon", "2")
    assert "No witness is named, so a ledger rewritten whole, cut off or put back" in command("ledger", "show").out


def test_verify_uses_the_witness_without_being_told(run: Run) -> None:
    spend()
    found = run("verify")
    assert found.code == 0
    assert found.out.startswith("6 entries: every hash and every rule holds. The witness ")
    assert found.out.endswith("has seen all 6 entries.\n")


def test_verify_says_rewritten(run: Run) -> None:
    spend()
    forge()
    found = run("verify")
    assert (found.code, found.out) == (4, "")
    assert found.err.startswith("Entry 5 is not the one that the witness saw: the ledger was rewritten from here on.")


def test_verify_says_cut_or_older_copy(run: Run) -> None:
    before = Path("book.db").read_bytes()
    spend()
    Path("book.db").write_bytes(before)
    found = run("verify")
    assert found.code == 4
    assert "the ledger was cut off, or an older copy was put back." in found.err


def test_verify_says_that_the_witness_is_gone(run: Run) -> None:
    os.rename("seen", "aside")  # noqa: PTH104
    found = run("verify")
    assert found.code == 4
    assert "cannot be reached or written (No such file or directory), so it cannot be seen whether" in found.err
    assert found.err.count("\n") == 1


def test_without_a_witness_verify_says_what_it_cannot_see(command: Run) -> None:
    command("ledger", "budget", "clinic", "--epsilon", "2")
    found = command("ledger", "verify")
    assert found.code == 0
    assert found.out == (
        "2 entries: every hash and every rule holds. No witness is named or known here, so it cannot be seen whether "
        "the newest entries were cut off, an older copy was put back, or the whole ledger was rewritten with fresh "
        "hashes.\n"
    )


def test_a_forgery_is_not_found_without_a_witness(command: Run) -> None:
    """The control: the same forgery, and nobody to ask."""
    command("ledger", "budget", "clinic", "--epsilon", "2")
    command("ledger", "grant", "clinic", "ana", "--epsilon", "1")
    spend()
    forge()
    assert command("ledger", "verify").code == 0


def test_without_its_witness_a_ledger_spends_nothing_and_says_so_in_one_sentence(run: Run) -> None:
    Path("seen").rename("aside")
    said = run("unbounded", "clinic", "a map")
    assert (said.code, said.out) == (4, "")
    assert said.err.startswith("Error: The witness '")
    assert "this ledger spends nothing without its witness, so nothing was read, and nothing is lost." in said.err
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("where", ["absent", "http://x/y", "postgresql://ana:hunter2@server/db"])
def test_a_witness_that_cannot_be_is_refused_in_one_sentence(command: Run, where: str) -> None:
    command("ledger", "budget", "clinic", "--epsilon", "2")
    said = command("ledger", "witness", where)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert "hunter2" not in said.err


def test_the_environment_names_the_witness(command: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "seen").mkdir()
    monkeypatch.setenv("ZIGGURAT_WITNESS", str(tmp_path / "seen"))
    command("ledger", "budget", "clinic", "--epsilon", "2")
    assert command("ledger", "verify").code == 4
    assert command("ledger", "witness").code == 0
    assert command("ledger", "verify").code == 0
    assert command("ledger", "witness", "--lost").code == 2
