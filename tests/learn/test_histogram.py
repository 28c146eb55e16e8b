import pickle
import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from ziggurat.errors import ParameterError, ZigguratError
from ziggurat.learn import Histogram
from ziggurat.learn.counting._histogram import nearest_shares
from ziggurat.privacy import Relation

CANARY = 987_654_321.125


def _rows(n=2000, columns=2, seed=0):
    return np.clip(np.random.default_rng(seed).normal(0, 1, (n, columns)), -4, 4)


_EMPTY = {"check_estimators_empty_data_messages": "A table without a row is a neighbour of one with a row."}


@parametrize_with_checks(
    [Histogram(bins=2, bounds=(-10, 10)), Histogram(bins=2, delta=0, bounds=(-1, 1), relation="replace-one")],
    expected_failed_checks=lambda model: _EMPTY if model.relation == "add-or-remove-one" else {},
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_it_keeps_the_contract_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_without_noise_it_is_the_histogram_of_numpy(columns):
    rows = _rows(columns=columns)
    made = Histogram(10**9, bins=5, bounds=(-4, 4), random_state=1).fit(rows)
    density, _ = np.histogramdd(rows, bins=5, range=[(-4, 4)] * columns, density=True)
    places = np.minimum(((rows + 4) / 8 * 5).astype(int), 4)
    assert made.density(rows) == pytest.approx(density[tuple(places.T)])
    assert made.score_samples(rows) == pytest.approx(np.log(density[tuple(places.T)]))


@pytest.mark.parametrize("delta", ["1e-6", 0])
@pytest.mark.parametrize("relation", list(Relation))
def test_a_fit_does_what_was_planned_and_uses_its_epsilon(delta, relation):
    made = Histogram("0.3", delta, bounds=(-4, 4), relation=relation.value, random_state=1)
    assert made.fit(_rows()).event_ == made.planned(2000, 2)
    assert Fraction("0.29") < made.guarantee_.epsilon <= Fraction("0.3")
    assert made.guarantee_.neighbours.relation is relation
    assert made.rehearsal_


@pytest.mark.parametrize("epsilon", ["0.01", 1, 10])
@pytest.mark.parametrize("relation", list(Relation))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_shares_are_never_negative_and_add_up_to_1(epsilon, relation):
    made = Histogram(epsilon, bins=[20, 5], bounds=(-4, 4), relation=relation.value, random_state=1).fit(_rows())
    assert made.shares_.min() >= 0
    assert made.shares_.sum() == pytest.approx(1)
    assert made.shares_.shape == (20, 5)


def test_making_a_density_brings_the_shares_nearer():
    draw = np.random.default_rng(1)
    truth = draw.dirichlet(np.ones(50))
    for _ in range(100):
        noisy = truth + draw.normal(0, 0.05, 50)
        moved = nearest_shares(noisy)
        assert np.linalg.norm(moved - truth) < np.linalg.norm(noisy - truth)
        assert np.linalg.norm(moved - noisy) <= np.linalg.norm(truth - noisy)


def test_drawn_rows_follow_the_density_and_repeat_when_asked_to():
    made = Histogram(5, bins=8, bounds=([-4, -4], [4, 4]), random_state=1).fit(_rows(5000))
    drawn = made.sample(20_000, random_state=3)
    counts, _ = np.histogramdd(drawn, bins=8, range=[(-4, 4)] * 2)
    assert np.abs(counts / 20_000 - made.shares_).max() < 0.02
    assert np.array_equal(drawn, made.sample(20_000, random_state=3))
    assert not np.array_equal(made.sample(5), made.sample(5))
    assert np.isfinite(made.score_samples(drawn)).all()


def test_a_replaced_row_changes_two_counts_and_half_would_be_exceeded():
    model, most = Histogram(delta=0, bins=3, bounds=(-1, 1), relation="replace-one"), 0
    corners = np.array([[-1, -1], [-1, 1], [0, 0], [1, 1], [5, -5], [1 / 3, -1 / 3]])
    for before in corners:
        for after in corners:
            counts = [np.bincount(model._places(row[None]), minlength=9) for row in (before, after)]
            most = max(most, np.abs(counts[0] - counts[1]).sum())
    stated = model.planned(1, 2).sensitivity
    assert stated / 2 < most == stated == 2
    assert Histogram(delta=0, bounds=(-1, 1)).planned(1, 2).sensitivity == 1


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"delta": 1}, "delta"),
        ({"bounds": None}, "bounds"),
        ({"bins": 0}, "bins"),
        ({"bins": [2]}, "bins"),
        ({"bins": 10**5}, "bins"),
        ({"relation": "neither"}, "relation"),
    ],
)
def test_wrong_parameters_are_refused_in_one_sentence(wrong, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Histogram(**{"bounds": (-4, 4), **wrong}).fit(_rows(30))
    with pytest.raises(ParameterError, match="n_samples"):
        Histogram(bounds=(-4, 4), random_state=1).fit(_rows()).sample(0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_no_message_shows_a_cell(bad):
    rows = _rows(30)
    rows[0, 0], rows[1, 1] = bad, CANARY
    with pytest.raises(ZigguratError) as caught:
        Histogram(bounds=(-4, 4)).fit(rows)
    assert "98765" not in str(caught.value)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_one_row_and_constant_columns_give_a_density():
    for rows in (np.zeros((1, 2)), np.zeros((40, 2))):
        made = Histogram(bounds=(-1, 1), bins=3, random_state=1).fit(rows)
        assert made.shares_.sum() == pytest.approx(1)


def test_a_tiny_epsilon_warns_from_public_facts_alone():
    said = []
    for rows in (_rows(100), np.zeros((100, 2))):
        with pytest.warns(UserWarning, match="mostly noise") as caught:
            Histogram("0.01", bounds=(-4, 4), expected_rows=100, random_state=1).fit(rows)
        said.append([str(item.message) for item in caught])
    assert said[0] == said[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Histogram(bounds=(-4, 4), expected_rows=5000, random_state=1).fit(_rows())
        Histogram("0.01", bounds=(-4, 4), random_state=1).fit(_rows(100))  # nobody said how many there are


def test_it_is_saved_and_loaded_whole_and_works_in_grids_and_pickles(tmp_path):
    rows = _rows()
    pipeline = make_pipeline(FunctionTransformer(), Histogram(bounds=(-4, 4), random_state=1))
    made = GridSearchCV(pipeline, {"histogram__bins": [2, 5]}, cv=2).fit(rows).best_estimator_[-1]
    made.save(tmp_path / "model.npz")
    for again in (Histogram.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(made))):
        assert np.array_equal(again.density(rows), made.density(rows))
        assert again.event_ == made.event_
    assert clone(made).get_params() == made.get_params()


def test_secure_randomness_is_the_default():
    drawn = [Histogram(bounds=(-4, 4)).fit(_rows()) for _ in range(2)]
    assert not np.array_equal(drawn[0].shares_, drawn[1].shares_)
    assert drawn[0].origin_ == "secure"
