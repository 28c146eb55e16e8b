"""What a witness says of a ledger: rewritten, cut off or an older copy, or all there.

A list that is cut and an older copy that is put back leave the same bytes, so both are named in one sentence. An entry
that is missing alone at the end, and was announced whole, may also be one whose writer was stopped half-way; it is put
back by the next use, and until then it is reported.
"""

from __future__ import annotations

from collections.abc import Iterator

from ziggurat.errors import LedgerError, WitnessError
from ziggurat.ledger._chain import Head
from ziggurat.ledger._entries import WitnessNamed, record_from
from ziggurat.ledger._keys import PublicKey, fingerprint, load_public_key, public_hex
from ziggurat.ledger._verify import Auditor
from ziggurat.ledger.storage import Store
from ziggurat.ledger.witness._guard import LATER, MISSING
from ziggurat.ledger.witness._known import Known, find_known, place_in_environment
from ziggurat.ledger.witness._place import Seen, Witness, open_witness


def hear(auditor: Auditor, store: Store, public_key: PublicKey | None = None) -> bool:
    """Find the witness of the ledger that an auditor has walked along, and compare.

    The witness is the one that the environment names, or that was noted on this machine, or that the ledger names.
    `store` is asked for entries that were written meanwhile; `public_key` is whose signature the receipts must carry.
    Gives whether there is a witness.
    """
    state = auditor.state
    try:
        known = find_known(store.place, state.ledger)
    except LedgerError as error:
        auditor.report(0, f"cannot be found: {str(error).rstrip('.')}", "The witness")
        return True
    where = place_in_environment() or (known.where if known else "") or (state.witness.where if state.witness else "")
    if where and _is_the_one(auditor, known):
        witness = open_witness(where, state.ledger)
        try:
            given = None if public_key is None else public_hex(load_public_key(public_key))
            _Hearing(auditor, witness, store).compare(_pin_key(auditor, known), given)
        except WitnessError as error:
            auditor.report(0, str(error).removeprefix(f"{witness.name} ") + _UNSEEN, witness.name)
        finally:
            witness.close()
    return bool(where)


_UNSEEN = (
    ", so it cannot be seen whether the newest entries were cut off, an older copy was put back, or the whole ledger "
    "was rewritten"
)


def _is_the_one(auditor: Auditor, known: Known | None) -> bool:
    """Compare what the ledger says of its witness with what is known of it from elsewhere."""
    named = auditor.state.witness
    if known is not None and known.ledger != auditor.state.ledger:
        auditor.report(
            0, f"is not the one that lay here when the witness {known.where!r} was named: it was replaced", "The ledger"
        )
        return False
    if named is None:
        auditor.report(0, "names no witness, although one is known for it: it was rewritten", "The ledger")
    return True


def _pin_key(auditor: Auditor, known: Known | None) -> str | None:
    """The key that the receipts must carry; None if only the environment knows of the witness, which names no key."""
    named = auditor.state.witness
    if known is not None:
        return known.public_key
    return named.public_key if named is not None and not place_in_environment() else None


