"""Private models: estimators in the manner of scikit-learn that state what fitting them cost."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

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
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_around": "guarantee_of",
            "_family": "SeveralFitsWarning UnpaidWarning",
            "_forest": "RandomForestClassifier",
            "_histogram": "Histogram",
            "_linear": "LinearRegression Ridge",
            "_logistic": "LogisticRegression",
            "_naive_bayes": "CategoricalNB GaussianNB",
            "_scaler": "DeclaredScaler",
            "_search": "PrivateSearch",
            "_served_cloaked": "CloakedRegression",
            "_served_density": "KernelDensity ServedHistogram",
            "_served_gp": "GaussianProcessRegression",
            "_served_output": "OutputPerturbation",
            "_served_svm": "KernelSVM",
            "_sgd": "PrivateSGDClassifier PrivateSGDRegressor",
            "_sparse": "ElasticNet Lasso",
            "_trees": "DecisionTreeClassifier",
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
