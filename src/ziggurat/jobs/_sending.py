"""How a job travels to another process: packed, and unpacked only when the path of whoever sent it is known there."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

from ziggurat.jobs._executor import UnsendableJobError


def pack_job(pack: Callable[[Any], bytes], function: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """Pack a job; UnsendableJobError if it cannot be."""
    try:
        return pack((function, arguments))
    except Exception:  # noqa: BLE001 - whatever packing a foreign function raises
        raise _unsendable() from None


def run_packed(path: list[str], packed: bytes) -> bytes:
    """Run a job over there and pack its result."""
    sys.path.extend(each for each in path if each not in sys.path)
    try:
        function, arguments = pickle.loads(packed)  # noqa: S301 - sent by our own driver just now
    except Exception:  # noqa: BLE001 - whatever importing a foreign module raises
        raise _unsendable() from None
    result = function(*arguments)
    try:
        return pickle.dumps(result)
    except Exception:  # noqa: BLE001 - whatever packing a foreign result raises
        raise _unsendable() from None


def read_result(packed: bytes) -> Any:
    """Read what `run_packed` gave."""
    return pickle.loads(packed)  # noqa: S301 - sent by our own worker just now


def _unsendable() -> UnsendableJobError:
    return UnsendableJobError(
        "The job cannot be sent to another process; define what it needs in a module that workers can import."
    )
