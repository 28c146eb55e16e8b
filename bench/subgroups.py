"""What privacy does to groups of people in Adult: errors of models, and groups that synthetic tables keep.

ZIGGURAT_DATA=... python bench/subgroups.py [--epsilons 0.1,1,8] [--seeds 5]

Half of the rows are learned from and half are judged. Printed, for each epsilon, are the errors of logistic regression
and of a network by private gradient descent beside the same without privacy (scikit-learn's), by race and sex and by
age, and what AIM keeps of the groups of country, race and sex (one run each). Everything is seeded: a rehearsal.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ziggurat.data import datasets, read
from ziggurat.learn import LogisticRegression, PrivateSGDClassifier
from ziggurat.randomness import seeded
from ziggurat.release import Task
from ziggurat.synthesize import AIM
from ziggurat.utility import GroupedErrors, compare_group_counts, compare_groups

ADULT = "adult_uci"
DELTA = "1e-6"
LOOKED_AT = ("age", "workclass", "education_num", "marital_status", "occupation", "race", "sex", "hours_per_week")
KEPT = ("age", "education", "native_country", "race", "sex", "income")


def name_people(cells: Any) -> dict[str, list[str]]:
    """The groups of every row, by what tells them apart."""
    age, race, sex = (cells[name].to_pylist() for name in ("age", "race", "sex"))
    return {
        "race and sex": [f"{one}, {two}" for one, two in zip(race, sex, strict=True)],
        "age": [f"{min(each // 10 * 10, 70)}s" for each in age],
    }


def fit_private(epsilon: str, rows: int, seed: int) -> Iterator[tuple[str, Any]]:
    """The models, by name."""
    declared = round(rows, -3)
    yield "logistic", LogisticRegression(epsilon=epsilon, delta=DELTA, classes=2, bounds=(0, 1), random_state=seed)
    yield (
        "gradient descent",
        PrivateSGDClassifier(
            epsilon=epsilon, delta=DELTA, classes=2, bounds=(0, 1), hidden=(32,), epochs=10, expected_rows=declared,
            random_state=seed,
        ),
    )  # fmt: skip


def fit_exact(features: Any, labels: Any) -> dict[str, Any]:
    """The same without privacy."""
    from sklearn.linear_model import LogisticRegression as Plain
    from sklearn.neural_network import MLPClassifier

    return {
        "logistic": Plain(max_iter=1000).fit(features, labels),
        "gradient descent": MLPClassifier((32,), max_iter=20, random_state=1).fit(features, labels),
    }


def judge_models(epsilons: list[str], seeds: int) -> None:
    """Print the errors of every model in every group, as means over the seeds."""
    schema, cells = datasets.schema(ADULT), datasets.load(ADULT)
    cells = cells.take(np.random.default_rng(1).permutation(cells.num_rows))
    half = cells.num_rows // 2
    judged, task = cells.slice(half), Task(schema, "income", LOOKED_AT)
    train, test = task.rows(read(cells.slice(0, half), schema)), task.rows(read(judged, schema))
    plain = {name: model.predict(test.features) for name, model in fit_exact(train.features, train.labels).items()}
    people = name_people(judged)
    for epsilon in epsilons:
        found: dict[tuple[str, str], list[GroupedErrors]] = {}
        for seed in range(seeds):
            for name, model in fit_private(epsilon, len(train), seed):
                private = model.fit(train.features, train.labels).predict(test.features)
                for by, groups in people.items():
                    one = compare_groups(test.labels, groups, private, plain[name], by=by, source=seeded(seed))
                    found.setdefault((name, by), []).append(one)
        for (name, by), runs in found.items():
            print_runs(f"{name}, epsilon {epsilon}, by {by}", runs)


def print_runs(title: str, runs: list[GroupedErrors]) -> None:
    """Print gaps and errors over several seeds."""
    gaps = [each.gaps["private"] for each in runs]
    ends = f"{np.mean(gaps):.3f} ({min(gaps):.3f} to {max(gaps):.3f})"
    print(f"\n{title}: gap {runs[0].gaps['exact']:.3f} without privacy, {ends} with it")
    for place, first in enumerate(runs[0].groups):
        every = [each.groups[place] for each in runs]
        private = np.mean([each.errors["private"].rate for each in every])
        more, less = (sum(each.verdict and each.beyond * sign > 0 for each in every) for sign in (1, -1))
        change = f"{first.errors['exact'].rate:.3f} -> {private:.3f}"
        print(f"  {first.group:28} {first.rows:6,} rows  {change}  costs it more {more}, less {less} of {len(runs)}")


def judge_tables(epsilons: list[str]) -> None:
    """Print what AIM keeps of groups."""
    schema, cells = datasets.schema(ADULT).select(KEPT), datasets.load(ADULT).select(KEPT)
    table = read(cells, schema)
    drawn = cells.take(np.random.default_rng(1).integers(0, cells.num_rows, cells.num_rows))
    control = compare_group_counts(table, drawn, ("native_country", "race", "sex"))
    print(f"\nRows drawn with replacement, no privacy: {control.sentence}\n{control.table.to_pandas().to_string()}")
    for epsilon in epsilons:
        model = AIM(epsilon, DELTA, bins=16, rounds=12, random_state=1).fit(table)
        found = compare_group_counts(
            table, model.sample(cells.num_rows, random_state=1), ("native_country", "race", "sex")
        )
        print(f"\nAIM, epsilon {epsilon}: {found.sentence}\n{found.table.to_pandas().to_string()}", flush=True)


def main() -> None:
    """Print everything."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--epsilons", default="0.1,1,8")
    asked.add_argument("--seeds", type=int, default=5)
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    epsilons = given.epsilons.split(",")
    judge_tables(epsilons)
    judge_models(epsilons, given.seeds)


if __name__ == "__main__":
    main()
