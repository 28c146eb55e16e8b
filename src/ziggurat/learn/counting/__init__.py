"""Models made of noisy counts: trees, forests, naive Bayes, histograms."""

from ziggurat.learn.counting._forest import RandomForestClassifier
from ziggurat.learn.counting._histogram import Histogram
from ziggurat.learn.counting._naive_bayes import CategoricalNB, GaussianNB
from ziggurat.learn.counting._trees import DecisionTreeClassifier

__all__ = [
    "CategoricalNB",
    "DecisionTreeClassifier",
    "GaussianNB",
    "Histogram",
    "RandomForestClassifier",
]
