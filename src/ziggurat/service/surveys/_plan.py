# ruff: noqa: ARG002  (a survey has nothing to draw)
"""What opening a survey costs: one report of everybody who is asked, paid once, before anybody can send one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ziggurat.local import WholeRecord
from ziggurat.privacy import ApproximateDP, Event, PureDP
from ziggurat.release import CollectionPlan, Plan

if TYPE_CHECKING:
    from ziggurat.queries.answering import QuotedPart
    from ziggurat.randomness import Source


@dataclass(frozen=True, eq=False)
class SurveyPlan(Plan[dict[str, Any]]):
    """Reports that people will make themselves; unit: the schema's, relation: replace-one.

    It reads nothing: what leaves are reports that their senders have protected, one each. Its identity holds a name
    that no other survey ever has, so that opening one twice pays once, and another one pays again.

    Attributes
    ----------
    record
        How each answer is protected.
    identity_name
        What tells the survey from all others, those of the past too.
    name
        What people call it.
    """

    record: WholeRecord
    identity_name: str
    name: str
    kind = "survey"

    @property
    def event(self) -> Event:
        """What one report costs its sender."""
        return self.record.event

    @property
    def text(self) -> str:
        """Which columns are asked for."""
        return f"A survey of {', '.join(self.record.parts)}, one report of each {self.record.neighbours.unit.name}"

    def guarantee(self) -> PureDP | ApproximateDP:
        """The record's."""
        return self.record.guarantee()

    def parts(self, group_size: int = 1_000) -> tuple[QuotedPart, ...]:
        """How far off a count or a mean of so many reports will be, at worst."""
        return CollectionPlan(self.record, _read_nothing).parts(group_size)

    def identity(self) -> dict[str, Any]:
        """The survey, and how it protects answers."""
        return {"survey": self.identity_name, **self.record.to_dict()}

    def run(self, source: Source, progress: Callable[[str], None] | None) -> dict[str, Any]:
        """Give what is public about it; the reports are made where their people are."""
        return self.to_ledger({})

    def to_ledger(self, output: dict[str, Any]) -> dict[str, Any]:
        """The columns, and the name."""
        return {"survey": self.name, "columns": list(self.record.parts)}

    def again(self, stored: Mapping[str, Any]) -> dict[str, Any]:
        """What was written when it was paid for."""
        return dict(stored)


def _read_nothing() -> Any:
    raise AssertionError("a survey reads no row")
