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
from ziggurat.learn import (
    DecisionTreeClassifier,
    GaussianNB,
    GaussianProcessRegression,
    Histogram,
    KernelDensity,
    KernelSVM,
    LogisticRegression,
    OutputPerturbation,
    PrivateSearch,
    PrivateSGDClassifier,
    RandomForestClassifier,
    Ridge,
    ServedHistogram,
)
from ziggurat.ledger import Ledger
from ziggurat.privacy import Neighbours, Relation, compose
from ziggurat.release import ModelPlan, Purse, fit_model

EVERYONE = Neighbours(Unit.person("who"))
ROWS = np.random.default_rng(1).uniform(-1, 1, size=(200, 3))
TARGET = ROWS @ [0.4, -0.2, 0.1]
ADD = "add-or-remove-one"
PERSON = Neighbours(Unit.person("who"), Relation.REPLACE_ONE)


def ridge(epsilon="1", relation="replace-one", **options):
    given = {"bounds": (-1, 1), "y_bounds": (-1, 1), "random_state": 3, "relation": relation}
    return Ridge(epsilon=epsilon, delta="1e-6", **given, **options)


@pytest.fixture
def book(tmp_path):
    with Ledger.open(tmp_path / "ledger.db") as opened:
        for name, whom in (("rows", Neighbours(relation=Relation.REPLACE_ONE)), ("people", PERSON)):
            opened.create_budget(name, 2, "1e-5", whom)
            opened.grant(name, "ada", 2, "1e-5")
        for name, whom in (("coming", Neighbours()), ("anybody", EVERYONE)):
            opened.create_budget(name, 2, "1e-5", whom)
            opened.grant(name, "ada", 2, "1e-5")
        yield opened


def quoted(book, model, budget, rows=200):
    purse = Purse(book, budget, "ada")
    return purse.quote(ModelPlan.by_shape(model, rows, 3, purse=purse))


def spends(book, budget):
    return sum(entry.kind == "reserve" for entry in book.history(budget))


def test_what_is_reserved_is_what_was_planned_and_what_the_model_states(book):
    price = quoted(book, ridge(), "rows")
    assert price.fits
    assert spends(book, "rows") == 0
    made = fit_model(ridge(), ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert made.event == price.event == made.model.event_ == ridge().planned(200, 3)
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


def named(**options):
    return LogisticRegression(classes=2, bounds=(-1, 1), random_state=3, **options)


GIVEN = {"bounds": (-1, 1), "random_state": 3}
FOR_ROWS = [
    ridge(), ridge(method="functional"), ridge(method="objective"), named(), named(method="output"), named(C="private"),
    GaussianNB(classes=2, **GIVEN), DecisionTreeClassifier(classes=2, **GIVEN),
    RandomForestClassifier(classes=2, **GIVEN), KernelSVM(classes=2, **GIVEN), Histogram(**GIVEN),
    ServedHistogram(**GIVEN), KernelDensity(**GIVEN), ridge(method="output", expected_rows=200),
    ridge(method="input", expected_rows=200),
]  # fmt: skip


@pytest.mark.parametrize("model", FOR_ROWS, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'method', '')}")
def test_a_model_of_another_relation_is_refused_with_a_hint_that_is_true(book, model):
    replacing = clone(model).set_params(relation="replace-one")
    labels = None if isinstance(model, KernelDensity | ServedHistogram) else TARGET > 0
    with pytest.raises(MixedNeighboursError, match="give the model relation='add-or-remove-one'"):
        fit_model(replacing, ROWS, labels, ledger=book, analyst="ada", budget="coming")
    assert spends(book, "coming") == 0
    following = clone(model).set_params(relation="add-or-remove-one")
    made = fit_model(following, ROWS, labels, ledger=book, analyst="ada", budget="anybody", units=np.arange(200))
    assert made.event.neighbours == EVERYONE


