"""What goes wrong after the reservation stays paid for, and no error, log or output shows a cell."""

import logging
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pytest

from ziggurat.data import Bounds, Column, Schema, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import EngineError, ParameterError, PendingError, ZigguratError
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours
from ziggurat.queries import QuestionPlan
from ziggurat.release import Session

CANARY = "CANARY-7f3a"
NUMBER = 9_087_654_321_987_654_321
PEOPLE = "SELECT COUNT(DISTINCT patient) AS people FROM clinic"


def everything(error: BaseException | None) -> str:
    shown = [] if error is None else traceback.format_exception(error)
    while error is not None:
        shown.append(f"{error} {error!r} {error.args}")
        error = error.__cause__ or error.__context__
    return "\n".join(shown)


class FailingEngine(DuckDBEngine):
    """DuckDB whose driver fails as drivers do: quoting the cell."""

    failing = False

    def _fetch(self, statement: str) -> pa.Table:
        if self.failing and not statement.endswith("LIMIT 0"):
            raise ValueError(f"could not convert {CANARY} in row 17")
        return super()._fetch(statement)


def test_a_failing_engine_costs_what_was_reserved_and_quotes_nothing(ledger, table):
    engine = FailingEngine()
    session = Session(ledger, "ada", {"clinic": read(table.raw.rows(), table.declared, engine=engine)})
    engine.failing = True
    with pytest.raises(EngineError, match="the cost stays spent") as caught:
        session.ask(PEOPLE, "0.5")
    assert CANARY not in everything(caught.value)
    assert session.left() == Fraction(3, 2)
    assert session.history()[0].answer is None
    engine.failing = False
    assert not session.ask(PEOPLE, "0.5").replayed
    assert session.left() == 1


def test_a_foreign_error_leaves_as_ours_without_its_message(session, monkeypatch):
    def run(*_: object) -> None:
        raise KeyError(CANARY)

    monkeypatch.setattr(QuestionPlan, "run", run)
    with pytest.raises(EngineError, match="KeyError") as caught:
        session.ask(PEOPLE, "0.5")
    assert CANARY not in everything(caught.value)


def test_an_answer_that_cannot_be_stored_is_not_given(session, monkeypatch):
    monkeypatch.setattr("ziggurat.ledger._entries.LARGEST_ANSWER", 10)
    with pytest.raises(ParameterError, match=r"at most 10 bytes.*the cost stays spent"):
        session.ask(PEOPLE, "0.5")
    assert session.left() == Fraction(3, 2)


DIES = """
import os, signal, sys
import pyarrow as pa
from ziggurat import Ledger, Schema, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.release import Session

class Dying(DuckDBEngine):
    armed = False
    def _fetch(self, statement):
        if self.armed and not statement.endswith("LIMIT 0"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._fetch(statement)

engine = Dying()
table = read(pa.table({"x": [1, 2, 3]}), engine=engine)
session = Session(Ledger.open(sys.argv[1]), "ada", {"t": table})
engine.armed = True
session.ask("SELECT COUNT(*) AS n FROM t", "0.5")
"""


def test_a_crash_between_reservation_and_answer_leaves_the_cost_spent(tmp_path):
    file = tmp_path / "crash.db"
    with Ledger.open(file) as book:
        book.create_budget("t", "1", 0, Neighbours())
        book.grant("t", "ada", "1")
    died = subprocess.run([sys.executable, "-c", DIES, str(file)], check=False)
    assert died.returncode == -signal.SIGKILL
    with Ledger.open(file) as book:
        session = Session(book, "ada", {"t": read(pa.table({"x": [1, 2, 3]}))})
        assert session.left() == Fraction(1, 2)
        with pytest.raises(PendingError):
            session.ask("SELECT COUNT(*) AS n FROM t", "0.5")


