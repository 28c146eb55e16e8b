"""How many records each privatiser protects and estimates in a second, beside plain NumPy noise of the same kind.

The baseline draws the same number of floats from NumPy's generator, which is neither secure nor exact: it is the floor.
Run `python bench/collect.py`, or `--quick` for a tenth of the records.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ziggurat.local import (
    CountNoise,
    LocalHashing,
    Privatizer,
    RecordChoice,
    RecordLaplace,
    Response,
    UnaryEncoding,
    VectorNoise,
)

REPEATS = 3
GENERATOR = np.random.default_rng(0)
Case = tuple[str, Privatizer, Any, Callable[[], object]]


def _seconds(act: Callable[[], Any]) -> tuple[float, Any]:
    """The best of several runs, and what the last one gave."""
    times, made = [], None
    for _ in range(REPEATS):
        start = time.perf_counter()
        made = act()
        times.append(time.perf_counter() - start)
    return min(times), made


def _cases(n: int) -> list[Case]:
    words = np.array([f"category {i}" for i in range(10)], dtype=object)
    texts, codes = words[GENERATOR.integers(0, 10, n)], GENERATOR.integers(0, 100, n)
    matrix = GENERATOR.normal(size=(n // 10, 500))

    def one_each() -> object:
        return GENERATOR.random(n) < 0.5

    return [
        ("Response, 10 categories of text", Response(1, list(words)), texts, one_each),
        ("Response, 100 categories", Response(1, 100), codes, one_each),
        ("UnaryEncoding, 100 categories", UnaryEncoding(1, 100), codes, lambda: GENERATOR.random((n, 100)) < 0.5),
        ("LocalHashing, 100 categories", LocalHashing(1, 100), codes, one_each),
        ("RecordChoice, 10 categories", RecordChoice(1, 10), codes % 10, one_each),
        ("CountNoise, 0 to 99", CountNoise(1, 0, 99), codes, lambda: GENERATOR.laplace(size=n)),
        ("RecordLaplace, 0 to 99", RecordLaplace(1, 0, 99), codes, lambda: GENERATOR.laplace(size=n)),
        ("VectorNoise, 500 entries", VectorNoise(1, 500), matrix, lambda: GENERATOR.laplace(size=matrix.shape)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 records instead of 1,000,000")
    n = 10**5 if parser.parse_args().quick else 10**6
    print(f"{n:,} records ({n // 10:,} vectors), secure, one thread, best of {REPEATS}")
    print(f"{'':34}{'protect':>10}{'records/s':>14}{'estimate':>10}{'NumPy':>10}{'ratio':>8}")
    for name, made, values, baseline in _cases(n):
        made.estimate(made.privatize(values[:100]))
        protect, reports = _seconds(lambda made=made, values=values: made.privatize(values))
        estimate, _ = _seconds(lambda made=made, reports=reports: made.estimate(reports))
        plain, _ = _seconds(baseline)
        rate = len(values) / protect
        print(f"{name:34}{protect:>8.2f} s{rate:>14,.0f}{estimate:>8.2f} s{plain:>8.3f} s{protect / plain:>7.1f}x")


if __name__ == "__main__":
    main()
