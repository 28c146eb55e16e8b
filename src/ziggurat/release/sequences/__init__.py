"""Sequences that leave: drawn from a model with a guarantee, paid for before a row is read."""

from ziggurat.release.sequences._released import SequenceRelease, plan_sequences, release_sequences
from ziggurat.release.sequences._request import GENERATORS, SequenceRequest

__all__ = ["GENERATORS", "SequenceRelease", "SequenceRequest", "plan_sequences", "release_sequences"]
