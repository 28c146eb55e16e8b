"""How far one row moves what is protected: exhaustively in low dimension, at corners and at random elsewhere."""

import itertools
import json
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from ziggurat.learn._budget import FitBudget, about_rows
from ziggurat.learn._clipping import STEPS, in_steps, shorten
from ziggurat.learn._moments import Moments
from ziggurat.learn.linear._methods import LinearFacts, Output, Statistics, ridge_sensitivity
from ziggurat.privacy import Relation

REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE
ORACLES = Path(os.environ.get("ZIGGURAT_DATA", ".")).parent / "oracles" / "oracles.json"


def _oracle(name):
    if not ORACLES.exists():
        pytest.skip("set ZIGGURAT_DATA to a folder with oracles/oracles.json beside it")
    return next(entry["correct_value"] for entry in json.loads(ORACLES.read_text()) if entry["id"] == name)


def _facts(
    columns, *, rows=100, intercept=False, norm=None, ridge=1.0, kind="gaussian", epsilon=1, relation="replace-one"
):
    delta = Fraction(1, 10**6) if kind == "gaussian" else Fraction(0)
    budget = FitBudget(Fraction(epsilon), delta, kind, about_rows(relation))
    return LinearFacts(rows, columns, Fraction(columns) if norm is None else norm, intercept, ridge, budget, rows)


def _released(moments, rows):
    """The released entries of single rows (x..., y), in squared steps."""
    return np.stack(
        [moments.sum_up(in_steps(row[None, :-1]), np.trunc(row[-1:] * moments.target).astype(int)) for row in rows]
    )


def _furthest(entries, order):
    apart = np.abs(entries[:, None].astype(float) - entries[None].astype(float))
    return apart.sum(-1).max() if order == 1 else np.sqrt((apart**2).sum(-1).max())


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("weights", [(0, 1.0), (1.0, 1.0), (0.7, 1.3), (1.2, 0.5)])
def test_no_pair_of_rows_in_the_box_exceeds_the_l2_sensitivity_and_half_would_be_exceeded(columns, weights):
    moments = Moments(columns, Fraction(columns), int(weights[0] * STEPS), int(weights[1] * STEPS), REPLACE)
    rows = np.array(list(itertools.product([-1, -0.6, 0, 0.6, 1], repeat=columns + 1)))
    most = _furthest(_released(moments, rows), 2)
    assert float(moments.l2) / 2 < most <= float(moments.l2)


@pytest.mark.parametrize("intercept", [0, STEPS])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_pair_of_rows_in_the_box_exceeds_the_l1_sensitivity_and_half_would_be_exceeded(columns, intercept):
    moments = Moments(columns, Fraction(columns), intercept, STEPS, REPLACE)
    rows = np.array(list(itertools.product([-1, -0.5, 0, 0.5, 1], repeat=columns + 1)))
    most = _furthest(_released(moments, rows), 1)
    assert float(moments.l1) / 2 < most <= float(moments.l1)


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("weights", [(0, 1.0), (1.0, 1.0), (0.7, 1.3)])
@pytest.mark.parametrize("order", [1, 2])
def test_no_row_more_exceeds_the_sensitivity_which_a_corner_attains(columns, weights, order):
    """Attained, so that half of it, or anything less, would be exceeded."""
    if order == 1 and weights == (0.7, 1.3):
        pytest.skip("l1 is for weights of 1")
    moments = Moments(columns, Fraction(columns), int(weights[0] * STEPS), int(weights[1] * STEPS), ADD)
    rows = np.array(list(itertools.product([-1, -0.6, 0, 0.6, 1], repeat=columns + 1)))
    entries = np.abs(_released(moments, rows).astype(float))
    most = entries.sum(1).max() if order == 1 else np.sqrt((entries**2).sum(1).max())
    stated = float(moments.l1 if order == 1 else moments.l2)
    assert stated * (1 - 1e-6) < most <= stated


def test_the_l2_sensitivity_is_attained_by_orthogonal_corners():
    moments = Moments(3, Fraction(3), 0, STEPS, REPLACE)
    rows = np.array([[1, 1, 1, 1], [1, 1, -1, -1]], dtype=float)
    assert _furthest(_released(moments, rows), 2) == float(moments.l2)


@pytest.mark.parametrize("norm", [Fraction(1, 4), Fraction(1), Fraction(9, 4)])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_no_row_in_the_ball_exceeds_the_l2_sensitivity_and_half_would_be_exceeded(norm, relation):
    draw = np.random.default_rng(5)
    moments = Moments(4, norm, int(0.8 * STEPS), int(0.6 * STEPS), relation)
    wild = np.concatenate([draw.normal(size=(300, 4)), 9 * np.eye(4), -9 * np.eye(4), draw.choice([-9, 0, 9], (60, 4))])
    features = shorten(np.clip(wild, -1, 1), Fraction(float(norm) ** 0.5))
    rows = np.column_stack([features, draw.choice([-1.0, 1.0], len(wild))])
    entries = _released(moments, rows)
    most = _furthest(entries if relation is REPLACE else np.vstack([entries[0] * 0, entries]), 2)
    most = most if relation is REPLACE else np.sqrt((entries.astype(float) ** 2).sum(1).max())
    assert float(moments.l2) / 2 < most <= float(moments.l2)


def test_rows_never_leave_their_ball_when_they_are_rounded():
    draw = np.random.default_rng(1)
    norm = Fraction(13, 10)
    steps = in_steps(shorten(draw.uniform(-1, 1, (2000, 5)), norm))
    assert int((steps.astype(object) ** 2).sum(1).max()) <= norm**2 * STEPS**2


