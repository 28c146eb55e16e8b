"""What a process asks another to write, as text: a reservation that is to be decided, an answer, or that none comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from ziggurat.errors import ZigguratError
from ziggurat.ledger._chain import Entry, decode, encode, timestamp
from ziggurat.ledger._entries import Abandonment, Commit, Hold, Record, event_from_text, record_from
from ziggurat.ledger._populations import count_for, paying
from ziggurat.ledger._state import State
from ziggurat.ledger.checkpoints import Archive
from ziggurat.privacy import Event

Decide = Callable[[State, datetime], Record | None]
"""Makes the next record of the newest state and the time; it may make none, or raise."""
ORDERED = (Commit, Abandonment)
"""Records that are the same whoever writes them, and that are written all the time."""

_TICK = timedelta(microseconds=1)
_LATER = timestamp(datetime(2000, 1, 1, tzinfo=UTC))  # the key does not depend on it


@dataclass
class ReserveCall:
    """One call of `reserve`, and what came of it: a reservation, or the entry that answered the question before."""

    budget: str
    analyst: str
    event: Event
    question: Any
    life: timedelta
    rehearsal: bool
    archive: Archive
    answered: int = 0
    _hold: Hold | None = None

    def decide(self, state: State, moment: datetime) -> Record | None:
        """Make the reservation, unless the question has been answered."""
        expires = timestamp(moment + self.life)
        self._hold = make_hold(state, self.budget, self.analyst, self.event, self.question, expires, self.rehearsal)
        self.answered = self.archive.find_answer(state, self._hold.key)
        return None if self.answered else self._hold

    def foresee(self, state: State) -> bytes | None:
        """Foresee the key of the question; None if it has none, or is going to be refused."""
        if self.question is None:
            return None
        try:
            return make_hold(state, self.budget, self.analyst, self.event, self.question, _LATER, self.rehearsal).key
        except ZigguratError:
            return None

    def to_order(self) -> str | None:
        """Say to another process what is to be reserved."""
        asked = [self.budget, self.analyst, decode(self.event.to_json()), self.question]
        return encode({"reserve": [*asked, self.life // _TICK, self.rehearsal]})

    def hold_of(self, entry: Entry) -> Hold:
        """Give the reservation that was written, here or by another process."""
        if self._hold is not None:
            return self._hold
        hold = record_from(entry.kind, entry.body)
        assert isinstance(hold, Hold)  # nothing else was asked for
        return hold


def order_entry(record: Record) -> str | None:
    """Say to another process which entry to write."""
    return encode({"entry": [record.kind, record.to_body()]})


def read_order(order: str, archive: Archive) -> ReserveCall | Record:
    """Read what another process wants to have written; raises whatever does not let it be read."""
    read = decode(order)
    if "reserve" in read:
        budget, analyst, event, question, ticks, rehearsal = read["reserve"]
        made = event_from_text(encode(event) or "")
        return ReserveCall(budget, analyst, made, question, ticks * _TICK, rehearsal, archive)
    kind, body = read["entry"]
    return record_from(kind, encode(body) or "")


def decide_as(wanted: ReserveCall | Record | None) -> Decide | None:
    """Give what decides over something that was read."""
    if isinstance(wanted, ReserveCall):
        return wanted.decide
    return None if wanted is None else lambda _state, _moment: wanted


def make_hold(
    state: State, name: str, analyst: str, event: Event, question: Any, expires: str, rehearsal: bool
) -> Hold:
    """Make a reservation on the budget that pays for a table, and state the event as that budget counts it."""
    budget = paying(state, name, event.neighbours, analyst)
    return Hold(budget.table, analyst, count_for(event, budget.neighbours), question, expires, rehearsal)
