"""Generators of logs: what a classifier learns from them at each epsilon, and their speed beside plain loops.

`python bench/sequences.py`            a curve on HDFS logs ($ZIGGURAT_DATA/hdfs_deeplog.parquet), and the speed
`python bench/sequences.py --speed`    the speed alone, on invented logs
`--splits 0 1 2 --noises 3 --epsilons 1` for less or more

The protocol: 4,000 normal and 4,000 abnormal logs, 6,400 of which are learned from, with one sequence as the unit; as
many of each class are drawn, and a logistic regression on 1- and 2-grams of these is tested on the other 1,600. A new
generator is one more line in `GENERATORS`.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from ziggurat.data.generators import log_sequences, log_vocabulary
from ziggurat.sequences import SequenceDomain, SequenceGenerator, Sequences
from ziggurat.sequences.tokens import MarkovSequences
from ziggurat.utility.sequences import compare_sequences, train_on_synthetic

Make = Callable[[str, str, int], SequenceGenerator]
GENERATORS: dict[str, Make] = {
    "MarkovSequences": lambda epsilon, delta, seed: MarkovSequences(epsilon, delta, random_state=seed),
    "MarkovSequences, no phrases": lambda epsilon, delta, seed: MarkovSequences(
        epsilon, delta, phrases=0, random_state=seed
    ),
}
LONGEST = 50
MILLION = 1_000_000


def split(seed: int) -> tuple[Sequences, Sequences]:
    """The logs that are learned from, and those that are tested on."""
    table = pd.read_parquet(Path(os.environ["ZIGGURAT_DATA"]) / "hdfs_deeplog.parquet")
    table = table[table["split"].str.startswith("logdeep")]
    both = pd.concat([table[table["label"] == each].sample(4000, random_state=seed) for each in (0, 1)])
    both = both.sample(frac=1, random_state=seed)
    domain = SequenceDomain(tuple(map(str, range(1, 29))), longest=LONGEST, classes=(0, 1))
    logs = Sequences.of(domain, [text.split() for text in both["seq"]], both["label"].tolist())
    return logs.take(np.arange(6400)), logs.take(np.arange(6400, len(logs)))


def judge(generator: SequenceGenerator, train: Sequences, test: Sequences, seed: int) -> list[float]:
    fitted = generator.fit(train)
    sizes = dict(enumerate(np.bincount(train.labels, minlength=2).tolist()))
    drawn = fitted.sample(sizes=sizes, random_state=seed)
    learned = train_on_synthetic(drawn, test, known=train)
    classes = compare_sequences(train, drawn).groups[1:]
    distances = [np.mean([getattr(each, of) for each in classes]) for of in ("lengths", "symbols", "transitions")]
    abnormal = fitted.sizes_[1] / max(sum(fitted.sizes_), 1)
    return [learned.every.rate, learned.unseen.rate, *distances, abs(abnormal - train.labels.mean())]


def draw_curves(splits: list[int], noises: int, epsilons: list[str], chosen: list[str]) -> None:
    print(f"HDFS, splits {splits}, {noises} noises each; real data: ", end="")
    data = {seed: split(seed) for seed in splits}
    real = [train_on_synthetic(train, test, known=train) for train, test in data.values()]
    print(f"{np.mean([each.every.rate for each in real]):.4f}, {np.mean([each.unseen.rate for each in real]):.4f}")
    heads = ("accuracy", "sd", "not known", "lengths", "symbols", "transitions", "abnormal")
    for name in chosen:
        print(f"\n{name}\n{'epsilon':>8}{'delta':>8}" + "".join(f"{head:>13}" for head in heads))
        for delta in ("0", "1e-5"):
            for epsilon in epsilons:
                found = np.array(
                    [
                        judge(GENERATORS[name](epsilon, delta, noise), *data[seed], noise)
                        for seed in splits
                        for noise in range(noises)
                    ]
                )
                mean = found.mean(axis=0)
                shown = [mean[0], found[:, 0].std(), *mean[1:]]
                print(f"{epsilon:>8}{delta:>8}" + "".join(f"{each:13.4f}" for each in shown), flush=True)
    print(
        "\nDistances are total variation, of the two classes on average; abnormal: error of the share by noisy sizes."
    )


def loop_fit(sequences: list[tuple[str, ...]], order: int = 2) -> dict[tuple[str, ...], Counter[str]]:
    """A plain Markov chain, without a promise: the loop that anybody would write."""
    counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for sequence in sequences:
        before = ("",) * order
        for symbol in (*sequence, ""):
            counts[before][symbol] += 1
            before = (*before[1:], symbol)
    return counts


def loop_draw(counts: dict[tuple[str, ...], Counter[str]], count: int, order: int = 2) -> list[list[str]]:
    drawn = []
    for _ in range(count):
        before, sequence = ("",) * order, []
        while len(sequence) < LONGEST:
            following = counts[before]
            symbol = random.choices(list(following), following.values())[0]
            if not symbol:
                break
            sequence.append(symbol)
            before = (*before[1:], symbol)
        drawn.append(sequence)
    return drawn


def seconds(act: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    made = act()
    return time.perf_counter() - start, made


def measure_speed(many: int) -> None:
    """A million sequences, and a fiftieth of them for the loops; both as seconds per million tokens."""
    table = log_sequences(many // 50, abnormal=0.5, seed=1)
    domain = SequenceDomain(tuple(map(str, log_vocabulary())), longest=LONGEST, classes=(0, 1))
    few = Sequences.of(domain, [text.split() for text in table["seq"].to_pylist()], table["label"].to_pylist())
    logs = Sequences.together([few] * 50)
    MarkovSequences(random_state=1).fit(few).sample(10)  # compiles
    fitting, model = seconds(lambda: MarkovSequences(random_state=1).fit(logs))
    drawing, drawn = seconds(lambda: model.sample(len(logs), random_state=1))
    plain = list(few)
    loop_fitting, counts = seconds(lambda: loop_fit(plain))
    loop_drawing, looped = seconds(lambda: loop_draw(counts, len(plain)))
    millions, theirs = len(logs.codes) / MILLION, len(few.codes) / MILLION
    print(f"\n{len(logs):,} sequences, {len(logs.codes):,} tokens: fitted in {fitting:.1f} s, drawn in {drawing:.1f} s")
    rows = (
        ("fit", fitting / millions, loop_fitting / theirs),
        ("draw", drawing / (len(drawn.codes) / MILLION), loop_drawing / (sum(map(len, looped)) / MILLION)),
    )
    print(f"{'s per million tokens':24}{'ours':>10}{'loop':>10}{'ratio':>10}")
    for name, ours, loop in rows:
        print(f"{name:24}{ours:>10.3f}{loop:>10.3f}{loop / ours:>9.0f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--sequences", type=int, default=MILLION, help="how many are fitted and drawn for the speed")
    parser.add_argument("--splits", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--noises", type=int, default=3)
    parser.add_argument("--epsilons", nargs="+", default=["0.1", "0.3", "1", "3", "10"])
    parser.add_argument("--generators", nargs="+", default=list(GENERATORS), choices=list(GENERATORS))
    given = parser.parse_args()
    if not given.speed:
        draw_curves(given.splits, given.noises, given.epsilons, given.generators)
    measure_speed(given.sequences)


if __name__ == "__main__":
    main()
