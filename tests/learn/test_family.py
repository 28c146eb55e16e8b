"""A model and its copies are one family: what `guarantee_` says is true of all their fits together."""

import copy
import os
import pickle
import warnings
from fractions import Fraction

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingRegressor, VotingClassifier, VotingRegressor
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from ziggurat.errors import PrivacyError
from ziggurat.learn import (
    DecisionTreeClassifier,
    DeclaredScaler,
    GaussianNB,
    LinearRegression,
    PrivateSGDClassifier,
    Ridge,
    SeveralFitsWarning,
    UnpaidWarning,
    guarantee_of,
)
from ziggurat.learn._family import Family
from ziggurat.privacy import RepeatedEvent, compose

ROWS = np.random.default_rng(0).uniform(-1, 1, (200, 2))
TARGET = ROWS @ [1.0, -0.5]
LABELS = (ROWS[:, 0] > 0).astype(int)
DELTA = Fraction("1e-6")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ziggurat.learn.SeveralFitsWarning"),
    pytest.mark.filterwarnings("ignore::ziggurat.learn.UnpaidWarning"),
    pytest.mark.filterwarnings("ignore:With epsilon"),
]


def _ridge(**given):
    return Ridge(epsilon=1, delta="1e-6", bounds=(-1, 1), y_bounds=(-2, 2), random_state=1, **given)


def _tree(**given):
    return DecisionTreeClassifier(**{"epsilon": 1, "classes": 2, "bounds": (-1, 1), "random_state": 1, **given})


def _all(model, count):
    """The promise of so many fits of one event, each at the same delta."""
    return compose(RepeatedEvent(model.event_.neighbours, model.event_, count)).approximate(count * DELTA)


def test_after_a_grid_search_the_promise_is_that_of_all_fits():
    """Eleven fits at epsilon 1 said (1, 1e-6); together they are (3.3, 1.1e-5)."""
    with pytest.warns(SeveralFitsWarning, match="fitted 8 times"):
        best = GridSearchCV(_ridge(), {"alpha": [1, 10]}, cv=5).fit(ROWS, TARGET).best_estimator_
    assert best.fits_ == 11
    assert best.guarantee_ == _all(best, 11)
    assert 3 < best.guarantee_.epsilon < 11
    assert best.fit_guarantee_.epsilon <= 1


def test_a_search_by_exact_scores_is_named_and_its_promise_refused():
    with pytest.warns(UnpaidWarning, match="GridSearchCV compares fits by exact scores"):
        search = GridSearchCV(_ridge(), {"alpha": [1, 10]}, cv=2).fit(ROWS, TARGET)
    with pytest.raises(PrivacyError, match="GridSearchCV chose by exact scores"):
        guarantee_of(search)
    assert guarantee_of(_ridge().fit(ROWS, TARGET)).epsilon <= 1


def test_epsilons_of_different_candidates_add_up():
    search = GridSearchCV(_tree(), {"epsilon": [1, 2]}, cv=2, refit=False).fit(ROWS, LABELS)
    last = clone(search.estimator).fit(ROWS, LABELS)
    assert (last.fits_, last.guarantee_.epsilon) == (5, Fraction(1 + 1 + 2 + 2 + 1))
    assert last.fit_guarantee_.epsilon == 1


def test_a_cross_validation_counts_for_the_model_that_is_fitted_after_it():
    model = _tree()
    cross_val_score(model, ROWS, LABELS, cv=5)
    assert model.fit(ROWS, LABELS).guarantee_.epsilon == 6


COPIES = {
    "itself": lambda model: model,
    "clone": clone,
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "clone of a pipeline": lambda model: clone(make_pipeline(model))[-1],
}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_second_fit_is_a_second_release_whichever_copy_makes_it(copied):
    first = _tree().fit(ROWS, LABELS)
    second = copied(first)
    assert second.fit(ROWS, LABELS).fits_ == first.fits_ == 2
    assert second.guarantee_ == first.guarantee_
    assert second.guarantee_.epsilon == 2
    third = second.fresh().fit(ROWS, LABELS)
    assert (third.fits_, third.guarantee_.epsilon) == (1, 1)


