import itertools
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import DataError, NotPublicError, ParameterError, ZigguratError
from ziggurat.learn import LogisticRegression
from ziggurat.learn._budget import FitBudget, about_rows
from ziggurat.learn.linear._logistic import Added, slopes_for
from ziggurat.learn.linear._methods import LinearFacts
from ziggurat.learn.linear._objective import newton
from ziggurat.privacy import Relation

CANARY = 987_654_321.125


def _rows(n=2000, classes=2, seed=0):
    draw = np.random.default_rng(seed)
    features = draw.uniform(-1, 1, (n, 3))
    if classes == 2:
        return features, (features @ [3.0, -2.0, 0.0] + draw.logistic(0, 0.3, n) > 0.3).astype(int)
    return features, np.argmax(features, axis=1)


_DECLARED = "The classes are declared, and the check brings others."
_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}
_FAILED = dict.fromkeys(("check_dtype_object", "check_classifiers_classes", "check_classifiers_train"), _DECLARED)
_FAILED |= _EMPTY
_FAILED["check_decision_proba_consistency"] = "It takes the decisions of three classes for those of two."


@parametrize_with_checks(
    [
        LogisticRegression(epsilon=1000, classes=3),
        LogisticRegression(epsilon=1000, classes=3, method="output"),
        LogisticRegression(epsilon=1000, classes=3, delta=0, fit_intercept=False),
    ],
    expected_failed_checks=lambda _: _FAILED,
    xfail_strict=False,  # the noise is not seeded, and now and then a check is passed by luck
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weight", [0.05, 1.0])
def test_with_little_noise_it_is_the_model_of_scikit_learn_on_scaled_rows(weight):
    features, labels = _rows(20_000)
    ours = LogisticRegression(classes=2, epsilon=100, C=weight, bounds=([-1, -1, 5], [1, 1, 25]), random_state=1)
    ours.fit(features * [1, 1, 10] + [0, 0, 15], labels)
    joined = np.hstack([features, np.ones((len(features), 1))])
    theirs = linear_model.LogisticRegression(C=weight, fit_intercept=False, tol=1e-8).fit(joined, labels)
    assert ours.coef_[0] * [1, 1, 10] == pytest.approx(theirs.coef_[0, :3], abs=0.1)


@pytest.mark.parametrize("method", ["objective", "output"])
@pytest.mark.parametrize("paid", [False, True])
@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_does_what_was_planned_and_keeps_within_epsilon(method, paid, delta, classes, relation):
    features, labels = _rows(300, classes)
    bounds = None if paid else (-1, 1)
    given = {"classes": classes, "method": method, "delta": delta, "bounds": bounds, "relation": relation.value}
    model = LogisticRegression(epsilon="0.3", random_state=2, **given)
    assert model.fit(features, labels).event_ == model.planned(300, 3)
    assert model.guarantee_.epsilon <= Fraction("0.3")
    assert model.guarantee_.neighbours.relation is relation
    declared = clone(model).set_params(classes=list(range(classes)))
    assert declared.planned(300, 3) == model.event_


def test_it_learns_at_a_modest_epsilon():
    features, labels = _rows(10_000)
    assert (
        LogisticRegression(classes=2, random_state=1, bounds=(-1, 1)).fit(features, labels).score(features, labels)
        > 0.85
    )
    features, labels = _rows(10_000, 3)
    made = LogisticRegression(classes=3, random_state=1, epsilon=3, bounds=(-1, 1)).fit(features, labels)
    assert made.score(features, labels) > 0.8
    assert made.predict_proba(features).sum(axis=1) == pytest.approx(1)


def _minimum(rows, signs, ridge):
    return newton(rows, slopes_for(signs), ridge, np.zeros(rows.shape[1]), 1e-10)


def test_no_replaced_row_moves_the_minimum_further_than_stated_and_half_would_be_exceeded():
    ridge, crowd = 1.0, 200
    stated = 2 * 2**0.5 / ridge
    rows = np.vstack([np.zeros((1, 2)), np.tile([1.0, 0.0], (crowd, 1))])
    signs, most = np.ones(crowd + 1), 0.0
    extremes = list(itertools.product([-1.0, -0.8, 0.0, 0.8, 1.0], [-1.0, 0.0, 1.0], [-1.0, 1.0]))
    found = []
    for first, second, sign in extremes:
        rows[0], signs[0] = (first, second), sign
        found.append(_minimum(rows, signs, ridge))
    most = max(np.linalg.norm(a - b) for a in found for b in found)
    assert stated / 2 < most <= stated


def test_no_row_more_moves_the_minimum_further_than_stated_and_half_would_be_exceeded():
    """A crowd holds the minimum on the wrong side of the row, which then pulls across it with nearly all its force."""
    ridge, crowd, found = 1.0, np.tile([1.0, 0.0], (20_000, 1)), []
    stated = 2**0.5 / ridge
    alone = _minimum(crowd, np.ones(20_000), ridge)
    corners = itertools.product([-1.0, -0.8, 0.0, 0.8, 1.0], [-1.0, 0.0, 1.0], [-1.0, 1.0])
    for *row, sign in [*corners, *np.random.default_rng(1).uniform(-1, 1, (20, 3))]:
        rows, signs = np.vstack([row, crowd]), np.append(np.sign(sign), np.ones(20_000))
        found.append(np.linalg.norm(_minimum(rows, signs, ridge) - alone))
    assert stated / 2 < max(found) <= stated


@pytest.mark.parametrize(("relation", "changed"), [("replace-one", 2), ("add-or-remove-one", 1)])
def test_the_noise_is_for_that_sensitivity_over_all_classes_together(relation, changed):
    for kind, problems, times in (("gaussian", 1, 1), ("gaussian", 4, 2), ("laplace", 1, 2), ("laplace", 3, 6)):
        delta = Fraction(1, 1000) if kind == "gaussian" else Fraction(0)
        budget = FitBudget(Fraction(1), delta, kind, about_rows(relation))
        made = Added(LinearFacts(100, 4, Fraction(4), False, 0.5, budget), problems)
        assert float(made.event.sensitivity) == pytest.approx(times * changed * 2 / 0.5, rel=1e-4)
        assert float(made.event.sensitivity) >= times * changed * 2 / 0.5


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epsilon": -1}, "epsilon"),
        ({"delta": 2}, "delta"),
        ({"method": "adassp"}, "method"),
        ({"C": 0}, "C"),
        ({"classes": ["one"]}, "classes"),
        ({"bounds": (1, 0)}, "bounds"),
        ({"clip_norm": -1}, "clip_norm"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wrong_parameters_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        LogisticRegression(**{"classes": 2, **wrong}).fit(*_rows(30))


def test_classes_that_are_not_declared_are_not_taken_from_the_rows():
    features, labels = np.zeros((10, 2)), np.ones(10, dtype=int)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        LogisticRegression(bounds=(-1, 1)).fit(features, labels)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        LogisticRegression(bounds=(-1, 1)).planned(10, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = LogisticRegression(bounds=(-1, 1), classes=[0, 1], random_state=1).fit(features, labels)
    assert made.classes_.tolist() == [0, 1]


def test_no_message_shows_a_cell_or_a_label():
    features, labels = _rows(30)
    features[0, 0] = CANARY
    features[1, 1] = np.nan
    with pytest.raises(ZigguratError) as caught:
        LogisticRegression(classes=2).fit(features, labels)
    assert "98765" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        LogisticRegression(classes=["a", "b"]).fit(np.zeros((2, 1)), ["a", "secret"])
    assert "secret" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ["objective", "output"])
@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (3, 20), (40, 2)])
def test_few_rows_and_constant_columns_give_finite_weights(method, rows, columns):
    labels = np.arange(rows) % 2
    made = LogisticRegression(classes=2, method=method, random_state=1).fit(np.full((rows, columns), 0.5), labels)
    assert np.isfinite(made.coef_).all()


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_ridge_beside_which_floats_lose_the_rows_is_refused_whatever_the_rows_are(rows):
    """A solver that gives up on one row, and not on none, would tell them apart."""
    made = LogisticRegression(classes=2, method="output", C=1e17, expected_rows=4, bounds=(-1, 1), fit_intercept=False)
    with pytest.raises(ParameterError, match="lower C"):
        made.fit(np.ones((rows, 2)), np.arange(rows) % 2)
    with pytest.raises(np.linalg.LinAlgError):  # the control: what the refusal prevents
        newton(np.ones((1, 2)), slopes_for(np.ones(1)), 1e-17, np.zeros(2), 1e-10)


def test_a_tiny_epsilon_warns_from_public_facts_alone():
    features, labels = _rows(100)
    with pytest.warns(UserWarning, match="times what the rows can tell"):
        LogisticRegression(classes=2, epsilon="0.001", expected_rows=90, random_state=1, bounds=(-1, 1)).fit(
            features, labels
        )


def test_pipelines_and_pickles_work():
    features, labels = _rows(5000)
    made = LogisticRegression(classes=2, random_state=1, epsilon=5, bounds=(-1, 1))
    pipeline = make_pipeline(FunctionTransformer(), made)
    assert cross_val_score(pipeline, features, labels, cv=2).mean() > 0.8
    again = pickle.loads(pickle.dumps(made.fit(features, labels)))
    assert np.array_equal(again.predict_proba(features), made.predict_proba(features))
