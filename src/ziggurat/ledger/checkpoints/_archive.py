"""What checkpoints let go of: found through the index of the database, and checked against the entries themselves.

An index that lies leads nowhere: the key is computed again from the entry that it points at. One that lacks a row can
only make a question cost again, and a text that statements must tell is missed by its count and digest.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError
from ziggurat.ledger._chain import AnsweredEntry, Entry, intact
from ziggurat.ledger._entries import Commit, Hold, Unbounded, record_from
from ziggurat.ledger._state import GrantState, NoteList, State
from ziggurat.ledger.checkpoints._checkpoint import name_notes
from ziggurat.ledger.storage import Store


class Archive:
    """The entries before the newest checkpoint, by what they are about."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._ahead: tuple[int, dict[str, list[int]]] = (0, {})

    def look_ahead(self, state: State, keys: Sequence[bytes]) -> None:
        """Look up several questions at once, before it is their turn.

        What the index has for entries before a checkpoint was written with it and is never changed, so that this stays
        true as long as the newest checkpoint is the same.
        """
        names = [key.hex() for key in keys]
        self._ahead = (state.base, self._store.pointed_all(names) if state.base and names else {})

    def find_answer(self, state: State, key: bytes | None) -> int:
        """Find the entry that answers a question; 0 if there is none."""
        if key is None:
            return 0
        recent = state.questions.get(key)
        if recent is not None and recent.committed:
            return recent.committed
        found = self._pointed(state, key.hex()) if state.base else []
        return next((seq for seq in reversed(found) if seq < state.base and self._answers(seq, key)), 0)

    def _pointed(self, state: State, name: str) -> list[int]:
        base, ahead = self._ahead
        return ahead[name] if base == state.base and name in ahead else self._store.pointed(name)

    def tell(self, state: State, kind: str, table: str) -> list[str]:
        """Give every text of a kind (unbounded or decision) about a table, in order."""
        noted = state.tables[table]
        whole = noted.unbounded if kind == Unbounded.kind else noted.decisions
        if len(whole.recent) == whole.count:
            return [what for _, what in whole.recent]
        found, again = self._store.pointed(name_notes(kind, table)), NoteList()
        numbers = [seq for seq in found if seq < state.base]
        for entry in self._store.numbered(numbers):
            if entry.kind == kind and intact(entry) and entry.data.get("table") == table:
                again.add(entry.seq, entry.data["what"])
        for seq, what in whole.recent:
            again.add(seq, what)
        if (again.count, again.digest) != (whole.count, whole.digest):
            raise LedgerCorruptError(
                f"{self._store.name} has lost or changed what it must tell of {table!r}; verify it."
            )
        return [what for _, what in again.recent]

    def with_answer(self, entry: Entry) -> Entry:
        """Give an entry with its answer, where that is kept beside the chain; it must be the one that was committed."""
        named = entry.data.get("sha256") if entry.kind == Commit.kind and '"sha256"' in entry.body else None
        if not named:
            return entry
        text = self._store.kept(named)
        if text is None or sha256(text.encode("utf-8", "surrogateescape")).hexdigest() != named:
            raise LedgerCorruptError(
                f"{self._store.name} has lost or changed the answer of entry {entry.seq}; verify it."
            )
        found = AnsweredEntry(*entry)
        found.answer = text
        return found

    def owner(self, state: State, reservation: int) -> GrantState:
        """Find the grant that paid for a reservation, however long ago."""
        recent = state.holds.get(reservation)
        if recent is not None:
            return recent.owner
        hold = self._record(reservation, Hold) if 0 < reservation < state.base else None
        if not isinstance(hold, Hold):
            raise LedgerUseError(f"There is no reservation {reservation}.")
        grants: Sequence[GrantState] = state.table(hold.table).grants
        paid = [one for one in grants if one.grant.analyst == hold.analyst and one.since < reservation]
        if not paid:
            raise LedgerCorruptError(f"{self._store.name} is broken at entry {reservation}; verify it.")
        return paid[-1]

    def _answers(self, seq: int, key: bytes) -> bool:
        """Tell whether an entry is an answer to the question of that key."""
        answer = self._record(seq, Commit)
        if not isinstance(answer, Commit) or not 0 < answer.reservation < seq:
            return False
        hold = self._record(answer.reservation, Hold)
        return isinstance(hold, Hold) and hold.key == key and hold.rehearsal is answer.rehearsal

    def _record(self, seq: int, kind: type[Any]) -> Any:
        """Read what an entry says, if it is whole, of that kind, and the next one follows it."""
        found = self._store.entries(seq, 2)
        if len(found) < 2 or found[0].seq != seq or found[0].kind != kind.kind or not _links(found):
            return None
        try:
            return record_from(found[0].kind, found[0].body)
        except LedgerError:
            return None


def _links(pair: Sequence[Entry]) -> bool:
    return intact(pair[0]) and intact(pair[1]) and pair[1].previous == pair[0].hash
