"""Where in a ledger something is written, and reading it there."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn, Self

from ziggurat.errors import DataError
from ziggurat.ledger import Entry, Ledger, Replay, Reservation
from ziggurat.ledger._entries import Grant
from ziggurat.privacy import Event, event_from_dict
from ziggurat.release._stored import unpacked


@dataclass(frozen=True)
class Cited:
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
        return {item.name: getattr(self, item.name) for item in fields(self)}

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
    name = ledger.history()[0].data["ledger"]
    return Cited(name, *ledger.about(entry), entry.seq, entry.hash)


def remember(ledger: Ledger, budget: str, what: str) -> Cited:
    """Write down a release without a promise, for ever, and cite the entry."""
    ledger.record_unbounded(budget, what)
    noted = [each for each in ledger.history(budget) if each.kind == "unbounded" and each.data["what"] == what]
    return cite(ledger, noted[-1])


def cite_outcome(ledger: Ledger, outcome: Reservation | Replay) -> Cited:
    """Cite the entry that holds an answer: that of a reservation which was answered, or the one that is replayed."""
    entries = ledger.history()
    if isinstance(outcome, Replay):
        return cite(ledger, entries[outcome.seq - 1])
    commits = (each for each in entries[outcome.seq :] if each.kind == "commit")
    return cite(ledger, next(each for each in commits if each.data["reservation"] == outcome.seq))


def recorded(ledger: Ledger, cited: Cited) -> Recorded:
    """Read what a cited answer is really about; a citation that does not fit the ledger raises `DataError`."""
    entries = ledger.history()
    if entries[0].data["ledger"] != cited.ledger:
        raise DataError("The labels or queries were recorded in another ledger; give the one that they cite.")
    if not 1 <= cited.seq <= len(entries) or entries[cited.seq - 1].hash != cited.hash:
        _misfit(cited)
    answer = entries[cited.seq - 1]
    if answer.kind != "commit" or ledger.about(answer) != (cited.budget, cited.analyst):
        _misfit(cited)
    hold = entries[answer.data["reservation"] - 1]
    event = event_from_dict(hold.data["event"])
    grant = _grant_before(entries, hold)
    return Recorded(hold.data["question"], event, unpacked(answer.data["answer"]), hold.data["rehearsal"], grant)


def _misfit(cited: Cited) -> NoReturn:
    raise DataError(f"Entry {cited.seq} of the ledger is not the one that is cited; ask for the original file.")


def _grant_before(entries: list[Entry], hold: Entry) -> Grant:
    """The grant in force: the last one to this analyst on this budget."""
    whom = (hold.data["table"], hold.data["analyst"])
    granted = [each for each in entries[: hold.seq] if each.kind == "grant"]
    (*_, last) = (each for each in granted if (each.data["table"], each.data["analyst"]) == whom)
    return Grant(**last.data)


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
    entries = ledger.history()
    there = entries[0].data["ledger"] == cited.ledger and 1 <= cited.seq <= len(entries)
    if not there or entries[cited.seq - 1].hash != cited.hash or entries[cited.seq - 1].kind != "unbounded":
        _misfit(cited)
