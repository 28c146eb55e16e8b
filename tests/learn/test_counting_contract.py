"""What all classifiers keep that are made of noisy counts."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone

from ziggurat.errors import DataError, NotPublicError, ZigguratError
from ziggurat.learn import CategoricalNB, DecisionTreeClassifier, GaussianNB, RandomForestClassifier

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
    silent = clone(model).set_params(classes=None)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        silent.fit(features, labels)
    with pytest.raises(NotPublicError, match="Declare the classes"):
        silent.planned(2000, 2)
    made = clone(model).set_params(random_state=1).fit(features, labels)
    assert made.predict(features[:3]).tolist() == [1, 1, 1]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("model", MODELS)
def test_no_message_shows_a_cell_or_a_label(model, bad):
    features, labels = _rows(30)
    features[3, 1], features[0, 0] = CANARY, bad
    with pytest.raises(ZigguratError) as caught:
        clone(model).fit(features, labels)
    assert "98765" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        clone(model).set_params(classes=["a", "b"]).fit(np.zeros((2, 1)), ["a", "secret"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("rows", "columns"), [(2, 1), (3, 20), (40, 2)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_few_rows_and_constant_columns_give_probabilities(model, rows, columns):
    made = clone(model).set_params(random_state=1).fit(np.full((rows, columns), 0.5), np.arange(rows) % 2)
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
            clone(model).set_params(epsilon="0.001", random_state=1).fit(table, labels)
        said.append([str(item.message) for item in caught])
    assert said[0] == said[1]
    assert "times what the rows can tell" in said[0][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(epsilon=5, random_state=1).fit(*_rows(5000))
