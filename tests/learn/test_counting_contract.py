"""What all classifiers keep that are made of noisy counts."""

import io
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

from ziggurat.errors import ArtefactError, DataError, NotPublicError, ParameterError, ZigguratError
from ziggurat.learn import (
    CategoricalNB,
    DecisionTreeClassifier,
    GaussianNB,
    Histogram,
    LogisticRegression,
    RandomForestClassifier,
)

CANARY = 987_654_321.125
MODELS = [
    GaussianNB(classes=2, bounds=(-1, 1)),
    CategoricalNB(classes=2, categories=4),
    DecisionTreeClassifier(classes=2, bounds=(-1, 1), depth=3),
    DecisionTreeClassifier(classes=2, bounds=(-1, 1), depth=3, criterion="gini"),
    RandomForestClassifier(classes=2, bounds=(-1, 1), depth=5, trees=5),
]


def _rows(n=2000, seed=0):
    features = np.random.default_rng(seed).uniform(-1, 1, (n, 3))
    return features, ((features[:, 0] > 0.25) & (features[:, 1] > -0.5)).astype(int)


@pytest.mark.parametrize("model", MODELS)
def test_classes_that_are_not_declared_are_not_taken_from_the_rows(model):
    features, labels = np.zeros((2000, 2)), np.ones(2000, dtype=int)
    silent = model.fresh().set_params(classes=None)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        silent.fit(features, labels)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        silent.planned(2000, 2)
    made = model.fresh().set_params(random_state=1).fit(features, labels)
    assert made.predict(features[:3]).tolist() == [1, 1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("model", MODELS)
def test_no_message_shows_a_cell_or_a_label(model, bad):
    features, labels = _rows(30)
    features[3, 1], features[0, 0] = CANARY, bad
    with pytest.raises(ZigguratError) as caught:
        model.fresh().fit(features, labels)
    assert "98765" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        model.fresh().set_params(classes=["a", "b"]).fit(np.zeros((2, 1)), ["a", "secret"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (3, 20), (40, 2)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_few_rows_and_constant_columns_give_probabilities(model, rows, columns):
    made = model.fresh().set_params(random_state=1).fit(np.full((rows, columns), 0.5), np.arange(rows) % 2)
    told = made.predict_proba(np.zeros((2, columns)))
    assert np.isfinite(told).all()
    assert told.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("model", MODELS)
def test_a_tiny_epsilon_warns_from_public_facts_alone(model):
    features, labels = _rows(100)
    said = []
    for table in (features, np.zeros_like(features)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fresh().set_params(epsilon="0.001", expected_rows=90, random_state=1).fit(table, labels)
        said.append([str(item.message) for item in caught])
    assert said[0] == said[1]
    assert "times what the rows can tell" in said[0][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fresh().set_params(epsilon=5, expected_rows=5000, random_state=1).fit(*_rows(5000))


def _shown(model, features, labels):
    """All that a fit shows beside what noise protects: its words, its cost, and what it keeps, by name and shape."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = model.fresh().fit(features, labels)
    kept = {name: [np.shape(part) for part in np.atleast_1d(value)] for name, value in vars(made).items()}
    return [str(item.message) for item in caught], made.event_, kept


WITHOUT_BOUNDS = [GaussianNB(classes=2), DecisionTreeClassifier(classes=2), RandomForestClassifier(classes=2)]


@pytest.mark.parametrize("model", [*MODELS, *WITHOUT_BOUNDS, LogisticRegression(classes=2)])
def test_words_and_shapes_are_the_same_whatever_rows_and_labels_hold(model):
    """Scikit-learn's own check of labels warns where many different ones occur."""
    model = model.fresh().set_params(classes=30, random_state=1)
    tables = np.zeros((40, 2)), np.random.default_rng(1).normal(0, 3, (40, 2)), np.full((40, 2), 1e300)
    shown = [
        _shown(model, table, labels)
        for table in tables
        for labels in (np.zeros(40, dtype=int), np.arange(40) % 30, np.arange(40) % 2)
    ]
    assert all(each == shown[0] for each in shown)


@pytest.mark.parametrize("model", [*MODELS, *WITHOUT_BOUNDS])
@pytest.mark.parametrize("epsilon", ["0.001", 1])
def test_where_rows_may_be_added_nothing_shows_how_many_there_are(model, epsilon):
    features, labels = _rows(41)
    model = model.fresh().set_params(relation="add-or-remove-one", epsilon=epsilon, random_state=1)
    shown = [_shown(model, features[:rows], labels[:rows]) for rows in (1, 40, 41)]
    assert shown[0] == shown[1] == shown[2]
    assert model.planned(1, 3) == model.planned(10**6, 3)


@pytest.mark.parametrize("model", [*MODELS, *WITHOUT_BOUNDS])
def test_no_file_holds_a_row(model, tmp_path):
    features, labels = _rows(300)
    features[7] = CANARY
    made = model.fresh().set_params(random_state=1).fit(features, labels)
    made.save(tmp_path / "model.npz")
    dumped = io.BytesIO()
    joblib.dump(made, dumped)
    for content in (pickle.dumps(made), dumped.getvalue(), (tmp_path / "model.npz").read_bytes()):
        assert np.float64(CANARY).tobytes() not in content
        assert features[3].tobytes() not in content
        assert str(CANARY).encode() not in content
    dumped.seek(0)
    assert np.array_equal(joblib.load(dumped).predict_proba(features), made.predict_proba(features))


class Interrupted(GaussianNB):
    """Stops when its bounds are bought."""

    def _learn(self, features, codes, facts, source):
        self._scale(features, self._plan(facts)[0], source)
        if features.max() > 50:
            raise KeyboardInterrupt
        super()._learn(features, codes, facts, source)


def test_what_an_interrupted_fit_leaves_does_not_pass_as_paid_for_by_the_one_before(tmp_path):
    features, labels = _rows()
    made = Interrupted(classes=2, random_state=1).fit(features, labels)
    with pytest.raises(KeyboardInterrupt):
        made.fit(100 * features, labels)
    assert not hasattr(made, "event_")
    assert not hasattr(made, "origin_")
    made.save(tmp_path / "model.npz")
    with pytest.raises(ArtefactError):
        Interrupted.load(tmp_path / "model.npz")


@pytest.mark.parametrize("classes", [[0.5, 1.5], [0.0, np.nan], [1.0, np.inf]])
def test_classes_that_some_labels_could_not_be_are_refused_before_any_is_seen(classes):
    """Labels of 0.5 would be refused, but not those of 1: whoever has which would show."""
    with pytest.raises(ParameterError, match="whole numbers or text"):
        GaussianNB(classes=classes).planned(10, 2)


@pytest.mark.parametrize("model", [DecisionTreeClassifier(classes=2), Histogram(delta=0, bounds=(-1, 1))])
def test_an_epsilon_too_small_for_any_noise_is_named(model):
    with pytest.raises(ParameterError, match="epsilon is too small"):
        model.fresh().set_params(epsilon="1e-30").planned(10, 2)


def test_a_tree_of_many_classes_warns_where_one_of_two_does_not():
    features, labels = _rows(200)
    tree = DecisionTreeClassifier(bounds=(-1, 1), depth=2, relation="replace-one", random_state=1)
    with pytest.warns(UserWarning, match="times what the rows can tell"):
        tree.fresh().set_params(classes=30).fit(features, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.fresh().set_params(classes=2).fit(features, labels)


def test_text_is_learned_through_declared_categories_in_pipelines_and_grids():
    """`handle_unknown` keeps the encoder from quoting cells that were not declared."""
    colours, sexes = np.array(["red", "green", "blue", "mauve"]), np.array(["f", "m"])
    rows = np.column_stack([colours[np.arange(600) % 4], sexes[np.arange(600) % 2]])
    declared = [["green", "red", "blue"], ["f", "m"]]
    encoder = OrdinalEncoder(categories=declared, handle_unknown="use_encoded_value", unknown_value=3)
    steps = make_pipeline(encoder, CategoricalNB(classes=["no", "yes"], categories=[4, 2], random_state=1))
    labels = np.where(rows[:, 0] == "mauve", "yes", "no")
    search = GridSearchCV(steps, {"categoricalnb__epsilon": [1, 5]}, cv=2).fit(rows, labels)
    assert search.predict(rows).tolist() == labels.tolist()


@pytest.mark.parametrize("missing", ["features", "labels"])
def test_the_missing_value_of_pandas_gets_a_sentence(missing):
    features = pd.DataFrame({"a": [1, 2, pd.NA if missing == "features" else 3] * 5}, dtype=object)
    labels = pd.Series(["a", "b", pd.NA if missing == "labels" else "a"] * 5, dtype="string")
    model = GaussianNB(epsilon=1, classes=["a", "b"], bounds=(0, 3))
    with pytest.raises(DataError, match="missing") as caught:
        model.fit(features, labels)
    assert caught.value.__cause__ is None
