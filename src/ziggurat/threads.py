"""One thread for the linear algebra of small matrices, of which many are busy at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any


class _OneThreadHold:
    """Who holds the libraries of linear algebra to one thread: the first sets them, the last sets them back."""

    def __init__(self) -> None:
        self._lock, self._holders = Lock(), 0
        self._limits: Any = None

    def take(self) -> None:
        """Join those who hold."""
        from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

        with self._lock:
            if not self._holders:
                self._limits = threadpool_limits(limits=1, user_api="blas")
            self._holders += 1

    def leave(self) -> None:
        """Leave those who hold."""
        with self._lock:
            self._holders -= 1
            if not self._holders:
                self._limits.restore_original_limits()


_HOLD = _OneThreadHold()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold NumPy and SciPy to one thread while columns are learned or drawn, in however many threads that happens.

    Their own threads wait for each other in busy loops: on cores that others use too, products of small matrices then
    take ten times as long. And sums come out the same whatever the number of cores.
    """
    _HOLD.take()
    try:
        yield
    finally:
        _HOLD.leave()
