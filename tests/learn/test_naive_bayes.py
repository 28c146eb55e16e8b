import itertools
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.learn import CategoricalNB, GaussianNB
from ziggurat.learn._budget import FitBudget, about_rows
from ziggurat.learn._clipping import STEPS, in_steps
from ziggurat.learn.counting._naive_bayes import ClassSums, category_counts
from ziggurat.mechanisms import Gaussian
from ziggurat.privacy import Relation

REPLACE, ADD = Relation.REPLACE_ONE, Relation.ADD_OR_REMOVE_ONE
FREE = {"epsilon": 10**9, "delta": "0.5", "random_state": 1}
CANARY = 987_654_321.125
MODELS = [GaussianNB(classes=2, bounds=(-4, 4)), CategoricalNB(classes=2, categories=4)]


def _rows(n=2000, classes=2, seed=0):
    draw = np.random.default_rng(seed)
    labels = draw.integers(classes, size=n)
    return draw.normal(0, 0.8, (n, 3)) + labels[:, None] * [1.0, -0.5, 0.0], labels


def _categories(n=2000, seed=0):
    draw = np.random.default_rng(seed)
    labels = draw.integers(3, size=n)
    return np.column_stack([(labels + (draw.random(n) < 0.3)) % 4, draw.integers(2, size=n)]), labels


_DECLARED = "The classes are declared, and the check brings others."
_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}
_FAILED = dict.fromkeys(("check_dtype_object", "check_classifiers_classes", "check_classifiers_train"), _DECLARED)
_FAILED |= _EMPTY


