"""Labels that were paid for, with all that a certificate has to know of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from ziggurat.cards import Shown
from ziggurat.data import Unit
from ziggurat.errors import DataError, ParameterError, ZigguratError
from ziggurat.files import write_text
from ziggurat.ledger import Grant, Ledger
from ziggurat.pate import UNANSWERED, Aggregator, Ballot, Labels, PateAccount, account
from ziggurat.plain import fields_to_plain
from ziggurat.privacy import Amount, Event, Neighbours, event_from_dict
from ziggurat.release._cited import Cited, look_up
from ziggurat.release.labels._described import aggregator_from

Made = TypeVar("Made")

FORMAT = "ziggurat/labels/1"
_FACTS = {"question", "event", "answers", "rehearsal", "grant", "entry"}


@dataclass(frozen=True)
class LabellingFacts(Shown):
    """One paid labelling without its labels: public, and enough to compute its promise again.

    Attributes
    ----------
    question
        What was asked, as the ledger has it: the aggregator with its exact parameters, the number of queries and the
        digest of their features, the most answers, whom the votes protect, and digests of the teachers.
    event
        What was planned and paid: it depends on no vote.
    answers
        How many queries were answered, which the labels show.
    rehearsal
        Whether any randomness was seeded.
    grant
        Out of which it was paid; everything under a grant stays together within its epsilon and delta.
    entry
        The entry of the ledger that holds the labels.
    """

    question: Mapping[str, Any]
    event: Event
    answers: int
    rehearsal: bool
    grant: Grant
    entry: Cited

    def __post_init__(self) -> None:
        planned = None if self.aggregator is None else self.aggregator.planned(self.ballot, self.queries, self.cap)
        if planned not in (None, self.event) or not 0 <= self.answers <= self.cap:
            raise ParameterError("These facts of a labelling contradict each other; ask for the original file.")

    @property
    def queries(self) -> int:
        """How many queries were asked."""
        return int(self.question["queries"])

    @property
    def cap(self) -> int:
        """The most answers that were planned and paid for."""
        most = self.question["most_answers"]
        return self.queries if most is None else int(most)

    @property
    def ballot(self) -> Ballot:
        """What is public about the votes."""
        about = Neighbours.from_dict(self.question["neighbours"])
        return Ballot(self.question["classes"], about.unit, self.question.get("moved", 1), relation=about.relation)

    @property
    def aggregator(self) -> Aggregator | None:
        """The aggregator, made again of its parameters; None for one that is not Ziggurat's own."""
        return aggregator_from(self.question["aggregator"])

    @property
    def manifest(self) -> str:
        """The digest of the manifest of the teachers' partition."""
        return str(self.question["manifest"])

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return fields_to_plain(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form; facts that contradict each other raise one of many errors (see `reading`)."""
        if data.keys() != _FACTS or type(data["answers"]) is not int or type(data["rehearsal"]) is not bool:
            raise ValueError("other facts than those of a labelling")
        return cls(
            data["question"],
            event_from_dict(data["event"]),
            data["answers"],
            data["rehearsal"],
            Grant(**data["grant"]),
            Cited.from_dict(data["entry"]),
        )

    @classmethod
    def at(cls, ledger: Ledger, entry: Cited) -> Self:
        """Read the facts from the ledger itself."""
        there = look_up(ledger, entry)
        if not isinstance(there.question, dict) or there.question.get("kind") != "labels":
            raise DataError(f"Entry {entry.seq} of the ledger holds no labels; ask for the original file.")
        answers = sum(label != UNANSWERED for label in there.answer["labels"])
        return cls(there.question, there.event, answers, there.rehearsal, there.grant, entry)

    def require_recorded(self, ledger: Ledger) -> None:
        """Raise `DataError` unless the ledger says exactly this."""
        if self.at(ledger, self.entry) != self:
            raise DataError(
                f"The file says something else than entry {self.entry.seq} of the ledger; ask for the original file."
            )


@dataclass(frozen=True, eq=False)
class Labelled:
    """Labels that may leave, and the facts of what they cost; no vote is in it.

    Attributes
    ----------
    labels
        What a student learns from; its event is what was planned, however few were answered.
    facts
        What was asked, planned, paid and answered.
    replayed
        Whether they had been given before, so that nothing was spent.
    """

    labels: Labels
    facts: LabellingFacts
    replayed: bool = False

    def __post_init__(self) -> None:
        given, known = self.labels.labels, self.facts.question["classes"]
        fitting = given.shape == (self.facts.queries,) and bool(np.all((given >= UNANSWERED) & (given < known)))
        counted = int(self.labels.answered.sum()) == self.facts.answers
        if not (fitting and counted and self.labels.rehearsal == self.facts.rehearsal):
            raise ParameterError("These labels and the facts about them contradict each other.")

    @property
    def rehearsal(self) -> bool:
        """Whether any randomness was seeded, so that the labels must not be published."""
        return self.facts.rehearsal

    @property
    def planned(self) -> Event:
        """What was reserved before anything was asked: what the promise is about."""
        return self.facts.event

    def account(
        self, delta: Amount | None = None, *, organisation: Unit | None = None, teachers_owned: int = 1
    ) -> PateAccount:
        """Account for what was planned, at the delta of the grant that paid unless another is asked for.

        Nothing in it depends on the votes.
        """
        aggregator = self.facts.aggregator
        if aggregator is None:
            raise ParameterError("This aggregator is not Ziggurat's own; compose `planned` for its promise.")
        return account(
            aggregator, self.facts.ballot, delta=self.facts.grant.delta if delta is None else delta,
            queries=self.facts.queries, answered=self.facts.cap,
            organisation=organisation, teachers_owned=teachers_owned,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "format": FORMAT,
            **labels_to_dict(self.labels),
            "replayed": self.replayed,
            "facts": self.facts.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the JSON form; anything else raises `DataError`."""
        return reading(lambda: cls._read(data), "labels")

    @classmethod
    def _read(cls, data: Any) -> Self:
        if data["format"] != FORMAT or data.keys() != {"format", "labels", "event", "replayed", "facts"}:
            raise ValueError("another format")
        facts = LabellingFacts.from_dict(data["facts"])
        made = cls(labels_from_dict(data, facts.rehearsal), facts, data["replayed"])
        if made.labels.event != facts.event or type(made.replayed) is not bool:
            raise ValueError("another event than that of the labels")
        return made

    def require_recorded(self, ledger: Ledger) -> None:
        """Raise `DataError` unless the ledger holds exactly these labels and facts."""
        self.facts.require_recorded(ledger)
        if look_up(ledger, self.facts.entry).answer["labels"] != self.labels.labels.tolist():
            raise DataError(
                f"These are not the labels of entry {self.facts.entry.seq} of the ledger; ask for the original."
            )

    def save(self, path: str | Path) -> None:
        """Write one JSON file, whole or not at all."""
        write_text(path, json.dumps(self.to_dict(), indent=1))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote; a damaged or foreign file raises `DataError`."""
        return cls.from_dict(read_json(path, "labels"))

    def __repr__(self) -> str:
        kind = "Rehearsed labels" if self.rehearsal else "Labels"
        return f"<{kind}: {self.facts.answers} of {self.facts.queries} queries answered>"


def labels_to_dict(labels: Labels) -> dict[str, Any]:
    """Give labels as the ledger keeps them."""
    return {"labels": labels.labels.tolist(), "event": labels.event.to_dict()}


def labels_from_dict(answer: Mapping[str, Any], rehearsal: bool) -> Labels:
    """Read labels as the ledger keeps them."""
    given = answer["labels"]
    if not isinstance(given, list) or any(type(label) is not int for label in given):
        raise ValueError("labels that are no whole numbers")
    labels = np.array(given, dtype=np.int64)
    origin = "seeded" if rehearsal else "secure"
    return Labels(labels, labels != UNANSWERED, event_from_dict(answer["event"]), origin)


def read_json(path: str | Path, what: str) -> Any:
    """Read a JSON file of ours, or say that it is none."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise DataError(f"{str(path)!r} is missing, damaged or no file of {what}.") from None


def reading(make: Callable[[], Made], what: str) -> Made:
    """Make something of JSON that anybody may have written; whatever is wrong with it becomes one sentence."""
    try:
        return make()
    except (ZigguratError, LookupError, TypeError, ValueError, AttributeError, OverflowError):
        raise DataError(f"This is damaged, or not the JSON of {what}; ask for the original file.") from None


def facts_of(several: Sequence[Labelled | LabellingFacts]) -> tuple[LabellingFacts, ...]:
    """Give the facts of all, each labelling once: labels that are replayed were released once."""
    for each in several:
        if not isinstance(each, Labelled | LabellingFacts):
            raise ParameterError("Give what `Labelling.label` returned, or a list of it.")
    facts = [each.facts if isinstance(each, Labelled) else each for each in several]
    if not facts:
        raise ParameterError("Give at least one labelling.")
    different = {(each.entry.ledger, each.entry.seq, each.entry.hash): each for each in facts}
    if len({place[:2] for place in different}) < len(different):
        raise DataError("Two labellings cite the same entry of a ledger that was copied; certify them one by one.")
    return tuple(different.values())
