"""Where in a ledger something is written, and reading it there."""

from __future__ import annotations

import json
import lzma
from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from ziggurat.cards import Shown
from ziggurat.errors import DataError, LedgerUseError, ParameterError
from ziggurat.ledger import Entry, Grant, Ledger
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import Event, event_from_dict


@dataclass(frozen=True)
class Cited(Shown):
    """One entry of a ledger.

    Attributes
    ----------
    ledger
        The random name that tells the ledger from all others.
    budget, analyst
        What was spent, and by whom; no analyst where nothing was.
    seq, hash
        The entry's number, and its hash, which covers everything before it as well.
    """

    ledger: str
    budget: str
    analyst: str
    seq: int
    hash: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form; `TypeError` or `ValueError` if it is none."""
        made = cls(**data)
        texts = (made.ledger, made.budget, made.analyst, made.hash)
        if type(made.seq) is not int or not all(isinstance(text, str) for text in texts):
            raise ValueError("an entry is cited by texts and a number")
        return made

    def __str__(self) -> str:
        return f"entry {self.seq} of ledger {self.ledger} (budget {self.budget!r}), hash {self.hash}"


@dataclass(frozen=True)
class Recorded:
    """What the ledger itself says of an answer: the reservation before it, and the grant that paid."""

    question: Any
    event: Event
    answer: dict[str, Any]
    rehearsal: bool
    grant: Grant


def cite(ledger: Ledger, entry: Entry) -> Cited:
    """Cite an entry."""
    return Cited(ledger.name, *ledger.about(entry), entry.seq, entry.hash)


def look_up(ledger: Ledger, cited: Cited) -> Recorded:
    """Read what a cited answer is really about; a citation that does not fit the ledger raises `DataError`."""
    if ledger.name != cited.ledger:
        raise DataError("The labels or queries were recorded in another ledger; give the one that they cite.")
    answer = _entry(ledger, cited, "commit")
    if ledger.about(answer) != (cited.budget, cited.analyst):
        _misfit(cited)
    said, grant = answer.data, ledger.grant_of(answer.data["reservation"])
    asked = ledger.entry(said["reservation"]).data
    return Recorded(
        asked["question"], event_from_dict(asked["event"]), unpack(said["answer"]), asked["rehearsal"], grant
    )


def _entry(ledger: Ledger, cited: Cited, kind: str) -> Entry:
    try:
        found = ledger.entry(cited.seq)
    except (LedgerUseError, ParameterError):
        _misfit(cited)
    if found.hash != cited.hash or found.kind != kind:
        _misfit(cited)
    return found


def _misfit(cited: Cited) -> NoReturn:
    raise DataError(f"Entry {cited.seq} of the ledger is not the one that is cited; ask for the original file.")


def other_spends(ledger: Ledger, cited: Sequence[Cited], manifests: Collection[str] = ()) -> int:
    """Count what else was reserved of the cited budgets, or of the same teachers, by anybody, answered or not."""
    entries = ledger.history()
    used = {entries[each.seq - 1].data["reservation"] for each in cited}
    budgets = {each.budget for each in cited}

    def concerns(entry: Entry) -> bool:
        asked = entry.data["question"]
        teachers = asked.get("manifest") if isinstance(asked, dict) else None
        return entry.data["table"] in budgets or teachers in manifests

    return sum(each.kind == "reserve" and each.seq not in used and concerns(each) for each in entries)


def require_unbounded(ledger: Ledger, cited: Cited) -> None:
    """Raise `DataError` unless the entry notes a release without a promise."""
    if ledger.name != cited.ledger:
        _misfit(cited)
    _entry(ledger, cited, "unbounded")


_LONG = 1 << 15
_PACKED = "packed"


def pack(answer: dict[str, Any]) -> dict[str, Any]:
    """Give an answer in the form in which it is stored."""
    text = json.dumps(answer, separators=(",", ":"), sort_keys=True)
    if len(text) <= _LONG:
        return answer
    return {_PACKED: b64encode(lzma.compress(text.encode("ascii"), preset=1)).decode("ascii")}


def unpack(stored: dict[str, Any]) -> dict[str, Any]:
    """Give back the answer that was stored."""
    if _PACKED not in stored:
        return stored
    answer: dict[str, Any] = json.loads(lzma.decompress(b64decode(stored[_PACKED])))
    return answer
