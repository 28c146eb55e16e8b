"""Intervals of copies that were learned from a part of a long table cover the truth as often as they say.

150 tables of 1,500 rows are drawn from one population, and 150 rows of each are learned from (`learn_from`). Seeds are
fixed, so that the outcome is the same every time; with a true coverage of 95% a fresh seed would fall below 89% with
probability below 1% for each quantity. The negative control gives the rules the number of rows of the table instead,
as was done once. The variance of the rule "fully" needs no number of rows unless the difference is negative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ziggurat.data import Table
from ziggurat.data.engines import DuckDBEngine
from ziggurat.synthesize import Synthesizer, Synthetic
from ziggurat.synthesize._combining import CombiningRule
from ziggurat.threads import one_thread

pytestmark = [pytest.mark.statistical, pytest.mark.slow, pytest.mark.xdist_group("coverage")]

REPETITIONS, ROWS, LEARNED = 150, 1500, 150
TRUTH = {"mean": 45.1, "share": 0.4, "median": 45.0956, "slope": 0.3}


def drawn(seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    group = draw.random(ROWS) < 0.4
    age = draw.uniform(10, 80, ROWS)
    y = 30 + 0.3 * age + 4 * group + draw.normal(0, 8, ROWS)
    return pa.table({"group": np.where(group, "a", "b"), "age": np.round(age, 1), "y": np.round(y, 2)})


def share(table: pa.Table) -> tuple[float, float]:
    found = pc.mean(pc.equal(table["group"], "a")).as_py()
    return found, found * (1 - found) / table.num_rows


def slope(table: pa.Table) -> tuple[float, float]:
    y, age = table["y"].to_numpy(), table["age"].to_numpy()
    centred = age - age.mean()
    found = centred @ y / (centred @ centred)
    rest = y - y.mean() - found * centred
    return found, (centred**2 * rest**2).sum() / (centred @ centred) ** 2


@cache
def copies(kind: str, method: str, m: int, posterior: bool) -> tuple[Synthetic, ...]:
    partial = {"y": "age < 60", "group": "age < 40"} if kind == "partially" else None
    found = []
    with DuckDBEngine() as engine, one_thread():  # held once instead of for every column
        for seed in range(REPETITIONS):
            maker = Synthesizer(method, partial=partial, posterior=posterior, learn_from=LEARNED, random_state=seed)
            found.append(maker.fit(Table(engine, engine.attach(drawn(seed)))).sample(copies=m))
    return tuple(found)


def intervals(made: Synthetic, rule: CombiningRule | None) -> Iterator[tuple[str, tuple[float, float]]]:
    yield "mean", made.mean("y", rule=rule).interval
    yield "share", made.estimate(share, rule=rule).interval
    yield "median", made.quantile("y", rule=rule).interval
    yield "slope", made.estimate(slope, rule=rule).interval


def covered(made: Iterable[Synthetic], rule: CombiningRule | None) -> dict[str, float]:
    hits = dict.fromkeys(TRUTH, 0)
    for each in made:
        for name, (low, high) in intervals(each, rule):
            hits[name] += low <= TRUTH[name] <= high
    return {name: hit / REPETITIONS for name, hit in hits.items()}


CASES: list[tuple[str, str, int, CombiningRule | None, bool]] = [
    ("fully", "cart", 2, "simple", False),
    ("fully", "cart", 8, "simple", True),
    ("fully", "cart", 8, "fully", True),
    ("partially", "linear", 5, "partially", True),
    ("partially", "linear", 5, None, False),
]


@pytest.mark.parametrize(("kind", "method", "m", "rule", "posterior"), CASES)
def test_intervals_rest_on_the_rows_that_were_learned_from(
    kind: str, method: str, m: int, rule: CombiningRule | None, posterior: bool
) -> None:
    shares = covered(copies(kind, method, m, posterior), rule)
    assert all(0.89 <= share <= 0.995 for share in shares.values()), shares


@pytest.mark.parametrize(("kind", "method", "m", "rule", "posterior"), [each for each in CASES if each[3] != "fully"])
def test_with_the_rows_of_the_table_in_their_place_they_miss(
    kind: str, method: str, m: int, rule: CombiningRule | None, posterior: bool
) -> None:
    wrong = (replace(each, rows=ROWS, marked=ROWS) for each in copies(kind, method, m, posterior))
    shares = covered(wrong, rule)
    assert max(shares.values()) < (0.75 if kind == "fully" else 0.88), shares
