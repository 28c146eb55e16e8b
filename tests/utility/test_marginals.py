"""Distances of single columns."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Column, Kind, Schema, read
from ziggurat.utility import marginals


def test_a_table_is_at_no_distance_from_itself(original):
    found = marginals(original, original)
    assert found.total_variation.values == (0.0,)
    assert found.normalised_kl.mean == 1.0
    assert all(each.outside.mean in (0.0,) or np.isnan(each.outside.mean) for each in found.columns)


def test_the_column_that_was_moved_is_the_worst(original, shifted):
    found = marginals(original, shifted)
    assert found.worst.column == "age"
    assert found.worst.total_variation.mean > 0.15


def test_the_distance_of_categories_is_that_of_their_shares():
    found = marginals(pa.table({"a": ["x"] * 6 + ["y"] * 4}), pa.table({"a": ["x"] * 3 + ["z"] * 7}))
    (column,) = found.columns
    assert column.total_variation.mean == pytest.approx(0.7)  # |.6-.3| + |.4-0| + |0-.7| over 2
    assert column.histogram.labels == ("x", "y", "z")
    assert column.histogram.synthetic == pytest.approx((0.3, 0, 0.7))


def test_missing_is_a_category_and_so_is_every_declared_code():
    schema = Schema((Column("pay", Kind.INTEGER, missing=(-8,)),))
    original = read(pa.table({"pay": [1, 2, -8, -8, None]}), schema)
    found = marginals(original, pa.table({"pay": [1, 2, None, None, None]})).columns[0]
    assert (found.missing, found.synthetic_missing.mean) == (0.6, 0.6)
    assert found.histogram.labels[-2:] == ("missing", "missing (-8)")
    assert found.total_variation.mean == pytest.approx(0.4)


def test_numbers_with_few_values_are_compared_value_by_value():
    found = marginals(pa.table({"n": [0] * 90 + [1] * 10}), pa.table({"n": [0] * 80 + [1] * 20})).columns[0]
    assert found.total_variation.mean == pytest.approx(0.1)


def test_synthetic_numbers_beyond_the_range_are_counted():
    found = marginals(pa.table({"n": [0.0, 1.0, 2.0]}), pa.table({"n": [-1.0, 1.0, 2.0, 5.0]})).columns[0]
    assert found.outside.mean == 0.5


def test_the_ends_of_dates_are_dates(original):
    column = next(each for each in marginals(original, original).columns if each.column == "joined")
    assert column.histogram.edges[0].startswith("2020-01-0")
    assert len(column.histogram.edges) == 21


def test_only_the_common_ones_of_many_categories_are_pictured():
    names = [f"v{place % 10_000}" for place in range(30_000)]
    schema = Schema((Column("code", Kind.CATEGORY),))
    table = read(pa.table({"code": names}), schema)
    (column,) = marginals(table, table).columns
    assert column.cells == 10_000
    assert column.histogram.labels[-1] == "others"
    assert sum(column.histogram.original) == pytest.approx(1)


def test_every_copy_has_its_own_distance(original, copies):
    found = marginals(original, copies)
    assert len(found.total_variation.values) == 3
    assert found.total_variation.low <= found.total_variation.mean <= found.total_variation.high < 0.05
