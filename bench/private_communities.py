"""Communities with a promise: how many planted ones are found, and how well real visits are foretold, at each epsilon.

`python bench/private_communities.py`              planted communities, then Foursquare ($ZIGGURAT_DATA)
`python bench/private_communities.py --planted`    planted communities alone
`--draws 3 --epsilons 0.5 1 2 4 8` for less or more

Planted: ten communities of 1,100 commuters, 1,000 of whom are learned from, in 10,000 or 1,000 places. "right" is the
share of people (of those learned from, and of the others) whose likeliest community is theirs under the best
matching, "worst" the least Jaccard of a community. Delta is 1e-5, or 0. The peer is noisy expectation and maximisation
(Park et al. 2016) on the same weights and the same choice of places, with the noise of the whole budget shared out.

Foursquare: a fifth of the people is held out; the log-likelihood per visit of every second visit of theirs, given the
others (document completion). What is raw is smoothed evenly by the best of a few shares, looked up in what is judged.
Cells are public and help by themselves, so that private communities of cells are to be compared with raw ones of cells.
How loads become chances, and the grid, were chosen on another split of the same people.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import linear_sum_assignment

from ziggurat.data import Unit
from ziggurat.data.generators import commuters
from ziggurat.privacy import gaussian_mu
from ziggurat.sequences.mobility import Ground, Trajectories, TrajectoryDomain
from ziggurat.sequences.mobility.communities import STLDA, PrivateSTLDA

COMMUNITIES, MEMBERS, OTHERS, DELTA = 10, 1000, 100, "1e-5"
WITHOUT_NOISE = 10**6  # an epsilon at which there is next to none
ITERATIONS = (5, 20)
SMOOTHED = (0.1, 0.3, 0.5, 0.7, 0.9)
CELLS = 6


def plant(seed: int, locations: int) -> list[tuple[Trajectories, np.ndarray]]:
    """People who are learned from and others, with their communities."""
    table = (
        commuters(seed=seed, locations=locations, members=MEMBERS + OTHERS)
        .to_pandas()
        .sort_values(["commuter", "hour"], kind="stable")
    )
    counts = table.groupby("commuter").size().to_numpy()
    offsets = np.concatenate([[0], counts.cumsum()])
    domain = TrajectoryDomain.on(Ground(tuple(range(locations))), 100, unit=Unit.person("commuter"))
    places, minutes = table["location"].to_numpy(), table["hour"].to_numpy() * 60
    whole = Trajectories(domain, places, offsets, None, np.arange(len(counts)), minutes)
    truth, others = table["community"].to_numpy()[offsets[:-1]], np.arange(len(counts)) % (MEMBERS + OTHERS) >= MEMBERS
    return [(whole.take(part), truth[part]) for part in (~others, others)]


def match(memberships: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The share of people put right, and the least Jaccard of a community."""
    both = np.zeros((COMMUNITIES, COMMUNITIES))
    np.add.at(both, (truth, memberships.argmax(axis=1)), 1)
    rows, columns = linear_sum_assignment(-both)
    hits = both[rows, columns]
    return hits.sum() / len(truth), (hits / (both.sum(axis=1)[rows] + both.sum(axis=0)[columns] - hits)).min()


def visits_of(people: Trajectories) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return people.codes, people.hours("day"), np.repeat(np.arange(len(people)), people.lengths)


def expect(people: Trajectories, places: np.ndarray, hours: np.ndarray, prior: float = 0.1) -> tuple[Any, Any]:
    """The chances of each visit's topic, and memberships."""
    codes, when, who = visits_of(people)
    chances, found = (places[:, codes] * hours[:, when]).T, np.full((len(people), len(places)), 1 / len(places))
    for _ in range(20):
        each = found[who] * chances
        each /= each.sum(axis=1, keepdims=True)
        sums = np.stack([np.bincount(who, each[:, k], len(people)) for k in range(len(places))], axis=1)
        found = (sums + prior) / (sums.sum(axis=1, keepdims=True) + prior * len(places))
    return each, found


