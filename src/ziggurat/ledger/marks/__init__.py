"""What whoever was killed finds again: entries by their mark, reservations by their number, and their answers."""

from ziggurat.ledger.marks._marks import LedgerMark, find_answer, find_hold, find_marked, require_same

__all__ = ["LedgerMark", "find_answer", "find_hold", "find_marked", "require_same"]
