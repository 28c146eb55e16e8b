"""A scaler that learns nothing."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import DataError, NotPublicError, ParameterError
from ziggurat.learn import DeclaredScaler, Ridge, guarantee_of

ROWS = np.random.default_rng(0).uniform(0, 10, (50, 2))


@parametrize_with_checks([DeclaredScaler((-10, 10))])
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


def test_bounds_go_to_one_and_what_lies_outside_is_moved():
    scaler = DeclaredScaler(([0, -1], [10, 1])).fit(ROWS)
    assert scaler.transform([[0, 0], [10, 1], [99, -99]]).tolist() == [[-1, 0], [1, 1], [1, -1]]
    assert scaler.inverse_transform([[-1, 0], [1, 1]]).tolist() == [[0, 0], [10, 1]]
    assert DeclaredScaler((0, 10)).transform([[5.0]]).tolist() == [[0.0]]


def test_nothing_is_learned_from_the_rows():
    kept = [vars(DeclaredScaler((0, 10)).fit(table)) for table in (ROWS, np.zeros_like(ROWS), ROWS + 1e6)]
    assert kept[0] == kept[1] == kept[2] == {"bounds": (0, 10), "n_features_in_": 2}


def test_bounds_are_declared_and_no_message_shows_a_cell():
    with pytest.raises(NotPublicError, match="Declare the public bounds"):
        DeclaredScaler().fit(ROWS)
    with pytest.raises(ParameterError, match="two lists of 2 numbers"):
        DeclaredScaler(([0, 0, 0], [1, 1, 1])).fit(ROWS)
    with pytest.raises(DataError) as caught:
        DeclaredScaler((0, 10)).fit([[987654321.125, np.nan]])
    assert "98765" not in str(caught.value)


def test_a_model_behind_it_is_the_model_with_these_bounds():
    target = ROWS @ [1.0, -1.0]
    given = {"epsilon": 1, "y_bounds": (-10, 10), "random_state": 1}
    scaled = make_pipeline(DeclaredScaler((0, 10)), Ridge(bounds=(-1, 1), alpha=0.0, **given)).fit(ROWS, target)
    itself = Ridge(bounds=(0, 10), alpha=0.0, **given).fit(ROWS, target)
    assert scaled.predict(ROWS) == pytest.approx(itself.predict(ROWS))
    assert guarantee_of(scaled) == itself.guarantee_