class _Hearing:
    """One witness heard about one ledger."""

    def __init__(self, auditor: Auditor, witness: Witness, store: Store) -> None:
        self.auditor, self.witness, self.store = auditor, witness, store
        self.before = auditor.expected  # entries below this were there before the witness was asked

    def compare(self, pinned: str | None, public_key: str | None) -> None:
        """Report what does not agree, and say what the verdict rests on."""
        if self.witness.last() is None:
            self._object("knows no such ledger: that was rewritten under a new name, or its receipts were removed")
            return
        seen = list(self._sound(pinned, public_key))
        if not seen:
            return
        self._read_on(seen[-1])
        wrong = next((one for one in seen if self._hash(one.seq) not in (None, one.receipt.hash)), None)
        if wrong is not None:
            self.auditor.report(wrong.seq, "is not the one that the witness saw: the ledger was rewritten from here on")
        else:
            self._report_missing([one for one in seen if one.seq >= self.auditor.expected])
        key = fingerprint(seen[-1].receipt.public_key)
        self.auditor.rests_on = f"{self.witness.name} (key {key}) {self._say_count(seen[-1].seq)}"
        self._report_ends(seen)

    def _sound(self, pinned: str | None, public_key: str | None) -> Iterator[Seen]:
        """Give the receipts that are what they were when they were signed, and report the others."""
        newest: Head | None = None
        for number, one in enumerate(self.witness.all(), 1):
            pinned = pinned or self._first_key(one)
            problem = "is not one" if one is None else self._problem(one, pinned)
            if one is None or problem is not None:
                self._object(f"was changed: its receipt {number} {problem}")
                newest = None
                continue
            if newest is not None and not one.follows(newest):
                self._object(f"was changed: receipts between those for entries {newest.seq} and {one.seq} are gone")
            newest = one.head()
            yield one
        if public_key not in (None, pinned):
            self._object("signs with another key than the one given")

    def _problem(self, one: Seen, pinned: str | None) -> str | None:
        """Signatures under what was verified before are not computed again."""
        return one.problem(self.auditor.state.ledger, pinned) if one.seq >= self.auditor.begun else None

    def _first_key(self, one: Seen | None) -> str | None:
        """Where nobody pinned a key, the first receipt's counts, and the ledger must name it too."""
        named = self.auditor.state.witness
        if one is not None and named is not None and named.public_key != one.receipt.public_key:
            self._object("signs with another key than the ledger names: one of them was rewritten")
        return None if one is None else one.receipt.public_key

    def _read_on(self, last: Seen) -> None:
        """Read what was written meanwhile; only the newest entry may still be on its way."""
        self._take_newer(last)
        if last.entry is not None and last.follows(self.auditor.previous):
            self.store.rest()
            self._take_newer(last)

    def _take_newer(self, last: Seen) -> None:
        if last.seq >= self.auditor.expected:
            for entry in self.store.after(self.auditor.expected - 1):
                self.auditor.take(entry)

    def _report_missing(self, missing: list[Seen]) -> None:
        if not missing:
            return
        first, count = missing[0], len(missing)
        if count == 1 and first.entry is not None and first.follows(self.auditor.previous):
            what = (
                f"was announced to the witness and is missing: it was {MISSING}, or its writer was stopped half-way; "
                "the next use of the ledger puts it back"
            )
        else:
            rest = "is" if count == 1 else f"and the {count - 1} after it are"
            what = f"{rest} missing although the witness saw them: the ledger was {MISSING}"
        self.auditor.report(first.seq, what)

    def _report_ends(self, seen: list[Seen]) -> None:
        """Report receipts that the witness must have had and has not."""
        since, last = self.auditor.state.witness_since, seen[-1]
        if since and since < seen[0].seq:
            self._object(f"has lost its receipts before entry {seen[0].seq}")
        unseen = [seq for seq in range(last.seq + 1, self.before) if self._kind(seq) not in LATER]
        handed_over = len(seen) > 1 and self._is_handed_over(last)
        if unseen and not handed_over:
            self._object(f"has lost its receipts from entry {unseen[0]} on: they were {MISSING} of it")

    def _is_handed_over(self, last: Seen) -> bool:
        """Where another witness was named later, the list ends with that entry, and the new one is heard too."""
        record = None if last.entry is None else record_from(last.entry.kind, last.entry.body)
        found = self.store.entries(last.seq, 1)
        if not isinstance(record, WitnessNamed) or not found or found[0].hash != last.receipt.hash:
            return False
        following = open_witness(record.where, self.auditor.state.ledger)
        try:
            _Hearing(self.auditor, following, self.store).compare(record.public_key, None)
        except WitnessError as error:
            self.auditor.report(0, str(error).removeprefix(f"{following.name} ") + _UNSEEN, following.name)
        finally:
            following.close()
        return True

    def _say_count(self, newest: int) -> str:
        count, unseen = self.auditor.expected - 1, self.before - 1 - newest
        if unseen <= 0:
            return f"has seen all {count} entries."
        return (
            f"has seen all but the newest {unseen} of {count} entries; these are answers, or spends given up, and it "
            "cannot be seen whether they were changed or cut off until the next spend."
        )

    def _hash(self, seq: int) -> str | None:
        return self.auditor.links.get(seq, (None, ""))[0]

    def _kind(self, seq: int) -> str:
        return self.auditor.links.get(seq, ("", ""))[1]

    def _object(self, what: str) -> None:
        self.auditor.report(0, what, self.witness.name)
