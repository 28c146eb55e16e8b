"""The digest of a fitted classifier depends on what it holds, and on nothing else."""

import os
import subprocess
import sys
import threading
from collections import OrderedDict

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ziggurat.pate.training._content import UnknownContentError, digest_content

_ROWS = np.random.default_rng(0).normal(size=(80, 3))
_LABELS = (_ROWS[:, 0] > 0).astype(int)
_CLASSIFIERS = [
    DecisionTreeClassifier(random_state=0),
    RandomForestClassifier(5, random_state=0),
    LogisticRegression(),
    GaussianNB(),
    KNeighborsClassifier(3),
    SVC(random_state=0),
    MLPClassifier((4,), max_iter=5, random_state=0),
    HistGradientBoostingClassifier(max_iter=3, random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]

_ELSEWHERE = """
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from ziggurat.pate.training._content import digest_content
rows = np.random.default_rng(0).normal(size=(80, 3))
tree = DecisionTreeClassifier(random_state=0).fit(rows, (rows[:, 0] > 0).astype(int))
print(digest_content([tree, {"b", "a", "c"}]).hex())
"""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", _CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_what_learned_the_same_has_the_same_digest_and_what_learned_other_rows_another(model) -> None:
    first, again = (clone(model).fit(_ROWS, _LABELS) for _ in range(2))
    assert digest_content(first) == digest_content(again)
    other = clone(model).fit(_ROWS[1:], _LABELS[1:])
    assert digest_content(first) != digest_content(other)


def test_parameters_count() -> None:
    first, other = (GaussianNB(var_smoothing=each).fit(_ROWS, _LABELS) for each in (1e-9, 1.1e-9))
    other.__dict__ |= {name: value for name, value in vars(first).items() if name.endswith("_")}
    assert digest_content(first) != digest_content(other)
    other.set_params(var_smoothing=1e-9)
    assert digest_content(first) == digest_content(other)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_another_process_gives_the_same(seed: str) -> None:
    here = digest_content([DecisionTreeClassifier(random_state=0).fit(_ROWS, _LABELS), {"a", "b", "c"}]).hex()
    there = subprocess.run(
        [sys.executable, "-c", _ELSEWHERE], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
    )
    assert there.stdout.decode().strip() == here


def test_layout_order_and_sharing_do_not_matter() -> None:
    array = np.arange(12.0).reshape(3, 4)
    same = [array.copy(order="F"), array.astype(">f8"), np.repeat(array, 2, axis=1)[:, ::2]]
    assert {digest_content(each) for each in same} == {digest_content(array)}
    assert digest_content({"a": 1, "b": 2}) == digest_content({"b": 2, "a": 1})
    assert digest_content([array, array]) == digest_content([array, array.copy()])


def test_gaps_between_the_fields_of_records_do_not_matter() -> None:
    kind = np.dtype([("large", np.int64), ("small", np.int8)], align=True)
    first = np.frombuffer(bytes(9) + b"\1" * 7, kind)
    other = np.frombuffer(bytes(9) + b"\2" * 7, kind)
    assert first.tobytes() != other.tobytes()
    assert digest_content(first) == digest_content(other)
    assert digest_content(first) != digest_content(np.frombuffer(bytes(8) + b"\1" + bytes(7), kind))


def test_other_content_has_another_digest() -> None:
    different = [
        *(None, True, 1, 1.0, 0.0, -0.0, float("nan"), "1", b"1", bytearray(b"1"), np.int64(1), np.int32(1)),
        *([1], (1,), [[1]], [1, 2], [12], {1}, frozenset({1}), {1: 2}, {"1": 2}, OrderedDict({1: 2}), ["1", "2"]),
        *(np.zeros(4), np.zeros((2, 2)), np.zeros((4, 1)), np.zeros(4, np.float32), np.zeros(4, "M8[s]")),
        *(np.array(["a", "b"]), np.array(["a", "b"], object), np.ma.array([0.0, 1.0]), np.ma.array([0.0, 1.0], mask=1)),
        *(np.ufunc, np.add, np.multiply, os.path.join, os.path.split, GaussianNB, GaussianNB()),
    ]
    assert len({digest_content(each) for each in different}) == len(different)


def test_cycles_end() -> None:
    first: list[object] = [1]
    first.append(first)
    other: list[object] = [1]
    other.append([1, other])
    assert digest_content(first) != digest_content(other)


def test_what_cannot_be_known_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for unknown in (lambda: 0, threading.Lock(), type("Local", (), {"__qualname__": "f.<locals>.Local"})(), deep):
        with pytest.raises(UnknownContentError):
            digest_content(unknown)