def test_a_promise_about_added_rows_is_paid_for_twice_where_rows_are_replaced(book):
    planned = quoted(book, ridge("0.2", ADD), "people").event
    made = fit_model(ridge("0.2", ADD), ROWS, TARGET, ledger=book, analyst="ada", budget="people", units=np.arange(200))
    assert made.event == planned
    assert made.event.neighbours == PERSON
    assert made.event.event.neighbours == EVERYONE
    once, twice = compose(made.model.event_), compose(made.event)
    assert twice.zcdp().rho == 4 * once.zcdp().rho


def test_what_is_proven_under_one_relation_only_names_the_budget_that_it_needs(book):
    network = PrivateSGDClassifier(classes=2, expected_rows=200, batch=10**4, epochs=1, random_state=1)
    with pytest.raises(MixedNeighboursError, match="it needs a budget with --relation add-or-remove-one"):
        fit_model(network, ROWS, TARGET > 0, ledger=book, analyst="ada", budget="rows")
    process = GaussianProcessRegression("1", "1e-6", y_bounds=(-1, 1), bounds=(-1, 1), random_state=1)
    with pytest.raises(MixedNeighboursError, match="it needs a budget with --unit label=y --relation replace-one"):
        fit_model(process, ROWS, TARGET, ledger=book, analyst="ada", budget="coming")
    answers = OutputPerturbation(KernelDensity(relation="replace-one"), questions=ROWS[:2], random_state=1)
    with pytest.raises(MixedNeighboursError, match="give the model relation='add-or-remove-one'"):
        fit_model(answers, ROWS, ledger=book, analyst="ada", budget="coming")
    assert spends(book, "rows") == spends(book, "coming") == 0


def test_no_price_and_no_entry_tells_the_number_of_rows(book):
    prices = {str(quoted(book, ridge(relation=ADD), "coming", rows)) for rows in (0, 1, 10**6)}
    assert len(prices) == 1
    for rows in (0, 1):
        made = fit_model(ridge("0.1", ADD), ROWS[:rows], TARGET[:rows], ledger=book, analyst="ada", budget="coming")
        assert made.event == ridge("0.1", ADD).planned(200, 3)


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (named(expected_rows=99), TARGET > 0),
        (named(), np.arange(200)),
        (GaussianNB(classes=["a", "b"], **GIVEN), np.full(200, "c")),
        (ridge(relation=ADD, method="output", expected_rows=99), TARGET),
        (OutputPerturbation(KernelSVM(classes=2), questions=ROWS[:2], random_state=1), np.arange(200)),
    ],
)
def test_rows_that_a_model_cannot_learn_from_are_refused_before_anything_is_spent(book, model, labels):
    with pytest.raises(DataError, match="declare"):
        fit_model(model, ROWS, labels, ledger=book, analyst="ada", budget="coming")
    assert spends(book, "coming") == 0


def test_a_model_that_costs_more_than_is_left_sees_no_row(book):
    class Watched(Ridge):
        def fit(self, X, y):  # noqa: N803
            raise AssertionError("a row was seen")

    model = Watched(epsilon="9", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1), relation="replace-one")
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
        return ridge("1/100").planned(rows, columns)


def test_what_goes_wrong_after_the_payment_stays_spent_and_quotes_nothing(book):
    model = Failing(epsilon="1", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1), relation="replace-one")
    with pytest.raises(EngineError, match="stays spent") as failed:
        fit_model(model, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert "secret" not in str(failed.value)
    assert spends(book, "rows") == 1


def test_a_model_that_did_something_else_than_was_paid_for_is_not_given_out(book):
    model = Lying(epsilon="1", delta="1e-6", bounds=(-1, 1), y_bounds=(-1, 1), relation="replace-one")
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
    with pytest.raises(MixedNeighboursError, match="promises about one label"):
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
    event = quoted(book, search, "rows").event
    made = fit_model(search, ROWS, TARGET, ledger=book, analyst="ada", budget="rows")
    assert made.event == event
    assert made.model.best_estimator_.guarantee_ == compose(event).approximate("1e-6")
