"""PATE: teachers on disjoint data vote, noise hides every single one of them, and a student learns from the answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ziggurat.pate._accounting import PateAccount, account, answer_probabilities, exact_curve, published_curve
from ziggurat.pate._aggregators import UNANSWERED, Aggregator, Labels, Step, ThresholdTest
from ziggurat.pate._evaluation import Evaluation
from ziggurat.pate._networks import CNN, MLP, Network
from ziggurat.pate._noisy_max import (
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    aggregator_named,
)
from ziggurat.pate._orders import least_epsilon
from ziggurat.pate._partition import Partition
from ziggurat.pate._private_epsilon import PrivateEpsilon
from ziggurat.pate._settings import Placement, Search, Training
from ziggurat.pate._smooth import Sanitised, sanitised
from ziggurat.pate._teachers import Teachers
from ziggurat.pate._votes import Ballot, Votes

if TYPE_CHECKING:
    from ziggurat.pate._student import Student

__all__ = [
    "CNN",
    "MLP",
    "UNANSWERED",
    "Aggregator",
    "Ballot",
    "ConfidentGaussianMax",
    "Evaluation",
    "GaussianNoisyMax",
    "GumbelNoisyMax",
    "Labels",
    "LaplaceNoisyMax",
    "Network",
    "Partition",
    "PateAccount",
    "Placement",
    "PrivateEpsilon",
    "Sanitised",
    "Search",
    "Step",
    "Student",
    "Teachers",
    "ThresholdTest",
    "Training",
    "Votes",
    "account",
    "aggregator_named",
    "answer_probabilities",
    "exact_curve",
    "least_epsilon",
    "published_curve",
    "sanitised",
]


def __getattr__(name: str) -> Any:
    """Load the student, and with it scikit-learn, when it is first used."""
    if name != "Student":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ziggurat.pate._student import Student

    return Student


def __dir__() -> list[str]:
    return sorted(__all__)
