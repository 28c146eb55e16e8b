"""The two outcomes of a reservation: leave to ask, or the answer that was given before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ziggurat.errors import LedgerUseError
from ziggurat.ledger._chain import Entry
from ziggurat.ledger._entries import Hold


@dataclass(frozen=True)
class Replay:
    """The entry that answered the same question before; it costs nothing."""

    replayed: ClassVar[bool] = True
    entry: Entry

    @property
    def seq(self) -> int:
        """The number of its entry."""
        return self.entry.seq

    @property
    def answer(self) -> Any:
        """The answer as stored."""
        return self.entry.data["answer"]

    @property
    def rehearsal(self) -> bool:
        """Whether the answer came from a seeded source and may never be published."""
        return bool(self.entry.data["rehearsal"])


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
        self, seq: int, hold: Hold, commit: Callable[[int, Any, bool], Entry], abandon: Callable[[int], None]
    ) -> None:
        self.seq, self.table, self.analyst, self.event = seq, hold.table, hold.analyst, hold.event
        self.expires, self.rehearsal = hold.expires, hold.rehearsal
        self._commit, self._abandon = commit, abandon

    def commit(self, answer: Any) -> Entry:
        """Store the answer durably and give its entry, which holds it as every replay will (lists for tuples).

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
        self._entry = outcome.entry if isinstance(outcome, Replay) else None

    @property
    def replayed(self) -> bool:
        """Whether the question was answered before, so that nothing is to be done and nothing was spent."""
        return self.outcome.replayed

    @property
    def answered(self) -> bool:
        """Whether there is an answer, old or new."""
        return self._entry is not None

    @property
    def entry(self) -> Entry:
        """The entry that holds the answer, old or new."""
        if self._entry is None:
            raise LedgerUseError("The question has not been answered yet; commit an answer first.")
        return self._entry

    @cached_property
    def answer(self) -> Any:
        """The answer as stored."""
        return self.entry.data["answer"]

    def commit(self, answer: Any) -> Entry:
        """Store the answer durably and give its entry."""
        if isinstance(self.outcome, Replay):
            raise LedgerUseError("The question was answered before; use that answer and do not touch the data again.")
        self._entry = self.outcome.commit(answer)
        return self._entry
