"""How strongly columns go together."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from ziggurat.utility import correlations
from ziggurat.utility._correlations import correlation_ratio, cramers_v, pearson


def test_pearson_is_numpys_and_leaves_out_what_is_missing():
    draw = np.random.default_rng(1)
    values = draw.normal(size=(3, 200)) * [[1], [1e3], [1e-3]] + [[1e6], [0], [5]]
    values[1] += values[0]
    assert pearson(values) == pytest.approx(np.corrcoef(values), abs=1e-9)
    values[0, :50] = np.nan
    assert pearson(values)[0, 1] == pytest.approx(np.corrcoef(values[:2, 50:])[0, 1], abs=1e-9)


def test_cramers_v_is_scipys():
    draw = np.random.default_rng(2)
    one = draw.integers(0, 3, 300)
    other = (one + draw.integers(0, 2, 300)) % 4
    table = np.zeros((3, 4), dtype=np.int64)
    np.add.at(table, (one, other), 1)
    assert cramers_v(one, other) == pytest.approx(stats.contingency.association(table, method="cramer"), abs=1e-12)


def test_the_correlation_ratio_is_the_root_of_the_share_between():
    codes, values = np.array([0, 0, 1, 1]), np.array([1.0, 3.0, 5.0, 7.0])
    assert correlation_ratio(codes, values) == pytest.approx(np.sqrt(16 / 20))


def test_what_does_not_vary_has_no_correlation():
    table = pa.table({"one": [1, 1, 1], "n": [1, 2, 3], "c": ["x", "x", "x"], "d": ["x", "y", "x"]})
    found = correlations(table, table)
    assert np.isnan(found.original[0]).all()
    assert np.isnan(found.original[2]).all()
    assert found.mean_difference.mean == 0


def test_a_lost_correlation_is_the_worst(original):
    broken = original.set_column(2, "income", original.column("income").take(pa.array(np.arange(2000)[::-1])))
    found = correlations(original, broken)
    assert set(found.worst) == {"age", "income"}
    assert found.difference[0, 2] < -0.4


def test_a_table_without_a_pair_says_so(original):
    found = correlations(original, original, columns="sex")
    assert "no correlations" in found.sentence
    assert found.table.num_rows == 0
