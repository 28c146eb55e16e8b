# ruff: noqa: ARG002  (what a plan has nothing to say about has a default that looks at nothing)
"""What is about to leave: every kind of release is described, priced, made and judged through this one face."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from ziggurat.cards import Card, Shown
from ziggurat.errors import DataError
from ziggurat.privacy import Amount, ApproximateDP, PureDP, compose, exact_delta
from ziggurat.release._evidence import Evidence

if TYPE_CHECKING:
    from ziggurat.privacy import Event, Guarantee
    from ziggurat.queries.answering import QuotedPart
    from ziggurat.randomness import Source
    from ziggurat.release._cited import Cited

Progress = Callable[[str], None]
Output = TypeVar("Output")

AN_HOUR = 3600.0


@runtime_checkable
class Plan(Protocol[Output]):
    """What would leave, from which table, about whom, and at what cost; nothing has been read yet.

    A plan with an `event` carries a guarantee: everything that it says before `run` follows from what is public, and
    `run` is called once, after the cost is on disk. A plan without one is unbounded: the steward may run and measure it
    freely, and the ledger remembers the release for ever before it leaves. A plan that `follows` from what was paid for
    is post-processing of that: its event is that of the entries it names, and nothing is paid again.

    Attributes
    ----------
    kind
        What it is, in a word or two: "question", "labels", "anonymized table".
    event
        What is done to the people in the table; None if nothing bounds it.
    lifetime
        Seconds after which a reservation that was never answered can be given up.
    paid_by_promise
        Whether a grant that adds up epsilons and deltas, and nothing finer, pays what it promises instead of what it
        does.
    audited
        What an audit of its promise on invented data found, which may be published; None if there was none.
    """

    kind: str
    lifetime: float = AN_HOUR
    paid_by_promise: bool = False
    audited: Mapping[str, Any] | None = None

    @property
    def follows(self) -> tuple[Cited, ...]:
        """The entries of the ledger that paid for all that it is made of; none if it is paid for itself."""
        return ()

    if TYPE_CHECKING:  # at run time a field or a property of the plan takes its place

        @property
        def event(self) -> Event | None: ...

    @property
    @abstractmethod
    def text(self) -> str:
        """What leaves, in a line for people."""

    @abstractmethod
    def run(self, source: Source, progress: Progress | None) -> Output:
        """Read the table and make what leaves; whoever calls this has paid."""

    def guarantee(self) -> Guarantee | None:
        """The tightest proven promise of this release alone; None if the event's own account is as good."""
        return None

    def parts(self, group_size: int = 1_000) -> tuple[QuotedPart, ...]:
        """What is measured, at what cost and how exactly, from public facts; where it depends on it, for this size."""
        return ()

    @property
    def reads(self) -> tuple[str, ...]:
        """What `run` will read, by name: tables, columns, or whose votes."""
        return ()

    @property
    def judged_by(self) -> tuple[str, ...]:
        """Which attacks will be tried on what is about to leave, as the evidence will call them."""
        return ()

    def identity(self) -> dict[str, Any] | None:
        """What tells it from every other release, so that one that was paid for is given again; None: never again."""
        return None

    @property
    def rehearsal(self) -> bool:
        """Whether randomness of its own is seeded."""
        return False

    def ready(self) -> None:
        """Refuse whatever can be refused before it is paid for; no row decides."""
        return

    def to_ledger(self, output: Output) -> dict[str, Any]:
        """What the ledger keeps of it, as JSON: enough to give it again, or its digest."""
        return {"kind": self.kind}

    def again(self, stored: Mapping[str, Any]) -> Output:
        """Give what was paid for before, as the ledger kept it."""
        raise DataError(f"The ledger keeps no whole {self.kind}, so that it cannot be given again.")

    def judge(self, output: Output, progress: Progress | None) -> Evidence:
        """Attack what is about to leave; what that finds is for the steward alone."""
        return Evidence()

    def describe(self, output: Output) -> str:
        """What the ledger says for ever of a release that nothing bounds."""
        return self.text

    def artefacts(self, output: Output, folder: Path) -> list[Path]:
        """Write the files that leave into a folder, and name them."""
        return []

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the promise does not cover, one sentence each."""
        return ()

    def details(self, output: Output) -> dict[str, Any]:
        """What may be published of it beside the promise."""
        return {}


def promise_at(event: Event, delta: Amount) -> PureDP | ApproximateDP:
    """What an event promises at a method's own delta; a pure promise where that is 0."""
    allowed = exact_delta(delta)
    return compose(event).approximate(allowed) if allowed else compose(event).pure()


class ShownPlan(Shown):
    """How a plan looks at a prompt: what would leave, in a line."""

    def _card(self: Any) -> Card:
        return Card(type(self).__name__, f"{self.text} ({self.kind}); nothing has left")
