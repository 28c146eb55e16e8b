"""Before its slot ends nobody learns that an answer is there, by whichever route they look for it."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

import anyio
import pytest

from ziggurat.data import Unit
from ziggurat.errors import UnavailableError
from ziggurat.privacy import Neighbours, PureEvent
from ziggurat.release.config import QuestionSaid
from ziggurat.service.asking import Repeats, Slots
from ziggurat.service.store import end_slot

KEY = {"Idempotency-Key": "request-0001"}
_PATIENCE = 60


class HeardExecutor(Executor):
    """Does work elsewhere, and says when some of it is done."""

    def __init__(self, other):
        self._other, self.done = other, Event()

    def submit(self, work, /, *args, **more):
        made = self._other.submit(work, *args, **more)
        made.add_done_callback(lambda _: self.done.set())
        return made


@contextmanager
def answered_and_not_told(served, **headers):
    """Within it ana's question is answered, and its slot does not end, whatever the machine's clock says."""
    house, over = served.house, Event()
    usual, heard = house.slots, HeardExecutor(house.executor)

    async def sleep(seconds):
        if seconds:
            await anyio.to_thread.run_sync(over.wait, _PATIENCE)
        await anyio.sleep(0)

    house.slots = Slots(heard, lambda: 1e9 if over.is_set() else 0.0, sleep)
    with ThreadPoolExecutor(1) as pool:
        try:
            asked = pool.submit(served.ask, "ana", served.count, **headers)
            assert heard.done.wait(_PATIENCE)
            yield
        finally:
            over.set()
        assert asked.result(_PATIENCE).status_code == 200
    house.slots = usual


def test_a_request_sent_again_is_told_nothing_before_the_slot_of_the_first_ends(clinic):
    with answered_and_not_told(clinic, **KEY):
        early = clinic.ask("ana", clinic.count, **KEY)
        assert (early.status_code, early.json()["error"]["kind"]) == (409, "PendingError")
    late = clinic.ask("ana", clinic.count, **KEY)
    assert (late.status_code, late.headers["Idempotency-Replayed"]) == (200, "true")


def begin_elsewhere(served):
    """Let a process that died have begun ana's question; gives the mark under which it may have paid."""
    said = {"tables": ["clinic"], "question": QuestionSaid(**served.count).model_dump(mode="json")}
    mark = served.house.ledger.make_mark()
    Repeats(served.house.store, "dead").begin(served.house.people.named("ana"), KEY["Idempotency-Key"], said, mark)
    return mark


@pytest.mark.parametrize("fails", ["session", "ask"])
def test_a_failure_in_between_does_not_forget_what_may_have_been_paid(clinic, monkeypatch, fails):
    """A process paid and died; the next one fails for a moment; the one after it finds what was paid."""
    mark, marks = begin_elsewhere(clinic), []
    usual = clinic.house.desk.ask

    def away(*_given):
        raise UnavailableError("away")

    with monkeypatch.context() as patched:
        patched.setattr(clinic.house.desk, fails, away)
        assert clinic.ask("ana", clinic.count, **KEY).status_code == 503
    monkeypatch.setattr(clinic.house.desk, "ask", lambda *given: marks.append(given[2]) or usual(*given))
    assert clinic.ask("ana", clinic.count, **KEY).status_code == 200
    assert marks == [mark]


def look_back(served, monkeypatch, now):
    """What ana's history shows of its only question at a time; nothing is waited for."""
    from ziggurat.service.web.routes import _questions

    with monkeypatch.context() as patched:
        patched.setattr(_questions, "seconds_to", lambda _moment: 0.0)
        patched.setattr(_questions, "utc_now", lambda: now)
        (shown,) = served("ana", "GET", "/v1/history?table=clinic").json()["questions"]
    return shown["answer"]


def test_the_history_shows_an_answer_when_its_slot_has_ended(clinic, monkeypatch):
    assert clinic.ask("ana", clinic.count).status_code == 200
    shown = clinic("ana", "GET", "/v1/history?table=clinic").json()["questions"][0]
    reserved, answered = (each.time for each in clinic.house.ledger.history("clinic", "ana")[-2:])
    told = end_slot(reserved, answered, clinic.house.settings.slot)
    assert reserved < answered <= told
    assert look_back(clinic, monkeypatch, answered) is None
    assert look_back(clinic, monkeypatch, told) == shown["answer"] is not None


def test_the_history_waits_for_the_slot_of_what_was_just_asked(clinic):
    """What was told is in it at once, and how long it takes follows from when it was reserved alone."""
    for number in range(1, 4):
        assert clinic.ask("ana", {**clinic.count, "epsilon": f"0.{number}"}).status_code == 200
        shown = clinic("ana", "GET", "/v1/history?table=clinic").json()["questions"]
        assert [each["answer"] is None for each in shown] == [False] * number


def test_nobody_sees_in_their_grants_whether_an_answer_is_there(clinic):
    ana = clinic.house.ledger
    ana.reserve("clinic", "ana", PureEvent(Neighbours(Unit("person", "patient_id")), "1/10"))
    (mine,) = clinic("ana", "GET", "/v1/grants").json()["grants"]
    assert (mine["questions"], mine["pending"]) == (1, 0)
    (grant,) = clinic("chief", "GET", "/v1/budgets").json()["populations"][0]["budgets"][0]["grants"]
    assert grant["pending"] == 1  # the control: the ledger knows


def test_only_who_asks_nothing_sees_the_head_of_the_ledger(clinic):
    """Every entry moves it, also that of an answer."""
    assert {who: clinic(who, "GET", "/v1/ledger/head").status_code for who in ("ana", "audrey", "chief")} == {
        "ana": 403, "audrey": 200, "chief": 200,
    }  # fmt: skip
