"""The kernels without a compiler, which takes longer to load than a few draws take without it.

`_kernels` is read a second time, under another name, and runs in Python on NumPy's 64-bit integers. It is the same
text, and each operation wraps as the compiled one does, so the same words give the same draws.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., Any])

_NAME = "ziggurat.randomness._kernels interpreted"


def compiled(function: Kernel) -> Kernel:
    """Leave a kernel as it is."""
    return function


def high(left: np.uint64, right: np.uint64) -> np.uint64:
    """The upper 64 of the 128 bits of a product."""
    return np.uint64(int(left) * int(right) >> 64)


def interpret(kernel: str) -> Callable[..., int]:
    """Give the kernel of that name, to be run without a compiler."""
    run = getattr(_kernels(), kernel)

    def quietly(*arguments: Any) -> int:
        # What wraps is meant to; NumPy would warn.
        with np.errstate(over="ignore"):
            return int(run(*arguments))

    return quietly


@cache
def _kernels() -> ModuleType:
    spec = spec_from_file_location(_NAME, Path(__file__).with_name("_kernels.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
