"""Exact integer noise beside OpenDP, and NumPy's normal floats: the same number of draws in one run, with the ratios.

Run `python bench/noise.py`, or `--quick` for a tenth of the draws on both sides.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import opendp.prelude as dp

from ziggurat.randomness import discrete_gaussian, discrete_laplace, rounded_gaussian, secure

REPEATS = 3
Draw = Callable[[int], object]


def _ours(sample: Callable[..., np.ndarray]) -> Draw:
    source = secure()
    return lambda n: sample(10, size=n, source=source)


def _opendp(make: Callable[..., object], distance: object) -> Draw:
    domain = dp.vector_domain(dp.atom_domain(T=int))
    measure = make(domain, distance, scale=10.0)
    return lambda n: measure([0] * n)


def _seconds(draw: Draw, n: int, repeats: int = REPEATS) -> float:
    """The best of several runs, for both sides alike."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        draw(n)
        times.append(time.perf_counter() - start)
    return min(times)


def _row(name: str, ours: Draw, theirs: float, n: int) -> None:
    first, fast = _seconds(ours, 1, repeats=1), _seconds(ours, n)
    print(f"{name:36}{first:>10.2f} s{fast:>10.4f} s{theirs:>10.4f} s{theirs / fast:>8.1f}x")


def _words() -> Draw:
    source = secure()
    return lambda n: source.words(n)


def _numpy() -> Draw:
    generator = np.random.default_rng()
    return lambda n: generator.standard_normal(n)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100,000 draws instead of 1,000,000, both sides")
    n = 10**5 if parser.parse_args().quick else 10**6
    dp.enable_features("contrib")
    laplace = _seconds(_opendp(dp.m.make_laplace, dp.l1_distance(T=int)), n)
    gaussian = _seconds(_opendp(dp.m.make_gaussian, dp.l2_distance(T=float)), n)
    print(f"{n:,} secure draws, one thread, best of {REPEATS}; first: one draw, compiling or loading included")
    print(f"{'':36}{'first':>12}{'ziggurat':>12}{'the other':>12}{'ratio':>9}")
    _row("discrete Laplace, scale 10", _ours(discrete_laplace), laplace, n)
    _row("discrete Gaussian, sigma 10", _ours(discrete_gaussian), gaussian, n)
    _row("rounded Gaussian (OpenDP: discrete)", _ours(rounded_gaussian), gaussian, n)
    normal = _seconds(_numpy(), n)
    _row("rounded Gaussian (NumPy: floats)", _ours(rounded_gaussian), normal, n)
    _row("words of the key stream (NumPy: same)", _words(), normal, n)


if __name__ == "__main__":
    main()
