"""A process is killed while it answers: what was reserved stays spent, is taken up, and is never paid twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ziggurat.ledger import Ledger

pytestmark = pytest.mark.slow


def entries_of(served, kind):
    with Ledger.open(served.ledger_place, create=False) as ledger:
        assert ledger.verify(whole=True).ok
        return [each for each in ledger.history() if each.kind == kind]


def kill_while_asking(served, moment, key=None):
    process, address = served.start()
    served.stall(moment)
    with ThreadPoolExecutor(1) as pool:
        asking = pool.submit(served.ask, address, key)
        served.wait_for_stall()
        served.kill(process)
        with pytest.raises(httpx.HTTPError):
            asking.result()


@pytest.mark.parametrize("moment", ["stall-before", "stall-after"])
def test_a_question_whose_process_was_killed_is_taken_up_by_the_repeat_and_paid_once(served, moment):
    kill_while_asking(served, moment, "request-0001")
    assert len(entries_of(served, "reserve")) == 1
    served.silence()
    _, address = served.start()
    told = served.ask(address, "request-0001")
    assert (told.status_code, told.json()["left"]) == (200, "epsilon 0.9")
    assert (len(entries_of(served, "reserve")), len(entries_of(served, "commit"))) == (1, 1)
    assert served.ask(address, "request-0001").headers["Idempotency-Replayed"] == "true"


def test_without_its_key_the_question_waits_for_the_reservation(served):
    """The control of the test above: nothing else takes up what somebody may still be doing."""
    kill_while_asking(served, "stall-after", "request-0001")
    served.silence()
    _, address = served.start()
    for key in (None, "request-0002"):
        told = served.ask(address, key)
        assert (told.status_code, told.json()["error"]["kind"]) == (409, "PendingError")
    assert len(entries_of(served, "reserve")) == 1


def test_a_process_that_was_heard_a_moment_ago_is_waited_for(served):
    kill_while_asking(served, "stall-after", "request-0001")
    served.set_beats("2999-01-01T00:00:00.000000Z")
    _, address = served.start()
    told = served.ask(address, "request-0001")
    assert (told.status_code, told.json()["error"]["kind"]) == (409, "PendingError")
    served.silence()
    assert served.ask(address, "request-0001").status_code == 200


def test_a_kill_between_check_and_debit_loses_no_budget_as_it_does_in_lomas(served):
    """Lomas asks whether a query fits, runs it, and writes the debit down afterwards: a server that dies in between has
    read private rows, may have told what it found, and charges nothing. Here the debit is on disk before a row is
    read, so that a kill at any moment leaves it spent: of nine tenths that are left, 0.95 is refused.
    """
    kill_while_asking(served, "stall-after")
    _, address = served.start()
    refused = served.ask(address, sql="SELECT COUNT(*) AS n FROM clinic WHERE age > 50", epsilon="0.95")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (402, "BudgetExceededError")
    told = served.ask(address, sql="SELECT COUNT(*) AS n FROM clinic WHERE age > 50", epsilon="0.9")
    assert (told.status_code, told.json()["left"]) == (200, "epsilon 0")
