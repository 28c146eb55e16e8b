"""Communities by topic models: speed beside tomotopy in one run, and whether planted communities are found.

`python bench/topics.py`                  million visits per second of CPU, and whole calls; K = 10 and 100
`python bench/topics.py --recovery 5`     ten planted communities on so many draws, and shifts that share their places
`python bench/topics.py --thesis`         41,000 commuters, 4,985 places, 2,000 iterations

The data are invented commuters and, where ZIGGURAT_DATA has them, the visits of Foursquare New York. tomotopy sees
places alone, its best case, with one worker; ours sees places and hours, one chain in one thread. Both are measured
after 100 sweeps, in turns, and the best of several turns counts. Ratios above 1: ours is ahead.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import tomotopy
from scipy.optimize import linear_sum_assignment

from ziggurat.data import Unit
from ziggurat.data.generators import commuters
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities import SLDA, STLDA, TLDA, TopicModel
from ziggurat.sequences.mobility.communities._bags import Bags
from ziggurat.sequences.mobility.communities._chain import ChosenPriors, CommunityChain

BEFORE, SWEEPS, TURNS = 100, 20, 8


def invent(seed: int = 0, **how: int) -> tuple[Trajectories, np.ndarray]:
    """Invented commuters, and the community of each."""
    table = commuters(seed=seed, **how)
    who, hour = table["commuter"].to_numpy(), table["hour"].to_numpy()
    order, counts = np.lexsort((hour, who)), np.bincount(who)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    ground = Ground(tuple(range(how.get("locations", 10_000))))
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("commuter"))
    places, owners = table["location"].to_numpy()[order], np.arange(len(counts))
    people = Trajectories(domain, places, offsets, None, owners, 60 * hour[order])
    return people, table["community"].to_numpy()[offsets[:-1]]


def foursquare() -> Trajectories | None:
    """All visits of each person in New York, with local hours; None without the data."""
    folder = Path(os.environ.get("ZIGGURAT_DATA", "."))
    if not (folder / "foursquare_nyc_visits.parquet").exists():
        return None
    visits, places = (pd.read_parquet(folder / f"foursquare_nyc_{name}.parquet") for name in ("visits", "pois"))
    visits = visits.sort_values(["user", "minute"], kind="stable")
    counts = visits.groupby("user").size().to_numpy()
    ground = Ground.of(places["poi"].tolist(), places["lat"], places["lon"])
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("user"))
    offsets, minutes = np.concatenate([[0], np.cumsum(counts)]), visits["minute"].to_numpy() + 14 * 60 + 1440
    return Trajectories(domain, visits["poi"].to_numpy() - 1, offsets, None, np.arange(len(counts)), minutes)


def words(people: Trajectories) -> list[list[str]]:
    return [list(map(str, each)) for each in people]


def make_peer(documents: list[list[str]], topics: int) -> tomotopy.LDAModel:
    model = tomotopy.LDAModel(k=topics, alpha=0.1, eta=0.01, seed=1)
    for each in documents:
        model.add_doc(each)
    return model


def make_chain(people: Trajectories, topics: int) -> CommunityChain:
    bags = Bags(people.offsets, people.codes, people.hours(), (people.domain.size, 24))
    start = np.random.default_rng(1).integers(topics, size=len(people.codes), dtype=np.int32)
    return CommunityChain(bags, start, ChosenPriors(0.1, 0.01, 0.01), topics, np.array([1], np.uint64))


def seconds(act: Callable[[], object]) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def compare_sweeps(people: Trajectories, topics: int) -> tuple[float, float]:
    """Million visits per second of CPU: ours, tomotopy's."""
    peer, ours = make_peer(words(people), topics), make_chain(people, topics)
    peer.train(BEFORE, workers=1)
    ours.sample(BEFORE)
    turns = [
        (seconds(lambda: ours.sample(SWEEPS)), seconds(lambda: peer.train(SWEEPS, workers=1))) for _ in range(TURNS)
    ]
    mine, theirs = (min(each) for each in zip(*turns, strict=True))
    visits = len(people.codes) * SWEEPS / 1e6
    return visits / mine, visits / theirs


