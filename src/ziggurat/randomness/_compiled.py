"""How `_kernels` becomes machine code, and the one step that Python's and NumPy's integers do not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import types
from numba.extending import intrinsic

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(function: Kernel) -> Kernel:
    """Compile on first use, keep the machine code on disk, and release the interpreter while running.

    No kernel allocates, so none counts references (`_nrt=False`): counting took more than half the time.
    """
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False}
    try:
        return cast(Kernel, numba.njit(cache=True, **options)(function))
    except RuntimeError:  # no folder may be written to: then every process compiles for itself
        return cast(Kernel, numba.njit(**options)(function))


def _emit_high(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    wide = ir.IntType(128)
    left, right = (builder.zext(argument, wide) for argument in arguments)
    shifted = builder.lshr(builder.mul(left, right), ir.Constant(wide, 64))
    return builder.trunc(shifted, ir.IntType(64))


def _type_high(_typing: Any, _left: Any, _right: Any) -> tuple[Any, Callable[..., Any]]:
    return types.uint64(types.uint64, types.uint64), _emit_high


# The upper 64 of the 128 bits of a product.
high = cast(Callable[[np.uint64, np.uint64], np.uint64], intrinsic(_type_high))
