"""The student: a model that learns from noisy labels, and promises what they promise."""

from ziggurat.pate.student._evaluation import Evaluation
from ziggurat.pate.student._student import Student

__all__ = [
    "Evaluation",
    "Student",
]
