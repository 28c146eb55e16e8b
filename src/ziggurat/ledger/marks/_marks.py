"""Marks: by which whoever wrote an entry finds it again after being killed, and never somebody else's.

A mark is noted durably before it is used, with the newest entry of then: whatever bears it comes later. Whether an
entry bears it is asked once more where it is written, while no other writer can come between, so that one mark is
written once by however many processes that share it, also where a database finishes the work of one that was killed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Self

from ziggurat.cards import Shown
from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError
from ziggurat.ledger._chain import Entry, intact
from ziggurat.ledger._entries import Commit, Hold, record_from
from ziggurat.ledger._populations import count_for
from ziggurat.ledger._state import State
from ziggurat.ledger.storage import BATCH, Store
from ziggurat.privacy import Event

_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class LedgerMark(Shown):
    """What tells the entries of one piece of work from all others of a ledger.

    Attributes
    ----------
    ledger
        The random name of the ledger.
    token
        A random name that stands in the entries; nobody else knows it before they are written.
    since
        The newest entry when it was made.
    """

    ledger: str
    token: str
    since: int

    @classmethod
    def fresh(cls, state: State) -> Self:
        """Make one that no entry bears."""
        return cls(state.ledger, token_hex(16), state.head.seq)

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"ledger": self.ledger, "token": self.token, "since": self.since}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form; `TypeError` or `ValueError` if it is none."""
        made = cls(**data)
        texts = isinstance(made.ledger, str) and isinstance(made.token, str)
        if not texts or not _TOKEN.fullmatch(made.token) or type(made.since) is not int or made.since < 1:
            raise ValueError("a mark is a ledger, a token and a number")
        return made


def find_marked(store: Store, state: State, mark: LedgerMark, kind: str) -> Entry | None:
    """Find the entry of a kind that bears a mark; a ledger that is not the one it was made for is refused."""
    if state.ledger != mark.ledger:
        raise LedgerUseError("This was begun with another ledger; give the one that it was begun with.")
    if state.head.seq < mark.since:
        raise LedgerUseError(
            "This was begun when the ledger had more entries than now: an older copy was put back; restore it."
        )
    for entry in _entries(store, mark.since + 1, state.head.seq):
        if entry.kind == kind and mark.token in entry.body and entry.data.get("mark") == mark.token:
            if not intact(entry):
                raise LedgerCorruptError(f"{store.name} has lost or changed entry {entry.seq}; verify it.")
            return entry
    return None


def find_hold(store: Store, state: State, seq: int) -> Hold:
    """Read a reservation, by the number of its entry."""
    pair = store.entries(seq, 2) if 0 < seq <= state.head.seq else []
    if not pair or pair[0].seq != seq or pair[0].kind != Hold.kind:
        raise LedgerUseError(f"There is no reservation {seq}.")
    linked = seq == state.head.seq or (len(pair) == 2 and pair[1].previous == pair[0].hash)
    try:
        found = record_from(pair[0].kind, pair[0].body) if intact(pair[0]) and linked else None
    except LedgerError:
        found = None
    if not isinstance(found, Hold):
        raise LedgerCorruptError(f"{store.name} has lost or changed entry {seq}; verify it.")
    return found


def require_same(state: State, seq: int, found: Hold, asked: tuple[str, str, Event, Any, bool], token: str) -> None:
    """Refuse a reservation that is not exactly the one that is to be taken up: somebody else's, or for something else.

    The grant may have been closed meanwhile, and further budgets made: what was reserved was reserved.
    """
    name, analyst, event, question, rehearsal = asked
    mine = found.analyst == analyst and found.rehearsal is rehearsal and (not token or found.mark == token)
    there = any(each.table == found.table for each in state.budgets(name))
    counted = count_for(event, state.budget(found.table).neighbours) if mine and there else None
    if counted != found.event or question != found.question:
        raise LedgerUseError(
            f"Reservation {seq} was made for something else than what is to be taken up; nothing was read or spent."
        )


def find_answer(store: Store, state: State, seq: int) -> int:
    """Find the entry that answers a reservation, however long ago; 0 if there is none."""
    held = state.holds.get(seq)
    if held is not None:
        return held.committed
    for entry in _entries(store, seq + 1, state.base):
        if entry.kind == Commit.kind and entry.data.get("reservation") == seq:
            return entry.seq
    return 0


def _entries(store: Store, start: int, end: int) -> Iterator[Entry]:
    """Give the entries from one number up to another."""
    while start <= end:
        batch = [entry for entry in store.entries(start, BATCH) if start <= entry.seq <= end]
        if not batch:
            return
        yield from batch
        start = batch[-1].seq + 1
