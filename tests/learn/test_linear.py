import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import linear_model
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.learn import ElasticNet, Lasso, LinearRegression, Ridge
from ziggurat.privacy import Relation

BOX = {"bounds": (-1, 1), "y_bounds": (-3, 3)}
FREE = {**BOX, "epsilon": 10**9, "delta": "0.5", "random_state": 1}
CANARY = 987_654_321.125


def _rows(n=2000, columns=3, seed=0):
    draw = np.random.default_rng(seed)
    features = draw.uniform(-1, 1, (n, columns))
    return features, features @ np.array([1.0, -0.5, 0.25])[:columns] + 0.4 + draw.normal(0, 0.1, n)


_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}


@parametrize_with_checks(
    [
        LinearRegression(),
        Ridge(),
        Ridge(method="functional", delta=0),
        Ridge(method="objective"),
        Ridge(method="output", expected_rows=1000),
        Lasso(),
        ElasticNet(relation="replace-one"),
    ],
    expected_failed_checks=lambda model: _EMPTY if model.relation == "add-or-remove-one" else {},
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (LinearRegression(**FREE), linear_model.LinearRegression()),
        (LinearRegression(fit_intercept=False, **FREE), linear_model.LinearRegression(fit_intercept=False)),
        (LinearRegression(method="functional", **FREE), linear_model.LinearRegression()),
        (LinearRegression(method="functional-as-published", **FREE), linear_model.LinearRegression()),
        (Ridge(50, **FREE), linear_model.Ridge(50)),
        (Ridge(50, relation="replace-one", **FREE), linear_model.Ridge(50)),
        (Lasso(0.1, relation="replace-one", **FREE), linear_model.Lasso(0.1)),
        (Lasso(0.1, fit_intercept=False, expected_rows=2000, **FREE), linear_model.Lasso(0.1, fit_intercept=False)),
        (ElasticNet(0.1, **FREE), linear_model.ElasticNet(0.1)),
    ],
)
def test_without_noise_it_is_the_model_of_scikit_learn_in_the_units_of_the_data(ours, theirs):
    features, target = _rows()
    wide = features * [1, 10, 100] + [0, 5, -50]
    ours.set_params(bounds=([-1, -5, -150], [1, 15, 50])).fit(wide, target)
    theirs.fit(wide, target)
    assert ours.predict(wide) == pytest.approx(theirs.predict(wide), abs=1e-3)


@pytest.mark.parametrize("method", ["adassp", "functional", "objective", "output", "input"])
@pytest.mark.parametrize("paid", [False, True])
@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_does_what_was_planned_and_keeps_within_epsilon(method, paid, delta, relation):
    if method == "adassp" and not delta:
        pytest.skip("needs a delta")
    features, target = _rows(300)
    given = {"relation": relation.value, "expected_rows": 200, "random_state": 2, **({} if paid else BOX)}
    model = Ridge(30, method=method, delta=delta, epsilon="0.3", **given)
    assert model.fit(features, target).event_ == model.planned(300, 3)
    assert model.guarantee_.epsilon <= Fraction("0.3")
    assert model.guarantee_.neighbours.relation is relation
    assert model.rehearsal_


