"""Minimising noisy quadratics, also such as have no minimum."""

import warnings

import numpy as np
import pytest

from ziggurat.learn import ElasticNet, Lasso
from ziggurat.learn._moments import Quadratic
from ziggurat.learn.linear._quadratic import Penalty, solve

LIGHT = Penalty(np.zeros(2), np.full(2, 0.1))


def _quadratic(gram):
    return Quadratic(np.array(gram, dtype=float), np.array([1.0, -1.0]), None, 0.0, 100.0, 0.0)


@pytest.mark.parametrize("gram", [[[1, 3], [3, 1]], [[1e-9, 1], [1, 1e-9]], [[1, -40], [-40, 2]]])
def test_without_a_minimum_or_a_repair_weights_stop_at_a_public_edge_and_a_warning_says_so(gram):
    with pytest.warns(UserWarning, match="without a minimum"):
        weights, _ = solve(_quadratic(gram), LIGHT, repair=False)
    assert np.abs(weights).max() == 1e6


def test_a_saddle_is_called_one():
    squares = Penalty(np.full(2, 0.1), np.zeros(2))
    with pytest.warns(UserWarning, match="saddle"):
        weights, _ = solve(_quadratic([[1, 3], [3, 1]]), squares, repair=False)
    assert np.array([[1.1, 3], [3, 1.1]]) @ weights == pytest.approx([1, -1])


def test_the_edge_changes_nothing_where_there_is_a_minimum():
    gram = [[4, 1], [1, 3]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free, bounded = (solve(_quadratic(gram), LIGHT, repair=repair)[0] for repair in (True, False))
    assert bounded == pytest.approx(free)
    slope = np.array(gram) @ bounded - [1.0, -1.0] + 0.1 * np.sign(bounded)
    assert slope == pytest.approx([0, 0], abs=1e-8)


@pytest.mark.parametrize("model", [Lasso, ElasticNet])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_published_method_never_gives_infinite_weights(model):
    features = np.random.default_rng(0).uniform(-1, 1, (300, 4))
    for seed in range(12):
        made = model(0.01, method="functional-as-published", bounds=(-1, 1), y_bounds=(-1, 1), random_state=seed)
        assert np.abs(made.fit(features, np.zeros(300)).coef_).max() <= 1e6
