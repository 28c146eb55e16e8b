"""What an entry may say: one frozen record per kind, read from and written to the body of an entry.

Records hold facts only. A reservation holds the event, never an epsilon that somebody computed from it, so that
better accounting improves old records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from hashlib import sha256
from typing import Any, ClassVar, Self

from ziggurat.cards import Card, Shown
from ziggurat.errors import LedgerError, ParameterError, ZigguratError
from ziggurat.ledger._chain import FORMAT, canonical, decode, encode, frame_texts, is_timestamp
from ziggurat.privacy import (
    Event,
    Neighbours,
    event_from_json,
    exact_delta,
    exact_epsilon,
    in_words,
    make_filter,
    profile,
)

LARGEST_ANSWER = 1 << 25
LARGE_ANSWER = 1 << 16
"""Above so many bytes an answer is kept beside the chain by its hash."""
LARGEST_QUESTION = 1 << 16
_LONGEST_NAME = 200
_LONGEST_NOTE = 2000
_KEY = re.compile(r"[0-9a-f]{64}")
_MARK = re.compile(r"([0-9a-f]{32})?")


def check_text(value: object, what: str, longest: int = _LONGEST_NAME) -> str:
    """Read a name or a note: printable text that is not blank and not too long."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ParameterError(f"{what} must be printable text that is not empty.")
    if len(value) > longest:
        raise ParameterError(f"{what} must be at most {longest} characters long.")
    return value


def check_answer(value: object) -> Any:
    """Give an answer as it will be read back (lists for tuples), or say why it cannot be stored."""
    text = canonical(value, "An answer")
    if len(text) > LARGEST_ANSWER:
        raise ParameterError(f"An answer must take at most {LARGEST_ANSWER} bytes as JSON, not {len(text)}.")
    return decode(text)


def check_question(value: object) -> Any:
    """Give a question as it will be read back, or say why it cannot be stored; None stays None."""
    if value is None:
        return None
    text = canonical(value, "A question")
    if len(text) > LARGEST_QUESTION:
        raise ParameterError(f"A question must take at most {LARGEST_QUESTION} bytes as JSON.")
    return decode(text)


# Analysts repeat themselves, so recent events are remembered, and their JSON form, which nobody may change.
@lru_cache(maxsize=4096)
def _event_body(text: str) -> Any:
    return decode(text)


@lru_cache(maxsize=4096)
def event_from_text(text: str) -> Event:
    """Read an event from its canonical text."""
    canonical(decode(text), "An event")
    return event_from_json(text)


def as_stored(event: object) -> Event:
    """Give an event as the ledger will read it back, so that what is counted is what is written."""
    if not isinstance(event, Event):
        raise ParameterError(f"A cost must be stated as an Event, not as {type(event).__name__}.")
    try:
        stored = event_from_text(event.to_json())
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        raise ParameterError(f"This {event.kind!r} event cannot be written as JSON and read back.") from None
    if stored != event:
        raise ParameterError(f"This {event.kind!r} event is not the same after being written and read back.")
    _require_countable(stored)
    return stored


def _require_countable(event: Event) -> None:
    """What an event proves is kept with it, so that this costs nothing the second time."""
    try:
        profile(event)
    except ArithmeticError:
        raise ParameterError(f"The amounts of this {event.kind!r} event are too extreme to be counted.") from None


@dataclass(frozen=True)
class Record:
    """The root of all records."""

    kind: ClassVar[str] = ""
    names: ClassVar[frozenset[str]] = frozenset()
    optional: ClassVar[frozenset[str]] = frozenset()

    def to_body(self) -> dict[str, Any]:
        """Give the JSON form, without the optional fields that are empty."""
        body = {name: _plain(getattr(self, name)) for name in self.names}
        return {name: value for name, value in body.items() if value or name not in self.optional}

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Read the JSON form."""
        return cls(**body)


def _check_mark(value: object) -> None:
    if not isinstance(value, str) or _MARK.fullmatch(value) is None:
        raise ParameterError("A mark is written as 32 hexadecimal digits.")


def _plain(value: Any) -> Any:
    return str(value) if type(value) is Fraction else value


@dataclass(frozen=True)
class Genesis(Record):
    """The first entry: the format, and a random name that tells this ledger from all others."""

    kind: ClassVar[str] = "genesis"
    ledger: str
    format: int = FORMAT

    def __post_init__(self) -> None:
        check_text(self.ledger, "The name of a ledger")
        if self.format != FORMAT:
            raise LedgerError(f"is not of format {FORMAT}, the only one that this version reads")


@dataclass(frozen=True)
class Budget(Shown, Record):
    """What may be spent on a table in all: (epsilon, delta) with respect to `neighbours`."""

    kind: ClassVar[str] = "budget"
    table: str
    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    schema_fingerprint: str | None = None

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        object.__setattr__(self, "epsilon", exact_epsilon(self.epsilon))
        object.__setattr__(self, "delta", exact_delta(self.delta))
        if not isinstance(self.neighbours, Neighbours):
            raise ParameterError("A budget must say whom it protects: give neighbours=Neighbours(...).")
        if self.schema_fingerprint is not None:
            check_text(self.schema_fingerprint, "A schema fingerprint")

    def _card(self) -> Card:
        amounts = f"epsilon {in_words(self.epsilon)} and delta {in_words(self.delta)}"
        return Card(f"Budget of {self.table}", f"{amounts} for {self.neighbours}")

    def to_body(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {**super().to_body(), "neighbours": self.neighbours.to_dict()}

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Read the JSON form."""
        return cls(**{**body, "neighbours": Neighbours.from_dict(body["neighbours"])})


