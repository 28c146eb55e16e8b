"""Many ask at once, of two processes, which are killed: nobody overspends, nothing is lost, nothing is paid twice."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ziggurat.ledger import Ledger

pytestmark = pytest.mark.slow

CLIENTS, ASKS, KILLS = 20, 4, 5


def sql(number):
    return f"SELECT COUNT(*) AS n FROM clinic WHERE age > {number % 100}"


def entries(served):
    with Ledger.open(served.ledger_place, create=False) as ledger:
        assert ledger.verify(whole=True).ok
        assert all(
            each.spent.epsilon <= each.grant.epsilon
            for name in ledger.tables() for each in ledger.statement(name).grants
        )  # fmt: skip
        return list(ledger.history())


def test_many_clients_at_once_overspend_nothing_and_are_told_what_is_written(served):
    """Eighty questions of a fiftieth each are asked of a grant of one: fifty fit, and thirty are refused."""
    addresses = [served.start()[1] for _ in range(2)]

    def ask(number):
        told = [
            served.ask(addresses[number % 2], sql=sql(number * ASKS + each), epsilon="0.02") for each in range(ASKS)
        ]
        return [(each.status_code, each.json()) for each in told]

    with ThreadPoolExecutor(CLIENTS) as pool:
        told = [each for some in pool.map(ask, range(CLIENTS)) for each in some]
    assert Counter(status for status, _ in told) == {200: 50, 402: CLIENTS * ASKS - 50}
    written = entries(served)
    commits = {each.seq for each in written if each.kind == "commit"}
    recorded = [said["certificate"]["recorded"]["seq"] for status, said in told if status == 200]
    assert len(set(recorded)) == 50
    assert set(recorded) == commits
    assert sum(each.kind == "reserve" for each in written) == 50


def test_processes_that_are_killed_under_load_lose_and_double_nothing(served):
    """Each question is sent under its key until it is told; five times a process is killed meanwhile."""
    ports = {number: served.start() for number in range(2)}
    luck, left = random.Random(11), KILLS

    def ask(number):
        for attempt in range(1_000):
            time.sleep(0.1 if attempt else 0)
            try:
                told = served.ask(
                    ports[(number + attempt) % 2][1], f"request-{number:04}", sql=sql(number), epsilon="0.01"
                )
            except httpx.HTTPError:
                continue
            if told.status_code == 200:
                return told.json()
            assert told.status_code in (409, 503), told.text
            if told.status_code == 409:
                served.silence_dead()
        raise AssertionError("A question was never answered.")

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(ask, number) for number in range(60)]
        while left:
            which = luck.randrange(2)
            served.wait_for_answers(sum(each.done() for each in asked), lambda: sum(each.done() for each in asked))
            served.kill(ports[which][0])
            ports[which] = served.start()
            left -= 1
        told = [each.result() for each in asked]
    written = entries(served)
    paid = Counter(json.dumps(each.data["question"], sort_keys=True) for each in written if each.kind == "reserve")
    assert set(paid.values()) == {1}
    assert len(paid) == 60
    commits = {each.seq for each in written if each.kind == "commit"}
    assert {each["certificate"]["recorded"]["seq"] for each in told} == commits
