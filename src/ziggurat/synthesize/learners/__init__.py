"""What learns one column of a table given others: trees, regressions, networks, and plain draws."""

from ziggurat.synthesize.learners._linear import Linear
from ziggurat.synthesize.learners._methods import METHOD_NAMES, describe_method, method_of, name_of, restore_method
from ziggurat.synthesize.learners._network import SmallNetwork
from ziggurat.synthesize.learners._sampling import Sample
from ziggurat.synthesize.learners._trees import Cart, Forest

__all__ = [
    "METHOD_NAMES",
    "Cart",
    "Forest",
    "Linear",
    "Sample",
    "SmallNetwork",
    "describe_method",
    "method_of",
    "name_of",
    "restore_method",
]