NASTY = Schema(
    (
        Column("a", "integer"),
        Column("b", "integer", bounds=Bounds(-100, 100)),
        Column("x", "real"),
        Column("word", "text"),
    )
)
ROWS = {
    "a": [NUMBER, -NUMBER, 0, 1, None],
    "b": [0, 0, 7, -7, 100],
    "x": [float("inf"), float("nan"), 1e308, -1e308, 0.0],
    "word": [CANARY, "", CANARY.lower(), "%", "x" * 1000],
}
PROVOCATIONS = [
    "SELECT SUM(CLAMP(a / b, 0, 10)) AS s FROM t",
    "SELECT SUM(CLAMP(a * a, 0, 10)) AS s FROM t",
    "SELECT SUM(a) AS s FROM t",
    "SELECT SUM(CLAMP(LN(x), 0, 10)) AS s FROM t",
    "SELECT SUM(CLAMP(SQRT(b), 0, 10)) AS s FROM t",
    "SELECT AVG(CLAMP(EXP(x), 0, 10)) AS s FROM t",
    "SELECT AVG(CLAMP(POWER(x, 9), 0, 10)) AS s FROM t",
    "SELECT COUNT(*) AS n FROM t WHERE CAST(word AS INTEGER) > 0",
    "SELECT COUNT(*) AS n FROM t WHERE word / 2 > 1",
    "SELECT MAX(word) AS m FROM t",
    "SELECT word, COUNT(*) AS n FROM t GROUP BY word",
    "SELECT COUNT(*) AS n FROM t WHERE 1 / (b - b) > 0",
    "SELECT COUNT(*) AS n FROM t WHERE a % b = 1",
    "SELECT word FROM t",
    "SELECT COUNT(*) AS n FROM t ORDER BY word",
    "SELECT MEDIAN(a) AS m FROM t",
    "SELECT COUNT(*) AS n FROM t; DROP TABLE t",
]


@pytest.fixture
def nasty(tmp_path) -> Iterator[Session]:
    with Ledger.open(tmp_path / "nasty.db") as book:
        book.create_budget("t", "100", "0.1", Neighbours())
        book.grant("t", "ada", "100", "0.1", "sum")
        yield Session(book, "ada", {"t": read(pa.table(ROWS), NASTY)})


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("question", PROVOCATIONS)
def test_rows_that_would_make_an_engine_fail_show_no_cell(nasty, question, delta, caplog, capfd):
    shown, failed = "", None
    with caplog.at_level(logging.DEBUG):
        try:
            answer = nasty.ask(question, "0.5", delta)
            shown = f"{answer} {answer.to_dict()}"
        except ZigguratError as error:
            failed = error
    text = "\n".join([shown, everything(failed), caplog.text, *capfd.readouterr()])
    assert "7f3a" not in text.lower()
    assert str(NUMBER) not in text
    assert not isinstance(failed, EngineError)


def test_the_leak_test_would_find_a_leak():
    leak = ValueError(f"bad cell {CANARY}")
    hidden = ZigguratError("nothing to see")
    hidden.__context__ = leak
    assert "7f3a" in everything(hidden).lower()


def test_groups_and_their_order_do_not_depend_on_cells_if_keys_are_public(ledger, table):
    question = "SELECT ward, COUNT(*) AS n FROM clinic GROUP BY ward"
    empty = read(table.raw.rows(limit=0), table.declared)
    groups = [
        Session(ledger, "ada", {"clinic": each}, budget="clinic").ask(
            question, epsilon, rows_per_unit=1, groups_per_unit=1
        )["ward"]
        for each, epsilon in ((table, "0.1"), (empty, "0.2"))
    ]
    assert groups == [["east", "north", "west"]] * 2


def test_a_town_of_one_person_is_named_with_probability_at_most_delta(ledger, table):
    lone = pa.table({**table.raw.rows().to_pydict(), "town": ["Aville"] * 399 + [CANARY]})
    session = Session(ledger, "bob", {"clinic": read(lone, table.declared)})
    answer = session.ask(
        "SELECT town, COUNT(DISTINCT patient) AS n FROM clinic GROUP BY town", "0.9", "1e-9", groups_per_unit=1
    )
    assert answer["town"] == ["Aville"]
