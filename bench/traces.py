"""Attacks on trajectories: the nearest by warping beside dtaidistance, and how unique many people are.

`python bench/traces.py`, or `--quick` for fewer. The trajectories are days of Foursquare where ZIGGURAT_DATA is named,
and else invented. Seconds are of the processor, all threads together, and what is found is the same on both sides.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from dtaidistance import dtw_ndim

from ziggurat.attacks.mobility import Resolution, measure_uniqueness
from ziggurat.attacks.mobility._distances import Warping
from ziggurat.data import Unit
from ziggurat.sequences.mobility import Box, Ground, Trajectories, TrajectoryDomain


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    part = 10 if parser.parse_args().quick else 1
    people = _people()
    _compare("days", people.by_day(least=2), 1000 // part, 15_000 // part)
    _compare("whole people", people, 200 // part, 800 // part)
    _count_many(100_000 // part)


def _compare(what: str, trajectories: Trajectories, size: int, others: int) -> None:
    order = np.random.default_rng(1).permutation(len(trajectories))
    texts = list(dict.fromkeys(trajectories.take(order).to_characters()))
    asked, pool = texts[:size], texts[size : size + others]
    middle, warping = len(pool) // 2, Warping(trajectories.ground)
    warping(asked[:2], pool[:2], 1, 1)
    ours, quick = _timed(lambda: warping(asked, pool, middle, middle))
    series = [trajectories.ground.require_points()[0][[ord(each) for each in text]] for text in (*asked, *pool)]
    theirs, slow = _timed(lambda: _peer(series, len(asked)))
    theirs /= np.maximum.outer(*([len(each) for each in texts] for texts in (asked, pool)))
    for half in (np.s_[:, :middle], np.s_[:, middle:]):
        assert np.allclose(ours[half].min(axis=1), theirs[half].min(axis=1), rtol=1e-9, atol=1e-12)
    print(f"{what}: the nearest of both halves of {len(pool):,} for {len(asked):,}, by warping")
    print(f"  ours {quick:.2f} s, dtaidistance (C, all pairs) {slow:.2f} s: {slow / quick:.1f}x", end="; ")
    print(f"{np.isfinite(ours).mean():.2%} of the pairs were warped to the end")


def _count_many(people: int) -> None:
    crowd = _invented(people, 60)
    measure_uniqueness(crowd.take(np.arange(10)), 5)
    for known in (Resolution(), Resolution(grid=32, hours=6)):
        found, spent = _timed(lambda known=known: measure_uniqueness(crowd, 5, resolution=known, random_state=1))
        print(f"{people:,} people, 100,000 draws: {spent:.2f} s; {found.sentence}")


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _peer(series: list[np.ndarray], asked: int) -> np.ndarray:
    block = (0, asked), (asked, len(series))
    found = dtw_ndim.distance_matrix_fast(series, block=block, inner_dist="euclidean", compact=True, parallel=False)
    return np.asarray(found).reshape(asked, -1)


def _people() -> Trajectories:
    folder = Path(os.environ.get("ZIGGURAT_DATA") or "none")
    if not (folder / "foursquare_nyc_visits.parquet").exists():
        return _invented(2000, 30)
    import pandas as pd

    visits, places = (pd.read_parquet(folder / f"foursquare_nyc_{name}.parquet") for name in ("visits", "pois"))
    visits = visits.sort_values(["user", "minute"], kind="stable")
    sizes = visits.groupby("user").size().to_numpy()
    ground = Ground.of(places["poi"].tolist(), places["lat"], places["lon"])
    domain = TrajectoryDomain.on(ground, int(sizes.max()), unit=Unit.person("user"))
    offsets, owners = np.concatenate([[0], np.cumsum(sizes)]), np.arange(len(sizes))
    # The first minute is 14:00 of a Tuesday.
    minutes = visits["minute"].to_numpy() + (24 + 14) * 60
    return Trajectories(domain, visits["poi"].to_numpy() - 1, offsets, None, owners, minutes)


def _invented(people: int, visits: int) -> Trajectories:
    """People with ten places each, some of which many have."""
    draw = np.random.default_rng(2)
    ground = Ground.grid(Box(-74.3, 40.5, -73.6, 41.0), 70)
    own = np.minimum(draw.zipf(1.3, (people, 10)), ground.size) - 1
    codes = np.take_along_axis(own, draw.integers(0, 10, (people, visits)), axis=1).ravel()
    minutes = np.sort(draw.integers(0, 28 * 24 * 60, (people, visits)), axis=1).ravel()
    domain = TrajectoryDomain.on(ground, visits, unit=Unit.person("card"))
    return Trajectories(domain, codes, np.arange(people + 1) * visits, None, np.arange(people), minutes)


if __name__ == "__main__":
    main()
