"""Faults of a ledger and of what it pays for, each caught by the audit of a whole session."""

import pytest

from ziggurat.attacks.audits import audit_case
from ziggurat.privacy import PureEvent, profile
from ziggurat.randomness import seeded
from ziggurat.release import Purse
from ziggurat.release.audits import list_audits
from ziggurat.release.questions._asking import AskedQuestion

pytestmark = pytest.mark.statistical

(SESSION,) = (case for case in list_audits() if case.name == "release.Session")


def test_questions_that_are_charged_less_than_they_cost_are_caught(monkeypatch):
    honest = Purse.event

    def charge_less(self, plan):
        event = honest(self, plan)
        return PureEvent(event.neighbours, profile(event).epsilon / 4)

    monkeypatch.setattr(Purse, "event", charge_less)
    assert audit_case(SESSION, 1, runs=1000, random_state=1).refuted


def test_questions_that_are_answered_anew_when_they_are_asked_again_are_caught(monkeypatch):
    drawn = iter(range(1000))
    monkeypatch.setattr(AskedQuestion, "again", lambda self, _stored: self.run(seeded(f"again {next(drawn)}"), None))
    assert audit_case(SESSION, 1, random_state=1).refuted
