"""Verification: recompute the chain and replay every rule, from the first entry or a checkpoint verified before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ziggurat.cards import Shown
from ziggurat.errors import LedgerCorruptError, LedgerError, ZigguratError
from ziggurat.ledger._chain import Entry, Head, decode, encode, intact, is_text, is_timestamp
from ziggurat.ledger._entries import Checkpoint, Commit, Record, WentOn, record_from
from ziggurat.ledger._keys import PublicKey
from ziggurat.ledger._rules import check
from ziggurat.ledger._signing import Receipt
from ziggurat.ledger._state import State
from ziggurat.ledger._statement import decision_notes, unbounded_note
from ziggurat.ledger.checkpoints import (
    Archive,
    VerifiedNote,
    open_checkpoint,
    point,
    recall_replaced,
    remember_verified,
)
from ziggurat.ledger.storage import BATCH, Store

Progress = Callable[[int], None]
"""Is told now and then how many entries were verified."""

BEFORE_ALL = -(2**63) - 1
MOST_PROBLEMS = 100
UNWITNESSED = (
    "No witness is named or known here, so it cannot be seen whether the newest entries were cut off, an older copy "
    "was put back, or the whole ledger was rewritten with fresh hashes."
)
RECEIPT = "No witness is named or known here; the receipt vouches for entry"


@dataclass(frozen=True)
class LedgerProblem:
    """Something wrong at entry `seq`; 0 stands for `subject`, by default the database that holds the entries."""

    seq: int
    what: str
    subject: str = "The database"

    def __str__(self) -> str:
        return f"Entry {self.seq} {self.what}." if self.seq else f"{self.subject} {self.what}."


@dataclass(frozen=True)
class Verification(Shown):
    """The outcome of verifying a ledger.

    Attributes
    ----------
    entries
        How many entries there are; the last note says if some were verified before and not read again.
    problems
        What is wrong, in order of entries, then with the database that holds them; at most a hundred are listed,
        the others are only counted.
    omitted
        How many problems are not listed.
    notes
        What the reader should know besides, such as releases without a guarantee; the last says what the verdict
        rests on, and what it cannot see.
    """

    entries: int
    problems: list[LedgerProblem] = field(default_factory=list)
    omitted: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def require(self) -> Verification:
        """Raise `LedgerCorruptError` naming the first entry that is wrong, if any; otherwise give this back."""
        if self.problems:
            raise LedgerCorruptError(f"The ledger does not verify: {self.problems[0]}")
        return self


def verify_entries(
    store: Store,
    public_key: PublicKey | None = None,
    receipt: Receipt | None = None,
    hear: Callable[[Auditor], None] | None = None,
    known: VerifiedNote | None = None,
    whole: bool = True,
    progress: Progress | None = None,
) -> Verification:
    """Check every entry in turn, going on after a problem wherever that makes sense, then what holds them, and `hear`
    what a witness has to say. Unless `whole` is asked for, what is `known` to have been verified is not read again.
    """
    auditor = Auditor(receipt, store)
    try:
        if known is not None:
            auditor.rely_on(known, whole)
        for entry in store.after(auditor.previous.seq or BEFORE_ALL):
            auditor.take(entry)
            if progress is not None and entry.seq % BATCH == 0:
                progress(entry.seq)
    except LedgerError as error:
        auditor.report(auditor.expected, f"and those after it cannot be read: {_lower_first(error)}")
    auditor.finish(public_key)
    auditor.examine()
    if hear is not None:
        hear(auditor)
    verdict = auditor.verdict()
    if verdict.ok and auditor.mark.seq > (known.seq if known else 0):
        remember_verified(auditor.state.ledger, store.place, auditor.mark)
    return verdict


class Auditor:
    """Walks along the entries and writes down what is wrong; `links` are the hash and kind of each."""

    def __init__(self, receipt: Receipt | None, store: Store) -> None:
        self.store, self.archive = store, Archive(store)
        self.state = State()
        self.expected, self.count, self.omitted = 1, 0, 0
        self.previous = self.mark = Head()
        self.trusted, self.known, self.begun = "", Head(), 0
        self.receipt, self.signed_hash = receipt, None if receipt is None else ""
        self.problems: list[LedgerProblem] = []
        self.links: dict[int, tuple[str, str]] = {}
        self.rests_on = UNWITNESSED if receipt is None else f"{RECEIPT} {receipt.seq} and all before it."

    def rely_on(self, known: VerifiedNote, whole: bool) -> None:
        """Begin after what was verified on this machine, if it is still there; a receipt for less needs all."""
        self.known = known.head()
        found = self.store.entries(known.seq, 1)
        earlier = self.receipt is not None and self.receipt.seq < known.seq
        same = bool(found) and intact(found[0]) and Head(found[0].seq, found[0].hash) == known.head()
        if whole or earlier or not same or found[0].kind != Checkpoint.kind:
            return
        record = record_from(found[0].kind, found[0].body)
        assert isinstance(record, Checkpoint)  # by its kind
        self.state = open_checkpoint(record, known.head())
        self.previous, self.expected, self.count = known.head(), known.seq + 1, known.seq
        self.links[known.seq], self.mark, self.begun = (known.hash, Checkpoint.kind), known.head(), known.seq
        self.signed_hash = (
            known.hash if self.receipt is not None and self.receipt.seq == known.seq else self.signed_hash
        )
        self.trusted = (
            f"Entries 1 to {known.seq} were verified on this machine on {known.time[:10]} and were not read again. "
        )

    def report(self, seq: int, what: str, subject: str = "The database") -> None:
        """Write down what is wrong with an entry, or with something else."""
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(LedgerProblem(seq, what, subject))
        else:
            self.omitted += 1

    def take(self, entry: Entry) -> None:
        """Check one entry."""
        self.count += 1
        if type(entry.seq) is not int or entry.seq < 1:
            self.report(1, "has something before it that no ledger writes")
            return
        if entry.seq > self.expected:
            self.report(self.expected, _missing(entry.seq - self.expected))
        for what in _chain_problems(entry, self.previous):
            self.report(entry.seq, what)
        if self.receipt is not None and entry.seq == self.receipt.seq:
            self.signed_hash = entry.hash
        if is_text(entry):
            self._replay(entry)
        self.expected, self.previous = entry.seq + 1, Head(entry.seq, entry.hash)
        self.links[entry.seq] = entry.hash, entry.kind
        if entry.kind == Checkpoint.kind:
            self.mark = self.previous

    def _replay(self, entry: Entry) -> None:
        record = self._record(entry)
        if record is None:
            return
        try:
            check(self.state, record, entry.time)
        except ZigguratError as error:
            self.report(entry.seq, f"breaks a rule: {_lower_first(error)}")
        if isinstance(record, Checkpoint):
            self._compare_index()
        if isinstance(record, Commit) and record.sha256:
            self._compare_answer(record, entry)
        try:
            self.state.apply(record, Head(entry.seq, entry.hash))
        except ZigguratError:
            return  # a record about something unknown, which the check has reported

    def _compare_index(self) -> None:
        """Compare what a checkpoint lets go of with the index."""
        try:
            for _, seq in self.store.unpointed(point(self.state)):
                self.report(seq, "is not in the index, so that what it answers would cost again, or is not told")
        except LedgerError as error:
            self.report(0, f"cannot be read: {_lower_first(error)}", "The index")

    def _compare_answer(self, record: Commit, entry: Entry) -> None:
        """Compare an answer that is kept beside the chain with its hash and size."""
        try:
            if len(self.archive.with_answer(entry).answer) != record.size:  # type: ignore[attr-defined]
                self.report(entry.seq, "states another size of its answer than it has")
        except LedgerError:
            self.report(entry.seq, "has lost its answer, which was kept beside it, or it was changed")

    def _record(self, entry: Entry) -> Record | None:
        try:
            record = record_from(entry.kind, entry.body)
        except LedgerError as error:
            self.report(entry.seq, str(error))
            return None
        if encode(decode(entry.body)) != entry.body:
            self.report(entry.seq, "is not written in canonical form")
        return record

    def finish(self, public_key: PublicKey | None) -> None:
        """Compare with the receipt."""
        if not self.count:
            self.report(1, "is missing: the ledger has no entries")
        if self.known.seq and self.links.get(self.known.seq, ("",))[0] != self.known.hash:
            self.report(
                self.known.seq,
                "is not the one up to which this machine has verified the ledger: it was rewritten, cut off, or an "
                "older copy was put back",
            )
        if self.receipt is not None:
            for what in self._receipt_problems(self.receipt, public_key):
                self.report(self.receipt.seq, what)

    def examine(self) -> None:
        """Look at what holds the entries."""
        try:
            for what in self.store.oddities():
                self.report(0, what)
        except LedgerError as error:
            self.report(0, f"cannot be examined: {_lower_first(error)}")

    def _receipt_problems(self, receipt: Receipt, public_key: PublicKey | None) -> Iterator[str]:
        wrong = receipt.problem(public_key)
        if wrong is not None:
            yield f"cannot be compared with the receipt: {wrong}"
        elif receipt.ledger != self.state.ledger:
            yield "cannot be compared with the receipt: that is about another ledger"
        elif self.signed_hash == "":
            yield "is missing although a receipt was signed for it: the end was cut off or an old copy was put back"
        elif self.signed_hash != receipt.hash:
            yield "is not the one the receipt was signed for: the history was rewritten"

    def verdict(self) -> Verification:
        """Sum up."""
        tables = self.state.tables.items()
        notes = [note for name, table in tables for note in unbounded_note(name, table.unbounded.count)]
        decided = [note for name, _ in tables for note in self._tell_decisions(name)]
        rests_on = self.trusted + self.rests_on
        return Verification(self.count, self.problems, self.omitted, [*notes, *decided, *self._replaced(), rests_on])

    def _replaced(self) -> list[str]:
        """Tell that another ledger lay here, which no hash of this one can show."""
        other = recall_replaced(self.state.ledger, self.store.place)
        if other is None:
            return []
        return [
            f"At this place this machine verified another ledger on {other.time[:10]}, up to its entry {other.seq}: if "
            "nobody put this one there on purpose, it was rewritten whole, under another name."
        ]

    def _tell_decisions(self, name: str) -> list[str]:
        try:
            return decision_notes(name, self.archive.tell(self.state, WentOn.kind, name))
        except LedgerError as error:
            self.report(0, f"cannot tell every decision: {_lower_first(error)}")
            return []


def _missing(count: int) -> str:
    return "is missing" if count == 1 else f"and the {count - 1} after it are missing"


def _chain_problems(entry: Entry, previous: Head) -> Iterator[str]:
    if not is_text(entry):
        yield "holds something that is not text"
        return
    if not is_timestamp(entry.time):
        yield "does not say when it was written"
    if not intact(entry):
        yield "was changed: its contents do not match its hash"
    if entry.previous != previous.hash:
        yield "does not follow the entry before it"


def _lower_first(error: Exception) -> str:
    text = str(error).rstrip(".")
    return text[:1].lower() + text[1:]
