"""Models that stay with their steward and answer: functions that were perturbed once, or answers that are."""

from ziggurat.learn.served._cloaked import CloakedRegression
from ziggurat.learn.served._density import KernelDensity, ServedHistogram
from ziggurat.learn.served._gaussian_process import GaussianProcessRegression
from ziggurat.learn.served._output import OutputPerturbation
from ziggurat.learn.served._svm import KernelSVM

__all__ = [
    "CloakedRegression",
    "GaussianProcessRegression",
    "KernelDensity",
    "KernelSVM",
    "OutputPerturbation",
    "ServedHistogram",
]
