"""One process that does long work, until it is told to stop."""

from __future__ import annotations

import signal
from contextlib import suppress
from threading import Event, Thread, current_thread, main_thread

from ziggurat.errors import UnavailableError
from ziggurat.service._settings import ServiceSettings

_BEAT_SECONDS = 3.0
_LOOK_SECONDS = 0.5


def run_jobs(settings: ServiceSettings, stopping: Event | None = None) -> None:
    """Do the jobs of a service, one at a time, until SIGTERM.

    Parameters
    ----------
    settings
        What it was started with.
    stopping
        Set by somebody to end it, besides the signal.
    """
    from ziggurat.service._house import ServiceHouse
    from ziggurat.service.work._doing import JobHand
    from ziggurat.service.work._engine import JobQueue, take_slot

    ended = stopping or Event()
    if current_thread() is main_thread():
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, lambda *_: ended.set())
    house = ServiceHouse(settings, "jobs")
    house.beat()
    house.signing_key()
    beating = Thread(target=_beat, args=(house, ended), daemon=True)
    beating.start()
    try:
        hand = JobHand(house.jobs, settings, house.worker, ended)
        queue = JobQueue(settings, take_slot(house.store, house.worker), hand.do)
        try:
            while not ended.wait(_LOOK_SECONDS):
                with suppress(UnavailableError):
                    house.jobs.take_over(house.worker, hand.doing)
                    for identity, turn in house.jobs.waiting():
                        queue.put(identity, turn)
        finally:
            queue.close()
    finally:
        ended.set()
        beating.join(_BEAT_SECONDS)
        house.close()


def _beat(house: object, ended: Event) -> None:
    from ziggurat.service._house import ServiceHouse

    assert isinstance(house, ServiceHouse)
    while not ended.wait(_BEAT_SECONDS):
        with suppress(UnavailableError):
            house.beat()
