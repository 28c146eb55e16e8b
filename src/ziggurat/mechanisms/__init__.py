"""Mechanisms: a value goes in, a noisy value and its event come out."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.mechanisms._additive import AdditiveNoise
    from ziggurat.mechanisms._audit import Check, empirical_epsilon, self_test
    from ziggurat.mechanisms._base import Mechanism, Noisy
    from ziggurat.mechanisms._gaussian import DiscreteGaussian, Gaussian
    from ziggurat.mechanisms._laplace import Laplace, TruncatedGeometric
    from ziggurat.mechanisms._partitions import PartitionSelection
    from ziggurat.mechanisms._response import RandomizedResponse
    from ziggurat.mechanisms._selection import Selection, TopK
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_additive": "AdditiveNoise",
            "_audit": "Check empirical_epsilon self_test",
            "_base": "Mechanism Noisy",
            "_gaussian": "DiscreteGaussian Gaussian",
            "_laplace": "Laplace TruncatedGeometric",
            "_partitions": "PartitionSelection",
            "_response": "RandomizedResponse",
            "_selection": "Selection TopK",
        },
    )

__all__ = [
    "AdditiveNoise",
    "Check",
    "DiscreteGaussian",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "Noisy",
    "PartitionSelection",
    "RandomizedResponse",
    "Selection",
    "TopK",
    "TruncatedGeometric",
    "empirical_epsilon",
    "self_test",
]