def test_sums_are_exact_over_many_blocks():
    draw = np.random.default_rng(2)
    features = draw.integers(-STEPS, STEPS + 1, (5000, 3))
    target = draw.integers(-90 * STEPS, 90 * STEPS, 5000)
    moments = Moments(3, Fraction(3), 77 * STEPS, 90 * STEPS, ADD)
    rows = np.column_stack([features, np.full(5000, 77 * STEPS), target]).astype(object)
    assert moments.sum_up(features, target).tolist() == (rows.T @ rows)[moments.places].tolist()


@pytest.mark.parametrize("d", [1, 5, 8, 11])
def test_the_published_sensitivity_is_the_printed_one_and_twice_the_exact_one(d):
    made = Statistics(_facts(d, kind="laplace"), "functional-as-published")
    used = float(made.event.sensitivity) / STEPS**2
    assert used == pytest.approx(_oracle(f"fm.sens.printed.d{d}"), rel=1e-5)
    if d in (5, 11):
        assert used == pytest.approx(2 * _oracle(f"fm.sens.tight.d{d}"), rel=1e-5)


def test_the_oracles_of_sufficient_statistics_and_of_ridge():
    assert float(Moments(3, Fraction(3), 0, STEPS, REPLACE).l1) / STEPS**2 == _oracle("fm.sens.upper.d3")
    only_products = Moments(3, Fraction(1), 0, 0, REPLACE)
    assert float(only_products.l2) / STEPS**2 == pytest.approx(_oracle("fm.ssp.XtX.replace"), rel=1e-9)
    printed = ridge_sensitivity(170084, 170084 * 0.01, as_printed=True)
    assert float(printed) * 5**0.5 == pytest.approx(_oracle("ridge.sens.l1"), rel=1e-9)
    assert ridge_sensitivity(170084, 1700.84) < printed


def _ridge(features, target, ridge):
    return np.linalg.solve(features.T @ features + ridge * np.eye(features.shape[1]), features.T @ target)


def test_no_replaced_row_moves_a_ridge_further_than_stated_and_half_would_be_exceeded():
    rows, ridge, most, draw = 400, 100.0, 0.0, np.random.default_rng(3)
    stated = float(ridge_sensitivity(rows, ridge))
    features = np.column_stack([np.full(rows, 0.5), np.zeros(rows)])
    target, angles = np.ones(rows), np.linspace(0, 2 * np.pi, 41)
    for first, second in [*itertools.product(angles, angles), *draw.uniform(0, 2 * np.pi, (50, 2))]:
        for sign in (-1.0, 1.0):
            fits = []
            for angle, aim in ((first, -1.0), (second, sign)):
                features[0], target[0] = (np.cos(angle), np.sin(angle)), aim
                fits.append(_ridge(features, target, ridge))
            most = max(most, np.linalg.norm(fits[0] - fits[1]))
    assert stated / 2 < most <= stated


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_no_row_more_moves_a_ridge_further_than_stated_and_half_would_be_exceeded(kind):
    """A crowd of short rows makes the weights as long as they can be, and the row stands across it."""
    rows, ridge = 40_000, 1.0
    made = Output(_facts(2, rows=rows + 1, norm=Fraction(1), ridge=ridge, kind=kind, relation="add-or-remove-one"))
    stated = float(made.event.sensitivity) / (2**0.5 if kind == "laplace" else 1)
    features, target = np.tile([(ridge / rows) ** 0.5, 0.0], (rows, 1)), np.ones(rows)
    alone = _ridge(features, target, ridge)
    assert np.linalg.norm(alone) > 0.99 * (rows / ridge) ** 0.5 / 2
    most = 0.0
    for angle in [*np.linspace(0, 2 * np.pi, 33), *np.random.default_rng(1).uniform(0, 2 * np.pi, 8)]:
        for aim in (-1.0, 1.0):
            more = np.vstack([features, [np.cos(angle), np.sin(angle)]])
            most = max(most, np.linalg.norm(_ridge(more, np.append(target, aim), ridge) - alone))
    assert stated / 4 < most <= stated


def test_round_off_of_the_solver_is_within_what_is_allowed_for():
    draw = np.random.default_rng(4)
    facts = _facts(6, rows=300, ridge=1e-3)
    features, target = draw.uniform(-1, 1, (300, 6)), draw.uniform(-1, 1, 300)
    features[:, 5] = features[:, 4]
    import mpmath

    x, y = in_steps(features) / STEPS, in_steps(target) / STEPS
    exact = mpmath.lu_solve(mpmath.matrix(x.T @ x) + facts.ridge * mpmath.eye(6), mpmath.matrix(x.T @ y))
    found = _ridge(x, y, facts.ridge)
    assert np.linalg.norm(found - np.array([float(v) for v in exact])) < float(Output(facts)._round_off())


@pytest.mark.parametrize("columns", [1, 4, 11, 50])
def test_one_joint_release_costs_less_than_two_with_the_same_noise_on_every_entry(columns):
    moments = Statistics(_facts(columns, intercept=True), "adassp").moments
    products = Moments(columns, Fraction(columns), moments.constant, 0, REPLACE).l2
    with_target = 2 * moments.target * (columns * STEPS**2 + moments.constant**2) ** 0.5
    assert float(moments.l2) ** 2 < float(products) ** 2 + with_target**2
