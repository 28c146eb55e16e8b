"""Where raw data, a method and a ledger meet: questions that are paid for before anything is read."""

from ziggurat.release._asking import MOST_NUMBERS, TermOptions
from ziggurat.release._quotation import Quotation, QuotedQuestion
from ziggurat.release._session import Past, Session
from ziggurat.release._sweep import Sweep, sweep

__all__ = [
    "MOST_NUMBERS",
    "Past",
    "Quotation",
    "QuotedQuestion",
    "Session",
    "Sweep",
    "TermOptions",
    "sweep",
]
