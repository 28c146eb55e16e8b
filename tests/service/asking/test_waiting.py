"""Too much at once is sent away with a time to come back, before anything is paid."""

from __future__ import annotations

from collections import OrderedDict
from contextlib import ExitStack
from threading import Thread

import pytest

from ziggurat.errors import LimitError
from ziggurat.service.asking import WaitingRoom
from ziggurat.service.web._limits import RateLimit


def test_one_person_fills_a_quarter_and_all_fill_the_room(served):
    people = [served.house.people.add(f"p{number}", "analyst") for number in range(5)]
    room = WaitingRoom(8)
    with ExitStack() as held:
        for person in people[:4]:
            for _ in range(2):
                held.enter_context(room.take(person))
            with pytest.raises(LimitError):
                held.enter_context(room.take(person))
        assert room.inside == 8
        with pytest.raises(LimitError):
            held.enter_context(room.take(people[4]))
    assert room.inside == 0
    with room.take(people[4]):
        assert room.inside == 1


def test_whoever_is_sent_away_has_paid_nothing_and_is_told_when_to_come_back(clinic):
    before = clinic.house.ledger.head()
    with ExitStack() as held:
        ana = clinic.house.people.named("ana")
        for _ in range(clinic.house.settings.waiting // 4):
            held.enter_context(clinic.house.waiting.take(ana))
        for key in ({}, {"Idempotency-Key": "request-0001"}):
            refused = clinic.ask("ana", clinic.count, **key)
            assert (refused.status_code, refused.json()["error"]["kind"]) == (429, "LimitError")
            assert int(refused.headers["Retry-After"]) > 0
    assert clinic.house.ledger.head() == before
    assert clinic.ask("ana", clinic.count, **{"Idempotency-Key": "request-0001"}).status_code == 200


def test_a_caller_makes_so_many_requests_a_minute():
    now = [0.0]
    limit = RateLimit(60, lambda: now[0])
    for _ in range(60):
        limit.count("ana")
    with pytest.raises(LimitError):
        limit.count("ana")
    limit.count("ben")  # others are not kept waiting
    now[0] += 1.0
    limit.count("ana")
    with pytest.raises(LimitError):
        limit.count("ana")


def test_a_caller_who_is_sent_away_is_told_when_to_come_back(served):
    served.client.app.state.rate = RateLimit(2)
    told = [served("ana", "GET", "/v1/me") for _ in range(3)]
    assert [each.status_code for each in told] == [200, 200, 429]
    assert int(told[-1].headers["Retry-After"]) > 0
    assert served.client.get("/health").status_code == 200


def test_a_caller_who_asks_from_two_threads_is_known_in_both():
    """While one takes out what is left and puts it back, none finds the caller unknown, and so with all left."""

    class Watched(OrderedDict):
        def pop(self, *given):
            found = super().pop(*given)
            if not others:
                others.append(Thread(target=lambda: limit.count("ana")))
                others[0].start()
                others[0].join(0.3)  # it cannot end while this one has not
            return found

    others, limit = [], RateLimit(60, lambda: 0.0)
    limit._left = Watched()
    limit.count("ana")
    others[0].join()
    assert limit._left["ana"] == (58.0, 0.0)
