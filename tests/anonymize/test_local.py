"""Local recoding: what is published satisfies its models, by code that shares nothing with the search."""

from __future__ import annotations

import csv
import gzip
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ziggurat.anonymize import AverageRisk, HighestRisk, KAnonymity, LDiversity, TCloseness
from ziggurat.anonymize.generalizing import _local
from ziggurat.anonymize.generalizing._combinations import Combinations, code_hierarchy, find_codes
from ziggurat.anonymize.generalizing._local import Recoded, recode
from ziggurat.anonymize.generalizing._models import ModelNumbers
from ziggurat.data import Hierarchy
from ziggurat.errors import PrivacyError

DATA = os.environ.get("ZIGGURAT_DATA")


def tree(size: int) -> Hierarchy:
    """Values in pairs, pairs in fours, and the top."""
    return Hierarchy({str(v): (f"p{v // 2}", f"q{v // 4}", "*") for v in range(size)})


def table(seed: int, rows: int = 120, sizes: tuple[int, ...] = (8, 8, 4), sensitive: bool = False) -> Combinations:
    draw = np.random.default_rng(seed)
    cells = np.stack([draw.integers(0, size, rows) for size in sizes] + [draw.integers(0, 4, rows)] * sensitive, 1)
    codes, counts = np.unique(cells, axis=0, return_counts=True)
    many = len(sizes)
    ladders = tuple(code_hierarchy(f"c{j}", tree(size)) for j, size in enumerate(sizes))
    values = (("a", "b", "c", "d"),) if sensitive else ()
    return Combinations(ladders, codes[:, :many].astype(np.int32), counts, np.zeros(0, np.int64),
                   codes[:, many:].astype(np.int32), values)  # fmt: skip


def classes(counted: Combinations, found: Recoded) -> dict[tuple[object, ...], list[int]]:
    columns = [found.labels(counted, j) for j in range(len(counted.ladders))]
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(zip(*columns, strict=True)):
        if row[0] is not None:
            groups[row].append(i)
    return groups


def histogram(counted: Combinations, who: list[int]) -> Counter[int]:
    counts: Counter[int] = Counter()
    for i in who:
        counts[int(counted.sensitive[i, 0])] += int(counted.counts[i])
    return counts


def loss(counted: Combinations, found: Recoded) -> float:
    """The loss as issue 7 writes it, cell by cell."""
    n, product = counted.rows, 1.0
    for j, rungs in enumerate(counted.ladders):
        total = 0.0
        for i, level in enumerate(found.levels[:, j].tolist()):
            group = rungs.groups[max(level, 0)]
            leaves = rungs.size if level < 0 else int((group == group[counted.codes[i, j]]).sum())
            total += counted.counts[i] * leaves / rungs.size
        product *= 1 + max(0.0, (total - n / rungs.size) / (n - n / rungs.size))
    return product ** (1 / len(counted.ladders)) - 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [2, 5])
def test_every_class_has_k_rows_and_the_score_is_the_loss(seed: int, k: int) -> None:
    counted = table(seed)
    found = recode(counted, [KAnonymity(k).to_numbers()])
    groups = classes(counted, found)
    assert all(sum(counted.counts[i] for i in who) >= k for who in groups.values())
    assert sum(len(who) for who in groups.values()) == len(counted.counts)
    assert found.suppressed == 0
    assert found.classes == len(groups)
    assert found.score == pytest.approx(loss(counted, found))


def test_levels_stay_within_the_ladders_and_the_outcome_is_the_same_every_time() -> None:
    counted = table(3)
    found, again = (recode(counted, [KAnonymity(4).to_numbers()]) for _ in range(2))
    assert found.levels.min() >= 0
    assert (found.levels < [rungs.height for rungs in counted.ladders]).all()
    assert np.array_equal(found.levels, again.levels)


def entropy(counts: Counter[int]) -> float:
    total = counts.total()
    return -sum(c / total * math.log(c / total) for c in counts.values())


def recursive(counts: Counter[int], c: float, least: int) -> bool:
    ordered = sorted(counts.values(), reverse=True)
    return len(ordered) >= least and ordered[0] < c * sum(ordered[least - 1 :])


