"""The local model: every record is protected on its own before anybody collects it."""

from ziggurat.local._base import Privatiser, Reports
from ziggurat.local._choice import RecordChoice
from ziggurat.local._choose import METHODS, Recommendation, best_for_frequencies, privatiser_for
from ziggurat.local._estimates import Estimate, Frequencies, Mean
from ziggurat.local._hashing import LocalHashing
from ziggurat.local._numbers import CountNoise, RecordLaplace
from ziggurat.local._record import Record
from ziggurat.local._response import Response
from ziggurat.local._unary import UnaryEncoding
from ziggurat.local._vectors import VectorNoise

__all__ = [
    "METHODS",
    "CountNoise",
    "Estimate",
    "Frequencies",
    "LocalHashing",
    "Mean",
    "Privatiser",
    "Recommendation",
    "Record",
    "RecordChoice",
    "RecordLaplace",
    "Reports",
    "Response",
    "UnaryEncoding",
    "VectorNoise",
    "best_for_frequencies",
    "privatiser_for",
]
