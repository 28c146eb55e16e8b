"""The local model: every record is protected on its own before anybody collects it."""

from typing import TYPE_CHECKING

from ziggurat._lazy import lazy

if TYPE_CHECKING:
    from ziggurat.local._base import Privatizer, Reports
    from ziggurat.local._choice import RecordChoice
    from ziggurat.local._choose import METHODS, Recommendation, best_for_frequencies, privatizer_for
    from ziggurat.local._estimates import Frequencies, LocalEstimate, Mean
    from ziggurat.local._hashing import LocalHashing
    from ziggurat.local._intervals import Support
    from ziggurat.local._numbers import CountNoise, RecordLaplace
    from ziggurat.local._record import WholeRecord
    from ziggurat.local._response import Response
    from ziggurat.local._unary import UnaryEncoding
    from ziggurat.local._vectors import VectorNoise
else:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "_base": "Privatizer Reports",
            "_choice": "RecordChoice",
            "_choose": "METHODS Recommendation best_for_frequencies privatizer_for",
            "_estimates": "Frequencies LocalEstimate Mean",
            "_hashing": "LocalHashing",
            "_intervals": "Support",
            "_numbers": "CountNoise RecordLaplace",
            "_record": "WholeRecord",
            "_response": "Response",
            "_unary": "UnaryEncoding",
            "_vectors": "VectorNoise",
        },
    )

__all__ = [
    "METHODS",
    "CountNoise",
    "Frequencies",
    "LocalEstimate",
    "LocalHashing",
    "Mean",
    "Privatizer",
    "Recommendation",
    "RecordChoice",
    "RecordLaplace",
    "Reports",
    "Response",
    "Support",
    "UnaryEncoding",
    "VectorNoise",
    "WholeRecord",
    "best_for_frequencies",
    "privatizer_for",
]
