"""PATE: teachers on disjoint data vote, noise hides every single one of them, and a student learns from the answers."""

from ziggurat.pate._accounting import PateAccount, account, answer_probabilities, exact_curve, published_curve
from ziggurat.pate._aggregators import UNANSWERED, Aggregator, Labels, Step, ThresholdTest
from ziggurat.pate._networks import CNN, MLP, Network
from ziggurat.pate._noisy_max import ConfidentGaussianMax, GaussianNoisyMax, GumbelNoisyMax, LaplaceNoisyMax
from ziggurat.pate._orders import least_epsilon
from ziggurat.pate._partition import Partition
from ziggurat.pate._private_epsilon import PrivateEpsilon
from ziggurat.pate._settings import Placement, Search, Training
from ziggurat.pate._smooth import Sanitised, sanitised
from ziggurat.pate._teachers import Teachers
from ziggurat.pate._votes import Ballot, Votes

__all__ = [
    "CNN",
    "MLP",
    "UNANSWERED",
    "Aggregator",
    "Ballot",
    "ConfidentGaussianMax",
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
    "Teachers",
    "ThresholdTest",
    "Training",
    "Votes",
    "account",
    "answer_probabilities",
    "exact_curve",
    "least_epsilon",
    "published_curve",
    "sanitised",
]
