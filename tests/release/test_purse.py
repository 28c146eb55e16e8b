"""The purse beyond the contract of kinds: several plans at once, reasons, failures, and what nobody records."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ziggurat.anonymize import Drop, mask
from ziggurat.attacks import risk
from ziggurat.data import Table
from ziggurat.errors import DataError, EngineError, GateError, LedgerUseError, ParameterError
from ziggurat.ledger import Ledger
from ziggurat.randomness import seeded
from ziggurat.release import Evidence, Gate, MaskedPlan, Plan, Purse, Session
from ziggurat.release._certificate import NOT_RECORDED

COUNT = "SELECT COUNT(*) AS n FROM clinic"
STRICT = Gate(thresholds={"highest risk": "0"})


@pytest.fixture
def purse(ledger: Ledger) -> Purse:
    return Purse(ledger, "clinic", "ada")


def asked(session: Session, epsilon: str, sql: str = COUNT) -> Plan[Any]:
    return session.plan(sql, epsilon, rows_per_unit=1)


def free(table: Table, tmp_path: Path) -> MaskedPlan:
    return MaskedPlan(mask(table, {"patient": Drop()}), tmp_path / "masked.csv")


class Judged(MaskedPlan):
    """A plan of which an attack finds people."""

    def judge(self, output: Any, progress: Any) -> Evidence:
        return Evidence({"linkage": risk(pa.table({"ward": ["east", "west"]}), ["ward"])})


def kinds(ledger: Ledger) -> list[str]:
    return [each.kind for each in ledger.history()][4:]


def test_plans_are_quoted_one_after_the_other(purse: Purse, session: Session, ledger: Ledger) -> None:
    plans = [asked(session, "0.5"), asked(session, "1")]
    both = purse.quote(*plans)
    assert both.fits
    assert both.left_after == Fraction(1, 2)
    assert [each.epsilon for each in both.questions] == [Fraction(1, 2), 1]
    assert both.guarantee is not None
    assert both.guarantee.epsilon == Fraction(3, 2)
    assert not purse.quote(*plans, asked(session, "0.75")).fits
    assert kinds(ledger) == []


def test_a_plan_that_stands_twice_is_priced_once(purse: Purse, session: Session) -> None:
    quoted = purse.quote(asked(session, "1.5"), asked(session, "1.5"))
    assert [each.replayed for each in quoted.questions] == [False, True]
    assert quoted.left_after == Fraction(1, 2)


def test_what_has_no_price_is_not_quoted(purse: Purse, table: Table, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at least one plan"):
        purse.quote()
    with pytest.raises(ParameterError, match="has no price"):
        purse.quote(free(table, tmp_path))
    with pytest.raises(LedgerUseError, match="No ledger is open"):
        Purse(None, "clinic").quote(free(table, tmp_path))


def test_what_is_promised_is_not_tried_for_nothing(purse: Purse, session: Session, engine: Any) -> None:
    with pytest.raises(ParameterError, match="is not tried for nothing"):
        purse.measure(asked(session, "0.1"))
    assert engine.asked == []


@pytest.mark.parametrize("reason", ["so\nit goes", "\x1b[31mred", "x" * 501, "\u202eback"])
def test_a_reason_is_refused_before_anything_is_spent(
    purse: Purse, session: Session, ledger: Ledger, engine: Any, reason: str
) -> None:
    with pytest.raises(ParameterError, match="printable text of at most 500 characters"):
        purse.release(asked(session, "0.1"), go_on=reason)
    assert kinds(ledger) == []
    assert engine.asked == []


def test_what_was_held_is_let_go_once_and_paid_for_once(
    purse: Purse, session: Session, ledger: Ledger, table: Table, tmp_path: Path
) -> None:
    plan = Judged(mask(table, {"patient": Drop()}), tmp_path / "masked.csv")
    with pytest.raises(GateError) as stopped:
        purse.release(plan, gate=STRICT)
    assert kinds(ledger) == []
    with pytest.raises(ParameterError, match="A reason to go on"):
        purse.go_on(stopped.value.held, "  ")
    made = purse.go_on(stopped.value.held, "It was seen.")
    assert made.decision is not None
    assert made.decision.reason == "It was seen."
    assert kinds(ledger) == ["unbounded"]
    assert "It was seen." in ledger.history()[-1].data["what"]


def test_what_was_not_stopped_needs_no_reason(purse: Purse, session: Session, ledger: Ledger) -> None:
    made = purse.release(asked(session, "0.1"), go_on="Just in case.")
    assert made.decision is None
    assert made.certificate.decision is None
    assert kinds(ledger) == ["reserve", "commit"]
    with pytest.raises(ParameterError, match="nothing to decide"):
        purse.go_on(made, "Just in case.")


def test_what_fails_stays_paid_for_and_quotes_nothing(purse: Purse, session: Session, ledger: Ledger) -> None:
    plan = asked(session, "0.1")

    def failing(*_: Any) -> Any:
        raise RuntimeError("cell 4711")

    object.__setattr__(plan, "run", failing)
    with pytest.raises(EngineError, match="the cost stays spent") as error:
        purse.release(plan)
    assert "4711" not in str(error.value)
    assert error.value.__context__ is None
    assert kinds(ledger) == ["reserve", "abandon"]
    assert ledger.left("clinic", "ada") == Fraction(19, 10)


def test_a_rehearsal_without_a_ledger_says_that_nobody_remembers_it(session: Session, tmp_path: Path) -> None:
    made = Purse(None, "clinic", source=seeded(1)).release(asked(session, "0.1"))
    facts = made.certificate.to_dict()
    assert facts["recorded"] is None
    assert NOT_RECORDED in facts["not_protected"]
    assert facts["rehearsal"] is True
    assert facts["promise"]["epsilon"] == "1/10"


def test_a_place_is_refused_before_the_ledger_is_told(
    purse: Purse, ledger: Ledger, table: Table, tmp_path: Path
) -> None:
    (tmp_path / "masked.csv").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        purse.release(free(table, tmp_path))
    assert kinds(ledger) == []
