"""Requests that are sent again: of all that come under one key one is done, whoever sends them, dies or is late."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest
from sqlalchemy import select, update

from ziggurat.errors import ConflictError, EngineError, ParameterError, PendingError, UnavailableError
from ziggurat.service.asking import Begun, Repeated, Repeats
from ziggurat.service.store import repeats, workers

KEY, REQUEST = "request-0001", {"what": "is asked"}
MANY = 12


@pytest.fixture
def desk(served):
    """A person, a mark, and the repeats of two processes."""
    served.ana = served.house.people.named("ana")
    served.mark = served.house.ledger.make_mark()
    served.first, served.second = Repeats(served.house.store, "first"), Repeats(served.house.store, "second")
    return served


def heard(served, name, beat="2999-01-01T00:00:00.000000Z"):
    with served.house.store.write() as connection:
        connection.execute(workers.delete().where(workers.c.name == name))
        connection.execute(workers.insert().values(name=name, kind="answers", begun=beat, beat=beat))


def begin(served, process, key=KEY, request=REQUEST):
    return process.begin(served.ana, key, request, served.house.ledger.make_mark())


def test_of_many_who_begin_at_once_one_does(desk):
    heard(desk, "first")
    together = Barrier(MANY)

    def try_it(number):
        together.wait()
        try:
            return type(begin(desk, desk.first, f"request-{number:04}")).__name__
        except PendingError:
            return "PendingError"

    with ThreadPoolExecutor(MANY) as pool:
        for number in range(3):
            told = list(pool.map(try_it, [number] * MANY))
            assert sorted(told) == ["Begun"] + ["PendingError"] * (MANY - 1)


class Interrupted(set):
    """What a process is doing; before it says that it begins something, another thread has time to try the same."""

    def __init__(self, meanwhile):
        super().__init__()
        self.meanwhile = meanwhile

    def add(self, each):
        self.meanwhile()
        super().add(each)


def test_nobody_begins_what_another_thread_has_written_and_not_yet_said(desk):
    told = []

    def try_it():
        try:
            told.append(type(begin(desk, desk.first)).__name__)
        except PendingError:
            told.append("PendingError")

    other = Thread(target=try_it)

    def meanwhile():
        other.start()
        other.join(0.3)  # it waits for this thread, however long that takes

    desk.first._doing = Interrupted(meanwhile)
    assert isinstance(begin(desk, desk.first), Begun)
    other.join()
    assert told == ["PendingError"]


def test_what_was_answered_is_told_again(desk):
    assert isinstance(begin(desk, desk.first), Begun)
    assert desk.first.end(desk.ana, KEY, 402, "told") == Repeated(402, "told")
    assert begin(desk, desk.first) == begin(desk, desk.second) == Repeated(402, "told")


def test_a_key_stands_for_one_request(desk):
    begin(desk, desk.first)
    for process in (desk.first, desk.second):
        with pytest.raises(ConflictError):
            begin(desk, process, request={"what": "is asked otherwise"})


def test_what_a_silent_process_left_is_taken_over_with_its_mark(desk):
    begun = begin(desk, desk.first)
    heard(desk, "first")
    with pytest.raises(PendingError):
        begin(desk, desk.second)
    heard(desk, "first", "2020-01-01T00:00:00.000000Z")
    assert begin(desk, desk.second) == begun
    heard(desk, "second")
    with pytest.raises(PendingError):
        begin(desk, desk.first)


def test_of_many_who_find_it_left_one_takes_it_over(desk):
    begin(desk, desk.first)
    others = [Repeats(desk.house.store, f"process {number}") for number in range(MANY)]
    for number in range(MANY):
        heard(desk, f"process {number}")
    together = Barrier(MANY)

    def try_it(process):
        together.wait()
        try:
            return type(begin(desk, process)).__name__
        except PendingError:
            return "PendingError"

    with ThreadPoolExecutor(MANY) as pool:
        assert sorted(pool.map(try_it, others)) == ["Begun"] + ["PendingError"] * (MANY - 1)


def test_whoever_was_thought_dead_tells_what_the_other_has_told(desk):
    begin(desk, desk.first)
    begin(desk, desk.second)  # the first was never heard
    assert desk.second.end(desk.ana, KEY, 200, "theirs") == Repeated(200, "theirs")
    assert desk.first.end(desk.ana, KEY, 200, "mine") == Repeated(200, "theirs")
    assert begin(desk, desk.first) == Repeated(200, "theirs")


def test_what_failed_before_anything_was_decided_can_be_done_anew(desk):
    first = begin(desk, desk.first)
    desk.first.forget(desk.ana, KEY)
    assert begin(desk, desk.first) != first


def test_what_a_process_could_not_write_down_it_takes_up_itself(desk, monkeypatch):
    """The database was away when the answer was there: the row is open, and this process does it no more."""
    begun = begin(desk, desk.first)
    with monkeypatch.context() as patched:
        patched.setattr(desk.first._store, "write", lambda: (_ for _ in ()).throw(UnavailableError("away")))
        with pytest.raises(UnavailableError):
            desk.first.end(desk.ana, KEY, 200, "told")
    assert begin(desk, desk.first) == begun


@pytest.mark.parametrize("key", ["short", "a" * 81, "with space", "line\nbreak", "\u00e4" * 10, "", "a/b/c/d/e/f"])
def test_keys_that_are_none_are_refused(desk, key):
    with pytest.raises(ParameterError):
        begin(desk, desk.first, key)


def test_old_ones_are_forgotten(desk):
    begin(desk, desk.first)
    begin(desk, desk.first, "request-0002")
    with desk.house.store.write() as connection:
        connection.execute(update(repeats).where(repeats.c.key == KEY).values(made="2020-01-01T00:00:00.000000Z"))
    assert desk.first.clear() == 1
    with desk.house.store.read() as connection:
        assert [row.key for row in connection.execute(select(repeats))] == ["request-0002"]


def reserved(served):
    return len([each for each in served.house.ledger.history() if each.kind == "reserve"])


def test_many_who_ask_under_one_key_at_once_pay_once(clinic):
    clinic("ana", "GET", "/v1/me")
    together = Barrier(MANY)

    def ask(_number):
        together.wait()
        return clinic.ask("ana", clinic.count, **{"Idempotency-Key": KEY})

    with ThreadPoolExecutor(MANY) as pool:
        told = list(pool.map(ask, range(MANY)))
    assert {each.status_code for each in told} <= {200, 409}
    answers = {each.text.partition(', "slot"')[0].partition(',"slot"')[0] for each in told if each.status_code == 200}
    assert len(answers) == 1
    assert reserved(clinic) == 1


def fail_while_reading(monkeypatch, error):
    from ziggurat.data.engines import DuckDBEngine

    def fail(*_given, **_more):
        raise error

    monkeypatch.setattr(DuckDBEngine, "query", fail)


@pytest.mark.parametrize("error", [EngineError("The engine failed."), RuntimeError("planted-cell"), MemoryError()])
def test_a_failure_after_payment_is_kept_padded_and_paid_once(clinic, monkeypatch, error):
    assert clinic.ask("ana", {**clinic.count, "epsilon": "0.2"}).status_code == 200  # the table is open
    key = {"Idempotency-Key": KEY}
    with monkeypatch.context() as patched:
        fail_while_reading(patched, error)
        failed = clinic.ask("ana", clinic.count, **key)
    assert (failed.status_code, failed.json()["error"]["kind"]) == (503, "EngineError")
    assert failed.json()["slot"]["seconds"] == clinic.house.settings.slot  # told at the end of its slot
    assert "planted" not in failed.text
    again = clinic.ask("ana", clinic.count, **key)
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (503, "true")
    assert reserved(clinic) == 2
    assert clinic("ana", "GET", "/v1/grants").json()["grants"][0]["left"] == "7/10"


def test_a_refusal_in_between_is_not_kept(clinic, monkeypatch):
    """Somebody else answers the same question right now, or the ledger is away: the next one asks anew."""
    key = {"Idempotency-Key": KEY}
    for error, status in ((PendingError("being answered"), 409), (UnavailableError("away"), 503)):
        with monkeypatch.context() as patched:
            patched.setattr(clinic.house.desk, "ask", lambda *_given, error=error: (_ for _ in ()).throw(error))
            assert clinic.ask("ana", clinic.count, **key).status_code == status
    assert clinic.ask("ana", clinic.count, **key).status_code == 200


def test_whoever_goes_away_finds_the_answer_when_they_come_back(clinic, monkeypatch):
    """The one who waits is gone before the slot ends; the work goes on, and the repeat is told what came of it."""
    import anyio

    from ziggurat.release.config import QuestionSaid
    from ziggurat.service.access import SCOPES, Caller
    from ziggurat.service.web._asking import ask_question

    house, go, ended = clinic.house, Event(), Event()
    usual_ask, usual_end = house.desk.ask, house.repeats.end

    def ask(*given):
        go.wait(60)
        return usual_ask(*given)

    def end(*given):
        told = usual_end(*given)
        ended.set()
        return told

    monkeypatch.setattr(house.desk, "ask", ask)
    monkeypatch.setattr(house.repeats, "end", end)
    caller = Caller(house.people.named("ana"), SCOPES)
    asked = ask_question(house, caller, ["clinic"], QuestionSaid(**clinic.count), KEY, house.slots.now())

    async def go_away():
        with anyio.move_on_after(0.2) as scope:
            await asked.answer()
        assert scope.cancelled_caught
        go.set()
        await anyio.to_thread.run_sync(lambda: ended.wait(60))

    anyio.run(go_away)
    told = clinic.ask("ana", clinic.count, **{"Idempotency-Key": KEY})
    assert (told.status_code, told.headers["Idempotency-Replayed"]) == (200, "true")
    assert reserved(clinic) == 1
