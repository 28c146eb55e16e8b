"""Linear models to publish: least squares, logistic regression, and sparse ones."""

from ziggurat.learn.linear._logistic import LogisticRegression
from ziggurat.learn.linear._regression import LinearRegression, Ridge
from ziggurat.learn.linear._sparse import ElasticNet, Lasso

__all__ = [
    "ElasticNet",
    "Lasso",
    "LinearRegression",
    "LogisticRegression",
    "Ridge",
]
