"""Every estimator of `ziggurat.learn` with nothing declared: it keeps scikit-learn's contract, or refuses and says why.

Some facts must be public before a private model can be fitted, and the rows may not tell them for free. An estimator
that needs one fails the checks of scikit-learn that fit it as it is; that is right, and nothing else may be wrong with
it. With those facts declared, all of them keep the contract: see `tests/learn`.
"""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from ziggurat import learn
from ziggurat.errors import NotPublicError, ParameterError

NEEDS = {
    "CategoricalNB": "Declare the classes",
    "CloakedRegression": "State the public bounds of the labels",
    "DecisionTreeClassifier": "Declare the classes",
    "DeclaredScaler": "Declare the public bounds",
    "ElasticNet": "",
    "GaussianNB": "Declare the classes",
    "GaussianProcessRegression": "State the public bounds of the labels",
    "Histogram": "State the public bounds of the columns",
    "KernelDensity": "",
    "KernelSVM": "Declare the classes",
    "Lasso": "",
    "LinearRegression": "",
    "LogisticRegression": "Declare the classes",
    "OutputPerturbation": "Give a served model that says what to estimate",
    "PrivateSGDClassifier": "Declare the classes",
    "PrivateSGDRegressor": "",
    "PrivateSearch": "Give a private classifier or regression",
    "RandomForestClassifier": "Declare the classes",
    "Ridge": "",
    "ServedHistogram": "State the public bounds of the columns",
}
SLOW = {"PrivateSGDClassifier", "PrivateSGDRegressor"}  # `test_sgd.py` checks them
EMPTY = "check_estimators_empty_data_messages"  # a table without a row is a neighbour of one with a row
TOO_MANY = "The grid has more than 2**24 bins"  # of a table of many columns, before anybody asks for bounds


BASES = {"PrivateModel", "StoredModel"}  # what estimators are made of, and no estimators


def _estimators():
    found = (getattr(learn, name) for name in learn.__all__ if name not in BASES)
    return {one.__name__ for one in found if isinstance(one, type) and not issubclass(one, Warning)}


def _behind(error):
    """An error and those that it was raised after."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def test_every_estimator_says_what_it_needs():
    assert set(NEEDS) == _estimators()


@pytest.mark.parametrize("name", sorted(set(NEEDS) - SLOW))
def test_with_nothing_declared_an_estimator_keeps_the_contract_or_refuses_by_name(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checks = check_estimator(getattr(learn, name)(), on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in checks if one["status"] == "failed"}
    failed.pop(EMPTY, None)
    assert bool(failed) == bool(NEEDS[name])
    for check, error in failed.items():
        refusals = [each for each in _behind(error) if isinstance(each, (NotPublicError, ParameterError))]
        assert any(words in str(each) for each in refusals for words in (NEEDS[name], TOO_MANY)), (check, error)
