"""Questions and workloads that are paid for before anything is read."""

from ziggurat.release.questions._asking import MOST_NUMBERS, TermOptions, flatten_lists
from ziggurat.release.questions._session import Past, Session
from ziggurat.release.questions._sweep import Sweep, sweep

__all__ = [
    "MOST_NUMBERS",
    "Past",
    "Session",
    "Sweep",
    "TermOptions",
    "flatten_lists",
    "sweep",
]
