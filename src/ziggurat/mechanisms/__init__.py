"""Mechanisms: a value goes in, a noisy value and its event come out."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.mechanisms._additive import AdditiveNoise, TooWideError
    from ziggurat.mechanisms._audit import SelfCheck, empirical_epsilon, self_test
    from ziggurat.mechanisms._base import Mechanism, Noisy, neighbours_or_usual, require_one_of
    from ziggurat.mechanisms._gaussian import DiscreteGaussian, Gaussian
    from ziggurat.mechanisms._laplace import Laplace, TruncatedGeometric
    from ziggurat.mechanisms._lattice import as_array
    from ziggurat.mechanisms._partitions import PartitionSelection
    from ziggurat.mechanisms._response import RandomizedResponse
    from ziggurat.mechanisms._selection import Selection, TopK
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_additive": "AdditiveNoise TooWideError",
            "_audit": "SelfCheck empirical_epsilon self_test",
            "_base": "Mechanism Noisy neighbours_or_usual require_one_of",
            "_gaussian": "DiscreteGaussian Gaussian",
            "_laplace": "Laplace TruncatedGeometric",
            "_lattice": "as_array",
            "_partitions": "PartitionSelection",
            "_response": "RandomizedResponse",
            "_selection": "Selection TopK",
        },
    )

__all__ = [
    "AdditiveNoise",
    "DiscreteGaussian",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "Noisy",
    "PartitionSelection",
    "RandomizedResponse",
    "Selection",
    "SelfCheck",
    "TooWideError",
    "TopK",
    "TruncatedGeometric",
    "as_array",
    "empirical_epsilon",
    "neighbours_or_usual",
    "require_one_of",
    "self_test",
]
