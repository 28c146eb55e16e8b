"""A model is paid for before it sees a row, and for the unit that the budget protects."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ziggurat.data import Unit
from ziggurat.errors import (
    BudgetExceededError,
    DataError,
    EngineError,
    MixedNeighboursError,
    NotPublicError,
    ParameterError,
    PrivacyError,
)
from ziggurat.learn import GaussianProcessRegression, LogisticRegression, PrivateSearch, Ridge
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.release import fit_model, quote_model

ROWS = np.random.default_rng(1).uniform(-1, 1, size=(200, 3))
TARGET = ROWS @ [0.4, -0.2, 0.1]
PERSON = Neighbours(Unit.person("who"), Relation.REPLACE_ONE)


def ridge(epsilon="1", **options):
    return Ridge(epsilon=epsilon, delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1), random_state=3, **options)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as opened:
        for name, whom in (("rows", Neighbours(relation=Relation.REPLACE_ONE)), ("people", PERSON)):
            opened.create_budget(name, 2, "1e-5", whom)
            opened.grant(name, "ada", 2, "1e-5")
        opened.create_budget("coming", 2, "1e-5", Neighbours())
        opened.grant("coming", "ada", 2, "1e-5")
        yield opened


def spends(book, budget):
    return sum(entry.kind == "reserve" for entry in book.history(budget))


def test_what_is_reserved_is_what_was_planned_and_what_the_model_states(book):
    event, quoted = quote_model(ridge(), 200, 3, ledger=book, analyst="ada", budget="rows")
    assert quoted.fits
    assert spends(book, "rows") == 0
    made = fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert made.event == event == made.model.event_ == ridge().planned(200, 3)
    assert made.rehearsal
    assert spends(book, "rows") == 1


def test_a_person_with_one_row_is_protected_as_a_row_is(book):
    made = fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="people", units=np.arange(200))
    assert made.event.neighbours == PERSON
    proven = compose(made.event).approximate("1e-6").epsilon
    assert proven == compose(made.model.event_).approximate("1e-6").epsilon


def test_a_person_with_several_rows_is_refused_before_anything_is_spent(book):
    with pytest.raises(DataError, match="several rows"):
        fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="people", units=np.arange(200) // 2)
    with pytest.raises(ParameterError, match="which person"):
        fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="people")
    assert spends(book, "people") == 0


def test_a_budget_of_another_relation_is_refused_with_the_way_out(book):
    with pytest.raises(MixedNeighboursError, match="relation='add-or-remove-one'"):
        fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="coming")
    made = fit_model(ridge(relation="add-or-remove-one"), ROWS, TARGET, ledger=book, analyst="ada", budget="coming")
    assert made.event.neighbours == Neighbours()


def test_a_model_that_costs_more_than_is_left_sees_no_row(book):
    class Watched(Ridge):
        def fit(self, X, y):  # noqa: N803
            raise AssertionError("a row was seen")

    model = Watched(epsilon="9", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1))
    with pytest.raises(BudgetExceededError):
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")


@pytest.mark.parametrize("features", [[[np.nan, 1.0]], [["secret", "cell"]], [1.0, 2.0]])
def test_what_is_no_table_of_numbers_is_refused_before_anything_is_spent(book, features):
    with pytest.raises(DataError, match="table of finite numbers") as refused:
        fit_model(ridge(), features, TARGET[:1], ledger=book, analyst="ada", budget="rows")
    assert "secret" not in str(refused.value)
    assert spends(book, "rows") == 0


@pytest.mark.parametrize("target", [TARGET[:7], np.full(200, np.nan)])
def test_targets_that_do_not_fit_are_refused_before_anything_is_spent(book, target):
    with pytest.raises(DataError, match="targets"):
        fit_model(ridge(), ROWS, target, ledger=book, analyst="ada", budget="rows")
    assert spends(book, "rows") == 0


class Failing(Ridge):
    def fit(self, X, y):  # noqa: N803
        raise RuntimeError(f"secret cell {X[0, 0]}")


class Lying(Ridge):
    def planned(self, rows, columns):
        return Ridge(epsilon="1/100", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1)).planned(rows, columns)


def test_what_goes_wrong_after_the_payment_stays_spent_and_quotes_nothing(book):
    model = Failing(epsilon="1", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1))
    with pytest.raises(EngineError, match="stays spent") as failed:
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert "secret" not in str(failed.value)
    assert spends(book, "rows") == 1


def test_a_model_that_did_something_else_than_was_paid_for_is_not_given_out(book):
    model = Lying(epsilon="1", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1))
    with pytest.raises(PrivacyError, match="something else than was paid for"):
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")


def test_what_learns_for_free_or_does_not_say_its_classes_is_refused(book):
    with pytest.raises(ParameterError, match="pipeline"):
        fit_model(make_pipeline(StandardScaler(), ridge()), ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    with pytest.raises(NotPublicError, match="classes"):
        fit_model(LogisticRegression(), ROWS, TARGET > 0, ledger=book, analyst="ada", budget="rows")
    assert spends(book, "rows") == 0


def test_a_promise_about_labels_alone_is_not_restated_for_people(book):
    model = GaussianProcessRegression("1", "1e-6", y_bounds=(-1, 1), bounds=(-1, 1), random_state=1)
    with pytest.raises(MixedNeighboursError, match="only one label"):
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="people", units=np.arange(200))


def test_a_payment_for_one_fit_does_not_cover_those_that_nobody_paid_for(book):
    """A search of two fits, and then one payment: the ledger knew of one release where three were made."""
    model = ridge()
    for alpha in (1, 10):
        clone(model).set_params(alpha=alpha).fit(ROWS, TARGET)
    with pytest.raises(ParameterError, match="2 fits are known here"):
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert spends(book, "rows") == 0
    pickle.dumps(sent := ridge())
    with pytest.raises(ParameterError, match="1 copies left"):
        fit_model(sent, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert fit_model(model.fresh(), ROWS, TARGET, ledger=book, analyst="ada", budget="rows").model.fits_ == 1


@pytest.mark.filterwarnings("ignore::ziggurat.learn.SeveralFitsWarning")
def test_a_model_may_be_fitted_again_where_each_fit_is_paid_for(book):
    model = ridge("0.5")
    for _ in range(2):
        made = fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert (made.model.fits_, spends(book, "rows")) == (2, 2)
    assert made.model.guarantee_ == compose(made.event, made.event).approximate("2e-6")
    model.fit(ROWS, TARGET)
    with pytest.raises(ParameterError, match="1 fits are known here"):
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")


def test_a_search_is_paid_for_whole(book):
    search = PrivateSearch(ridge(), {"alpha": [1, 10]}, epsilon=1, delta="1e-6", random_state=1)
    event, _ = quote_model(search, 200, 3, ledger=book, analyst="ada", budget="rows")
    made = fit_model(search, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert made.event == event
    assert made.model.best_estimator_.guarantee_ == compose(event).approximate("1e-6")
