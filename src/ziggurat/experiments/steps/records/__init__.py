"""Records that are protected one by one, and what classifiers make of them."""

from ziggurat.experiments.steps.records._classify import classify, make_classifier
from ziggurat.experiments.steps.records._generator import train_generator, train_generator_keras, train_generator_torch
from ziggurat.experiments.steps.records._judging import best_threshold, measure
from ziggurat.experiments.steps.records._networks import classify_keras, classify_torch
from ziggurat.experiments.steps.records._privatize import privatize
from ziggurat.experiments.steps.records._similarity import similarity

__all__ = [
    "best_threshold",
    "classify",
    "classify_keras",
    "classify_torch",
    "make_classifier",
    "measure",
    "privatize",
    "similarity",
    "train_generator",
    "train_generator_keras",
    "train_generator_torch",
]
