"""Private models: estimators in the manner of scikit-learn that state what fitting them cost."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.learn._around import guarantee_of
    from ziggurat.learn._base import PrivateModel
    from ziggurat.learn._family import SeveralFitsWarning, UnpaidWarning
    from ziggurat.learn._scaler import DeclaredScaler
    from ziggurat.learn._search import PrivateSearch
    from ziggurat.learn._sgd import PrivateSGDClassifier, PrivateSGDRegressor
    from ziggurat.learn._storage import StoredModel
    from ziggurat.learn.counting import (
        CategoricalNB,
        DecisionTreeClassifier,
        GaussianNB,
        Histogram,
        RandomForestClassifier,
    )
    from ziggurat.learn.linear import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
    from ziggurat.learn.served import (
        CloakedRegression,
        GaussianProcessRegression,
        KernelDensity,
        KernelSVM,
        OutputPerturbation,
        ServedHistogram,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_around": "guarantee_of",
            "_base": "PrivateModel",
            "_family": "SeveralFitsWarning UnpaidWarning",
            "_scaler": "DeclaredScaler",
            "_search": "PrivateSearch",
            "_sgd": "PrivateSGDClassifier PrivateSGDRegressor",
            "_storage": "StoredModel",
            "counting": "CategoricalNB DecisionTreeClassifier GaussianNB Histogram RandomForestClassifier",
            "linear": "ElasticNet Lasso LinearRegression LogisticRegression Ridge",
            "served": """
                CloakedRegression GaussianProcessRegression KernelDensity KernelSVM OutputPerturbation ServedHistogram
            """,
        },
    )

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
    "PrivateModel",
    "PrivateSGDClassifier",
    "PrivateSGDRegressor",
    "PrivateSearch",
    "RandomForestClassifier",
    "Ridge",
    "ServedHistogram",
    "SeveralFitsWarning",
    "StoredModel",
    "UnpaidWarning",
    "guarantee_of",
]