def add_up(people: Trajectories, topics: np.ndarray, sizes: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Expected places and hours of topics, of each person with l2 norm 1, hours at half weight."""
    codes, when, who = visits_of(people)
    tables = [np.zeros((topics.shape[1], size)) for size in sizes]
    norms = np.zeros(len(people))
    for at, weight in ((codes, 1.0), (when, 0.5)):
        cell, place = np.unique(who.astype(np.int64) * max(sizes) + at, return_inverse=True)
        for k in range(topics.shape[1]):
            norms += np.bincount(cell // max(sizes), (weight * np.bincount(place, topics[:, k])) ** 2, len(people))
    for table, at, weight in zip(tables, (codes, when), (1.0, 0.5), strict=True):
        for k in range(topics.shape[1]):
            table[k] = np.bincount(at, weight * topics[:, k] / np.sqrt(norms)[who], table.shape[1])
    return tables[0], tables[1]


def iterate(people: Trajectories, epsilon: float, iterations: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy expectation and maximisation from a random start: places and hours of topics. A peer, not for release."""
    draw, size = np.random.default_rng(seed), people.domain.size
    mu = gaussian_mu(epsilon, float(DELTA))
    first, each = 1 / (mu * np.sqrt(0.15)), 1 / (mu * np.sqrt(0.85 / iterations))
    one = np.ones((len(people.codes), 1))
    weights = add_up(people, one, (size, 24))[0][0] + draw.normal(0, first, size)
    taken = np.argsort(-weights)[:256]
    taken = taken[weights[taken] > first * np.sqrt(2 * np.log(size / 10))]
    base = np.full(size, 1e-3 / size)
    base[taken] += weights[taken] / weights[taken].sum()
    places = base * draw.gamma(1, 1, (COMMUNITIES, size))
    places, hours = places / places.sum(axis=1, keepdims=True), np.full((COMMUNITIES, 24), 1 / 24)
    for _ in range(iterations):
        sums, times = add_up(people, expect(people, places, hours)[0], (size, 24))
        sums, times = sums + draw.normal(0, each, sums.shape), times + draw.normal(0, each, times.shape)
        mass = np.maximum(2 * times.sum(axis=1, keepdims=True), 1.0)
        places = 0.2 * mass * base
        places[:, taken] += np.maximum(sums[:, taken] - each / 2, 0)
        hours = np.maximum(times, 0) + 0.05 * mass / 24
        places, hours = places / places.sum(axis=1, keepdims=True), hours / hours.sum(axis=1, keepdims=True)
    return places, hours


def judge_planted(locations: int, epsilons: list[str], draws: int) -> None:
    print(f"\n{locations:,} places, {draws} draws: right (worst); learned from, and others")
    made: dict[str, Callable[[Trajectories, str, int], Any]] = {
        "with delta": lambda people, epsilon, seed: PrivateSTLDA(epsilon, DELTA, random_state=seed).fit(people),
        "pure": lambda people, epsilon, seed: PrivateSTLDA(epsilon, 0, random_state=seed).fit(people),
    }
    sets = [plant(100 + seed, locations) for seed in range(draws)]
    for epsilon in [*epsilons, str(WITHOUT_NOISE)]:
        line = []
        for name, make in made.items():
            found = []
            for seed, parts in enumerate(sets):
                model = make(parts[0][0], epsilon, seed)
                found.append([match(model.transform(people), truth) for people, truth in parts])
            line.append(f"{name} {shown(found, 0)}, {shown(found, 1)}")
        for many in ITERATIONS:
            found = []
            for seed, ((people, truth), _) in enumerate(sets):
                found.append([match(expect(people, *iterate(people, float(epsilon), many, seed))[1], truth)])
            line.append(f"{many} iterations {shown(found, 0)}")
        print(f"epsilon {epsilon:>7}: {';  '.join(line)}", flush=True)


def shown(found: list[list[tuple[float, float]]], part: int) -> str:
    right, worst = np.mean([each[part] for each in found], axis=0)
    return f"{right:.3f} ({worst:.2f})"


def read_foursquare() -> Trajectories:
    folder = Path(os.environ["ZIGGURAT_DATA"])
    visits = pd.read_parquet(folder / "foursquare_nyc_visits.parquet").sort_values(["user", "minute"], kind="stable")
    places = pd.read_parquet(folder / "foursquare_nyc_pois.parquet")
    ground = Ground.of(places["poi"].tolist(), places["lat"], places["lon"])
    counts = visits.groupby("user").size().to_numpy()
    domain = TrajectoryDomain.on(ground, int(counts.max()), unit=Unit.person("user"))
    offsets, since_monday = np.concatenate([[0], counts.cumsum()]), (24 + 14) * 60
    codes, minutes = visits["poi"].to_numpy() - 1, visits["minute"].to_numpy() + since_monday
    return Trajectories(domain, codes, offsets, None, np.arange(len(counts)), minutes)


def foretell(people: Trajectories, places: np.ndarray, hours: np.ndarray) -> float:
    """Document completion: the log-likelihood per visit of every second visit, given the others."""
    codes, when, who = visits_of(people)
    odd = (np.arange(len(who)) - people.offsets[who]) % 2 == 1
    offsets = np.concatenate([[0], np.cumsum(np.bincount(who[~odd], minlength=len(people)))])
    given = Trajectories(people.domain, codes[~odd], offsets, None, people.owners, people.minutes[~odd])
    found = expect(given, places, hours)[1]
    chances = (found[who[odd]] * places[:, codes[odd]].T * hours[:, when[odd]].T).sum(axis=1)
    return float(np.log(chances).mean())


def smooth(others: Trajectories, places: np.ndarray, hours: np.ndarray) -> float:
    size = places.shape[1]
    return max(foretell(others, (1 - share) * places + share / size, hours) for share in SMOOTHED)


def learn_cells(people: Trajectories, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Raw communities of cells, whose places share evenly: what public cells alone do, without any noise."""
    cells, group = np.unique(people.ground.cells(CELLS), return_inverse=True)
    domain = TrajectoryDomain.on(Ground(tuple(cells.tolist())), people.domain.longest, unit=people.domain.unit)
    coarse = Trajectories(domain, group[people.codes], people.offsets, None, people.owners, people.minutes)
    raw = STLDA(COMMUNITIES, iterations=300, random_state=seed).fit(coarse)
    return raw.components_[:, group] / np.bincount(group)[group], raw.hours_


def judge_foursquare(epsilons: list[str], draws: int) -> None:
    whole = read_foursquare()
    size, found = whole.domain.size, {}
    for seed in range(draws):
        back = np.random.default_rng(200 + seed).random(len(whole)) < 0.2
        known, others = whole.take(~back), whole.take(back)
        hours = np.bincount(known.hours("day"), minlength=24)[None] / len(known.codes)
        each = np.bincount(known.codes, minlength=size)[None] / len(known.codes)
        told = {"uniform places": foretell(others, np.full((1, size), 1 / size), hours)}
        told["raw places of all"] = smooth(others, each, hours)
        raw = STLDA(COMMUNITIES, iterations=300, random_state=seed).fit(known)
        told["raw STLDA"] = smooth(others, raw.components_, raw.hours_)
        told["raw STLDA of the same cells"] = smooth(others, *learn_cells(known, seed))
        for epsilon in epsilons:
            for many, regions in ((1, CELLS), (COMMUNITIES, CELLS), (COMMUNITIES, None)):
                model = PrivateSTLDA(epsilon, DELTA, many, regions=regions, random_state=seed).fit(known)
                name = "noisy places of all" if many == 1 else f"{'cells' if regions else 'single places'}"
                told[f"epsilon {epsilon}, {name}"] = foretell(others, model.components_, model.hours_)
        for name, value in told.items():
            found.setdefault(name, []).append(value)
    print(f"\nFoursquare, {draws} splits: log-likelihood per visit of people who were held out")
    for name, values in found.items():
        print(f"{name:>36}: {np.mean(values):8.3f}", flush=True)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--planted", action="store_true")
    asked.add_argument("--draws", type=int, default=3)
    asked.add_argument("--epsilons", nargs="+", default=["0.5", "1", "2", "4", "8"])
    given = asked.parse_args()
    for locations in (10_000, 1_000):
        judge_planted(locations, given.epsilons, given.draws)
    if not given.planted:
        judge_foursquare(given.epsilons, given.draws)


if __name__ == "__main__":
    main()
