"""`ziggurat ledger` as a person meets it: exit codes and sentences."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, PureEvent

Run = Callable[..., Any]


@pytest.fixture
def run(command: Run) -> Run:
    """Runs a command about the ledger in book.db."""
    return partial(command, "ledger")


@pytest.fixture
def book(run: Run) -> Run:
    """A ledger whose table 'clinic' has a budget of (2, 1e-5), of which 'ana' holds epsilon 1."""
    assert run("budget", "clinic", "--epsilon", "2", "--delta", "1e-5").code == 0
    assert run("grant", "clinic", "ana", "--epsilon", "1").code == 0
    return run


MISUSE = [
    ("budget", "clinic", "--epsilon", "1"),
    ("grant", "clinic", "ana", "--epsilon", "0.1"),
    ("grant", "harbour", "ana", "--epsilon", "0.1"),
    ("close", "clinic", "bob"),
    ("quote", "clinic", "bob", "--epsilon", "0.1"),
    ("quote", "clinic", "ana", "--event", "absent.json"),
    ("show", "harbour"),
    ("history", "harbour"),
    ("history", "clinic", "--analyst", "bob"),
    ("history", "--analyst", "bob"),
    ("sign", "--key", "absent"),
    ("verify", "--receipt", "absent.json"),
    ("keygen", "no/such/folder/key"),
    ("show", "--ledger", "absent.db"),
    ("verify", "--ledger", "absent.db"),
    ("budget", "t", "--epsilon", "1", "--ledger", ":memory:"),
]


@pytest.mark.parametrize("arguments", MISUSE, ids=" ".join)
def test_misuse_has_exit_code_2_and_one_sentence(book: Run, arguments: tuple[str, ...]) -> None:
    result = book(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert not re.search(r"generate_key|sign_head|create_budget|Ledger\.", result.err)


def test_an_absent_ledger_is_to_be_created_by_a_command(run: Run) -> None:
    said = run("show").err
    assert "There is no ledger at" in said
    assert said.endswith("; create it with 'ziggurat ledger budget'.\n")


def test_a_bad_key_is_to_be_made_by_a_command(book: Run, tmp_path: Path) -> None:
    (tmp_path / "bad").write_text("no key")
    assert book("sign", "--key", "bad").err.endswith("make one with 'ziggurat ledger keygen'.\n")


@pytest.mark.parametrize("amount", ["1e400", "1e200", "1e-200", "5e-324", "1/" + "7" * 1000])
def test_no_amount_makes_the_ledger_unreadable(run: Run, amount: str) -> None:
    made = run("budget", "x", "--epsilon", amount)
    assert made.code in (0, 2)
    if made.code == 0:
        assert run("show").code == 0
        assert run("verify").code == 0


def test_a_budget_is_echoed_as_show_says_it(book: Run) -> None:
    assert "epsilon 0.1 and delta 0.00001." in book("budget", "harbour", "--epsilon", "1/10", "--delta", "1e-5").out
    assert "epsilon ≈0.333334 " in book("budget", "road", "--epsilon", "1/3").out
    assert "epsilon ≈0.333334 " in book("show", "road").out


def test_a_table_without_grants_is_shown_without_an_empty_picture(book: Run) -> None:
    book("budget", "harbour", "--epsilon", "1")
    assert book("show", "harbour").out.count("\n") == 2
    assert "analyst" in book("show", "clinic").out


def test_what_is_left_is_shown_in_the_unit_of_the_rule(book: Run) -> None:
    book("grant", "clinic", "bob", "--epsilon", "1", "--delta", "1e-5")
    shown = book("show", "clinic").out
    assert "epsilon 1 is left" in shown
    assert "100% is left, that is epsilon 1 by addition or rho" in shown
    fits = book("quote", "clinic", "bob", "--rho", "0.01")
    assert (fits.code, "leaving ≈" in fits.out) == (0, True)


def test_the_history_names_table_and_analyst(book: Run, tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "book.db") as ledger:
        ledger.reserve("clinic", "ana", PureEvent(Neighbours(), "0.1")).commit({"secret": 41})
    lines = book("history").out.splitlines()
    assert [line.split()[2] for line in lines] == ["genesis", "budget", "grant", "reserve", "commit"]
    assert all("clinic  ana" in line for line in lines[2:])
    assert "secret" not in "".join(lines)


def test_verify_reports_a_foreign_trigger_with_exit_code_4(book: Run, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "book.db")) as connection:
        connection.execute("CREATE TRIGGER x BEFORE INSERT ON entries BEGIN SELECT RAISE(IGNORE); END")
    result = book("verify")
    assert (result.code, result.err) == (4, "The database has a trigger or table that is not its own.\n")
    assert book("show").code == 4
    assert book("grant", "clinic", "bob", "--epsilon", "0.1").code == 4


def test_a_key_signs_and_verifies(book: Run, tmp_path: Path) -> None:
    assert book("keygen", "key").code == 0
    assert book("keygen", "key").code == 2
    assert book("sign", "--key", "key", "--out", "receipt.json").code == 0
    assert json.loads((tmp_path / "receipt.json").read_text())["seq"] == 3
    assert book("verify", "--receipt", "receipt.json", "--public-key", "key.pub").code == 0
    assert book("verify", "--receipt", "receipt.json", "--public-key", "absent").code == 2