def moved(counts: Counter[int], whole: Counter[int], *, ordered: bool) -> float:
    gaps = [counts[v] / counts.total() - whole[v] / whole.total() for v in range(4)]
    if ordered:
        return sum(abs(sum(gaps[: v + 1])) for v in range(3)) / 3
    return sum(map(abs, gaps)) / 2


def moved_in_a_tree(counts: Counter[int], whole: Counter[int]) -> float:
    """Between the two pairs at full price, within a pair at half of it."""
    gaps = [counts[v] / counts.total() - whole[v] / whole.total() for v in range(4)]
    within = sum(min(max(a, 0) + max(b, 0), max(-a, 0) + max(-b, 0)) for a, b in (gaps[:2], gaps[2:]))
    return abs(gaps[0] + gaps[1]) + within / 2


WITHIN = {
    "distinct": (LDiversity("s", 3), lambda c, w: len(c) >= 3),
    "entropy": (LDiversity("s", 2.5, "entropy"), lambda c, w: entropy(c) >= math.log(2.5) - 1e-9),
    "recursive": (LDiversity("s", 2, "recursive", 2.0), lambda c, w: recursive(c, 2.0, 2)),
    "equal": (TCloseness("s", 0.25), lambda c, w: moved(c, w, ordered=False) <= 0.25 + 1e-9),
    "hierarchical": (TCloseness("s", 0.2, "hierarchical"), lambda c, w: moved_in_a_tree(c, w) <= 0.2 + 1e-9),
    "ordered": (TCloseness("s", 0.2, "ordered"), lambda c, w: moved(c, w, ordered=True) <= 0.2 + 1e-9),
}


@pytest.mark.parametrize("name", WITHIN)
@pytest.mark.parametrize("seed", range(3))
def test_every_class_satisfies_a_model_of_sensitive_values_and_k(name: str, seed: int) -> None:
    counted = table(seed, sensitive=True)
    model, holds = WITHIN[name]
    pairs = code_hierarchy("s", Hierarchy({v: (w, "*") for v, w in zip("abcd", "xxyy", strict=True)}))
    found = recode(counted, [KAnonymity(3).to_numbers(), replace(model.to_numbers(), about=0, tree=pairs)])
    whole = histogram(counted, list(range(len(counted.counts))))
    for who in classes(counted, found).values():
        assert sum(counted.counts[i] for i in who) >= 3
        assert holds(histogram(counted, who), whole)


@pytest.mark.parametrize("asked", [ModelNumbers(1, 6), ModelNumbers(8, 0.2, 0.7)], ids=["k-map", "presence"])
def test_people_of_a_population_are_those_recoded_alike(asked: ModelNumbers) -> None:
    plain = table(1)
    people = plain.counts + np.random.default_rng(9).integers(1, 4, len(plain.counts))
    counted = Combinations(plain.ladders, plain.codes, plain.counts, people, plain.sensitive, plain.values)
    for who in classes(counted, recode(counted, [asked])).values():
        crowd, rows = sum(people[i] for i in who), sum(counted.counts[i] for i in who)
        assert crowd >= 6 if asked.kind == 1 else 0.2 - 1e-9 <= rows / crowd <= 0.7 + 1e-9


def test_risks_are_within_their_limits() -> None:
    counted = table(2)
    found = recode(counted, [AverageRisk(0.1).to_numbers(), HighestRisk(0.5).to_numbers()])
    assert len(classes(counted, found)) / counted.rows <= 0.1


def test_no_more_rows_than_the_limit_are_suppressed() -> None:
    counted = table(4, rows=60)
    found = recode(counted, [KAnonymity(5).to_numbers()], limit=6)
    assert found.suppressed == counted.counts[found.levels[:, 0] < 0].sum() <= 6
    assert found.score == pytest.approx(loss(counted, found))


def test_k_above_the_table_is_refused_in_a_sentence() -> None:
    with pytest.raises(PrivacyError, match="No recoding satisfies these models"):
        recode(table(0, rows=10), [KAnonymity(11).to_numbers()])


def test_rows_that_are_all_alike_lose_nothing() -> None:
    one = table(0, rows=1)
    counted = Combinations(one.ladders, one.codes, np.array([7]), one.people, one.sensitive, one.values)
    found = recode(counted, [KAnonymity(5).to_numbers()])
    assert (found.score, found.classes, found.levels.tolist()) == (0.0, 1, [[0, 0, 0]])


