"""The search that pays: for its fits, and for its choice."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import NotPublicError, ParameterError
from ziggurat.learn import (
    DecisionTreeClassifier,
    GaussianNB,
    GaussianProcessRegression,
    KernelDensity,
    Lasso,
    LogisticRegression,
    PrivateSearch,
    Ridge,
)
from ziggurat.learn._choosing import scores
from ziggurat.learn._clipping import STEPS
from ziggurat.mechanisms import empirical_epsilon
from ziggurat.privacy import Relation, compose
from ziggurat.randomness import seeded

DRAW = np.random.default_rng(0)
ROWS = DRAW.uniform(-1, 1, (3000, 3))
TARGET = np.clip(ROWS @ [1.0, -0.5, 0.0], -2, 2)
LABELS = (ROWS[:, 0] + ROWS[:, 1] > 0.5).astype(int)
TREE = DecisionTreeClassifier(classes=2, bounds=(-1, 1))
RIDGE = Ridge(bounds=(-1, 1), y_bounds=(-2, 2))
BAYES = GaussianNB(classes=2, bounds=(-1, 1))
LOGISTIC = LogisticRegression(classes=2, bounds=(-1, 1))
PROCESS = GaussianProcessRegression(y_bounds=(-2, 2), bounds=(-1, 1), features=64, noise_variance=30)
SEARCHES = {
    "tree": (TREE, {"depth": [1, 3]}, LABELS),
    "ridge": (RIDGE, {"alpha": [1.0, 1e6]}, TARGET),
    "lasso": (Lasso(bounds=(-1, 1), y_bounds=(-2, 2)), {"alpha": [0.001, 1.0]}, TARGET),
    "bayes": (BAYES, [{"least_spread": [0.1, 0.01]}, {"bounds": [(-2, 2)]}], LABELS),
    "logistic": (LOGISTIC, {"C": [0.01, 1.0]}, LABELS),
    "process": (PROCESS, {"bandwidth": [0.5, 2.0]}, TARGET),
}
RELATIONS = pytest.mark.parametrize("relation", [each.value for each in Relation])

pytestmark = [pytest.mark.filterwarnings("ignore:With "), pytest.mark.filterwarnings("ignore::UserWarning:sklearn")]


@pytest.mark.parametrize(("estimator", "grid", "target"), SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("delta", ["1e-6", 0])
def test_what_is_planned_is_what_all_fits_and_the_choice_cost(estimator, grid, target, delta):
    if delta == 0 and "method" in estimator.get_params() and not isinstance(estimator, LogisticRegression):
        estimator = clone(estimator).set_params(method="functional")
    if delta == 0 and isinstance(estimator, GaussianProcessRegression):
        pytest.skip("it has no pure form")
    search = PrivateSearch(estimator.fresh(), grid, epsilon=2, delta=delta, random_state=1)
    rows = 300 if isinstance(estimator, GaussianProcessRegression) else 3000
    assert search.fit(ROWS[:rows], target[:rows]).event_ == search.planned(rows, 3)
    assert Fraction("1.9") < search.guarantee_.epsilon <= 2
    assert search.best_estimator_.guarantee_ == search.guarantee_
    assert search.best_estimator_.fit_guarantee_.epsilon < search.guarantee_.epsilon
    assert search.predict(ROWS[:5]).tolist() == search.best_estimator_.predict(ROWS[:5]).tolist()


@RELATIONS
def test_the_parts_of_a_pure_search_add_up_exactly(relation):
    search = PrivateSearch(clone(TREE).set_params(relation=relation), {"depth": [1, 2, 3]}, epsilon=1, delta=0)
    assert compose(search.planned(100, 2)).pure().epsilon == 1
    assert search.planned(100, 2).neighbours.relation == relation


def test_gaussian_noise_makes_more_of_the_same_epsilon_than_the_sum_rule():
    plans = [PrivateSearch(one, grid, epsilon=1)._plan(3000, 3) for one, grid in
             ((RIDGE, {"alpha": [1, 2, 3]}), (LOGISTIC, {"C": [1, 2, 3]}))]  # fmt: skip
    each = [plan.candidates[0].epsilon for plan in plans]
    assert each[0] > Fraction("0.4") > each[1] == Fraction(4, 15)


@pytest.mark.parametrize(
    ("name", "best"), [("tree", {"depth": 3}), ("ridge", {"alpha": 1.0}), ("logistic", {"C": 1.0})]
)
def test_it_finds_the_better_candidate_where_noise_is_small(name, best):
    estimator, grid, target = SEARCHES[name]
    search = PrivateSearch(estimator, grid, epsilon=50, random_state=1).fit(ROWS, target)
    assert (search.best_params_, search.candidates_[search.best_index_]) == (best, best)
    assert search.score(ROWS, target) > 0.8
    assert search.rehearsal_


NEIGHBOURS = [np.array([1e9, -1e9, 3.0]), np.zeros(3), np.array([0.1, -0.9, 0.5])]


@pytest.mark.parametrize("name", ["tree", "ridge", "logistic", "bayes"])
@pytest.mark.parametrize("scoring", [None, "brier"])
def test_one_row_moves_every_score_by_one_at_most(name, scoring):
    """Negative control: squared errors of predictions that are not moved into the bounds go further."""
    estimator, grid, target = SEARCHES[name]
    if scoring and name == "ridge":
        pytest.skip("a regression gives no probabilities")
    search = PrivateSearch(estimator, grid, epsilon=5, scoring=scoring, random_state=1).fit(ROWS, target)
    made = search.best_estimator_
    worst = 0
    for row in NEIGHBOURS:
        for label in (0, 1, *([-1e9, 1e9] if name == "ridge" else [])):
            found = []
            for extra in (np.empty((0, 3)), row[None]):
                table = np.vstack([ROWS[:50], extra])
                found.append(scores([search._errors(made, table, np.append(target[:50], [label] * len(extra)))]))
            moved = int(found[0][0] - found[1][0])
            assert 0 <= moved <= STEPS  # an added row never lowers a sum of errors
            worst = max(worst, moved)
    assert worst > 0
    if name == "ridge":
        assert (made.predict(NEIGHBOURS[0][None])[0] - 1e9) ** 2 > STEPS


@RELATIONS
def test_the_choice_hides_a_row_that_decides_between_candidates(relation):
    """The release, drawn 20,000 times on each of two neighbours, proves no more than its epsilon but with 1e-7.

    The exact choice, as `GridSearchCV` makes it, tells the two apart for certain.
    """
    search = PrivateSearch(clone(TREE).set_params(relation=relation), {"depth": [1, 2]}, epsilon=2, choice_share="0.5")
    choice, source = search._plan(100, 2).choice, seeded("choice")
    pair = [-np.array([10, 10]) * STEPS, -np.array([10, 11]) * STEPS]
    if relation == Relation.REPLACE_ONE.value:
        pair[0] = -np.array([11, 10]) * STEPS
    seen = [np.array([choice.release(each, source).value for _ in range(20_000)]) for each in pair]
    assert empirical_epsilon(*seen, delta=0, confidence="0.9999999") <= float(choice.epsilon) == 1
    exact = [np.full(20_000, np.argmax(each[::-1])) for each in pair]
    assert empirical_epsilon(*exact, delta=0, confidence="0.9999999") > 5


def test_a_copy_of_what_was_chosen_counts_the_whole_search():
    search = PrivateSearch(TREE.fresh(), {"depth": [1, 2]}, epsilon=1, delta=0, random_state=1).fit(ROWS, LABELS)
    with pytest.warns(UserWarning, match="fitted 2 times"):
        again = clone(search.best_estimator_).set_params(epsilon=1).fit(ROWS, LABELS)
    assert again.guarantee_.epsilon == 2
    assert TREE.fits_ == 0  # the model that was given stays as it was


@pytest.mark.parametrize(
    ("estimator", "grid", "more", "message"),
    [
        (KMeans(), {"n_clusters": [1, 2]}, {}, "private classifier or regression"),
        (None, {"alpha": [1, 2]}, {}, "private classifier or regression"),
        (KernelDensity(), {"bandwidth": [1, 2]}, {}, "private classifier or regression"),
        (TREE, {"depth": [1]}, {}, "at least two candidates"),
        (TREE, None, {}, "at least two candidates"),
        (TREE, {"epsilon": [1, 2]}, {}, "those of the search"),
        (Ridge(), {"alpha": [1, 2]}, {}, "y_bounds"),
        (RIDGE, {"alpha": [1, 2]}, {"scoring": "brier"}, "scoring must be"),
        (TREE, {"depth": [1, 2]}, {"scoring": "f1"}, "scoring must be"),
        (TREE, {"depth": [1, 2]}, {"choice_share": 1}, "choice_share"),
    ],
)
def test_what_it_cannot_pay_for_is_refused_by_name(estimator, grid, more, message):
    search = PrivateSearch(estimator, grid, **more)
    with pytest.raises((ParameterError, NotPublicError), match=message):
        search.fit(ROWS, LABELS)
    with pytest.raises((ParameterError, NotPublicError), match=message):
        search.planned(10, 2)


@parametrize_with_checks(
    [PrivateSearch(Ridge(bounds=(-10, 10), y_bounds=(-500, 500)), {"alpha": [1, 10]}, epsilon=1000)],
    expected_failed_checks=lambda _: {
        "check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."
    },
)
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)
