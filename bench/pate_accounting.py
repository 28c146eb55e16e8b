"""PATE accounts of the authors' own votes: epsilon by each route, seconds, and the ratio to a loop over queries.

Run `ZIGGURAT_DATA=... python bench/pate_accounting.py`, or `--quick` for a loop over fewer queries. The loop takes one
query and one moved vote at a time, with the same quadrature; its time is scaled up from the queries it was given.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ziggurat.data.datasets import load
from ziggurat.pate.accounting._accounts import answer_probabilities, exact_curve, published_curve
from ziggurat.pate.accounting._orders import least_epsilon
from ziggurat.pate.voting._aggregators import Aggregator, VotingStep
from ziggurat.pate.voting._exact import divergence
from ziggurat.pate.voting._noisy_max import ConfidentGaussianMax, GaussianNoisyMax, GumbelNoisyMax, LaplaceNoisyMax
from ziggurat.pate.voting._votes import Votes

ORDERS = 1 + np.geomspace(1, 100, 20)


def _votes(name: str) -> Votes:
    table = load(name, progress=False)
    return Votes(np.stack([table[column].to_numpy() for column in table.column_names], axis=1).astype(np.int64))


def _runs() -> Iterator[tuple[str, Aggregator, Votes]]:
    mnist, adult = _votes("pate2018_votes_mnist"), _votes("pate2018_votes_adult")
    used = load("pate2017_student_labels", progress=False)["used_by_student"].to_numpy()
    yield "MNIST Confident-GNMax", ConfidentGaussianMax(200, 150, 40), mnist.take(np.arange(640))
    yield "Adult Confident-GNMax", ConfidentGaussianMax(300, 200, 40), adult.take(np.arange(1500))
    yield "MNIST LNMax, 100 queries", LaplaceNoisyMax("0.1"), mnist.take(used)


def _moves(row: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.int64]]:
    for giver, taker in itertools.permutations(range(row.size), 2):
        if row[giver]:
            moved = row.copy()
            moved[giver] -= 1
            moved[taker] += 1
            yield moved


def _looped(step: VotingStep, row: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The worst divergence of one query at every order."""
    here = step.log_law(row[None].astype(float)).T
    worst = np.zeros(ORDERS.size)
    for moved in _moves(row):
        there = step.log_law(moved[None].astype(float)).T
        for i, order in enumerate(ORDERS):
            both = divergence(here, there, order)[0], divergence(there, here, order)[0]
            worst[i] = max(worst[i], *both)
    return worst


def _loop_seconds(made: Aggregator, votes: Votes, queries: int) -> float:
    chosen = votes.counts[:: max(len(votes) // queries, 1)]
    start = time.perf_counter()
    for row in chosen:
        _looped(made, row)
        if made.test is not None:
            _looped(made.test, row)
    return (time.perf_counter() - start) * len(votes) / len(chosen)


def _row(name: str, made: Aggregator, votes: Votes, queries: int) -> None:
    expected = answer_probabilities(made, votes)
    published = least_epsilon(published_curve(made, votes, expected), "1e-5", conversion="classic").epsilon
    start = time.perf_counter()
    exact_curve(made, votes, expected)(ORDERS)
    curve = time.perf_counter() - start
    start = time.perf_counter()
    exact = least_epsilon(exact_curve(made, votes, expected), "1e-5").epsilon
    seconds = time.perf_counter() - start
    loop = _loop_seconds(made, votes, queries)
    epsilons = f"{published:>11.3f}{exact:>9.3f}"
    print(f"{name:28}{epsilons}{seconds:>10.2f} s{curve:>12.2f} s{loop:>10.1f} s{loop / curve:>8.0f}x")


def _draws() -> None:
    votes = Votes(np.tile(_votes("pate2018_votes_mnist").counts, (12, 1))[:100_000])
    print(f"\n{len(votes):,} queries of {votes.classes} classes labelled with secure noise")
    for made in (GumbelNoisyMax("0.05"), LaplaceNoisyMax("0.05"), GaussianNoisyMax(40)):
        made.release(votes.take(np.arange(10)))
        start = time.perf_counter()
        made.release(votes)
        print(f"{made!r:40}{time.perf_counter() - start:>8.2f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a loop over 5 queries instead of 40")
    queries = 5 if parser.parse_args().quick else 40
    print(f"{'':28}{'published':>11}{'exact':>9}{'over all':>12}{f'{ORDERS.size} orders':>14}{'loop':>12}{'ratio':>9}")
    for name, made, votes in _runs():
        _row(name, made, votes, queries)
    _draws()


if __name__ == "__main__":
    main()
