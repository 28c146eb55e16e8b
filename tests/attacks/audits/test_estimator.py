"""Any estimator is audited with its own settings, on invented neighbours that are as it declares."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from ziggurat import learn
from ziggurat.attacks.audits import audit_case, audit_estimator, make_estimator_case, state_claim
from ziggurat.attacks.audits._invented import invent_pair
from ziggurat.errors import ParameterError
from ziggurat.privacy import Neighbours, PureDP

FEW = {"columns": 1, "rows": 4}
MODELS = [
    learn.GaussianNB(classes=2, bounds=(-1, 1), delta=0),
    learn.CategoricalNB(classes=["a", "b"], categories=3, delta=0, relation="replace-one"),
    learn.Histogram(bounds=(-1, 1), bins=2, delta=0),
    learn.CloakedRegression(questions=[[1.0]], y_bounds=(-1, 1), delta="1e-3"),
]


@pytest.mark.statistical
@pytest.mark.parametrize("model", MODELS[1:], ids=lambda model: type(model).__name__)
def test_an_estimator_keeps_its_promise_and_one_that_spends_twenty_times_does_not(model):
    claim = state_claim(model, **FEW)
    assert 0.99 < claim <= 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        honest = audit_estimator(model, **FEW, runs=200, random_state=1)
    assert honest.claimed == claim
    assert not honest.refuted
    case = make_estimator_case(model, **FEW, runs=200)
    assert audit_case(case, claim, spent=20 * claim, random_state=1).refuted
    assert "event_" not in vars(model)


def test_neighbours_are_as_the_estimator_promises_about_them():
    added = invent_pair(MODELS[0], 6, 2)
    assert [len(each) for each in added.features] == [7, 6]
    replaced = invent_pair(MODELS[1], 6, 2)
    assert [len(each) for each in replaced.features] == [7, 7]
    assert replaced.features[0].max() == 2
    assert list(replaced.labels[0]) == ["a"] * 6 + ["b"]
    labelled = invent_pair(MODELS[3], 6, 1)
    assert np.array_equal(*labelled.features)
    assert list(labelled.labels[0] != labelled.labels[1]) == [False] * 6 + [True]


class Exact(BaseEstimator):
    """In the manner of scikit-learn, promises something and adds no noise."""

    def __init__(self, epsilon=1):
        self.epsilon = epsilon

    def fit(self, X, y=None):  # noqa: N803
        self.sums_ = np.asarray(X).sum(axis=0)
        self.guarantee_ = PureDP(Neighbours(), Fraction(self.epsilon))
        return self


def test_noise_that_was_left_out_is_found_in_a_foreign_estimator():
    found = audit_estimator(Exact(), **FEW, runs=400, random_state=1)
    assert found.refuted
    assert "Exact" in found.sentence


def test_what_says_no_promise_is_refused():
    class Silent(Exact):
        def fit(self, X, y=None):  # noqa: N803
            self.sums_ = np.asarray(X).sum(axis=0)
            return self

    with pytest.raises(ParameterError, match="if it says what it promises"):
        audit_estimator(Silent(), **FEW)
