"""Given columns as rows of numbers, and values of a column in groups."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ziggurat.data.coded import CodedColumn
from ziggurat.errors import DataError, ParameterError
from ziggurat.synthesize.learners._design import MOST_INDICATORS, Design, standard
from ziggurat.synthesize.learners._sampling import (
    Donors,
    commonest,
    draw_labels,
    level_scores,
    quantile_bins,
    shares_of,
)

pytestmark = pytest.mark.filterwarnings("error")

finite = st.floats(allow_nan=False, allow_infinity=False)


def categories(codes, size=None):
    codes = np.asarray(codes, dtype=np.int32)
    return CodedColumn(codes, size or int(codes.max(initial=0)) + 1)


def numbers(values):
    values = np.asarray(values, dtype=np.float64)
    missing = np.isnan(values)
    return CodedColumn(missing.astype(np.int32), 1 + bool(missing.any()), values)


def matrix_of(columns):
    return Design.learn(columns).matrix(columns, columns[0].rows)


def test_numbers_are_standardised_and_missing_ones_are_the_mean_with_an_indicator():
    out = matrix_of([numbers([1.0, 3.0, np.nan, 5.0])])
    assert out.shape == (4, 3)
    np.testing.assert_allclose(out[:, 0], 1)
    np.testing.assert_allclose(out[:, 1], np.array([-2, 0, 0, 2]) / np.sqrt(8 / 3))
    np.testing.assert_allclose(out[:, 2], [0, 0, 1, 0])


def test_each_missing_code_has_its_own_indicator():
    cells = CodedColumn(np.array([0, 1, 2, 2], dtype=np.int32), 3, np.array([1.0, np.nan, np.nan, np.nan]))
    out = matrix_of([cells])
    assert out.shape == (4, 4)
    assert out[:, 2:].sum(axis=0).tolist() == [2, 1]  # the commoner code first
    assert not out[1:, 1].any()


def test_the_commonest_category_is_the_reference():
    out = matrix_of([categories([2, 2, 2, 0, 0, 1])])
    np.testing.assert_array_equal(out[:, 1:], [[0, 0]] * 3 + [[1, 0]] * 2 + [[0, 1]])


def test_rare_categories_share_an_indicator():
    codes = np.concatenate([np.repeat(np.arange(60), 3), np.arange(60, 1_000)])
    design = Design.learn([categories(codes)])
    out = design.matrix([categories(codes)], len(codes))
    assert design.width == 1 + MOST_INDICATORS
    assert (out[-940:, -1] == 1).all()
    assert (out[:, 1:].sum(axis=1) <= 1).all()


def test_a_category_that_was_never_seen_counts_as_the_commonest():
    design = Design.learn([categories([0, 1, 1], size=5)])
    np.testing.assert_array_equal(design.matrix([categories([1, 4, 0], size=5)], 3), [[1, 0], [1, 0], [1, 1]])


def test_no_columns_leave_the_intercept():
    np.testing.assert_array_equal(Design.learn([]).matrix([], 3), [[1.0]] * 3)
    assert Design.learn([numbers([1.0])]).matrix([numbers([])], 0).shape == (0, 2)


def test_another_number_of_columns_is_refused():
    with pytest.raises(ParameterError, match="fitted on 1 columns"):
        Design.learn([numbers([1.0])]).matrix([], 3)


def test_a_design_comes_back_from_its_state():
    columns = [numbers([1.0, np.nan, 7.0]), categories([0, 2, 1])]
    design = Design.learn(columns)
    np.testing.assert_array_equal(Design.restored(design.state()).matrix(columns, 3), design.matrix(columns, 3))


@given(hnp.arrays(np.float64, st.integers(1, 30), elements=finite))
@example(np.array([-1.7976931348623157e308, 9.97e291]))
def test_any_numbers_are_standardised_without_overflow(values):
    centre, scale = standard(values)
    assert np.isfinite(centre)
    assert 0 < scale < np.inf
    assert np.isfinite(matrix_of([numbers(values)])).all()


@given(st.floats(-1e300, 1e300), st.integers(1, 50))
def test_equal_numbers_have_exactly_their_mean(value, times):
    assert standard(np.full(times, value)) == (value, 1.0)


@settings(max_examples=60)
@given(hnp.arrays(np.float64, st.integers(1, 400), elements=st.integers(-90, 90).map(float)), st.integers(2, 64))
def test_bins_are_few_ordered_and_never_part_equal_numbers(values, most):
    labels = quantile_bins(numbers(values), most)
    assert len(np.unique(labels)) == labels.max() + 1 <= max(most, 2)
    order = np.argsort(values, kind="stable")
    assert (np.diff(labels[order]) >= 0).all()
    assert all(len(set(labels[values == value])) == 1 for value in values)


def test_a_pile_of_equal_numbers_has_a_bin_to_itself():
    values = np.concatenate([np.zeros(500), np.linspace(-3, 3, 500)])
    labels = quantile_bins(numbers(values), 16)
    assert set(values[labels == labels[0]]) == {0.0}
    assert labels.max() + 1 <= 16


def test_donors_are_drawn_within_their_group_as_often_as_they_occur():
    target = numbers([1.0] * 30 + [2.0] * 10 + [8.0] * 5)
    donors = Donors.of(target, np.repeat([0, 1], [40, 5]))
    drawn = donors.sample(np.repeat([0, 1], 20_000), np.random.default_rng(0))
    assert set(drawn[20_000:]) == {8.0}
    assert set(drawn[:20_000]) == {1.0, 2.0}
    assert np.mean(drawn[:20_000] == 1.0) == pytest.approx(0.75, abs=0.02)  # 6 standard deviations
    np.testing.assert_allclose(donors.shares, [40 / 45, 5 / 45])


def test_the_bayesian_bootstrap_varies_a_mean_by_the_variance_over_n():
    values = np.random.default_rng(1).normal(size=200).round(1)
    donors = Donors.of(numbers(values), np.zeros(200, dtype=np.int64))
    draw = np.random.default_rng(2)
    copies = [donors.posterior(draw) for _ in range(2_000)]
    means = [np.average(each.values, weights=each.weights) for each in copies]
    assert np.var(means) == pytest.approx(values.var() / 201, rel=0.15)  # 4.7 standard deviations; the seed is fixed


def test_categories_beyond_the_most_share_a_label():
    labels = commonest(categories([5, 5, 5, 1, 1, 0, 2, 3]), 3)
    assert labels.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]


def test_labels_are_drawn_by_their_shares():
    draw = np.random.default_rng(3)
    shares = shares_of(np.tile(np.log([0.5, 0.3, 0.2]), (50_000, 1)))
    found = np.bincount(draw_labels(shares, draw.random(50_000))) / 50_000
    np.testing.assert_allclose(found, [0.5, 0.3, 0.2], atol=0.012)  # 5 standard deviations


def test_scores_are_levelled_to_what_is_aimed_at():
    scores = np.random.default_rng(4).normal(size=(500, 3)) * 3
    aims = np.array([400.0, 90.0, 10.0])
    np.testing.assert_allclose(shares_of(scores + level_scores(scores, aims)).sum(axis=0), aims, rtol=0.01)


def test_a_target_without_rows_is_refused():
    with pytest.raises(DataError, match="at least one row"):
        Donors.of(numbers([]), np.empty(0, dtype=np.int64))
