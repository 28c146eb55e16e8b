"""How often attacks with a control cry wolf: at most once in forty times; and that they do cry when they should.

150 times a synthetic table is drawn that knows nothing of the original. A verdict that is false with probability 1/40
would be given more than 16 times with a chance below 1e-6; seeds are fixed besides. The columns say nearly the same, so
that predicates come true together: the interval of the difference, which takes them for independent, is the negative
control.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ziggurat.attacks import Guesses, Share, closest_records, inference, linkability, synthetic_singling_out
from ziggurat.attacks._guesses import ALARM, FEWEST, dealt_chance, judge
from ziggurat.data import read
from ziggurat.data.engines import DuckDBEngine

SEEDS, ROWS, MOST = 150, 120, 16


def people(seed: int, rows: int = ROWS, noise: float = 0.5) -> pa.Table:
    draw = np.random.default_rng(seed)
    age = draw.normal(45, 15, rows)
    said = {f"said{k}": np.round(age + draw.normal(0, noise, rows)) for k in range(6)}
    return pa.table({**said, "place": draw.choice(list("abcd"), rows)})


def guesses(original: object, synthetic: object, control: object, seed: int) -> dict[str, Guesses]:
    tables = original, synthetic, control
    singled = synthetic_singling_out(*tables, guesses=100, random_state=seed)
    linked = linkability(*tables, known=(["said0", "said1", "said2"], ["said3", "said4", "said5"]), random_state=seed)
    inferred = inference(*tables, known=[f"said{k}" for k in range(6)], secret="place", random_state=seed)
    return {
        "one column": singled.univariate,
        "several columns": singled.multivariate,
        "linking": linked.guesses,
        "inferring": inferred.guesses,
    }


@cache
def alarms() -> tuple[Counter[str], Counter[str]]:
    """How often each attack alarms for nothing: by its verdict, and by an interval that lies above 0."""
    said: Counter[str] = Counter()
    intervals: Counter[str] = Counter()
    engine = DuckDBEngine()  # one for all: opening one costs more than an attack
    for seed in range(SEEDS):
        original, synthetic, control = (read(people(3 * seed + k), engine=engine) for k in range(3))
        for name, each in guesses(original, synthetic, control, seed).items():
            said[name] += each.chance <= ALARM
            intervals[name] += each.risk.low > 0
        said["closest records"] += closest_records(original, synthetic, control, random_state=seed).overfit
    return said, intervals


@pytest.mark.statistical
def test_a_table_that_knows_nothing_alarms_at_most_once_in_forty_times() -> None:
    said, _ = alarms()
    assert max(said.values()) <= MOST, said


@pytest.mark.statistical
def test_an_interval_that_takes_predicates_for_independent_alarms_more_often() -> None:
    _, intervals = alarms()
    assert intervals["several columns"] > MOST, intervals


def few_values(seed: int) -> pa.Table:
    """People of whom attackers know next to nothing, so that many synthetic rows are equally near."""
    draw = np.random.default_rng(seed)
    return pa.table({"sex": draw.choice(["f", "m"], 1000), "secret": draw.choice(["no", "yes"], 1000, p=[0.6, 0.4])})


@pytest.mark.statistical
def test_who_is_first_of_equally_near_rows_is_the_same_luck_for_original_and_control() -> None:
    """Of 50 verdicts that are false with probability 1/40, more than 9 are with a chance below 1e-6.

    The negative control draws the order of equally near rows anew for the control.
    """
    said, apart, engine = 0, 0, DuckDBEngine()
    for seed in range(50):
        original, synthetic, control = (read(few_values(3 * seed + k), engine=engine) for k in range(3))
        one, other = (
            inference(original, synthetic, control, known=["sex"], secret="secret", random_state=seed + k).guesses
            for k in (0, 1_000)
        )
        said += one.chance <= ALARM
        apart += dealt_chance(one.attack, other.control) <= ALARM
    assert said <= 9
    assert apart > 9


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_table_that_repeats_people_is_caught_by_every_attack(share: float) -> None:
    original, control, other = (people(seed, 600, 200) for seed in (1, 2, 3))
    leaked = pa.concat_tables([original.slice(0, int(share * 600)), other.slice(0, 600 - int(share * 600))])
    found = guesses(original, leaked, control, 5)
    weak = ("one column",) if share < 1 else ()
    assert all(each.risk.verdict for name, each in found.items() if name not in weak), found
    assert closest_records(original, leaked, control, random_state=5).verdict


def test_fewer_guesses_than_a_verdict_needs_give_none_and_their_number_is_told() -> None:
    few = judge(Share(17, 17), Share(0, 17), Share(0, 17))
    assert (few.risk.verdict, few.risk.more_than_chance) == (None, False)
    assert "of 17 guesses about the original's rows are right" in few.sentence
    assert f"too few for a verdict, which needs {FEWEST} of each" in few.sentence
    assert judge(Share(17, 30), Share(0, 30), Share(0, 30)).risk.verdict is True
    assert few.table["guesses"].to_pylist() == [17, 17, 17, None]


def test_too_few_rows_give_no_verdict_on_closest_records() -> None:
    original, control = people(1, 20), people(2, 20)
    found = closest_records(original, original, control, random_state=1)
    assert (found.verdict, found.overfit) == (None, False)
    assert "too few rows for a verdict" in found.sentence
    one = pa.concat_tables([original.slice(0, 1)] * 500)  # many rows, of which all follow one person
    assert closest_records(people(1, 300), one, people(2, 300), random_state=1).verdict is None


@pytest.mark.parametrize(("hits", "one", "other"), [(3, 17, 17), (10, 40, 30), (25, 40, 60), (1, 500, 500)])
def test_fishers_test_is_false_at_most_as_often_as_it_says(hits: int, one: int, other: int) -> None:
    """Every way to deal the right guesses out, with its probability."""
    ways = range(max(0, hits - other), min(hits, one) + 1)
    chances = [dealt_chance(Share(way, one), Share(hits - way, other)) for way in ways]
    odds = stats.hypergeom.pmf(list(ways), one + other, hits, one)
    assert sum(odd for odd, chance in zip(odds, chances, strict=True) if chance <= ALARM) <= ALARM
    tables = [[[way, one - way], [hits - way, other - hits + way]] for way in ways]
    assert chances == pytest.approx([stats.fisher_exact(each, alternative="greater").pvalue for each in tables])
