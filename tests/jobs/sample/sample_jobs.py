"""Jobs that other processes import."""

import os
import threading
import time
from pathlib import Path
from typing import Any


def half(number: int) -> float:
    if number == 13:
        raise ValueError("thirteen")
    return number / 2


def who() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()


def mark_and_sleep(folder: str, number: int, seconds: float) -> int:
    (Path(folder) / f"{number}-{os.getpid()}").touch()
    time.sleep(seconds)
    return number


def give_a_function() -> Any:
    return lambda: 0
