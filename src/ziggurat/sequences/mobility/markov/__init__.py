"""Trajectories with a promise, by counts: where people are, where they go and how far, learned with exact noise."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.sequences.mobility.markov._generator import MarkovTrajectories
else:
    __getattr__, __dir__ = lazy(__name__, {"_generator": "MarkovTrajectories"})

__all__ = ["MarkovTrajectories"]