@dataclass(frozen=True)
class Membership(Record):
    """The steward's declaration that a table (or a budget) is about the people of a population.

    `column` tells these people apart in this table, where its name differs from that in the budgets.
    """

    kind: ClassVar[str] = "register"
    table: str
    population: str
    column: str | None = None

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.population, "The name of a population")
        if self.column is not None:
            check_text(self.column, "The name of a column")


@dataclass(frozen=True)
class Grant(Shown, Record):
    """A piece (epsilon, delta) of a table's budget that one analyst may spend under an accounting rule."""

    kind: ClassVar[str] = "grant"
    table: str
    analyst: str
    epsilon: Fraction
    delta: Fraction
    rule: str

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.analyst, "The name of an analyst")
        made = make_filter(self.epsilon, self.delta, self.rule)
        object.__setattr__(self, "epsilon", made.epsilon)
        object.__setattr__(self, "delta", made.delta)
        object.__setattr__(self, "rule", made.name)

    def _card(self) -> Card:
        amounts = f"epsilon {in_words(self.epsilon)} and delta {in_words(self.delta)}"
        return Card(f"Grant of {self.analyst} on {self.table}", f"{amounts}, {self.rule} rule")


@dataclass(frozen=True)
class Closing(Record):
    """The end of a grant: nothing more is spent under it."""

    kind: ClassVar[str] = "close"
    table: str
    analyst: str

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.analyst, "The name of an analyst")


@dataclass(frozen=True)
class Hold(Record):
    """A reservation: the event that is about to happen, written before the data are touched.

    The event and the mark of a rehearsal belong to the question: the same count with other noise is another question,
    and an answer made with seeded noise must never stand in for a real one. The `mark`, by which whoever wrote it finds
    it again (see `LedgerMark`), does not: it is no part of the key.
    """

    kind: ClassVar[str] = "reserve"
    optional: ClassVar[frozenset[str]] = frozenset({"mark"})
    table: str
    analyst: str
    event: Event
    question: Any
    expires: str
    rehearsal: bool = False
    mark: str = ""

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.analyst, "The name of an analyst")
        _check_mark(self.mark)
        if not is_timestamp(self.expires):
            raise ParameterError("A reservation must say in UTC when it expires.")
        if not isinstance(self.rehearsal, bool):
            raise ParameterError("rehearsal must be true or false.")

    @cached_property
    def key(self) -> bytes | None:
        """Tells identical questions of one analyst about one table; None if no question was stated."""
        if self.question is None:
            return None
        asked = (self.table, self.analyst, encode(self.question) or "", self.event.to_json(), str(self.rehearsal))
        return sha256(frame_texts(asked)).digest()

    def to_body(self) -> dict[str, Any]:
        """Give the JSON form."""
        body = {
            "table": self.table,
            "analyst": self.analyst,
            "event": _event_body(self.event.to_json()),
            "question": self.question,
            "expires": self.expires,
            "rehearsal": self.rehearsal,
        }
        return {**body, "mark": self.mark} if self.mark else body

    @classmethod
    def from_body(cls, body: dict[str, Any]) -> Self:
        """Read the JSON form."""
        return cls(**{**body, "event": event_from_text(encode(body["event"]) or "")})


@dataclass(frozen=True)
class Commit(Record):
    """The answer to a reservation; a rehearsal's answer is marked, because it may never be published.

    A large answer is kept beside the chain: then `answer` is None, and the SHA-256 and the size of its canonical text
    stand here.
    """

    kind: ClassVar[str] = "commit"
    optional: ClassVar[frozenset[str]] = frozenset({"sha256", "size"})
    reservation: int
    answer: Any
    rehearsal: bool = False
    sha256: str = ""
    size: int = 0

    def __post_init__(self) -> None:
        _check_reservation(self.reservation)
        if (self.sha256, self.size) == ("", 0):
            return
        written = isinstance(self.sha256, str) and _KEY.fullmatch(self.sha256) is not None
        if not written or type(self.size) is not int or self.size < 1 or self.answer is not None:
            raise ParameterError("An answer that is kept beside the chain is named by its SHA-256 and its size.")