@pytest.mark.parametrize("method", ["adassp", "functional", "output", "input"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_added_or_removed_rows_need_less_noise(method):
    features, target = _rows(300)
    model = Ridge(method=method, random_state=2, expected_rows=200, **BOX).fit(features, target)
    assert model.guarantee_.neighbours.relation is Relation.ADD_OR_REMOVE_ONE
    assert model.planned(300, 3) == model.planned(900, 3) == model.event_
    other = Ridge(method=method, relation="replace-one", **BOX).planned(400, 3)
    assert model.event_.sensitivity <= other.sensitivity


def test_secure_randomness_is_the_default_and_rehearsals_repeat():
    features, target = _rows()
    first, second = (Ridge(random_state=5, **BOX).fit(features, target) for _ in range(2))
    assert np.array_equal(first.coef_, second.coef_)
    drawn = [Ridge(**BOX).fit(features, target) for _ in range(2)]
    assert not np.array_equal(drawn[0].coef_, drawn[1].coef_)
    assert drawn[0].origin_ == "secure"


def test_it_learns_at_a_modest_epsilon():
    features, target = _rows(20_000)
    for model in (LinearRegression, Ridge):
        made = model(random_state=1, **BOX).fit(features, target)
        assert made.coef_ == pytest.approx([1, -0.5, 0.25], abs=0.1)
        assert made.score(features, target) > 0.9


def test_the_lasso_finds_the_column_that_counts():
    features, _ = _rows(20_000)
    made = Lasso(0.1, random_state=1, **BOX).fit(features, features[:, 0] * 2)
    assert made.coef_[0] > 1
    assert made.coef_[1:].tolist() == [0, 0]


def test_pipelines_grids_clones_and_pickles_work():
    features, target = _rows(500)
    pipeline = make_pipeline(FunctionTransformer(), Ridge(random_state=1, epsilon=5, **BOX))
    search = GridSearchCV(pipeline, {"ridge__alpha": [0.1, 1.0]}, cv=2).fit(features, target)
    best = search.best_estimator_[-1]
    assert clone(best).get_params() == best.get_params()
    again = pickle.loads(pickle.dumps(best))
    assert np.array_equal(again.predict(features), best.predict(features))
    assert again.event_ == best.event_


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"delta": 0}, "needs a delta"),
        ({"method": "magic"}, "method"),
        ({"alpha": "best"}, "alpha is public"),
        ({"alpha": -1}, "alpha"),
        ({"alpha": 0, "method": "output", "expected_rows": 30}, "needs a ridge"),
        ({"relation": "neither"}, "relation"),
        ({"method": "output"}, "declare expected_rows"),
        ({"method": "input"}, "declare expected_rows"),
        ({"method": "output", "expected_rows": 0}, "expected_rows"),
        ({"expected_rows": "many"}, "expected_rows"),
        ({"clip_norm": 0}, "clip_norm"),
        ({"random_state": 1.5}, "random state"),
        ({"bounds": (1, 0)}, "bounds"),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_wrong_parameters_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Ridge(**{**BOX, **wrong}).fit(*_rows(30))


def test_a_histogram_of_many_columns_is_refused():
    with pytest.raises(ParameterError, match="more cells"):
        LinearRegression(method="input", expected_rows=10_000, **BOX).planned(1, 9)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("where", ["features", "target"])
def test_no_message_shows_a_cell(bad, where):
    features, target = _rows(30)
    features[3, 1] = target[4] = CANARY
    (features if where == "features" else target)[:1] = bad
    with pytest.raises(ZigguratError) as caught:
        Ridge(**BOX).fit(features, target)
    assert "98765" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_text_among_the_features_is_not_shown():
    with pytest.raises(ZigguratError) as caught:
        Ridge(**BOX).fit([["secret", 1.0], ["b", 2.0]], [0.0, 1.0])
    assert "secret" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ["adassp", "functional", "functional-as-published", "objective", "output"])
@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 5), (3, 20), (40, 2)])
def test_few_rows_and_constant_columns_give_finite_weights(method, rows, columns):
    model = Ridge(method=method, random_state=1, expected_rows=100, **BOX)
    made = model.fit(np.full((rows, columns), 0.5), np.full(rows, 0.5))
    assert np.isfinite(made.coef_).all()
    assert made.predict(np.zeros((2, columns))).shape == (2,)


def test_a_tiny_epsilon_warns_from_public_facts_alone():
    features, target = _rows(100)
    said = []
    for table in (features, np.zeros_like(features)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            Ridge(epsilon="0.001", expected_rows=120, random_state=1, **BOX).fit(table, target)
        said.append([str(item.message) for item in caught])
    assert said[0] == said[1]
    assert "times what the rows can tell" in said[0][0]


def test_a_comfortable_epsilon_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Ridge(epsilon=5, expected_rows=20_000, random_state=1, **BOX).fit(*_rows(20_000))
        Ridge(epsilon=5, relation="replace-one", random_state=1, **BOX).fit(*_rows(20_000))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.floats(allow_nan=True, width=64), min_size=2, max_size=2), min_size=1, max_size=6))
def test_any_table_of_floats_is_learned_from_or_refused_in_our_words(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = Ridge(random_state=1).fit(rows, [0.5] * len(rows))
        except ZigguratError:
            return
    assert np.isfinite(made.coef_).all()


@pytest.mark.parametrize("rows", [np.ones((2000, 2)), np.random.default_rng(1).uniform(-1, 1, (2000, 2))])
def test_a_ridge_too_small_to_be_solved_surely_is_refused_whatever_the_rows(rows):
    model = Ridge(1e-14, method="output", bounds=(-1, 1), y_bounds=(-1, 1), relation="replace-one")
    with pytest.raises(ParameterError, match="raise alpha"):
        model.fit(rows, rows[:, 0])
