"""Sequences that leave: drawn from a model with a guarantee, paid for before a row is read."""

from ziggurat.release.sequences._named import GENERATORS, make_generator
from ziggurat.release.sequences._released import SequenceRelease, plan_sequences, release_sequences

__all__ = ["GENERATORS", "SequenceRelease", "make_generator", "plan_sequences", "release_sequences"]