def test_a_file_keeps_the_count_and_leads_back_to_the_family(tmp_path):
    model = _tree().fit(ROWS, LABELS).fit(ROWS, LABELS)
    model.save(tmp_path / "model.npz")
    model.fit(ROWS, LABELS)
    assert type(model).load(tmp_path / "model.npz").fits_ == 3
    model._family = Family()  # as in another process, which knows the file alone
    del model
    again = DecisionTreeClassifier.load(tmp_path / "model.npz")
    assert (again.fits_, again.guarantee_.epsilon) == (2, 2)


def test_what_is_fitted_where_nobody_looks_leaves_no_promise():
    model = _ridge()
    pickle.dumps(model)
    model.fit(ROWS, TARGET)
    with pytest.raises(PrivacyError, match=r"left its process unfitted 1 times.*beside 1 fits"):
        _ = model.guarantee_
    assert model.fit_guarantee_.epsilon <= 1
    pickle.dumps(fitted := _ridge().fit(ROWS, TARGET))  # to keep what was fitted is no harm
    assert fitted.guarantee_.epsilon <= 1


def test_fits_of_workers_come_back_with_them_and_both_sides_refuse_to_state_a_promise():
    model = _ridge()
    fitted = joblib.Parallel(n_jobs=2)(joblib.delayed(Ridge.fit)(clone(model), ROWS, TARGET) for _ in range(3))
    assert model.fits_ == 3
    with pytest.raises(PrivacyError, match="beside 3 fits"):
        _ = fitted[0].guarantee_
    with pytest.raises(PrivacyError, match="beside 3 fits"):
        joblib.Parallel(n_jobs=2)(joblib.delayed(getattr)(one, "guarantee_") for one in fitted)
    search = GridSearchCV(_ridge(), {"alpha": [1, 10]}, cv=2, n_jobs=2).fit(ROWS, TARGET)
    with pytest.raises(PrivacyError, match="workers of joblib"):
        _ = search.best_estimator_.guarantee_


def test_threads_share_one_exact_count():
    model = _tree()
    joblib.Parallel(n_jobs=4, backend="threading")(
        joblib.delayed(one.fit)(ROWS, LABELS) for one in [clone(model) for _ in range(40)]
    )
    assert model.fit(ROWS, LABELS).guarantee_.epsilon == 41


def test_counts_of_processes_are_merged_and_never_twice():
    model = _tree().fit(ROWS, LABELS)
    told = model.kin.to_json().replace(f'"fits": [["{next(iter(model.kin._fits))[0]}"', '"fits": [["elsewhere"')
    for _ in range(2):
        assert Family.from_json(told) is model.kin
    assert model.guarantee_.epsilon == 2


def test_a_fit_on_the_far_side_of_a_fork_leaves_no_promise(monkeypatch):
    model = _tree().fit(ROWS, LABELS)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(PrivacyError, match=r"unfitted 1 times, .* beside 2 fits"):
        _ = model.fit(ROWS, LABELS).guarantee_


def test_where_relations_differ_the_promise_is_for_replace_one():
    model = _tree(relation="replace-one").fit(ROWS, LABELS)
    other = clone(model).set_params(relation="add-or-remove-one").fit(ROWS, LABELS)
    assert other.guarantee_.epsilon == 1 + 2
    assert other.guarantee_.neighbours == model.event_.neighbours


def test_warnings_double_their_distance_and_tell_nothing_of_the_rows():
    said = []
    for rows in (ROWS, np.zeros_like(ROWS)):
        model = _tree()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(9):
                model.fit(rows, LABELS)
        said.append([str(one.message) for one in caught if one.category is SeveralFitsWarning])
    assert said[0] == said[1]
    assert [text.split("fitted ")[1].split()[0] for text in said[0]] == ["2", "4", "8"]


LEARN = {
    "StandardScaler": StandardScaler(),
    "MinMaxScaler": MinMaxScaler(),
    "PCA": PCA(2),
    "SelectKBest": SelectKBest(f_regression, k=1),
    "SimpleImputer": SimpleImputer(),
    "KBinsDiscretizer": KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf"),
    "FunctionTransformer": FunctionTransformer(lambda rows: rows - rows.mean(axis=0)),
    "OneHotEncoder": OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
}


