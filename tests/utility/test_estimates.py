"""Means, quantiles and shares with their intervals."""

import math

import numpy as np
import pyarrow as pa
import pytest

from ziggurat.errors import ParameterError
from ziggurat.synthesize import combine_estimates
from ziggurat.utility import estimates


def _figure(found, column, figure):
    return next(each for each in found.figures if (each.column, each.figure) == (column, figure))


def test_equal_tables_taken_for_real_overlap_wholly(original):
    found = estimates(original, original, combining="as real")
    assert found.overlap == pytest.approx(1)


def test_means_are_combined_by_the_rules(original, copies):
    values = [np.asarray(each.column("age")) for each in copies]
    for rule in ("fully", "partially", "simple"):
        means, variances = [each.mean() for each in values], [each.var(ddof=1) / 2000 for each in values]
        wanted = combine_estimates(means, variances, rule, rows=2000, synthetic_rows=2000)
        found = _figure(estimates(original, copies, combining=rule), "age", "mean").synthetic
        assert (found.estimate, found.low, found.high) == pytest.approx((wanted.estimate, wanted.low, wanted.high))


def test_the_interval_of_a_median_is_as_wide_as_theory_says():
    table = pa.table({"n": np.random.default_rng(1).normal(0, 15, 20_000)})
    found = _figure(estimates(table, table), "n", "quantile 0.5").original
    assert found.error == pytest.approx(math.sqrt(math.pi / 2) * 15 / math.sqrt(20_000), rel=0.1)


def test_shares_are_those_of_the_most_common_categories(original):
    found = estimates(original, original, columns="region")
    assert found.figures[0].figure == "share of east"
    assert sum(each.original.estimate for each in found.figures) == pytest.approx(1)


def test_a_mean_that_moved_does_not_overlap(original, shifted):
    found = estimates(original, shifted, columns="age")
    assert _figure(found, "age", "mean").overlap == 0
    assert "'age'" in found.sentence


def test_one_copy_cannot_be_combined_as_several(original):
    for rule in ("fully", "partially"):
        with pytest.raises(ParameterError, match="at least 2"):
            estimates(original, original, combining=rule)


def test_a_column_without_numbers_has_no_overlap():
    table = pa.table({"n": pa.array([None, None, None], pa.float64()), "c": ["a", "b", "a"]})
    found = estimates(table, table)
    assert math.isnan(_figure(found, "n", "mean").overlap)
    assert not math.isnan(found.overlap)


@pytest.mark.parametrize("bad", [{"quantiles": [1.0]}, {"confidence": 1.0}, {"combining": "rubin"}])
def test_bad_settings_are_refused(original, bad):
    with pytest.raises(ParameterError):
        estimates(original, original, **bad)
