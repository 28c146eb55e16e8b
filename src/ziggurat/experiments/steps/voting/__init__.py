"""PATE: teachers, labels and students as steps."""

from ziggurat.experiments.steps.voting._pate import label_queries, label_votes, train_teachers
from ziggurat.experiments.steps.voting._student import train_student

__all__ = [
    "label_queries",
    "label_votes",
    "train_student",
    "train_teachers",
]