@dataclass(frozen=True)
class Abandonment(Record):
    """Word that a reservation will never be answered; its cost stays spent."""

    kind: ClassVar[str] = "abandon"
    reservation: int

    def __post_init__(self) -> None:
        _check_reservation(self.reservation)


def _check_reservation(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ParameterError("A reservation is named by the number of its entry.")


@dataclass(frozen=True)
class Unbounded(Record):
    """A release with no differential-privacy promise, written down by the steward so that nobody forgets it."""

    kind: ClassVar[str] = "unbounded"
    optional: ClassVar[frozenset[str]] = frozenset({"mark"})
    table: str
    what: str
    mark: str = ""

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.what, "The description of a release", _LONGEST_NOTE)
        _check_mark(self.mark)


@dataclass(frozen=True)
class WentOn(Record):
    """The steward's decision to let something go although it was stopped: `what` stood in the way, and the reason."""

    kind: ClassVar[str] = "decision"
    optional: ClassVar[frozenset[str]] = frozenset({"mark"})
    table: str
    what: str
    mark: str = ""

    def __post_init__(self) -> None:
        check_text(self.table, "The name of a table")
        check_text(self.what, "What a release went on in spite of", _LONGEST_NOTE)
        _check_mark(self.mark)


@dataclass(frozen=True)
class WitnessNamed(Record):
    """Who watches the ledger from here on: where its receipts are kept, and the key (Ed25519, in hex) that signs them.

    `lost` says that the witness before it was given up without having seen this entry.
    """

    kind: ClassVar[str] = "witness"
    where: str
    public_key: str
    lost: bool = False

    def __post_init__(self) -> None:
        check_text(self.where, "The address of a witness", _LONGEST_NOTE)
        if not isinstance(self.public_key, str) or _KEY.fullmatch(self.public_key) is None:
            raise ParameterError("The public key of a witness is written as 64 hexadecimal digits.")
        if not isinstance(self.lost, bool):
            raise ParameterError("lost must be true or false.")


@dataclass(frozen=True)
class Checkpoint(Record):
    """Everything that the entries before it add up to, so that opening a ledger need not read them again.

    `open` numbers the reservations that may still be committed; one that is not listed is lost from here on. What
    `state` says is written and read in `checkpoints`.
    """

    kind: ClassVar[str] = "checkpoint"
    open: list[int]
    state: dict[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.open, list) or not all(type(seq) is int for seq in self.open):
            raise ParameterError("A checkpoint numbers the reservations that are open.")
        if not isinstance(self.state, dict):
            raise ParameterError("A checkpoint says what the entries before it add up to.")


_RECORDS: dict[str, type[Record]] = {
    cls.kind: cls
    for cls in (
        Genesis,
        Budget,
        Membership,
        Grant,
        Closing,
        Hold,
        Commit,
        Abandonment,
        Unbounded,
        WentOn,
        WitnessNamed,
        Checkpoint,
    )
}

for _cls in _RECORDS.values():
    _cls.names = frozenset(item.name for item in fields(_cls))


def record_from(kind: str, body: str) -> Record:
    """Read what an entry says; anything unknown raises `LedgerError`, it is never guessed."""
    cls = _RECORDS.get(kind)
    if cls is None:
        raise LedgerError("is of a kind that this version does not know")
    try:
        data = decode(body)
        if not isinstance(data, dict) or not cls.names - cls.optional <= data.keys() <= cls.names:
            raise LedgerError(f"does not have the fields of a {kind!r} entry")
        if not all(data[name] for name in cls.optional & data.keys()):
            raise LedgerError(f"leaves a field of a {kind!r} entry empty that may be left out")
        return cls.from_body(data)
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError, ArithmeticError, ZigguratError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerError(f"does not say what a {kind!r} entry must say") from None


def body_of(record: Record) -> str:
    """Write the body of an entry, and read it back: an entry that could not be read would close the ledger for ever."""
    body = None
    try:
        body = encode(record.to_body())
        same = body is not None and record_from(record.kind, body) == record
    except (ValueError, LedgerError):
        same = False
    if body is None or not same:
        raise ParameterError(
            f"This {record.kind!r} entry would not read back as it was given, so nothing was recorded; use shorter "
            "amounts and plainer names."
        )
    return body
