"""One thread for numbers that must come out the same everywhere.

Sums of floats depend on how threads share them, and a process pool or Ray gives a step other numbers of threads than
the main process has. Under one thread the same machine gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ziggurat.experiments.steps.records import torch_module


@contextmanager
def one_thread() -> Iterator[None]:
    """Hold NumPy, SciPy and scikit-learn to one thread."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    with threadpool_limits(limits=1):
        yield


@contextmanager
def one_torch_thread(seed: int) -> Iterator[None]:
    """Hold PyTorch to one thread and start its generator at `seed`; both are put back afterwards."""
    torch = torch_module()
    threads = torch.get_num_threads()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.set_num_threads(1)
        torch.manual_seed(seed % 2**63)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
