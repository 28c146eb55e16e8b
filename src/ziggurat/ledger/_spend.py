"""The two outcomes of a reservation: leave to ask, or the answer that was given before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from ziggurat.errors import LedgerUseError
from ziggurat.ledger._entries import Hold


@dataclass(frozen=True)
class Replay:
    """The stored answer to a question that was answered before; it costs nothing."""

    replayed: ClassVar[bool] = True
    seq: int
    answer: Any
    rehearsal: bool


class Reservation:
    """Leave to touch the data once: its cost is on disk already and is never given back.

    Attributes
    ----------
    seq
        The number of its entry.
    table, analyst, event
        What was reserved.
    expires
        When it can no longer be committed, in UTC.
    rehearsal
        Whether its answer comes from a seeded source and may never be published.
    """

    replayed: ClassVar[bool] = False

    def __init__(
        self, seq: int, hold: Hold, commit: Callable[[int, Any, bool], Any], abandon: Callable[[int], None]
    ) -> None:
        self.seq, self.table, self.analyst, self.event = seq, hold.table, hold.analyst, hold.event
        self.expires, self.rehearsal = hold.expires, hold.rehearsal
        self._commit, self._abandon = commit, abandon

    def commit(self, answer: Any) -> Any:
        """Store the answer durably and give it back as stored (lists for tuples), as every replay will.

        If this fails the cost stays spent; the answer must then not be shown to anybody.
        """
        return self._commit(self.seq, answer, self.rehearsal)

    def abandon(self) -> None:
        """Say that no answer will come, so that the question may be asked (and paid for) again at once."""
        self._abandon(self.seq)

    def __repr__(self) -> str:
        return f"Reservation({self.seq}, table={self.table!r}, analyst={self.analyst!r}, expires={self.expires!r})"


class Spend:
    """A question inside a `with ledger.spend(...)` block: answered before, or to be answered now."""

    def __init__(self, outcome: Reservation | Replay) -> None:
        self.outcome = outcome
        self._answered = outcome.replayed
        self._answer = outcome.answer if isinstance(outcome, Replay) else None

    @property
    def replayed(self) -> bool:
        """Whether the question was answered before, so that nothing is to be done and nothing was spent."""
        return self.outcome.replayed

    @property
    def answered(self) -> bool:
        """Whether there is an answer, old or new."""
        return self._answered

    @property
    def answer(self) -> Any:
        """The answer as stored."""
        if not self._answered:
            raise LedgerUseError("The question has not been answered yet; commit an answer first.")
        return self._answer

    def commit(self, answer: Any) -> Any:
        """Store the answer durably and give it back as stored."""
        if isinstance(self.outcome, Replay):
            raise LedgerUseError("The question was answered before; use that answer and do not touch the data again.")
        self._answer = self.outcome.commit(answer)
        self._answered = True
        return self._answer
