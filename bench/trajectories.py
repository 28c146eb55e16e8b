"""Trajectories with a promise, by the metrics of AdaTrace, beside what AdaTrace and PrivTrace reach on the same days.

`python bench/trajectories.py`            one trajectory as the unit at epsilon 1, then a person at 1, 3 and 10
`--seeds 10 --first 0` for fewer, more or other seeds; `--untimed` to learn no times; `--speed` for the time alone

Data: $ZIGGURAT_DATA/foursquare_nyc_{visits,pois}.parquet, cut into 31,786 days of people with at least two visits; the
box is that of the public places. Metrics: ../judges/mobility.py beside that folder. Figures of AdaTrace (as published;
with its cells mended) and PrivTrace are those of runs of their authors' code on the same days, one trajectory as the
unit, epsilon 1, mean of 10 seeds. As many trajectories are drawn as there are. "evenly": three visits each, anywhere.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ziggurat.data import Unit
from ziggurat.sequences.mobility import Ground, MarkovTrajectories, Trajectories, TrajectoryDomain

METRICS = {
    "query error, radius 1/3": "query",
    "hotspots F1@100": "hotspots",
    "visits Kendall tau-b": "tau-b",
    "patterns F1@100": "patterns",
    "pattern support error": "support",
    "trips JSD 9x9": "9x9",
    "trips JSD 6x6": "6x6",
    "diameter JSD": "diameter",
    "length JSD": "length",
}
QUOTED = {
    "to reach": (0.16, 0.65, 0.82, 0.83, 0.20, 0.12, 0.014, 0.065, 0.017),
    "AdaTrace": (0.255, 0.46, 0.745, 0.73, 0.466, 0.225, 0.097, 0.097, 0.022),
    "AdaTrace, mended": (0.214, 0.44, 0.750, 0.79, 0.249, 0.216, 0.014, 0.080, 0.017),
    "PrivTrace": (0.350, 0.55, 0.576, 0.55, 0.849, 0.171, 0.134, 0.139, 0.118),
}
PEOPLE: tuple[tuple[Any, Any], ...] = ((1, 0), (3, 0), (10, 0), (1, "1e-6"), (3, "1e-6"), (10, "1e-6"))
BEGINS = (24 + 14) * 60
DATA = Path(os.environ.get("ZIGGURAT_DATA", "."))


def read_days(timed: bool) -> Trajectories:
    """The days of all people; minutes of the file begin on a Tuesday at two in the afternoon."""
    visits, places = (pd.read_parquet(DATA / f"foursquare_nyc_{each}.parquet") for each in ("visits", "pois"))
    ground = Ground.of(places["poi"].tolist(), places["lat"], places["lon"])
    visits = visits.sort_values(["user", "minute"], kind="stable")
    counts = visits.groupby("user").size().to_numpy()
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("user"))
    codes = pd.Index(places["poi"]).get_indexer(visits["poi"])
    minutes = visits["minute"].to_numpy() + BEGINS
    people = Trajectories(domain, codes, np.r_[0, counts.cumsum()], None, np.arange(len(counts)), minutes)
    days = people.by_day(least=2)
    if timed:
        return days
    untimed = TrajectoryDomain.on(ground, days.domain.longest, unit=domain.unit, timed=False)
    return Trajectories(untimed, days.codes, days.offsets, None, days.owners)


def load_judge(days: Trajectories) -> Any:
    """The judge of the metrics, and what it knows of the real days."""
    spec = importlib.util.spec_from_file_location("judge", DATA.parent / "judges" / "mobility.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Judge(apart(days))


def apart(trajectories: Trajectories) -> list[Any]:
    """The points of each that has some."""
    points, places = trajectories.points(), trajectories.offsets.tolist()
    return [points[start:stop] for start, stop in pairwise(places) if stop > start]


def score(judge: Any, drawn: list[Any]) -> list[float]:
    """The metrics in the order of the tables."""
    found = {name.split(" (")[0]: float(value) for name, value in judge.score(drawn).items()}
    return [found[name] for name in METRICS]


def call(days: Trajectories, budget: tuple[Any, Any], seed: int) -> tuple[Trajectories, float]:
    """Learn and draw as many as there are; also the seconds of processor time."""
    began = time.process_time()
    drawn = MarkovTrajectories(*budget, random_state=seed).fit(days).sample(len(days), random_state=seed)
    return drawn, time.process_time() - began


def measure(judge: Any, days: Trajectories, budget: tuple[Any, Any], seeds: range) -> tuple[Any, Any]:
    """Mean and standard deviation of each metric over seeds."""
    scores = np.array([score(judge, apart(call(days, budget, seed)[0])) for seed in seeds])
    return scores.mean(axis=0), scores.std(axis=0)


def show(name: str, values: Any) -> None:
    """One row."""
    print(f"{name:34}" + "".join(f"{value:9.4f}" for value in values), flush=True)


def evenly(days: Trajectories, seed: int) -> list[Any]:
    """A useless release: three visits each, at places drawn evenly."""
    codes = np.random.default_rng(seed).integers(0, days.ground.size, (len(days), 3))
    return list(days.ground.require_points()[0][codes])


def main() -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--untimed", action="store_true")
    asked.add_argument("--speed", action="store_true")
    given = asked.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    days = read_days(not given.untimed)
    alone = days.each_alone()
    call(alone, (1, 0), 0)
    print(f"{len(days):,} days learned and drawn in {call(alone, (1, 0), 1)[1]:.2f} s of one core")
    if given.speed:
        return
    judge = load_judge(days)
    print(f"{'':34}" + "".join(f"{each:>9}" for each in METRICS.values()))
    for name, values in QUOTED.items():
        show(name, values)
    mean, spread = measure(judge, alone, (1, 0), seeds)
    show("one trajectory, epsilon 1", mean)
    show("  standard deviation", spread)
    show("evenly", score(judge, evenly(days, given.first)))
    for epsilon, delta in PEOPLE:
        show(f"person, epsilon {epsilon}, delta {delta}", measure(judge, days, (epsilon, delta), seeds)[0])


if __name__ == "__main__":
    main()
