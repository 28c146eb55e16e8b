"""Rows from parameters: exact from exact ones, useless from ours."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, SGDClassifier

import ziggurat.learn as private
from ziggurat.attacks._guesses import ALARM
from ziggurat.attacks.models import LabelledRows, LinearParameters, reconstruct_row, reconstruct_rows
from ziggurat.errors import DataError, ParameterError

ROWS, COLUMNS = 200, 4
NEWTON = {"solver": "newton-cholesky", "tol": 1e-12}


def people(kind: str, seed: int = 0, rows: int = ROWS) -> LabelledRows:
    draw = np.random.default_rng(seed)
    features = np.clip(draw.normal(size=(rows, COLUMNS)), -3, 3)
    value = features @ np.array([1.0, -0.5, 0.3, 0.0]) + draw.normal(size=rows) * 0.5
    if kind == "numbers":
        return LabelledRows(features, np.clip(value + 2, -6, 10))
    return LabelledRows(features, np.digitize(value, [0.0] if kind == "two" else [-0.6, 0.6]))


EXACT = {
    "least squares": (LinearRegression(), "numbers"),
    "ridge": (Ridge(alpha=7.0), "numbers"),
    "ridge of large weight": (Ridge(alpha=500.0), "numbers"),
    "logistic": (LogisticRegression(**NEWTON), "two"),
    "logistic of small C": (LogisticRegression(C=0.01, **NEWTON), "two"),
    "several classes": (LogisticRegression(C=0.5, **NEWTON), "three"),
}


@pytest.mark.parametrize("name", EXACT)
def test_every_row_is_rebuilt_from_exact_parameters(name):
    estimator, kind = EXACT[name]
    rows = people(kind)
    model = estimator.fit(rows.features, rows.labels)
    for place in range(0, ROWS, 20):
        made = reconstruct_row(model, rows.take(np.delete(np.arange(ROWS), place)))
        np.testing.assert_allclose(made.features, rows.features[place], atol=1e-6)
        assert made.label == pytest.approx(rows.labels[place], abs=1e-6)
    found = reconstruct_rows(model, rows, random_state=1)
    assert found.verdict is True
    assert found.nearer_than_anybody.rate == found.labels.rate == 1
    assert found.error < 1e-6
    assert "hold rows of people" in found.sentence


@pytest.mark.parametrize(
    ("estimator", "kind"),
    [(Ridge(2.0, fit_intercept=False), "numbers"), (LogisticRegression(fit_intercept=False, **NEWTON), "two")],
)
def test_without_an_intercept_the_label_gives_the_factor(estimator, kind):
    rows = people(kind)
    found = reconstruct_rows(estimator.fit(rows.features, rows.labels), rows, random_state=1)
    assert found.error < 1e-6
    assert found.nearer_than_anybody.rate > 0.5  # two roots fit, and now and then the wrong one is likelier
    assert found.verdict is True


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), alpha=st.floats(0.01, 100), rows=st.integers(8, 60))
def test_whatever_the_data_ridge_gives_the_missing_row(seed, alpha, rows):
    every = people("numbers", seed, rows)
    model = Ridge(alpha).fit(every.features, every.labels)
    made = reconstruct_row(model, every.take(np.arange(1, rows)))
    residual = abs(float(every.labels[0] - model.predict(every.features[:1])[0]))
    assert made.slope == pytest.approx(residual, abs=1e-9)
    np.testing.assert_allclose(made.features * residual, every.features[0] * residual, atol=1e-7)


def test_a_solver_that_stops_early_blurs_but_does_not_hide():
    rows = people("two")
    found = reconstruct_rows(LogisticRegression().fit(rows.features, rows.labels), rows, random_state=1)
    assert 1e-6 < found.error < found.error_by_mean
    assert found.verdict is True


PRIVATE = {
    "least squares": lambda epsilon: private.LinearRegression(
        epsilon=epsilon, bounds=(-3, 3), y_bounds=(-6, 10), random_state=1
    ),
    "ridge": lambda epsilon: private.Ridge(epsilon=epsilon, bounds=(-3, 3), y_bounds=(-6, 10), random_state=1),
    "logistic": lambda epsilon: private.LogisticRegression(epsilon=epsilon, bounds=(-3, 3), classes=2, random_state=1),
    "logistic, output": lambda epsilon: private.LogisticRegression(
        epsilon=epsilon, bounds=(-3, 3), classes=2, method="output", random_state=1
    ),
}


@pytest.mark.parametrize("name", PRIVATE)
def test_nothing_is_rebuilt_from_parameters_with_a_promise(name):
    rows = people("two" if "logistic" in name else "numbers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of much noise for so few rows
        model = PRIVATE[name](1).fit(rows.features, rows.labels)
    found = reconstruct_rows(model, rows, random_state=1)
    assert found.verdict is False
    assert found.error > found.error_by_mean
    assert found.nearer_than_anybody.rate <= 0.04


def test_with_next_to_no_noise_the_same_equations_rebuild_rows_of_ours():
    """The negative control: it is the noise that protects, not a wrong equation."""
    rows = people("two")
    model = PRIVATE["logistic, output"](10**6).fit(rows.features, rows.labels)
    found = reconstruct_rows(model, rows, random_state=1)
    assert found.verdict is True
    assert found.error < 0.05


@pytest.mark.statistical
def test_parameters_that_tell_nothing_are_accused_at_most_once_in_forty_times():
    """Parameters of other people, 60 times: more than 11 verdicts at 1/40 have a chance below 1e-6."""
    accused = 0
    for seed in range(60):
        strangers, rows = people("numbers", 1000 + seed, 60), people("numbers", seed, 60)
        model = LinearRegression().fit(strangers.features, strangers.labels)
        accused += reconstruct_rows(model, rows, targets=30, random_state=seed).chance <= ALARM
    assert accused <= 11


def test_few_targets_accuse_but_clear_nobody():
    rows = people("numbers")
    exact = LinearRegression().fit(rows.features, rows.labels)
    assert reconstruct_rows(exact, rows, targets=8, random_state=1).verdict is True
    shifted = LinearParameters("squares", np.array([[9.0, 9.0, 9.0, 9.0]]), np.array([50.0]))
    assert reconstruct_rows(shifted, rows, targets=8, random_state=1).verdict is None


def test_a_finding_is_a_table_and_json_and_shows_no_row():
    rows = people("numbers")
    model = LinearRegression().fit(rows.features, rows.labels)
    found = reconstruct_rows(model, rows, targets=10, random_state=1)
    assert found.table.num_rows == 6
    assert json.loads(json.dumps(found.to_dict()))["rows"] == ROWS
    made = reconstruct_row(model, rows.take(np.arange(1, ROWS)))
    assert repr(made).startswith("RebuiltRow(slope=")


@pytest.mark.parametrize(
    "estimator",
    [Lasso(), SGDClassifier(), Ridge(positive=True), LogisticRegression(class_weight="balanced"),
     LogisticRegression(solver="liblinear")],
)  # fmt: skip
def test_what_minimises_something_else_is_refused(estimator):
    rows = people("two")
    with pytest.raises(ParameterError, match="rebuilt from"):
        reconstruct_rows(estimator.fit(rows.features, rows.labels), rows)


def test_what_cannot_be_rebuilt_is_refused():
    rows = people("numbers")
    with pytest.raises(ParameterError, match="fit it first"):
        reconstruct_row(Ridge(), rows)
    bare = Ridge(fit_intercept=False).fit(rows.features, rows.labels)
    with pytest.raises(ParameterError, match="give its label"):
        reconstruct_row(bare, rows)
    with pytest.raises(DataError, match="as many columns"):
        reconstruct_row(bare, LabelledRows(np.zeros((5, 2)), np.zeros(5)), label=0.0)
