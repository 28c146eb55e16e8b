"""Steps for the tests of runs; each writes a line to a journal when it runs."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from ziggurat.experiments import step


def _note(journal: str, text: str) -> None:
    with Path(journal).open("a") as file:
        file.write(text + "\n")


@step("sample-source")
def source(journal: str, value: int, size: int = 2000) -> dict[str, Any]:
    """An array large enough to be a file, and the tens of the value."""
    _note(journal, f"source {value}")
    return {"array": np.full(size, float(value)), "tens": np.full(size, value // 10)}


@step("sample-scale")
def scale(array: np.ndarray, journal: str, seed: int, factor: float = 1.0, wait: float = 0.0) -> dict[str, Any]:
    """A number with noise, and an array."""
    _note(journal, f"scale {factor}")
    time.sleep(wait)
    noise = np.random.default_rng(seed).normal(size=array.size)
    return {"total": float((array * factor + noise).sum()), "array": array * factor}


@step("sample-gather")
def gather(runs: list[dict[str, Any]], journal: str) -> dict[str, Any]:
    """The sum over runs, and what was told about them."""
    _note(journal, "gather")
    return {"sum": sum(run["value"] for run in runs), "told": [(run["parameters"], run["repeats"]) for run in runs]}


@step("sample-misbehave")
def misbehave(journal: str, how: str) -> dict[str, Any]:
    """Do something wrong."""
    _note(journal, f"misbehave {how}")
    if how == "raise":
        raise ValueError("no\nsuch " + "luck" * 2000)
    if how == "exit":
        sys.exit(3)
    if how == "list":
        return [1]  # type: ignore[return-value]
    if how == "keys":
        return {1: 2}  # type: ignore[dict-item]
    if how == "object":
        return {"value": object()}
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": {"nan": float("nan"), "text": "high", "true": True, "huge": 10**400}.get(how, 1.0)}


@step("sample-chatter")
def chatter(lines: int) -> dict[str, Any]:
    """Print a thousand bytes a line."""
    print("the beginning")  # noqa: T201
    line = "x" * 999
    for _ in range(lines):
        print(line)  # noqa: T201
    print("the end", file=sys.stderr)  # noqa: T201
    return {"value": 1}


@step("sample-spoil")
def spoil(numbers: list[int]) -> dict[str, Any]:
    """Change what was given."""
    numbers.append(0)
    return {"count": len(numbers)}


@step("sample-big")
def big(size: int, index: int) -> dict[str, Any]:
    """Bytes that no compression makes smaller."""
    return {"data": np.random.default_rng(index).bytes(size), "index": index}
