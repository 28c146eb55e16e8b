"""The guard between a ledger and its witness: announce before an entry is committed, confirm afterwards, put back.

Formal guarantees, where a witness is named and its list is kept:

- *Nothing is spent behind its back.* An entry that spends or decides anything (all but answers and abandonments) is
  with the witness, durably and whole, before it is committed, and `reserve` returns after that. So whatever was read,
  the witness knows of its reservation.
- *Two copies never both go on.* The witness takes one entry for each number, and only one that follows the newest.
- *Never spent too little.* An entry that was announced and not committed, because whoever wrote it was stopped or
  because it was cut off, is put back exactly as it was, before anything else is appended.

Lock order: the ledger's writer first, then the witness; nobody takes them the other way round. An answer is confirmed
after its commit, without waiting for the disk, and a witness that cannot be reached then does not undo the answer: the
next announcement brings along what was not confirmed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from ziggurat.errors import LedgerCorruptError, LedgerError, LedgerUseError, WitnessError
from ziggurat.ledger._chain import Entry, Head
from ziggurat.ledger._entries import Abandonment, Commit, Hold, Record, WitnessNamed
from ziggurat.ledger._state import State
from ziggurat.ledger.witness._known import find_known, place_in_environment, signing_key
from ziggurat.ledger.witness._place import Seen, Witness, open_witness, see

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

LATER = frozenset({Commit.kind, Abandonment.kind})
MISSING = "cut off, or an older copy was put back"
_TRIES = 100

After = Callable[[int], Iterator[Entry]]


class Unfinished(Exception):  # noqa: N818 - no error, but news for the journal
    """The witness was told of an entry that never reached the ledger; it must be put back first."""

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self.entry = entry


class Guard:
    """Tells the witness of a ledger what is about to be written; `after` reads the ledger's entries after a number."""

    def __init__(self, place: str, after: After, throwaway: bool = False) -> None:
        self._place, self._after, self._examined = place, after, throwaway
        self._reached: tuple[tuple[str, str], Witness] | None = None
        self._key: tuple[str, Ed25519PrivateKey] | None = None
        self._seen: Head | None = None

    def announce(self, state: State, record: Record, entry: Entry) -> bool:
        """Tell the witness of an entry that is about to be committed; False if it need not know yet.

        Raises `Unfinished` if an earlier one has to be put back first, and an error of ours if the witness cannot be
        reached, or has seen another history: then nothing may be committed.
        """
        if record.kind in LATER:
            return False
        if isinstance(record, WitnessNamed):
            return self._hand_over(state, record, entry)
        if isinstance(record, Hold) and not self._examined:
            self._require_the_one(state)
        if state.witness is None:
            return False
        with _explain():
            self._tell(self._reach(state.ledger, state.witness), state, state.witness, entry, durable=True)
        return True

    def confirm(self, state: State, entry: Entry) -> None:
        """Tell the witness of an answer that was committed; if that fails, the next announcement will."""
        if state.witness is not None and entry.kind in LATER:
            with suppress(LedgerError, Unfinished):
                self._tell(self._reach(state.ledger, state.witness), state, state.witness, entry, durable=False)

    def unfinished(self, state: State) -> Entry | None:
        """Find the entry that was announced and has not reached the ledger, if there is one."""
        if state.witness is None:
            return None
        with suppress(LedgerError):
            last = self._reach(state.ledger, state.witness).last()
            return _find_announced(last, state.ledger, state.witness, state.head)
        return None

    def begin(self, state: State, record: WitnessNamed, entry: Entry) -> None:
        """Start the list of a new witness with the entry that names it."""
        with _explain():
            witness = self._open(state.ledger, record.where)
            if witness.begin(self._sign(state.ledger, record, entry, whole=True)):
                return
            last = witness.last()
        if last is not None and last.head() == Head(entry.seq, entry.hash):
            return
        earlier = _find_announced(last, state.ledger, record, state.head)
        if earlier is not None:
            raise Unfinished(earlier)
        raise LedgerUseError(
            f"{witness.name} has receipts of this ledger already, and they tell another history; verify the ledger "
            "with it, or name another place."
        )

    def newest(self, state: State) -> Head | None:
        """Ask the witness how far it has seen the ledger; None if there is none, or it knows no such ledger."""
        last = None if state.witness is None else self._reach(state.ledger, state.witness).last()
        return None if last is None else last.head()

    def close(self) -> None:
        """Let go of the witness."""
        if self._reached is not None:
            self._reached[1].close()
        self._reached = None

    def _hand_over(self, state: State, record: WitnessNamed, entry: Entry) -> bool:
        """Tell the old witness of the new one, unless it is lost, then the new one itself."""
        if state.witness is not None:
            with _explain():
                self._take_leave(state, state.witness, record, entry)
        self.begin(state, record, entry)
        self._seen = None
        return True

    def _take_leave(self, state: State, named: WitnessNamed, record: WitnessNamed, entry: Entry) -> None:
        """A witness that is given up as lost, but can be reached and knows more or else, is not lost: the ledger is."""
        old = self._open(state.ledger, named.where)
        if not record.lost:
            self._tell(old, state, named, entry, durable=True)
            return
        with suppress(WitnessError):
            last = old.last()
            if last is not None:
                self._since(old, last, _find_announced(last, state.ledger, named, state.head), state.head)

    def _require_the_one(self, state: State) -> None:
        """Refuse a ledger that was replaced, or names no witness where one is known: it was rewritten."""
        known = find_known(self._place, state.ledger)
        if known is not None and known.ledger != state.ledger:
            raise WitnessError(
                f"This is not the ledger that lay here when the witness {known.where!r} was named, so nothing was "
                "spent: verify it; if it is a new one, name its witness with 'ziggurat ledger witness'."
            )
        if state.witness is None and (known is not None or place_in_environment()):
            raise WitnessError(
                "A witness is known for this ledger, but the ledger names none, so nothing was spent: verify it; if "
                "it is a new one, name its witness with 'ziggurat ledger witness'."
            )
        self._examined = True

    def _tell(self, witness: Witness, state: State, named: WitnessNamed, entry: Entry, durable: bool) -> None:
        """Bring the witness up to an entry; others may confirm their answers at the same time."""
        ledger, before = state.ledger, Head(entry.seq - 1, entry.previous)
        for _ in range(_TRIES):
            missed = [] if self._seen == before else self._find_missed(witness, ledger, named, before)
            told = [self._sign(ledger, named, one, whole=False) for one in missed]
            if witness.extend([*told, self._sign(ledger, named, entry, whole=durable)], durable):
                self._seen = Head(entry.seq, entry.hash)
                return
            self._seen = None
        raise WitnessError(f"{witness.name} is written to by others all the time; try again")

    def _find_missed(self, witness: Witness, ledger: str, named: WitnessNamed, head: Head) -> list[Entry]:
        """Give the entries up to `head` that the witness has not seen; only answers and abandonments may be."""
        last = witness.last()
        if last is None:
            raise LedgerCorruptError(f"{witness.name} knows no such ledger, so nothing was spent; verify the ledger.")
        missed = self._since(witness, last, _find_announced(last, ledger, named, head), head)
        if any(entry.kind not in LATER for entry in missed):
            raise LedgerCorruptError(
                f"{witness.name} has lost receipts from entry {last.seq + 1} on, so nothing was spent; verify the "
                "ledger."
            )
        return missed

    def _since(self, witness: Witness, last: Seen, announced: Entry | None, head: Head) -> list[Entry]:
        """Give the entries after the newest that the witness saw, if all that it saw is in the ledger up to `head`."""
        if last.seq > head.seq:
            _raise_ahead(witness, last, announced, head)
        entries = [entry for entry in self._after(last.seq - 1) if entry.seq <= head.seq]
        if not entries or Head(entries[0].seq, entries[0].hash) != last.head():
            raise LedgerCorruptError(
                f"{witness.name} saw another entry {last.seq}: this ledger was rewritten, so nothing was spent; verify "
                "it, and restore the true one."
            )
        return entries[1:]

    def _sign(self, ledger: str, named: WitnessNamed, entry: Entry, whole: bool) -> Seen:
        if self._key is None or self._key[0] != named.public_key:
            self._key = named.public_key, signing_key(ledger, named.public_key)
        return see(ledger, entry, self._key[1], whole)

    def _reach(self, ledger: str, named: WitnessNamed) -> Witness:
        """Give the witness, where the environment says that it is, or else where the ledger does."""
        return self._open(ledger, place_in_environment() or named.where)

    def _open(self, ledger: str, where: str) -> Witness:
        name = (ledger, where)
        if self._reached is None or self._reached[0] != name:
            self.close()
            self._reached, self._seen = (name, open_witness(name[1], ledger)), None
        return self._reached[1]


def _find_announced(last: Seen | None, ledger: str, named: WitnessNamed, head: Head) -> Entry | None:
    """Give the entry of a receipt that follows `head`, if it was announced whole and is truly signed."""
    if last is None or not last.follows(head) or last.problem(ledger, named.public_key) is not None:
        return None
    return last.entry


def _raise_ahead(witness: Witness, last: Seen, announced: Entry | None, head: Head) -> None:
    if announced is not None:
        raise Unfinished(announced)
    count = last.seq - head.seq
    what = "1 entry" if count == 1 else f"{count} entries"
    raise LedgerCorruptError(
        f"{witness.name} saw {what} more than this ledger has: it was {MISSING}, so nothing was spent; restore the "
        "newest copy."
    )


@contextmanager
def _explain() -> Iterator[None]:
    """Say what a witness out of reach means for whoever wants to spend."""
    try:
        yield
    except WitnessError as error:
        raise WitnessError(
            f"{error}; this ledger spends nothing without its witness, so nothing was read, and nothing is lost."
        ) from None
