"""Cells to codes and numbers and back, and what is refused."""

from datetime import date

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Categories, Column
from ziggurat.errors import DataError
from ziggurat.synthesize._encoding import ColumnCoding, learn_coding

CELL = "zq-17-secret"
COLUMNS = {
    "whole": (Column("whole", "integer", missing=(-8,)), pa.array([3, -8, None, 40], pa.int64())),
    "real": (Column("real", "real"), pa.array([0.25, 1.5, float("nan"), None])),
    "day": (Column("day", "date"), pa.array([date(1960, 2, 29), None, date(2020, 1, 1), date(2020, 1, 1)])),
    "truth": (Column("truth", "boolean"), pa.array([True, None, False, True])),
    "text": (Column("text", "text"), pa.array(["b", "a", None, "b"])),
    "code": (Column("code", "category", categories=Categories((7, 3))), pa.array([3, 7, 7, 3], pa.int64())),
    "absent": (Column("absent", "real"), pa.array([None] * 4, pa.float64())),
    "none": (Column("none", "text"), pa.array([None] * 4, pa.string())),
}


def chunked(cells: pa.Array) -> pa.ChunkedArray:
    return pa.chunked_array([cells.slice(0, 1), cells.slice(1)])


@pytest.mark.parametrize("name", COLUMNS)
def test_cells_come_back_as_they_were(name: str) -> None:
    column, cells = COLUMNS[name]
    made = learn_coding(column, chunked(cells))
    coded = made.encode(chunked(cells))
    wanted = [None if each != each else each for each in cells.to_pylist()]
    assert made.decode(coded.codes, coded.values).to_pylist() == wanted
    assert ColumnCoding.from_dict(made.to_dict()) == made


def test_numbers_and_the_codes_that_stand_for_missing_ones_are_told_apart() -> None:
    column, cells = COLUMNS["whole"]
    coded = learn_coding(column, chunked(cells)).encode(chunked(cells))
    assert coded.codes.tolist() == [0, 2, 1, 0]
    assert coded.size == 3
    assert coded.values is not None
    assert np.isnan(coded.values).tolist() == [False, True, True, False]


def test_an_order_that_was_declared_is_the_order_of_codes() -> None:
    column = Column("pain", "category", categories=Categories(("none", "some", "much"), ordered=True))
    made = learn_coding(column, pa.chunked_array([["much", "none", "some"]]))
    assert made.labels == ("none", "some", "much")
    assert made.ordered


@pytest.mark.parametrize(("values", "decimals"), [([1.0, 2.0], 0), ([0.5, 2.0], 1), ([0.125], 3), ([1 / 3], None)])
def test_the_resolution_of_reals_is_kept(values: list[float], decimals: int | None) -> None:
    made = learn_coding(Column("x", "real"), pa.chunked_array([values]))
    assert made.decimals == decimals
    if decimals is not None:
        assert made.rounded(np.array([0.123456])) == pytest.approx(round(0.123456, decimals))


def test_a_category_that_was_not_learned_is_read_as_the_commonest() -> None:
    made = learn_coding(Column("x", "category"), pa.chunked_array([["a", "b", "b"]]))
    assert made.encode(pa.chunked_array([["c", "a"]])).codes.tolist() == [1, 0]


def test_numbers_that_are_codes_are_refused() -> None:
    with pytest.raises(DataError, match="beyond 2\\^53"):
        learn_coding(Column("id", "integer"), pa.chunked_array([[2**60, 2**60 + 1]]))


def test_text_of_few_values_is_a_category() -> None:
    made = learn_coding(Column("town", "text"), pa.chunked_array([["a", "b"] * 30]))
    assert made.labels == ("a", "b")
