"""How many questions wait at once: whoever comes when it is full is sent away before anything is planned or paid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from ziggurat.errors import LimitError
from ziggurat.service.access import Person

_SHARE = 4


class WaitingRoom:
    """Counts the questions that a process has taken on and not told yet, whether somebody still waits or not.

    Promise: of whoever is sent away nothing was paid. One person fills a quarter of it at most, so that the others are
    heard.

    Parameters
    ----------
    places
        How many questions wait at once.
    """

    def __init__(self, places: int) -> None:
        self._places, self._each = places, max(1, places // _SHARE)
        self._held: Counter[str] = Counter()
        self._lock = Lock()

    @property
    def inside(self) -> int:
        """How many wait right now."""
        with self._lock:
            return self._held.total()

    @contextmanager
    def take(self, person: Person) -> Iterator[None]:
        """Hold a place until what was asked has been told, or refuse with `LimitError`."""
        with self._lock:
            full = self._held.total() >= self._places
            if full or self._held[person.id] >= self._each:
                raise LimitError(
                    "Too many questions wait; nothing was spent, come back in a few seconds."
                    if full
                    else "Too many of your questions wait; nothing was spent, come back when some were answered."
                )
            self._held[person.id] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[person.id] -= 1
                if not self._held[person.id]:
                    del self._held[person.id]
