"""The local model: every record is protected on its own before anybody collects it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.local._base import Privatiser, Reports
    from ziggurat.local._choice import RecordChoice
    from ziggurat.local._choose import METHODS, Recommendation, best_for_frequencies, privatiser_for
    from ziggurat.local._estimates import Estimate, Frequencies, Mean
    from ziggurat.local._hashing import LocalHashing
    from ziggurat.local._intervals import Support
    from ziggurat.local._numbers import CountNoise, RecordLaplace
    from ziggurat.local._record import Record
    from ziggurat.local._response import Response
    from ziggurat.local._unary import UnaryEncoding
    from ziggurat.local._vectors import VectorNoise
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_base": "Privatiser Reports",
            "_choice": "RecordChoice",
            "_choose": "METHODS Recommendation best_for_frequencies privatiser_for",
            "_estimates": "Estimate Frequencies Mean",
            "_hashing": "LocalHashing",
            "_intervals": "Support",
            "_numbers": "CountNoise RecordLaplace",
            "_record": "Record",
            "_response": "Response",
            "_unary": "UnaryEncoding",
            "_vectors": "VectorNoise",
        },
    )

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
    "Support",
    "UnaryEncoding",
    "VectorNoise",
    "best_for_frequencies",
    "privatiser_for",
]
