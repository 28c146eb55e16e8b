"""Only the purse spends: no other code of ours reserves, or writes down that something leaves."""

import re
from pathlib import Path

import pytest

import ziggurat

HOME = Path(ziggurat.__file__).parent
SPENDING = re.compile(r"\.(spend|reserve|record_unbounded|record_decision)\(")
PURSE = "release/_purse.py"
SELF_TEST = "cli/_doctor.py"  # spends from a ledger that it throws away
BY_HAND = "cli/_ledger.py"  # where a steward notes what left by another way


def spenders() -> set[str]:
    files = [file for file in HOME.rglob("*.py") if file.relative_to(HOME).parts[0] != "ledger"]
    return {file.relative_to(HOME).as_posix() for file in files if SPENDING.search(file.read_text(encoding="utf-8"))}


def test_only_the_purse_spends() -> None:
    assert spenders() == {PURSE, SELF_TEST, BY_HAND}


def test_only_the_purse_asks_the_ledger_for_prices() -> None:
    asking = re.compile(r"\b(ledger|book|_book)\.quote\(")
    files = [file for file in HOME.rglob("*.py") if file.relative_to(HOME).parts[0] != "ledger"]
    found = {file.relative_to(HOME).as_posix() for file in files if asking.search(file.read_text(encoding="utf-8"))}
    assert found == {PURSE, "release/_quotation.py", BY_HAND}


@pytest.mark.parametrize("text", ["ledger.spend(x)", "self._ledger.reserve(", "book.record_unbounded(budget, what)"])
def test_spending_is_recognised(text: str) -> None:
    assert SPENDING.search(text)