@pytest.mark.parametrize(("name", "step"), LEARN.items(), ids=LEARN)
@pytest.mark.parametrize("around", [
    lambda step: step,
    lambda step: make_pipeline(DeclaredScaler((-1, 1)), step),
    lambda step: FeatureUnion([("one", step), ("other", DeclaredScaler((-1, 1)))]),
    lambda step: ColumnTransformer([("one", step, [0, 1])], remainder="drop"),
], ids=["itself", "pipeline", "union", "columns"])  # fmt: skip
def test_what_learns_in_front_of_a_model_is_named_and_leaves_no_promise(name, step, around):
    """Behind a fitted scaler `guarantee_` said (1, 1e-6), and nothing warned."""
    with pytest.warns(UnpaidWarning, match=f"{name} in front of it learned from the rows"):
        made = make_pipeline(clone(around(step)), _ridge()).fit(ROWS, TARGET)
    for asked in (lambda: made[-1].guarantee_, lambda: guarantee_of(made)):
        with pytest.raises(PrivacyError, match=f"{name} in front of it learned from the rows"):
            asked()
    with pytest.raises(PrivacyError, match=name):  # nor of a copy, whose number would hide the first
        _ = clone(made[-1]).fit(ROWS, TARGET).guarantee_


PUBLIC = [
    "passthrough",
    DeclaredScaler((-1, 1)),
    Normalizer(),
    FunctionTransformer(),
    FunctionTransformer(np.tanh),
    PolynomialFeatures(2),
    SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
    OneHotEncoder(categories=[[0.0], [0.0]], handle_unknown="ignore", sparse_output=False),
    OrdinalEncoder(categories=[[0.0], [0.0]], handle_unknown="use_encoded_value", unknown_value=1),
    ColumnTransformer([("one", DeclaredScaler((-1, 1)), [0])], remainder="passthrough"),
]


@pytest.mark.parametrize("step", PUBLIC, ids=str)
def test_what_maps_every_row_by_itself_leaves_the_promise(step):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnpaidWarning)
        made = make_pipeline(step, _ridge()).fit(ROWS, TARGET)
    assert guarantee_of(made) == made[-1].guarantee_
    assert made[-1].guarantee_.epsilon <= 1


def test_a_target_that_is_scaled_by_itself_is_named():
    with pytest.raises(PrivacyError, match="StandardScaler around its target"):
        guarantee_of(TransformedTargetRegressor(_ridge(), transformer=StandardScaler()).fit(ROWS, TARGET))
    public = TransformedTargetRegressor(_ridge(), transformer=DeclaredScaler((-2, 2))).fit(ROWS, TARGET)
    assert guarantee_of(public).epsilon <= 1


def test_rows_that_are_drawn_several_times_leave_no_promise_and_else_all_fits_count():
    drawn = BaggingRegressor(_ridge(), 3, bootstrap=True).fit(ROWS, TARGET)
    with pytest.raises(PrivacyError, match="draws rows several times"):
        _ = drawn.estimators_[0].guarantee_
    parts = BaggingRegressor(_ridge(), 3, bootstrap=False, max_samples=0.5).fit(ROWS, TARGET)
    assert parts.estimators_[0].guarantee_ == _all(parts.estimators_[0], 3)


def test_of_other_estimators_around_private_models_nothing_is_said():
    voting = VotingRegressor([("one", _ridge()), ("other", LinearRegression(bounds=(-1, 1), y_bounds=(-2, 2)))])
    classes = VotingClassifier([("one", _tree()), ("other", GaussianNB(classes=2, bounds=(-1, 1)))])
    for outer, target in ((voting, TARGET), (classes, LABELS), (CalibratedClassifierCV(_tree(), cv=2), LABELS)):
        made = outer.fit(ROWS, target)
        with pytest.raises(PrivacyError, match=f"Nothing is proven about a {type(outer).__name__}"):
            guarantee_of(made)
    assert [one.fits_ for one in voting.estimators_] == [1, 1]  # two families: their sum is for who uses both


def test_networks_belong_to_families_too():
    pytest.importorskip("torch")
    model = PrivateSGDClassifier(classes=2, epochs=1, hidden=(), expected_rows=200, random_state=1)
    made = clone(model.fit(ROWS, LABELS)).fit(ROWS, LABELS)
    assert made.fits_ == 2
    assert made.guarantee_.epsilon > made.fit_guarantee_.epsilon
