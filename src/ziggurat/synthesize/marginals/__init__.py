"""Synthesis with a guarantee: noisy counts of few columns at a time, and a model that fits them."""

from ziggurat.synthesize.marginals._aim import AIM
from ziggurat.synthesize.marginals._mst import MST
from ziggurat.synthesize.marginals._private import PrivateSynthesis

__all__ = [
    "AIM",
    "MST",
    "PrivateSynthesis",
]
