"""Conditions about rows: what they mean, and what is refused."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Condition
from ziggurat.errors import DataError, ParameterError

CELL = "zq-17-secret"
ROWS = pa.table(
    {
        "age": [1, 20, None, 40],
        "marital-status": ["a", "b", "c", CELL],
        "born": pa.array([0, 10, 20, None], pa.date32()),
    }
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("age < 18", [True, False, False, False]),
        ("NOT age < 18", [False, True, False, True]),
        ("AGE BETWEEN 1 AND 20", [True, True, False, False]),
        ("\"marital-status\" IN ('a', 'c') OR age > 30", [True, False, True, True]),
        ("age IS NULL", [False, False, True, False]),
        ("born >= '1970-01-11'", [False, True, True, False]),
        ("age + 1 = 21 AND (born < '2000-01-01')", [False, True, False, False]),
    ],
)
def test_a_condition_means_what_it_means_in_sql(text: str, wanted: list[bool]) -> None:
    condition = Condition.parse(text, ROWS.column_names)
    assert condition.holds(ROWS).tolist() == wanted


def test_a_missing_cell_leaves_it_open() -> None:
    assert Condition.parse("age < 18", ROWS.column_names).holds(ROWS, unknown=True).tolist() == [
        True,
        False,
        True,
        False,
    ]


def test_no_rows_have_no_answer_and_many_keep_their_places() -> None:
    condition = Condition.parse("n < 5", ["n"])
    assert condition.holds(pa.table({"n": pa.array([], pa.int64())})).size == 0
    numbers = np.random.default_rng(1).integers(10, size=300_000)
    assert np.array_equal(condition.holds(pa.table({"n": numbers})), numbers < 5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is text such as"),
        ("age", "must compare"),
        ("1 < 2", "must compare"),
        ("agee < 1", "did you mean 'age'"),
        ("age <", "cannot be read"),
        ("age < 1; age > 2", "cannot be read"),
        ("age < (SELECT 1)", "may hold only"),
        ("random() < age", "may hold only"),
    ],
)
def test_anything_else_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Condition.parse(text, ROWS.column_names)


def test_values_of_another_kind_are_refused_without_a_cell() -> None:
    with pytest.raises(DataError, match="different kinds") as caught:
        Condition.parse('"marital-status" < 5', ROWS.column_names).holds(ROWS)
    assert CELL not in str(caught.value)
    assert caught.value.__cause__ is None
