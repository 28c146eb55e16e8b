"""Private models: estimators in the manner of scikit-learn that state what fitting them cost."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ziggurat.learn._around import guarantee_of
    from ziggurat.learn._family import SeveralFitsWarning, UnpaidWarning
    from ziggurat.learn._forest import RandomForestClassifier
    from ziggurat.learn._histogram import Histogram
    from ziggurat.learn._linear import LinearRegression, Ridge
    from ziggurat.learn._logistic import LogisticRegression
    from ziggurat.learn._naive_bayes import CategoricalNB, GaussianNB
    from ziggurat.learn._scaler import DeclaredScaler
    from ziggurat.learn._search import PrivateSearch
    from ziggurat.learn._served_cloaked import CloakedRegression
    from ziggurat.learn._served_density import KernelDensity, ServedHistogram
    from ziggurat.learn._served_gp import GaussianProcessRegression
    from ziggurat.learn._served_output import OutputPerturbation
    from ziggurat.learn._served_svm import KernelSVM
    from ziggurat.learn._sgd import PrivateSGDClassifier, PrivateSGDRegressor
    from ziggurat.learn._sparse import ElasticNet, Lasso
    from ziggurat.learn._trees import DecisionTreeClassifier

__all__ = [
    "CategoricalNB",
    "CloakedRegression",
    "DecisionTreeClassifier",
    "DeclaredScaler",
    "ElasticNet",
    "GaussianNB",
    "GaussianProcessRegression",
    "Histogram",
    "KernelDensity",
    "KernelSVM",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "OutputPerturbation",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
    "PrivateSearch",
    "RandomForestClassifier",
    "Ridge",
    "ServedHistogram",
    "SeveralFitsWarning",
    "UnpaidWarning",
    "guarantee_of",
]

_HOMES = {
    "CategoricalNB": "_naive_bayes",
    "CloakedRegression": "_served_cloaked",
    "DecisionTreeClassifier": "_trees",
    "DeclaredScaler": "_scaler",
    "ElasticNet": "_sparse",
    "GaussianNB": "_naive_bayes",
    "GaussianProcessRegression": "_served_gp",
    "Histogram": "_histogram",
    "KernelDensity": "_served_density",
    "KernelSVM": "_served_svm",
    "Lasso": "_sparse",
    "LinearRegression": "_linear",
    "LogisticRegression": "_logistic",
    "OutputPerturbation": "_served_output",
    "PrivateSGDClassifier": "_sgd",
    "PrivateSGDRegressor": "_sgd",
    "PrivateSearch": "_search",
    "RandomForestClassifier": "_forest",
    "Ridge": "_linear",
    "ServedHistogram": "_served_density",
    "SeveralFitsWarning": "_family",
    "UnpaidWarning": "_family",
    "guarantee_of": "_around",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
