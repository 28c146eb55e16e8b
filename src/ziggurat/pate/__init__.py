"""PATE: teachers on disjoint data vote, noise hides every single one of them, and a student learns from the answers."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
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
    from ziggurat.pate._student import Student
    from ziggurat.pate._teachers import Teachers
    from ziggurat.pate._votes import Ballot, Votes
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_accounting": "PateAccount account answer_probabilities exact_curve published_curve",
            "_aggregators": "UNANSWERED Aggregator Labels Step ThresholdTest",
            "_evaluation": "Evaluation",
            "_networks": "CNN MLP Network",
            "_noisy_max": "ConfidentGaussianMax GaussianNoisyMax GumbelNoisyMax LaplaceNoisyMax aggregator_named",
            "_orders": "least_epsilon",
            "_partition": "Partition",
            "_private_epsilon": "PrivateEpsilon",
            "_settings": "Placement Search Training",
            "_smooth": "Sanitised sanitised",
            "_student": "Student",
            "_teachers": "Teachers",
            "_votes": "Ballot Votes",
        },
    )

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
