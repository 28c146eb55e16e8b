"""What labels cost: every account of one run, side by side."""

from ziggurat.pate.accounting._accounts import PateAccount, account, answer_probabilities, exact_curve, published_curve
from ziggurat.pate.accounting._orders import least_epsilon
from ziggurat.pate.accounting._private_epsilon import PrivateEpsilon
from ziggurat.pate.accounting._smooth import Sanitized, sanitize

__all__ = [
    "PateAccount",
    "PrivateEpsilon",
    "Sanitized",
    "account",
    "answer_probabilities",
    "exact_curve",
    "least_epsilon",
    "published_curve",
    "sanitize",
]
