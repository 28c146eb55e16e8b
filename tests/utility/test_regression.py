"""Regressions on the original and on the copies."""

import numpy as np
import pyarrow as pa
import pytest
from sklearn.linear_model import LogisticRegression

from ziggurat.errors import DataError, ParameterError, SchemaError
from ziggurat.synthesize import combine_estimates
from ziggurat.utility import Formula, regression


def test_a_line_has_its_closed_form():
    draw = np.random.default_rng(1)
    x = draw.normal(2010, 10, 400)
    y = 3 * x + draw.normal(0, 2, 400)
    table = pa.table({"x": x, "y": y})
    found = regression(table, table, "y ~ x")
    slope = np.cov(x, y)[0, 1] / x.var(ddof=1)
    left = y - y.mean() - slope * (x - x.mean())
    error = np.sqrt(left @ left / 398 / np.sum((x - x.mean()) ** 2))
    assert (found["x"].original.estimate, found["x"].original.error) == pytest.approx((slope, error), rel=1e-9)
    assert found["intercept"].original.estimate == pytest.approx(y.mean() - slope * x.mean(), rel=1e-6)


def test_logistic_coefficients_are_scikit_learns_without_a_penalty(original):
    found = regression(original, original, "owner ~ age + sex", kind="logistic")
    design = np.stack([original.column("age").to_numpy(), np.asarray(original.column("sex")) == "m"], axis=1)
    model = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(design, np.asarray(original.column("owner")))
    ours = [found[name].original.estimate for name in ("intercept", "age", "sex[m]")]
    assert ours == pytest.approx([model.intercept_[0], *model.coef_[0]], abs=1e-4)


def test_the_error_of_a_log_odds_has_its_closed_form():
    table = pa.table({"hit": ["no"] * 30 + ["yes"] * 70 + ["no"] * 60 + ["yes"] * 40, "g": ["a"] * 100 + ["b"] * 100})
    found = regression(table, table, "hit ~ g", kind="logistic")["g[b]"].original
    assert found.estimate == pytest.approx(np.log(40 / 60) - np.log(70 / 30), rel=1e-9)
    assert found.error == pytest.approx(np.sqrt(1 / 30 + 1 / 70 + 1 / 60 + 1 / 40), rel=1e-9)


def test_copies_are_combined_by_the_rules(original, copies):
    found = regression(original, copies, "age ~ sex", combining="partially")["sex[m]"].synthetic
    each = [regression(copy, copy, "age ~ sex")["sex[m]"].original for copy in copies]
    wanted = combine_estimates([one.estimate for one in each], [one.error**2 for one in each], "partially")
    assert (found.estimate, found.low, found.high) == pytest.approx((wanted.estimate, wanted.low, wanted.high))


def test_rows_that_lack_a_value_are_left_out_and_counted(original, copies):
    found = regression(original, copies, "income ~ age + sex + region + joined")
    absent = original.column("income").null_count
    assert (found.rows, found.dropped) == (2000 - absent, absent)
    assert found.synthetic_dropped == tuple(copy.column("income").null_count for copy in copies)
    assert [each.name for each in found.coefficients][:4] == ["intercept", "age", "sex[m]", "region[north]"]
    assert found.overlap > 0.6


def test_equal_tables_taken_for_real_overlap_wholly(original):
    found = regression(original, original, "owner ~ age", kind="logistic", combining="as real")
    assert found.overlap == pytest.approx(1)
    assert all(each.difference == 0 for each in found.coefficients)


def test_a_column_that_follows_from_others_is_named():
    x = np.arange(50.0)
    table = pa.table({"y": x**2, "x": x, "twice": 2 * x, "same": [1.0] * 50})
    for formula, name in (("y ~ x + twice", "x' of the formula|twice"), ("y ~ same", "same")):
        with pytest.raises(DataError, match=name):
            regression(table, table, formula)


def test_a_target_that_is_told_apart_perfectly_is_refused_in_words():
    table = pa.table({"y": [0] * 20 + [1] * 20, "x": np.arange(40.0)})
    with pytest.raises(DataError, match="no finite answer"):
        regression(table, table, "y ~ x", kind="logistic")


def test_a_category_that_a_copy_lacks_is_told_without_its_name():
    first = pa.table({"y": np.arange(30.0), "c": ["a", "b", "secret"] * 10})
    second = pa.table({"y": np.arange(30.0), "c": ["a", "b"] * 15})
    with pytest.raises(DataError, match="Synthetic copy 1 lacks a category of column 'c'") as caught:
        regression(first, second, "y ~ c")
    assert "secret" not in str(caught.value)


def test_a_category_that_the_original_lacks_is_left_out_and_counted():
    first = pa.table({"y": np.arange(30.0), "c": ["a", "b"] * 15})
    second = pa.table({"y": np.arange(30.0), "c": ["a", "b", "new"] * 10})
    assert regression(first, second, "y ~ c").synthetic_dropped == (10,)


@pytest.mark.parametrize(
    ("formula", "kind", "error"),
    [
        ("income", "linear", ParameterError),
        ("income ~ ", "linear", ParameterError),
        ("income ~ age + age", "linear", ParameterError),
        ("income ~ ages", "linear", SchemaError),
        ("sex ~ age", "linear", ParameterError),
        ("region ~ age", "logistic", ParameterError),
        ("income ~ age", "cubic", ParameterError),
    ],
)
def test_formulas_that_make_no_sense_are_refused(original, formula, kind, error):
    with pytest.raises(error):
        regression(original, original, formula, kind=kind)


def test_names_with_signs_stand_in_backquotes():
    assert Formula.parse("`a~b` ~ `c + d` + e f") == Formula("a~b", ("c + d", "e f"))


def test_fewer_rows_than_coefficients_are_refused():
    table = pa.table({"y": [1.0, 2.0], "x": [1.0, 3.0]})
    with pytest.raises(DataError, match="2 coefficients need more"):
        regression(table, table, "y ~ x")


def test_a_coefficient_that_is_not_there_is_refused(original):
    with pytest.raises(ParameterError):
        regression(original, original, "age ~ sex")["height"]