@parametrize_with_checks(
    [
        GaussianNB(epsilon=10**6, classes=3),
        GaussianNB(epsilon=10**6, classes=3, delta=0, bounds=(-5, 5)),
        GaussianNB(epsilon=10**6, classes=3, relation="add-or-remove-one"),
        CategoricalNB(epsilon=10**6, classes=3, categories=3),
    ],
    expected_failed_checks=lambda _: _FAILED,
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
def test_without_noise_it_is_the_model_of_scikit_learn_in_the_units_of_the_data(kind, relation):
    features, labels = _rows(classes=3)
    features = features * [1, 10, 100] + [0, 5, -50]
    free = {**FREE, "delta": "0.5" if kind == "gaussian" else 0}
    ours = GaussianNB(classes=3, bounds=([-9, -95, -950], [9, 105, 850]), relation=relation.value, **free).fit(
        features, labels
    )
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(features, labels)
    assert ours.theta_ / [1, 10, 100] == pytest.approx(theirs.theta_ / [1, 10, 100], abs=1e-3)
    assert ours.var_ == pytest.approx(theirs.var_, rel=1e-2)
    assert ours.predict_proba(features) == pytest.approx(theirs.predict_proba(features), abs=0.02)


def test_without_noise_categories_are_those_of_scikit_learn():
    features, labels = _categories()
    ours = CategoricalNB(classes=3, categories=[4, 2], **FREE).fit(features, labels)
    theirs = naive_bayes.CategoricalNB(alpha=1e-9).fit(features, labels)
    assert ours.predict_proba(features) == pytest.approx(theirs.predict_proba(features), abs=0.02)


@pytest.mark.parametrize("model", [*MODELS, GaussianNB(classes=2)])
@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize("relation", [REPLACE, ADD])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_fit_does_what_was_planned_and_uses_its_epsilon(model, delta, relation):
    features, labels = _rows(300, 3)
    made = model.fresh().set_params(classes=3, epsilon="0.3", delta=delta, relation=relation.value, random_state=2)
    assert made.fit(features, labels).event_ == made.planned(300, 3)
    assert Fraction("0.29") < made.guarantee_.epsilon <= Fraction("0.3")
    assert made.guarantee_.neighbours.relation is relation
    assert clone(made).set_params(classes=[0, 1, 2]).planned(300, 3) == made.event_
    assert made.rehearsal_


def test_it_learns_at_a_modest_epsilon():
    features, labels = _rows(10_000)
    made = GaussianNB(classes=2, bounds=(-4, 4), random_state=1).fit(features, labels)
    theirs = naive_bayes.GaussianNB().fit(features, labels)
    assert made.score(features, labels) > theirs.score(features, labels) - 0.01
    features, labels = _categories(10_000)
    assert (
        CategoricalNB(classes=3, categories=[4, 2], random_state=1).fit(features, labels).score(features, labels) > 0.65
    )


def _released(sums, rows, classes):
    return np.stack([sums.sum_up(in_steps(row[None]), np.array([code]), 2) for row in rows for code in range(classes)])


def _furthest(entries, kind):
    flat = entries.reshape(len(entries), -1).astype(float) / STEPS**2
    apart = np.abs(flat[:, None] - flat[None])
    return apart.sum(-1).max() if kind == "laplace" else np.sqrt((apart**2).sum(-1).max())


@pytest.mark.parametrize(
    ("columns", "values"), [(1, np.linspace(-1, 1, 81)), (2, np.linspace(-1, 1, 9)), (3, [-1, -0.5, 0, 0.5, 1])]
)
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_no_replaced_row_moves_the_sums_further_than_stated_and_half_would_be_exceeded(columns, values, kind):
    sums = ClassSums(columns, kind, REPLACE)
    rows = np.array(list(itertools.product(values, repeat=columns)))
    stated = float(sums.sensitivity) / STEPS**2
    most = _furthest(_released(sums, rows, 2), kind)
    assert stated / 2 < most <= stated
    assert most == pytest.approx(stated, rel=1e-6)


@pytest.mark.parametrize("columns", [1, 2, 7, 30])
@pytest.mark.parametrize("kind", ["gaussian", "laplace"])
def test_random_and_extreme_rows_stay_within_both_sensitivities(columns, kind):
    draw = np.random.default_rng(columns)
    rows = np.vstack([draw.uniform(-1, 1, (60, columns)), draw.choice([-1, -0.5, 0, 0.5, 1], (60, columns))])
    for relation in (REPLACE, ADD):
        sums = ClassSums(columns, kind, relation)
        entries = _released(sums, rows, 2)
        nothing = np.zeros_like(entries[:1])
        most = _furthest(entries, kind) if relation is REPLACE else 0
        for entry in entries if relation is ADD else []:
            most = max(most, _furthest(np.concatenate([entry[None], nothing]), kind))
        assert float(sums.sensitivity) / STEPS**2 / 2 < most <= float(sums.sensitivity) / STEPS**2


def test_the_sums_need_less_noise_than_plain_ones():
    """Plain counts, sums and squares have l2 sensitivity sqrt(2 + 4d) and l1 sensitivity 2 + 4d."""
    for columns in (1, 5, 50):
        gaussian, laplace = (ClassSums(columns, kind, REPLACE) for kind in ("gaussian", "laplace"))
        plain = (2 + 4 * columns) * STEPS**4
        assert (gaussian.sensitivity / 12) ** 2 <= plain
        assert (gaussian.sensitivity / 18) ** 2 + (13 * gaussian.sensitivity / 18 / gaussian.weight) ** 2 < 1.1 * plain
        assert laplace.sensitivity / 8 < (2 + 4 * columns) * STEPS**2


def test_a_replaced_row_changes_two_counts_a_column():
    draw, most, sizes = np.random.default_rng(3), 0, [2, 3, 4]
    for _ in range(200):
        places, codes = draw.integers([2, 3, 4], size=(4, 3)), draw.integers(2, size=4)
        others, changed = places.copy(), codes.copy()
        others[0], changed[0] = draw.integers([2, 3, 4]), draw.integers(2)
        moved = np.abs(category_counts(places, codes, sizes, 2) - category_counts(others, changed, sizes, 2))
        assert moved.max() <= 1
        most = max(most, moved.sum())
    given = {"classes": 2, "categories": sizes, "delta": 0}
    stated = CategoricalNB(relation="replace-one", **given).planned(4, 3).sensitivity
    assert stated / 2 < most == stated == 6
    assert CategoricalNB(**given).planned(4, 3).sensitivity == 3


@pytest.mark.parametrize(
    ("model", "wrong", "sentence"),
    [
        (GaussianNB(classes=2), {"epsilon": 0}, "epsilon"),
        (GaussianNB(classes=2), {"delta": 1}, "delta"),
        (GaussianNB(classes=2), {"bounds": (1, 0)}, "bounds"),
        (GaussianNB(classes=2), {"bounds": (-1e300, 1e300)}, "variances"),
        (GaussianNB(classes=2), {"bounds_share": 2}, "bounds_share"),
        (GaussianNB(classes=2), {"least_spread": 0}, "least_spread"),
        (GaussianNB(classes=2), {"classes": ["one"]}, "classes"),
        (GaussianNB(classes=2), {"relation": "neither"}, "relation"),
        (GaussianNB(classes=2), {"random_state": 1.5}, "random state"),
        (CategoricalNB(classes=2), {}, "categories"),
        (CategoricalNB(classes=2), {"categories": [2, 2]}, "categories"),
        (CategoricalNB(classes=2), {"categories": 1}, "categories"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(model, wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        clone(model).set_params(**wrong).fit(*_rows(30))


def test_rows_outside_declared_bounds_count_as_rows_at_them():
    features, labels = _rows()
    model = GaussianNB(classes=2, bounds=(-1, 1), random_state=3)
    found = [clone(model).fit(table, labels).theta_ for table in (features, np.clip(features, -1, 1))]
    assert np.array_equal(*found)


@pytest.mark.parametrize("model", MODELS)
def test_models_are_saved_and_loaded_whole_and_work_in_grids_and_pickles(model, tmp_path):
    features, labels = _rows()
    text = np.array(["no", "yes"])[labels]
    name = type(model).__name__.lower()
    pipeline = make_pipeline(FunctionTransformer(), clone(model).set_params(classes=["no", "yes"], random_state=1))
    search = GridSearchCV(pipeline, {f"{name}__epsilon": [1, 2]}, cv=2).fit(features, text)
    made = search.best_estimator_[-1]
    made.save(tmp_path / "model.npz")
    for again in (type(model).load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(made))):
        assert np.array_equal(again.predict_proba(features), made.predict_proba(features))
        assert again.event_ == made.event_
        assert again.get_params() == made.get_params()


def test_secure_randomness_is_the_default_and_rehearsals_repeat():
    features, labels = _rows()
    first, second = (GaussianNB(classes=2, bounds=(-4, 4), random_state=5).fit(features, labels) for _ in range(2))
    assert np.array_equal(first.theta_, second.theta_)
    drawn = [GaussianNB(classes=2, bounds=(-4, 4)).fit(features, labels) for _ in range(2)]
    assert not np.array_equal(drawn[0].theta_, drawn[1].theta_)
    assert drawn[0].origin_ == "secure"


def test_many_columns_take_gaussian_noise_and_few_laplace():
    few, many = (GaussianNB(classes=2, bounds=(-1, 1)).planned(1000, columns).kind for columns in (1, 100))
    assert (few, many) == ("laplace", "gaussian")
    assert isinstance(ClassSums(9, "gaussian", ADD).noise(_budget()), Gaussian)


def _budget():
    return FitBudget(Fraction(1), Fraction(1, 10**6), "gaussian", about_rows("add-or-remove-one"))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(st.floats(allow_nan=True, width=64), min_size=2, max_size=2), min_size=2, max_size=6))
def test_any_table_of_floats_is_learned_from_or_refused_in_our_words(rows):
    for model in (GaussianNB(classes=2, random_state=1), CategoricalNB(classes=2, categories=3, random_state=1)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = model.fit(rows, np.arange(len(rows)) % 2)
            except ZigguratError:
                continue
        assert np.isfinite(made.predict_proba(rows)).all()
