"""One thread for numbers that must come out the same everywhere, and for small matrices of which many are busy at once.

Sums of floats depend on how threads share them, and a process pool or Ray gives a job other numbers of threads than the
main process has: under one thread the same machine gives the same bits. And threads that share the sums of small
matrices wait for each other in busy loops: on cores that others use too, such sums then take ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import Any


class _OneThreadHold:
    """Who holds the libraries to one thread.

    Linear algebra is held for the whole process: the first sets it, the last sets it back. Loops that were compiled
    with OpenMP ask the thread that enters them, so that every thread holds its own.
    """

    def __init__(self) -> None:
        self._lock, self._holders = Lock(), 0
        self._controller: Any = None
        self._algebra: Any = None
        self._own = local()

    def take(self) -> None:
        """Join those who hold."""
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

        with self._lock:
            if not self._holders:
                self._controller = ThreadpoolController()
                _take_control()
                self._algebra = self._controller.limit(limits=1, user_api="blas")
            self._holders += 1
        depth = getattr(self._own, "depth", 0)
        if not depth:
            self._own.loops = self._controller.limit(limits=1, user_api="openmp")
        self._own.depth = depth + 1

    def leave(self) -> None:
        """Leave those who hold."""
        self._own.depth -= 1
        if not self._own.depth:
            self._own.loops.restore_original_limits()
        with self._lock:
            self._holders -= 1
            if not self._holders:
                _take_control()
                self._algebra.restore_original_limits()


def _take_control() -> None:
    """Let this thread set OpenBLAS: threadpoolctl 3.8 ignores all but the one that did so first, and says nothing."""
    from threadpoolctl import OpenBLASController

    if hasattr(OpenBLASController, "clear_controlling_thread"):
        OpenBLASController.clear_controlling_thread(force=True)


_HOLD = _OneThreadHold()


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold NumPy, SciPy and scikit-learn to one thread, in however many threads that happens."""
    _HOLD.take()
    try:
        yield
    finally:
        _HOLD.leave()


@contextmanager
def one_torch_thread(held: bool = True) -> Iterator[None]:
    """Hold PyTorch to one thread; one that is not to be `held` keeps what it has."""
    import torch

    threads = torch.get_num_threads()
    if held:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
