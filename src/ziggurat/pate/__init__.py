"""PATE: teachers on disjoint data vote, noise hides every single one of them, and a student learns from the answers."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.pate.accounting import (
        PateAccount,
        PrivateEpsilon,
        Sanitized,
        account,
        answer_probabilities,
        exact_curve,
        least_epsilon,
        published_curve,
        sanitize,
    )
    from ziggurat.pate.student import Evaluation, Student
    from ziggurat.pate.teachers import Partition, Teachers
    from ziggurat.pate.training import CNN, MLP, Network, Placement, RandomSearch, Training
    from ziggurat.pate.voting import (
        UNANSWERED,
        Aggregator,
        Ballot,
        ConfidentGaussianMax,
        GaussianNoisyMax,
        GumbelNoisyMax,
        Labels,
        LaplaceNoisyMax,
        ThresholdTest,
        Votes,
        VotingStep,
        aggregator_named,
    )
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "accounting": """
                PateAccount PrivateEpsilon Sanitized account answer_probabilities exact_curve least_epsilon
                published_curve sanitize
            """,
            "student": "Evaluation Student",
            "teachers": "Partition Teachers",
            "training": "CNN MLP Network Placement RandomSearch Training",
            "voting": """
                Aggregator Ballot ConfidentGaussianMax GaussianNoisyMax GumbelNoisyMax Labels LaplaceNoisyMax VotingStep
                ThresholdTest UNANSWERED Votes aggregator_named
            """,
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
    "RandomSearch",
    "Sanitized",
    "Student",
    "Teachers",
    "ThresholdTest",
    "Training",
    "Votes",
    "VotingStep",
    "account",
    "aggregator_named",
    "answer_probabilities",
    "exact_curve",
    "least_epsilon",
    "published_curve",
    "sanitize",
]
