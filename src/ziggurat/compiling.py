"""How loops are compiled to machine code, once for every file that holds some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile on first use, keep the machine code on disk, and release the interpreter while running.

    A kernel calls no kernel of another file: numba keeps machine code per file, and would not notice that a function
    in another one has changed.
    """
    return _compile(function, {})


def compiled_reordering(function: Kernel) -> Kernel:
    """Compile as `compiled` does, and let sums be taken in any order, so that many numbers are added at once.

    The last bits of a sum then depend on the processor, and never on anything else.
    """
    return _compile(function, {"fastmath": {"reassoc"}})


def _compile(function: Kernel, further: dict[str, Any]) -> Kernel:
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", **further}
    try:
        return cast(Kernel, _forgiving(numba.njit(cache=True, **options)(function)))
    except RuntimeError:  # no folder may be written to: then every process compiles for itself
        return cast(Kernel, numba.njit(**options)(function))


def part(function: Kernel) -> Kernel:
    """Compile a part of the kernels of the same file into each of them, so that its arguments need not be handed on."""
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": True}
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast(Kernel, numba.njit(**options)(function))


def _forgiving(kernel: Any) -> Any:
    """Let an index of machine code that names a class or module of an older version count as none.

    numba unpickles the index before it looks whether the file has changed since, and fails on names that are gone.
    """
    held = kernel._cache._cache_file
    load = held._load_index

    def load_what_fits() -> Any:
        try:
            return load()
        except (AttributeError, ImportError):
            return {}

    held._load_index = load_what_fits
    return kernel