def test_one_column_is_enough() -> None:
    counted = table(5, rows=30, sizes=(16,))
    assert min(sum(counted.counts[i] for i in who) for who in classes(
        counted, recode(counted, [KAnonymity(3).to_numbers()])).values()) >= 3  # fmt: skip


def test_a_search_that_is_stopped_at_once_still_satisfies_its_models() -> None:
    counted = table(6)
    found = recode(counted, [KAnonymity(5).to_numbers()], stop=np.ones(1, np.int64))
    assert found.stopped
    assert all(sum(counted.counts[i] for i in who) >= 5 for who in classes(counted, found).values())


WIDE = (16, 12, 9, 8, 5, 4, 3, 2)


def about(model: LDiversity | TCloseness) -> ModelNumbers:
    return replace(model.to_numbers(), about=0)


def searches() -> dict[str, Callable[[], Recoded]]:
    k = KAnonymity
    return {
        "k": lambda: recode(table(11, 1500, WIDE), [k(5).to_numbers()]),
        "weights": lambda: recode(table(12, 1500, WIDE), [k(3).to_numbers()], weights={"c0": 4.0, "c3": 0.5}),
        "suppression": lambda: recode(table(13, 1500, WIDE), [k(8).to_numbers()], limit=30),
        "distinct": lambda: recode(table(14, 800, WIDE, True), [k(3).to_numbers(), about(LDiversity("s", 3))]),
        "entropy": lambda: recode(table(15, 800, WIDE, True), [about(LDiversity("s", 2.5, "entropy"))]),
        "closeness": lambda: recode(table(17, 800, WIDE, True), [k(4).to_numbers(), about(TCloseness("s", 0.25))]),
        "average": lambda: recode(table(18, 800, WIDE), [AverageRisk(0.1).to_numbers()]),
    }


@pytest.mark.parametrize("name", searches())
def test_the_outcome_is_that_of_looking_at_every_box_at_every_cost(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = searches()[name]()
    fill, floors = _local.kernels.fill_boxes, []

    def fill_forgetting(words: Any, judge: Any, parts: Any, filling: Any, *rest: Any) -> Any:
        """Fill boxes as if none had been looked at before."""
        if filling.told[0] < 0:
            floors[:] = filling.floors
        filling.seen[:] = -1.0
        filling.floors[:] = floors
        return fill(words, judge, parts, filling, *rest)

    monkeypatch.setattr(_local.kernels, "fill_boxes", fill_forgetting)
    again = searches()[name]()
    assert np.array_equal(found.levels, again.levels)
    assert (found.score, found.classes, found.suppressed) == (again.score, again.classes, again.suppressed)
    assert floors
    assert not found.stopped


def test_progress_is_told_while_boxes_are_filled_and_what_it_raises_is_heard() -> None:
    told: list[float] = []
    recode(table(11, 1500, WIDE), [KAnonymity(5).to_numbers()], progress=told.append)
    assert told[-1] == 1.0
    assert told == sorted(told)

    def complain(share: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        recode(table(11, 1500, WIDE), [KAnonymity(5).to_numbers()], progress=complain)


@pytest.mark.skipif(not DATA, reason="ZIGGURAT_DATA is not set")
def test_adult_loses_less_than_the_mark() -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    levels: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    with gzip.open(Path(DATA or "") / "arx_adult_hierarchies.csv.gz", "rt") as file:
        for name, value, *above in list(csv.reader(file))[1:]:
            levels[name][value] = tuple(label for label in above if label)
    frame = pq.read_table(Path(DATA or "") / "arx_adult.parquet").to_pydict()
    ladders = tuple(code_hierarchy(name, Hierarchy(rungs)) for name, rungs in levels.items())
    codes = np.stack([find_codes(each, [str(cell) for cell in frame[each.column]]) for each in ladders], 1)
    codes, counts = np.unique(codes, axis=0, return_counts=True)
    counted = Combinations(ladders, codes, counts, np.zeros(0, np.int64), np.zeros((len(codes), 0), np.int32), ())
    found = recode(counted, [KAnonymity(5).to_numbers()])
    assert found.score <= 0.055
    assert found.score == pytest.approx(loss(counted, found), rel=1e-6)
    assert min(sum(counts[i] for i in who) for who in classes(counted, found).values()) >= 5
