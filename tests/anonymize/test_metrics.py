"""Metrics: ARX's own optima on its own table, formulas by hand, and weights."""

import itertools
import math
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.anonymize import (
    METRICS,
    ClassSize,
    Discernibility,
    Entropy,
    KAnonymity,
    LDiversity,
    Loss,
    Metric,
    Precision,
    read_hierarchies,
)
from ziggurat.anonymize.generalizing._asking import question_of
from ziggurat.anonymize.generalizing._combinations import count_combinations
from ziggurat.anonymize.generalizing._search import Lattice
from ziggurat.data import Hierarchy, Table, read
from ziggurat.data.engines import DuckDBEngine
from ziggurat.errors import ParameterError

COLUMNS = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation",
           "salary-class")  # fmt: skip
needs_data = [
    pytest.mark.data,
    pytest.mark.skipif("ZIGGURAT_DATA" not in os.environ, reason="set ZIGGURAT_DATA to the folder of public data"),
]


@cache
def adult(columns: tuple[str, ...], models: tuple[Any, ...]) -> tuple[Any, Any]:
    folder = Path(os.environ["ZIGGURAT_DATA"])
    table = read(folder / "arx_adult.parquet")
    question = question_of(table, models, columns)
    trees = read_hierarchies(folder / "arx_adult_hierarchies.csv.gz")
    numbers = count_combinations(table, columns, question.sensitive, trees)
    return numbers, question.to_numbers(numbers, table)


def lattice(columns: tuple[str, ...], models: tuple[Any, ...], metric: Metric, share: float) -> Lattice:
    numbers, asked = adult(columns, models)
    return Lattice(numbers, asked, metric, math.floor(share * numbers.rows))


NO_OCCUPATION = tuple(name for name in COLUMNS if name != "occupation")
GOLDEN = [
    (COLUMNS, (KAnonymity(5),), Loss(), 0, "041132210", 0, "0.57315"),
    (COLUMNS, (KAnonymity(5),), Loss(), 0.02, "030221120", 506, "0.31371"),
    (COLUMNS, (KAnonymity(5),), Loss(), 1, "030021110", 2553, "0.22041"),
    (COLUMNS, (KAnonymity(5),), Precision(), 0.02, "040111120", 511, "0.43565"),
    (COLUMNS, (KAnonymity(5),), Discernibility(), 0.02, "001232211", 105, "7220555"),
    (COLUMNS, (KAnonymity(5),), ClassSize(), 0.02, "101232201", 419, "47.350"),
    (NO_OCCUPATION, (KAnonymity(5), LDiversity("occupation", 3)), Loss(), 0.04, "03012110", 814, "0.20521"),
]


@pytest.mark.parametrize(("columns", "models", "metric", "share", "levels", "suppressed", "score"), GOLDEN)
class TestOnAdult:
    """ARX 3.9's optima on its table of 30,162 rows."""

    pytestmark = needs_data

    def test_the_optimum_is_that_of_arx(
        self, columns: Any, models: Any, metric: Metric, share: float, levels: str, suppressed: int, score: str
    ) -> None:
        made = lattice(columns, models, metric, share)
        node = [int(level) for level in levels]
        gone, _, theirs, _ = made.measure(node)
        best = made.best()
        assert best is not None
        decimals = len(score.partition(".")[2])
        assert (gone, f"{theirs:.{decimals}f}") == (suppressed, score)
        assert best.score <= theirs
        assert best.levels == tuple(node) or best.score == theirs


SMALL = ("sex", "age", "race", "marital-status", "salary-class")


class TestEveryNode:
    """The optimum is the least of all generalisations that are allowed, at other k, limits and metrics."""

    pytestmark = needs_data

    @pytest.mark.parametrize("k", [2, 3, 10, 25, 100])
    @pytest.mark.parametrize("metric", list(METRICS.values()))
    def test_the_best_is_the_least_of_all(self, k: int, metric: type[Metric]) -> None:
        for share, weights in ((0, {}), (0.01, {"age": 3.0}), (0.1, {"sex": 0.0}), (1, {})):
            made = lattice(SMALL, (KAnonymity(k),), metric(weights), share)
            nodes = made.survey()
            best = made.best()
            assert best is not None
            assert best.score == nodes[nodes[:, 0] <= made.limit, 2].min()

    def test_scores_follow_their_formulas(self) -> None:
        numbers, _ = adult(SMALL, (KAnonymity(7),))
        spans = lattice(SMALL, (KAnonymity(7),), Loss(), 1)
        squares = lattice(SMALL, (KAnonymity(7),), Discernibility(), 1)
        for node in ((0, 2, 0, 1, 0), (1, 0, 1, 0, 1), (0, 4, 1, 2, 1)):
            groups = np.stack([each.groups[a][numbers.codes[:, j]] for j, (each, a) in
                               enumerate(zip(numbers.ladders, node, strict=True))], axis=1)  # fmt: skip
            _, inverse = np.unique(groups, axis=0, return_inverse=True)
            sizes = np.bincount(inverse.ravel(), numbers.counts)
            kept, n = sizes >= 7, numbers.rows
            gone = n - sizes[kept].sum()
            assert squares.measure(node)[2] == (sizes[kept] ** 2).sum() + gone * n
            assert spans.measure(node)[:2] == (gone, kept.sum())


