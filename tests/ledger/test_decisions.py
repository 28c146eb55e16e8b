"""What a steward let go although it was stopped is in the ledger, and told, for ever."""

import sqlite3

import pytest
from typer.testing import CliRunner

from ziggurat.cli import app
from ziggurat.errors import ParameterError
from ziggurat.ledger import Ledger, verify_ledger

WHY = "the gate stopped it ('closest records'): only for the test bench"


@pytest.fixture
def decided(opened):
    """A table and one of its population, both with a decision; on each store."""
    ledger: Ledger = opened()
    ledger.create_budget("clinic", "2")
    ledger.register("visits", "clinic")
    ledger.record_decision("clinic", WHY)
    ledger.record_decision("visits", "it was stopped twice.")
    return ledger


def test_a_decision_is_an_entry_of_its_own_and_is_given_back(decided):
    entry = decided.record_decision("clinic", "it was late")
    assert (entry.kind, entry.data) == ("decision", {"table": "clinic", "what": "it was late"})
    assert (entry.seq, entry.hash) == decided.head()
    assert decided.history("clinic")[-1] == entry
    assert decided.about(entry) == ("clinic", "")


def test_statements_tell_every_decision_for_ever(decided, opened):
    for ledger in (decided, opened()):
        told = f"The steward of the table clinic went on although {WHY}."
        assert told in ledger.statement("clinic").sentences()
        assert ledger.account("clinic").decisions == (("clinic", WHY), ("visits", "it was stopped twice."))
        assert ledger.account("visits").sentences()[-2:] == [
            told,
            "The steward of the table visits went on although it was stopped twice.",
        ]
        assert told in ledger.verify().notes


def test_a_decision_spends_nothing_and_is_no_unbounded_release(decided):
    assert decided.account("clinic").unbounded == ()
    assert decided.statement("clinic").ungranted_epsilon == 2
    assert decided.verify().ok


def test_a_ledger_without_decisions_tells_none(ledger):
    assert ledger.statement("clinic").decisions == ()
    assert not any("went on" in sentence for sentence in ledger.account("clinic").sentences())


@pytest.mark.parametrize(
    ("table", "what"), [("", "x"), ("clinic", " "), ("clinic", "two\nlines"), ("clinic", "x" * 2001)]
)
def test_what_cannot_be_shown_is_refused(ledger, table, what):
    head = ledger.head()
    with pytest.raises(ParameterError):
        ledger.record_decision(table, what)
    assert ledger.head() == head


def test_a_decision_that_was_changed_or_taken_away_is_found(ledger, file):
    entry = ledger.record_decision("clinic", WHY)
    ledger.record_unbounded("clinic", "a map")
    ledger.close()
    for change in (
        "UPDATE entries SET body = replace(body, 'stopped', 'praised') WHERE seq = ?",
        "DELETE FROM entries WHERE seq = ?",
    ):
        with sqlite3.connect(file) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute(change, (entry.seq,))
        assert any(problem.seq == entry.seq for problem in verify_ledger(file).problems)


def test_a_witness_has_seen_a_decision_before_it_is_written(ledger, witness_place):
    ledger.name_witness(witness_place)
    entry = ledger.record_decision("clinic", WHY)
    assert ledger.verify().notes[-1].endswith(f"has seen all {entry.seq} entries.")


def test_the_commands_show_it(ledger, file):
    ledger.record_decision("clinic", WHY)
    for command in ("show", "history"):
        said = CliRunner().invoke(app, ["ledger", command, "--ledger", str(file)])
        assert f"went on although {WHY}" in said.output
