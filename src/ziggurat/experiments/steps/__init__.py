"""The standard steps; an experiment file names them as they are registered, with hyphens.

What is heavy (scikit-learn, PyTorch, Keras, Arrow) is imported when a step runs, not when it is named.
"""

from ziggurat.experiments.steps._classify import classify
from ziggurat.experiments.steps._formulas import (
    gaussian_sigma,
    loss_tail,
    parallel_composition,
    proportion_sensitivity,
    selection_probability,
)
from ziggurat.experiments.steps._generator import train_generator, train_generator_keras, train_generator_torch
from ziggurat.experiments.steps._networks import classify_keras, classify_torch
from ziggurat.experiments.steps._prepare import prepare_data
from ziggurat.experiments.steps._privatise import privatise
from ziggurat.experiments.steps._similarity import similarity

__all__ = [
    "classify",
    "classify_keras",
    "classify_torch",
    "gaussian_sigma",
    "loss_tail",
    "parallel_composition",
    "prepare_data",
    "privatise",
    "proportion_sensitivity",
    "selection_probability",
    "similarity",
    "train_generator",
    "train_generator_keras",
    "train_generator_torch",
]