ENGINE = DuckDBEngine()
TREE = Hierarchy({"a": ("ab", "*"), "b": ("ab", "*"), "c": ("c", "*"), "d": ("d", "*")})


def by_hand(metric: Metric, levels: tuple[int, ...], limit: int = 9) -> float:
    """Five rows, of which (d) is alone."""
    table = Table(ENGINE, ENGINE.attach(pa.table({"x": list("aabcd"), "y": list("aaaab")})))
    trees = {"x": TREE, "y": Hierarchy({"a": ("*",), "b": ("*",)})}
    numbers = count_combinations(table, ["x", "y"], [], trees)
    return Lattice(numbers, [KAnonymity(2).to_numbers()], metric, limit).measure(levels)[2]


def test_formulas_by_hand() -> None:
    # At (1, 0) the classes are {a, a, b | a}, {c | a}, {d | b}: two rows go.
    x, y = (3 * 2 / 4 + 2 - 5 / 4) / (5 - 5 / 4), (3 / 2 + 2 - 5 / 2) / (5 - 5 / 2)
    assert by_hand(Loss(), (1, 0)) == pytest.approx(math.sqrt((1 + x) * (1 + y)) - 1)
    assert by_hand(Loss({"x": 3, "y": 1}), (1, 0)) == pytest.approx((1 + x) ** 0.75 * (1 + y) ** 0.25 - 1)
    assert by_hand(Loss({"x": 0}), (1, 0)) == pytest.approx(y)
    bits = -2 * math.log2(2 / 3) - math.log2(1 / 3)
    assert by_hand(Entropy(), (1, 0)) == pytest.approx(bits + 2 + 2)
    assert by_hand(Entropy({"x": 3, "y": 1}), (1, 0)) == pytest.approx(1.5 * (bits + 2) + 0.5 * 2)
    assert by_hand(Precision(), (1, 0)) == pytest.approx(((3 / 2 + 2) / 5 + 2 / 5) / 2)
    assert by_hand(Discernibility(), (1, 0)) == 3**2 + 2 * 5
    assert by_hand(ClassSize(), (1, 0)) == 5 / 2


@pytest.mark.parametrize(("metric", "least", "most"), [(Loss, 0, 1), (Precision, 0, 1), (Entropy, 0, math.inf)])
def test_what_is_untouched_loses_nothing(metric: type[Metric], least: float, most: float) -> None:
    table = Table(ENGINE, ENGINE.attach(pa.table({"x": list("abcd" * 2)})))
    made = Lattice(count_combinations(table, ["x"], [], {"x": TREE}), [KAnonymity(2).to_numbers()], metric(), 0)
    assert made.measure([0])[2] == pytest.approx(least)
    assert least < made.measure([2])[2] <= most
    assert made.measure([0])[2] < made.measure([1])[2] < made.measure([2])[2]


@pytest.mark.parametrize("bad", [{"x": -1}, {"x": math.nan}, {"x": math.inf}])
def test_weights_are_finite_and_not_negative(bad: dict[str, float]) -> None:
    for metric, name in itertools.product(METRICS.values(), bad):
        with pytest.raises(ParameterError, match="finite and not negative"):
            metric({name: bad[name]})


def test_weights_are_of_quasi_identifiers_and_not_all_zero() -> None:
    with pytest.raises(ParameterError, match="'z', which is not a quasi-identifier"):
        Loss({"z": 1}).shares(["x", "y"])
    with pytest.raises(ParameterError, match="At least one quasi-identifier"):
        Loss({"x": 0, "y": 0}).shares(["x", "y"])