def compare_calls(people: Trajectories, topics: int, iterations: int = 200) -> tuple[float, float]:
    """Seconds of CPU from trajectories to communities and memberships: ours, tomotopy's."""

    def ours() -> None:
        settings = {"iterations": iterations, "start": "visits", "held_out": 0, "tolerance": None}
        STLDA(topics, people_prior=0.1, chains=1, workers=1, random_state=1, **settings).fit(people)

    def theirs() -> None:
        model = make_peer(words(people), topics)
        model.train(iterations, workers=1)
        np.stack([each.get_topic_dist() for each in model.docs])
        np.stack([model.get_topic_word_dist(each) for each in range(topics)])

    return min(seconds(ours) for _ in range(2)), min(seconds(theirs) for _ in range(2))


def measure_speed() -> None:
    data = {"commuters": invent()[0], "Foursquare": foursquare()}
    print(f"tomotopy {tomotopy.__version__} ({tomotopy.isa})")
    print(f"{'':24}{'sweeps, M visits/s':>30}{'':8}{'whole call, s of CPU':>30}")
    print(f"{'':24}{'ours':>10}{'tomotopy':>10}{'ratio':>10}{'':8}{'ours':>10}{'tomotopy':>10}{'ratio':>10}")
    for name, people in data.items():
        for topics in (10, 100) if people is not None else ():
            mine, theirs = compare_sweeps(people, topics)
            call, peer = compare_calls(people, topics)
            shown = f"{mine:10.1f}{theirs:10.1f}{mine / theirs:10.2f}{'':8}{call:10.2f}{peer:10.2f}{peer / call:10.2f}"
            print(f"{name + f', K = {topics}':24}{shown}", flush=True)


def score(found: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Accuracy under the best naming, and the worst Jaccard similarity."""
    table = np.zeros((found.max() + 1, truth.max() + 1))
    np.add.at(table, (found, truth), 1)
    rows, columns = linear_sum_assignment(-table)
    both = table[rows, columns]
    return both.sum() / len(truth), (both / (table.sum(1)[rows] + table.sum(0)[columns] - both)).min()


def recover(people: Trajectories, truth: np.ndarray, model: TopicModel) -> str:
    start, ticks = time.perf_counter(), time.process_time()
    accuracy, worst = score(model.fit(people).memberships_.argmax(axis=1), truth)
    spent = f"{time.process_time() - ticks:6.1f} s of CPU, {time.perf_counter() - start:6.1f} s"
    return f"{type(model).__name__:6} accuracy {accuracy:.4f}, worst Jaccard {worst:.3f}, {spent}"


def recover_all(draws: int) -> None:
    for seed in range(draws):
        people, truth = invent(seed)
        peer = make_peer(words(people), 10)
        peer.train(2000, workers=0)
        accuracy, worst = score(np.array([np.argmax(each.get_topic_dist()) for each in peer.docs]), truth)
        print(f"draw {seed}: tomotopy, one chain of 2,000: accuracy {accuracy:.4f}, worst Jaccard {worst:.3f}")
        for model in (SLDA, STLDA):
            print(f"draw {seed}:", recover(people, truth, model(random_state=seed)), flush=True)
    for seed in range(draws):
        people, truth = invent(seed, sharing=2)
        for model in (SLDA, TLDA, STLDA):
            print(f"shifts {seed}:", recover(people, truth, model(random_state=seed)), flush=True)


def measure_thesis() -> None:
    people, truth = invent(members=4_100, locations=4_985)
    print(f"{len(people):,} commuters, {len(people.codes):,} visits, 2,000 iterations, K = 10")
    for chains in (1, 2):
        model = STLDA(iterations=2000, chains=chains, tolerance=None, random_state=1)
        print(f"{chains} chains:", recover(people, truth, model), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--recovery", type=int, metavar="DRAWS", help="find planted communities on so many draws")
    options.add_argument("--thesis", action="store_true", help="the size of the thesis")
    chosen = options.parse_args()
    if chosen.recovery:
        recover_all(chosen.recovery)
    elif chosen.thesis:
        measure_thesis()
    else:
        measure_speed()


if __name__ == "__main__":
    main()
