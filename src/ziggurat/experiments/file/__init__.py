"""Experiment files: read and checked as a whole, and unfolded into a plan, before anything runs."""

from ziggurat.experiments.file._file import load, name_in, schema_text
from ziggurat.experiments.file._plan import expand

__all__ = [
    "expand",
    "load",
    "name_in",
    "schema_text",
]
