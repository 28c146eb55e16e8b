"""Naming a witness, and stating who it is."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.cards import Shown
from ziggurat.errors import WitnessError
from ziggurat.ledger._entries import WitnessNamed
from ziggurat.ledger._keys import fingerprint
from ziggurat.ledger._state import State
from ziggurat.ledger.witness._access import keep_access
from ziggurat.ledger.witness._known import Known, key_file, own_key, remember
from ziggurat.ledger.witness._place import is_over_http, witness_address

if TYPE_CHECKING:
    from ziggurat.ledger._journal import Journal


@dataclass
class Naming:
    """One call that names a witness for the ledger at `place`."""

    where: str | os.PathLike[str]
    lost: bool
    place: str
    made: Known = field(init=False)

    def __post_init__(self) -> None:
        self.where = witness_address(self.where)

    def decide(self, state: State, _moment: datetime) -> WitnessNamed | None:
        """Make the record, unless this witness is named already."""
        where, present = str(self.where), state.witness
        if present is not None and present.where == where and not self.lost:
            self.made = Known(state.ledger, self.place, where, present.public_key)
            return None
        key = own_key(state.ledger, anew=present is None or self.lost)
        self.made = Known(state.ledger, self.place, where, key)
        return WitnessNamed(where, key, self.lost)

    def remember(self) -> None:
        """Note the witness on this machine, so that a ledger that forgets it is found out, and how to get at it."""
        remember(self.made)
        if is_over_http(self.made.where):
            keep_access(self.made.where)


@dataclass(frozen=True)
class WitnessStatement(Shown):
    """Who watches a ledger.

    Attributes
    ----------
    where, fingerprint
        Where its receipts are and how its key is recognised; empty if no witness is named.
    key_file
        Where the key lies that signs the receipts, for whoever spends.
    entries, seen
        How many entries the ledger has, and the number of the newest that the witness has seen; None if it could not
        be asked.
    same_disk
        Whether it is a folder on the disk of the ledger, where one accident or intruder reaches both.
    trouble
        Why it could not be asked; empty if it could.
    """

    where: str = ""
    fingerprint: str = ""
    key_file: str = ""
    entries: int = 0
    seen: int | None = None
    same_disk: bool = False
    trouble: str = ""

    def sentences(self) -> list[str]:
        """Say it in words."""
        if not self.where:
            return ["No witness is named, so a ledger rewritten whole, cut off or put back would not be noticed."]
        who = f"The witness is {self.where!r} (key {self.fingerprint})"
        if self.trouble:
            return [f"{who}; it cannot be asked now, and without it nothing is spent: {self.trouble}."]
        said = [f"{who}; it has seen {self._how_many()}."]
        return [*said, *([_SAME_DISK] if self.same_disk else [])]

    def _how_many(self) -> str:
        if self.seen is None:
            return "nothing of this ledger; verify it"
        return f"all {self.entries} entries" if self.seen == self.entries else f"{self.seen} of {self.entries} entries"


_SAME_DISK = (
    "It lies on the disk of the ledger, where one accident or intruder reaches both; another disk, or a table that "
    "belongs to somebody else, is better."
)


def state_witness(journal: Journal) -> WitnessStatement:
    """Ask the witness of a journal how far it has seen."""
    with journal.current() as state:
        named = state.witness
        if named is None:
            return WitnessStatement(entries=state.head.seq)
        seen, trouble = None, ""
        try:
            newest = journal.guard.newest(state)
            seen = None if newest is None else newest.seq
        except WitnessError as error:
            trouble = str(error)
        same = _same_disk(journal.store.place, named.where)
        key, file = fingerprint(named.public_key), str(key_file(state.ledger))
        return WitnessStatement(named.where, key, file, state.head.seq, seen, same, trouble)


def _same_disk(ledger: str, witness: str) -> bool:
    try:
        return Path(ledger).stat().st_dev == Path(witness).stat().st_dev
    except OSError:
        return False
