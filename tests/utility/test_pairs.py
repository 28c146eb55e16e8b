"""Tables of two columns."""

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.data import Kind
from ziggurat.data.coded import CodedColumn
from ziggurat.errors import ParameterError
from ziggurat.utility import pairs
from ziggurat.utility._pairs import pairs_of, pmse_ratio
from ziggurat.utility._sheets import Sheet, SheetField, Sheets


def _by_hand(original, synthetic):
    """Voas and Williamson's statistic over its degrees of freedom, which the ratio is for tables of equal size."""
    expected = (original + synthetic) / 2
    held = expected > 0
    return np.sum((synthetic - original)[held] ** 2 / expected[held]) / (held.sum() - 1)


def test_the_ratio_is_voas_and_williamsons_over_its_degrees_of_freedom():
    original, synthetic = np.array([10, 20, 30, 0, 40]), np.array([15, 25, 20, 10, 30])
    assert pmse_ratio(original, synthetic) == pytest.approx(_by_hand(original, synthetic), rel=1e-12)


def test_a_table_with_one_cell_has_no_ratio():
    assert np.isnan(pmse_ratio(np.array([5]), np.array([7])))
    found = pairs(pa.table({"a": ["x"] * 5, "b": [1] * 5}), pa.table({"a": ["x"] * 4, "b": [1] * 4}))
    assert np.isnan(found.mean_pmse_ratio.mean)
    assert found.mean_total_variation.mean == 0


def _ratios(runs, rows, synthetic_rows, drawn_from):
    """Ratios of tables of two columns with 12 cells; `drawn_from` makes the copy."""
    draw = np.random.default_rng(7)
    fields = tuple(
        SheetField(name, Kind.CATEGORY, tuple("abcd"[:size]), frozenset()) for name, size in (("x", 3), ("y", 4))
    )

    def sheet(rows, x, y):
        return Sheet(rows, rows, {"x": CodedColumn(x, 3), "y": CodedColumn(y, 4)})

    found = []
    for _ in range(runs):
        x, y = draw.choice(3, rows, p=[0.5, 0.3, 0.2]), draw.integers(0, 4, rows)
        other = drawn_from(draw, x, y, synthetic_rows)
        sheets = Sheets(fields, sheet(rows, x, y), (sheet(synthetic_rows, *other),))
        found.append(pairs_of(sheets).mean_pmse_ratio.mean)
    return np.mean(found)


def _resampled(draw, x, y, rows):
    places = draw.integers(0, len(x), rows)
    return x[places], y[places]


def _independent(draw, x, y, rows):
    return draw.choice(3, rows, p=[0.5, 0.3, 0.2]), draw.integers(0, 4, rows)


# The ratio is a chi-squared variable with 11 degrees of freedom over 11: the mean of 200 has a standard deviation of
# 0.03, times 2 for independent samples. The limits are 5 of them (false alarm below 1e-6); the seed is fixed anyway.
@pytest.mark.statistical
def test_a_copy_drawn_from_the_original_has_a_ratio_of_1():
    assert abs(_ratios(200, 1000, 1000, _resampled) - 1) < 0.15


@pytest.mark.statistical
@pytest.mark.parametrize("rows", [500, 1000])
def test_an_independent_sample_has_a_ratio_of_1_plus_its_relative_size(rows):
    wanted = 1 + rows / 1000
    assert abs(_ratios(200, 1000, rows, _independent) - wanted) < 0.15 * wanted


@pytest.mark.statistical
def test_a_copy_with_other_shares_is_caught():
    def tilted(draw, x, y, rows):
        return draw.choice(3, rows, p=[0.45, 0.3, 0.25]), draw.integers(0, 4, rows)

    assert _ratios(50, 1000, 1000, tilted) > 2.4


def test_a_lost_dependence_shows_in_the_pair_only(original):
    broken = original.set_column(2, "income", original.column("income").take(pa.array(np.arange(2000)[::-1])))
    found = pairs(original, broken)
    place = found.columns.index("income")
    assert set(found.worst) == {"age", "income"}
    assert found.total_variation[place, place] == pytest.approx(0, abs=1e-12)
    assert found.pmse_ratio[0, place] > 5


def test_the_matrices_are_symmetric_and_have_single_columns_on_the_diagonal(original, copies):
    found = pairs(original, copies)
    assert np.array_equal(found.total_variation, found.total_variation.T)
    assert np.all(np.diag(found.total_variation) <= found.total_variation.max(axis=1))
    assert found.table.num_rows == 15


def test_two_columns_of_many_categories_are_counted_without_a_table_of_all_cells():
    draw = np.random.default_rng(3)
    table = pa.table(
        {"a": draw.integers(0, 10_000, 30_000).astype(str), "b": draw.integers(0, 10_000, 30_000).astype(str)}
    )
    found = pairs(table, table.slice(0, 15_000), columns=["a", "b"])
    assert 0.3 < found.mean_total_variation.mean < 0.6


def test_one_column_is_compared_with_itself(original):
    found = pairs(original, original, columns="sex")
    assert found.worst == ("sex", "sex")
    assert found.mean_total_variation.mean == 0


def test_fewer_than_two_groups_are_refused(original):
    with pytest.raises(ParameterError, match="at least 2"):
        pairs(original, original, groups=1)
