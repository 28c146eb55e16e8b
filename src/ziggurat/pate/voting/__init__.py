"""Votes and noisy labels: aggregators, the law of the winner, and the exact cost of a query."""

from ziggurat.pate.voting._aggregators import UNANSWERED, Aggregator, Labels, ThresholdTest, VotingStep
from ziggurat.pate.voting._exact import ExactCosts
from ziggurat.pate.voting._noisy_max import (
    AGGREGATORS,
    ConfidentGaussianMax,
    GaussianNoisyMax,
    GumbelNoisyMax,
    LaplaceNoisyMax,
    aggregator_named,
)
from ziggurat.pate.voting._votes import Ballot, Floats, Integers, Votes

__all__ = [
    "AGGREGATORS",
    "UNANSWERED",
    "Aggregator",
    "Ballot",
    "ConfidentGaussianMax",
    "ExactCosts",
    "Floats",
    "GaussianNoisyMax",
    "GumbelNoisyMax",
    "Integers",
    "Labels",
    "LaplaceNoisyMax",
    "ThresholdTest",
    "Votes",
    "VotingStep",
    "aggregator_named",
]
