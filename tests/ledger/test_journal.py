"""The journal remembers what it has read; it must notice everything that others, or an interruption, did meanwhile."""

import sqlite3

import pytest

from ziggurat.errors import LedgerCorruptError
from ziggurat.ledger import Ledger
from ziggurat.ledger import _journal as journal
from ziggurat.privacy import Neighbours, PureEvent

TENTH = PureEvent(Neighbours(), "1/10")


@pytest.fixture
def path(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        ledger.create_budget("t", 1)
        ledger.grant("t", "ana", 1)
    return tmp_path / "ledger.db"


def test_an_interruption_between_commit_and_fold_loses_nothing(path, monkeypatch):
    ledger = Ledger.open(path)
    monkeypatch.setattr(journal.Journal, "_fold", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        ledger.reserve("t", "ana", TENTH)
    monkeypatch.undo()
    assert ledger.left("t", "ana") == 1 - TENTH.epsilon
    ledger.reserve("t", "ana", TENTH).commit(1)
    assert ledger.left("t", "ana") == 1 - 2 * TENTH.epsilon
    assert ledger.verify().ok


def test_what_another_connection_writes_is_seen_at_once(path):
    mine, other = Ledger.open(path), Ledger.open(path)
    for spent in range(1, 4):
        other.reserve("t", "ana", TENTH)
        assert mine.left("t", "ana") == 1 - spent * TENTH.epsilon


def test_a_broken_ledger_stays_refused_however_often_it_is_asked(path):
    ledger = Ledger.open(path)
    with sqlite3.connect(path) as raw:
        raw.execute("INSERT INTO entries VALUES (4, 'x', 'reserve', '{}', 'x', 'x')")
    for _ in range(3):
        with pytest.raises(LedgerCorruptError):
            ledger.reserve("t", "ana", TENTH)
