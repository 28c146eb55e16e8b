"""Answers leave at times that were fixed before anything was read; by a clock of the test, so no machine decides."""

from __future__ import annotations

import asyncio
from concurrent.futures import Executor, Future
from math import comb
from random import Random

import pytest

from ziggurat.errors import EngineError
from ziggurat.service.asking import Slots

ASKS = 1_000
FALSE_ALARMS = 1e-6


class TestClock:
    """A clock that stands still unless something takes its time; sleeping passes it at once."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


class Workers(Executor):
    """Does work whose length is said: it is done when the clock has passed it."""

    def __init__(self, clock: TestClock) -> None:
        self._clock, self.takes, self._open = clock, 0.0, []

    def submit(self, work, /, *args, **more):
        done: Future = Future()
        self._open.append((self._clock.now + self.takes, done, work))
        return done

    def pass_time(self) -> None:
        for ready, done, work in list(self._open):
            if ready <= self._clock.now:
                self._open.remove((ready, done, work))
                try:
                    done.set_result(work())
                except EngineError as error:
                    done.set_exception(error)


class SimulatedDesk:
    """A desk with one worker, whose work takes as long as is said; tells when each answer left."""

    def __init__(self) -> None:
        self.clock = TestClock()
        self.workers = Workers(self.clock)
        self.slots = Slots(self.workers, lambda: self.clock.now, self._sleep)

    async def _sleep(self, seconds: float) -> None:
        await self.clock.sleep(seconds)
        self.workers.pass_time()
        for _ in range(3):  # so that what is done is known to be done
            await asyncio.sleep(0)

    def ask(self, seconds: float, takes: float, work=lambda: "told"):
        """Ask, and give how long it was until the answer left."""
        begun = self.clock.now
        self.workers.takes = takes

        async def run():
            return await self.slots.keep(begun, seconds, work)

        try:
            kept = asyncio.run(run())
        except EngineError as error:
            return self.clock.now - begun, error
        return self.clock.now - begun, kept


def test_an_answer_leaves_at_the_end_of_its_slot_however_soon_it_was_ready():
    desk = SimulatedDesk()
    for takes in (0.0, 0.001, 0.5, 0.999, 1.0):
        left, kept = desk.ask(1.0, takes)
        assert left == pytest.approx(1.0, abs=1e-9)
        assert (kept.outcome, kept.doubled, kept.not_protected) == ("told", 0, ())


@pytest.mark.parametrize(
    ("takes", "doubled", "leaves"), [(1.001, 1, 2), (2.0, 1, 2), (2.5, 2, 4), (4.1, 3, 8), (63, 6, 64)]
)
def test_what_takes_longer_is_told_at_the_end_of_a_doubled_slot_and_says_so(takes, doubled, leaves):
    left, kept = SimulatedDesk().ask(1.0, takes)
    assert left == pytest.approx(leaves)
    assert kept.doubled == doubled
    assert f"doubled {doubled} times" in kept.not_protected[0]
    assert kept.to_dict() == {"seconds": 1.0, "doubled": doubled, "not_protected": list(kept.not_protected)}


def test_a_failure_leaves_when_an_answer_would():
    def fail():
        raise EngineError("The engine failed.")

    for takes in (0.0, 0.7):
        left, error = SimulatedDesk().ask(1.0, takes, fail)
        assert (left, type(error)) == (pytest.approx(1.0), EngineError)


def test_a_slot_counts_from_when_the_request_came():
    desk = SimulatedDesk()
    begun = desk.clock.now
    desk.clock.now += 0.4  # waiting for a thread, planning

    async def run():
        return await desk.slots.keep(begun, 1.0, lambda: "told")

    asyncio.run(run())
    assert desk.clock.now == pytest.approx(begun + 1.0)


class AtOnce(Executor):
    """Does work when it is given, so that it is done before anybody can hear of it."""

    def submit(self, work, /, *args, **more):
        done: Future = Future()
        done.set_result(work())
        return done


def test_what_was_done_in_time_is_told_so_after_everything_stood_still():
    """The machine slept through several slots: what was done before is known to be done."""
    slots = Slots(AtOnce(), lambda: 9.0, lambda _seconds: asyncio.sleep(0))
    assert asyncio.run(asyncio.wait_for(slots.keep(0.0, 1.0, lambda: "told"), 60)).doubled == 0


def exact_two_sample(first: list[float], second: list[float]) -> float:
    """How probable it is that two samples of one distribution differ so much: an exact permutation test.

    Values are cut at the median of both, and counted above it; how they fall to the two samples is hypergeometric
    if nothing tells them apart. Values that are all alike tell nothing: probability 1.
    """
    both = sorted([*first, *second])
    cut = both[len(both) // 2 - 1]
    above = sum(each > cut for each in both)
    mine, total = sum(each > cut for each in first), comb(len(both), len(first))

    def weight(count: int) -> int:
        return comb(above, count) * comb(len(both) - above, len(first) - count)

    observed = weight(mine)
    fewest = max(0, above - (len(both) - len(first)))
    unlikely = sum(w for w in map(weight, range(fewest, min(above, len(first)) + 1)) if w <= observed)
    return unlikely / total


def times_of(rows: str, padded: bool) -> list[float]:
    """When 1,000 answers about a table left: one of two neighbours, of which one holds a person with 200,000 rows.

    How long the work takes differs strongly: a hundredth of the slot without the person, a third with them, and what
    other work does to the machine on top.
    """
    desk, luck = SimulatedDesk(), Random(f"{rows}")
    found = []
    for _ in range(ASKS):
        takes = (0.01 if rows == "without" else 0.33) * luck.uniform(0.8, 1.2) + luck.expovariate(200)
        left, _kept = desk.ask(1.0, takes) if padded else (takes, None)
        found.append(round(left, 6))
    return found


def test_two_neighbouring_tables_are_not_told_apart_by_when_answers_leave():
    """In 1,000 asks of each; the test is exact, and its false alarms are below one in a million."""
    assert exact_two_sample(times_of("without", True), times_of("with", True)) >= FALSE_ALARMS


def test_without_slots_they_are_told_apart():
    """The control: the same work, told as soon as it is done."""
    assert exact_two_sample(times_of("without", False), times_of("with", False)) < FALSE_ALARMS


def test_the_exact_test_sees_slots_that_leak():
    """The control of the test: one answer in thirty that leaves a slot later is seen."""
    same = [1.0] * ASKS
    assert exact_two_sample(same, same) == 1.0
    assert exact_two_sample(same, [*same[: ASKS - ASKS // 30], *[2.0] * (ASKS // 30)]) < FALSE_ALARMS
