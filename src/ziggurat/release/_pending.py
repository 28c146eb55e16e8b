"""What the ledger is still to be told of something that was made: it lies on the disk, and leaves only then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias

from ziggurat.ledger import canonical
from ziggurat.privacy import Event, event_from_dict


@dataclass(frozen=True)
class PendingAnswer:
    """An answer to a reservation: which one, for what, and what the ledger will hold.

    Of a kind that the ledger does not keep whole the answer holds the digest of all files, so that two outputs of one
    payment never have the same.
    """

    reservation: int
    event: Event
    question: Any
    seeded: bool
    answer: Any

    @cached_property
    def text(self) -> str:
        """The answer in its one canonical form."""
        return canonical(self.answer, "An answer")

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        facts = {name: getattr(self, name) for name in ("reservation", "question", "seeded", "answer")}
        return {**facts, "event": self.event.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_dict` wrote."""
        return cls(**{**data, "event": event_from_dict(data["event"])})


@dataclass(frozen=True)
class PendingNote:
    """What the ledger will remember for ever of a release that nothing bounds."""

    what: str

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {"what": self.what}


Pending: TypeAlias = PendingAnswer | PendingNote


def read_pending(data: Mapping[str, Any] | None) -> Pending | None:
    """Read either of them; None where nothing is to be told."""
    if data is None:
        return None
    return PendingNote(data["what"]) if "what" in data else PendingAnswer.from_dict(data)
