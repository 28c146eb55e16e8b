"""Sequences that are protected one by one, and what a classifier makes of them."""

from ziggurat.experiments.steps.sequences._classify import classify_sequences
from ziggurat.experiments.steps.sequences._data import sequence_data
from ziggurat.experiments.steps.sequences._judging import choose_measure, recall_canaries, sequence_similarity
from ziggurat.experiments.steps.sequences._privatize import privatize_sequences, train_sequence_generator

__all__ = [
    "choose_measure",
    "classify_sequences",
    "privatize_sequences",
    "recall_canaries",
    "sequence_data",
    "sequence_similarity",
    "train_sequence_generator",
]
