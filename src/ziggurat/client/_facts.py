"""What a server tells of its tables, people, keys and ledger, as small objects with a line and a card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ziggurat import errors
from ziggurat.cards import Card, Shown
from ziggurat.errors import GateError, LedgerError, PendingError, ServiceError, ZigguratError
from ziggurat.queries import Answer, WorkloadAnswer
from ziggurat.wording import count_noun

_LONGEST_MESSAGE = 2_000


@dataclass(frozen=True)
class ServedTable(Shown):
    """A table of a server.

    Attributes
    ----------
    name, unit
        What questions call it, and whom its rows are about, in words.
    population
        Whose account pays for it.
    public
        Whether it is no secret.
    slot
        After how many seconds answers about it leave; None for the server's own.
    made
        When it was registered, in UTC.
    may
        What whoever asks may do with it: ask, or steward.
    problems
        What contradicts the schema, told to the steward who just registered it; nobody else hears of it.
    """

    name: str
    unit: str
    population: str
    public: bool
    slot: float | None
    made: str
    may: str = ""
    problems: tuple[str, ...] = ()

    def _card(self) -> Card:
        kind = "a public table" if self.public else f"paid by {self.population}"
        return Card(f"ServedTable {self.name}", f"{kind}, unit: {self.unit}, {self.may or 'ask'}")


@dataclass(frozen=True)
class ServedPerson(Shown):
    """Somebody whom a server knows.

    Attributes
    ----------
    name, role
        What grants call them, and what they are: steward, analyst, student or auditor.
    chief
        Of a steward: whether they may do everything.
    active
        Whether they may sign in.
    scopes, tables
        Of whoever asks: what their key is for, and what they may do with which table.
    """

    name: str
    role: str
    chief: bool = False
    active: bool = True
    scopes: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)

    def _card(self) -> Card:
        chief, out = "chief " if self.chief else "", "" if self.active else ", kept out"
        return Card(f"ServedPerson {self.name}", f"{chief}{self.role}{out}")


@dataclass(frozen=True)
class ServedKey(Shown):
    """What is known of a key; `secret` is the key itself, which is told once, when it is made, and never shown.

    Attributes
    ----------
    id, label
        What tells it apart, and what it is for.
    scopes
        Of read, spend and manage.
    made, expires, revoked
        When; None if never.
    secret
        The key, of one that has just been made.
    """

    id: str
    label: str
    scopes: tuple[str, ...]
    made: str
    expires: str | None = None
    revoked: str | None = None
    secret: str = field(default="", repr=False)

    def _card(self) -> Card:
        until = f", until {self.expires[:10]}" if self.expires else ""
        state = f"revoked {self.revoked[:10]}" if self.revoked else f"for {', '.join(self.scopes)}{until}"
        return Card(f"ServedKey {self.id}", f"{self.label}: {state}")


@dataclass(frozen=True)
class ServedEntry(Shown):
    """An entry of the ledger of a server, without what was answered; and whom it is about."""

    seq: int
    time: str
    kind: str
    hash: str
    data: Mapping[str, Any]
    table: str = ""
    analyst: str = ""

    def _card(self) -> Card:
        return Card(f"ServedEntry {self.seq}", f"{self.time} {self.kind} {self.hash[:16]}")


@dataclass(frozen=True)
class ServedVerification(Shown):
    """What a server found when it verified its ledger; an auditor who trusts it less has the ledger itself verified.

    Attributes
    ----------
    ok
        Whether nothing is wrong.
    entries
        How many there are.
    problems, notes
        What is wrong, and what the verdict rests on.
    """

    ok: bool
    entries: int
    problems: tuple[str, ...]
    notes: tuple[str, ...]

    def require_sound(self) -> None:
        """Raise what is wrong, if anything is."""
        if not self.ok:
            raise LedgerError(" ".join(self.problems[:3]))

    def _card(self) -> Card:
        found = "every hash and every rule holds" if self.ok else count_noun(len(self.problems), "problem")
        return Card("ServedVerification", f"{count_noun(self.entries, 'entry', 'entries')}: {found}")


@dataclass(frozen=True)
class ServedAnswer(Shown):
    """An answer with what a server says beside it.

    Attributes
    ----------
    output
        The answer, as a session of this machine would give it.
    certificate
        What was promised, as JSON.
    sentence
        The same in words.
    left
        What was left of the grant afterwards, in words.
    replayed
        Whether it had been answered before, so that it cost nothing.
    not_protected
        What the time of the answer may tell, where it did not keep its slot.
    """

    output: Answer | WorkloadAnswer
    certificate: Mapping[str, Any]
    sentence: str
    left: str
    replayed: bool
    not_protected: tuple[str, ...] = ()

    def _card(self) -> Card:
        return Card("ServedAnswer", self.sentence, [("left", self.left)])


@dataclass(frozen=True)
class ServedOutlook(Shown):
    """What a release would cost, and how exact it would be.

    Attributes
    ----------
    sentences
        The same in words.
    fits
        Whether it fits what is left.
    facts
        All that the server says of it, as JSON.
    """

    sentences: tuple[str, ...]
    fits: bool
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def _card(self) -> Card:
        return Card("ServedOutlook", " ".join(self.sentences))


@dataclass(frozen=True)
class ServedJob(Shown):
    """Long work of a server.

    Attributes
    ----------
    id, kind, table, person
        What it is called, what it does, about which table, and who asked for it.
    state, step
        waiting, running, done, failed, stopped (by a gate) or cancelled; and what it does right now, in words.
    made, begun, ended
        When, in UTC.
    error
        Why it failed: kind and message.
    result
        What came of it, as far as whoever asks may know.
    request
        What was asked for, as JSON.
    """

    id: str
    kind: str
    state: str
    table: str = ""
    person: str = ""
    step: str = ""
    made: str = ""
    begun: str | None = None
    ended: str | None = None
    error: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None
    request: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def over(self) -> bool:
        """Whether nobody works at it any more."""
        return self.state in ("done", "failed", "stopped", "cancelled")

    def require_done(self) -> None:
        """Raise what it failed with, as the class that it was there, unless it is done."""
        if self.state == "done":
            return
        if self.error:
            raise make_error(self.error)
        if not self.over:
            raise PendingError(f"The job {self.id} is not done yet; wait for it.")
        if self.state == "stopped":
            raise GateError("The gate stopped it; a steward of the table lets it go on with a reason (go_on).")
        raise ServiceError(f"The job {self.id} was {self.state}; what was reserved for it stays spent.")

    def _card(self) -> Card:
        step, about = f", {self.step}" if self.step else "", f" of {self.table}" if self.table else ""
        return Card(f"ServedJob {self.id}", f"{self.kind}{about}: {self.state}{step}")


@dataclass(frozen=True)
class ServedRelease(Shown):
    """What has left by a job of a server.

    Attributes
    ----------
    id, table, kind
        What it is called (as its job), of which table, and what kind of release it is.
    what
        The same in words.
    open
        Whether everybody who may see the table may have the public part.
    made
        When, in UTC.
    """

    id: str
    table: str
    kind: str
    what: str
    open: bool
    made: str

    def _card(self) -> Card:
        return Card(f"ServedRelease {self.id}", f"{self.kind} of {self.table}: {self.what}")


@dataclass(frozen=True)
class ServedModel(Shown):
    """A model of a server: a published one predicts, a served one answers."""

    name: str
    kind: str
    table: str
    made: str = ""

    def _card(self) -> Card:
        return Card(f"ServedModel {self.name}", f"{self.kind}, of {self.table}")


def make_error(found: Mapping[str, Any], status: int = ServiceError.status) -> ZigguratError:
    """Make the error that a server raised; one of a kind that is not known here keeps its sentence and status.

    Parameters
    ----------
    found
        Its kind, message and status, as the server says them.
    status
        What HTTP calls it.
    """
    message = str(found.get("message", ""))[:_LONGEST_MESSAGE]
    kind = getattr(errors, str(found.get("kind", "")), None)
    if isinstance(kind, type) and issubclass(kind, ZigguratError) and kind is not ServiceError:
        return kind(message)
    usual = "The server failed" if found else "Something between here and the server answered instead of it"
    made = ServiceError(message or f"{usual} (status {status}); try again later.")
    made.status = int(found.get("status", status))
    return made
