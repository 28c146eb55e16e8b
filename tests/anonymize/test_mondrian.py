"""Mondrian: every box that is published satisfies the models, by code that shares nothing with the cuts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ziggurat.anonymize import AverageRisk, KAnonymity, LDiversity, TCloseness
from ziggurat.anonymize.generalizing._combinations import Combinations, code_hierarchy
from ziggurat.anonymize.generalizing._models import ModelNumbers
from ziggurat.anonymize.generalizing._mondrian import Boxes, mondrian
from ziggurat.data import Hierarchy
from ziggurat.errors import ParameterError, PrivacyError


def table(seed: int, rows: int = 200) -> Combinations:
    """A number that is not written in its order, a category, and a sensitive column."""
    draw = np.random.default_rng(seed)
    cells = np.stack([draw.integers(0, 20, rows), draw.integers(0, 8, rows), draw.integers(0, 3, rows)], 1)
    codes, counts = np.unique(cells, axis=0, return_counts=True)
    age = Hierarchy({str(v * 7 % 20): ("*",) for v in range(20)})
    place = Hierarchy({str(v): (f"p{v // 2}", f"q{v // 4}", "*") for v in range(8)})
    ladders = (code_hierarchy("age", age), code_hierarchy("place", place))
    return Combinations(ladders, codes[:, :2].astype(np.int32), counts,
                        np.zeros(0, np.int64), codes[:, 2:].astype(np.int32), (("a", "b", "c"),))  # fmt: skip


def classes(counted: Combinations, found: Boxes) -> list[list[int]]:
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(zip(found.labels(counted, 0), found.labels(counted, 1), strict=True)):
        groups[row].append(i)
    assert len(groups) == found.classes
    return list(groups.values())


def shares(counted: Combinations, who: list[int]) -> np.ndarray:
    sums = np.bincount(counted.sensitive[who, 0], counted.counts[who], 3)
    return sums / sums.sum()


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("ordered", [(), ("age",), ("age", "place")])
@pytest.mark.parametrize("seed", range(3))
def test_every_box_satisfies_all_models(seed: int, ordered: tuple[str, ...], relaxed: bool) -> None:
    counted = table(seed)
    within = [replace(model.to_numbers(), about=0) for model in (LDiversity("s", 2), TCloseness("s", 0.4))]
    asked = [KAnonymity(4).to_numbers(), *within]
    found = mondrian(counted, asked, ordered=ordered, relaxed=relaxed)
    whole = shares(counted, list(range(len(counted.counts))))
    for who in classes(counted, found):
        mine = shares(counted, who)
        assert counted.counts[who].sum() >= 4
        assert (mine > 0).sum() >= 2
        assert np.abs(mine - whole).sum() / 2 <= 0.4 + 1e-9


@pytest.mark.parametrize("relaxed", [False, True])
def test_ranges_hold_the_values_they_stand_for(relaxed: bool) -> None:
    counted = table(1)
    found = mondrian(counted, [KAnonymity(5).to_numbers()], ordered=["age"], relaxed=relaxed)
    number = np.array([float(str(value)) for value in counted.ladders[0].values])
    cells = number[counted.codes[:, 0]]
    assert (number[found.lower[:, 0]] <= cells).all()
    assert (cells <= number[found.upper[:, 0]]).all()
    assert (found.levels[:, 1] < counted.ladders[1].height).all()
    assert found.classes > 10
    assert 0 < found.score < 0.5


def test_a_strict_cut_leaves_no_two_ranges_that_overlap_within_a_column() -> None:
    counted = table(2)
    one = Combinations(counted.ladders[:1], *_merged(counted), np.zeros(0, np.int64), np.zeros((20, 0), np.int32), ())
    found = mondrian(one, [KAnonymity(15).to_numbers()], ordered=["age"])
    number = [float(str(value)) for value in one.ladders[0].values]
    spans = sorted({(number[a], number[b]) for a, b in zip(found.lower[:, 0], found.upper[:, 0], strict=True)})
    assert len(spans) > 3
    assert all(before[1] < after[0] for before, after in pairwise(spans))


def _merged(counted: Combinations) -> tuple[np.ndarray, np.ndarray]:
    counts = np.bincount(counted.codes[:, 0], counted.counts, 20).astype(np.int64)
    return np.arange(20, dtype=np.int32)[:, None], counts


def test_people_of_a_population_are_counted() -> None:
    plain = table(3)
    people = plain.counts * 3
    counted = Combinations(plain.ladders, plain.codes, plain.counts, people, plain.sensitive, plain.values)
    found = mondrian(counted, [ModelNumbers(1, 9)], ordered=["age"])
    assert all(people[who].sum() >= 9 for who in classes(counted, found))


def test_the_average_risk_is_within_its_limit() -> None:
    counted = table(3)
    assert mondrian(counted, [AverageRisk(0.1).to_numbers()], ordered=["age"]).classes <= 0.1 * counted.rows


def test_the_outcome_is_the_same_every_time() -> None:
    one, other = (mondrian(table(4), [KAnonymity(3).to_numbers()], ordered=["age"]) for _ in range(2))
    assert np.array_equal(one.lower, other.lower)
    assert np.array_equal(one.levels, other.levels)


def test_what_cannot_be_asked_is_refused_in_a_sentence() -> None:
    with pytest.raises(PrivacyError, match="No recoding satisfies these models"):
        mondrian(table(0), [KAnonymity(201).to_numbers()])
    with pytest.raises(ParameterError, match="not a quasi-identifier"):
        mondrian(table(0), [KAnonymity(2).to_numbers()], ordered=["height"])
    words = code_hierarchy("word", Hierarchy({"x": ("*",), "y": ("*",)}))
    cells = Combinations((words,), np.array([[0], [1]], np.int32), np.array([3, 3]), np.zeros(0, np.int64),
                    np.zeros((2, 0), np.int32), ())  # fmt: skip
    with pytest.raises(ParameterError, match="'word' holds values that are not numbers"):
        mondrian(cells, [KAnonymity(2).to_numbers()], ordered=["word"])
