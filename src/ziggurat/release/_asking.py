"""From a question and its terms to something that can be priced, paid for, answered and replayed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from ziggurat.data import Table
from ziggurat.data._nearest import nearest
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.privacy import Amount, ApproximateDP, ApproximateEvent, ComposedEvent, Event, GaussianEvent, PureDP
from ziggurat.queries._answer import Answer
from ziggurat.queries._plan import GROUP_SIZE, Part, Plan
from ziggurat.queries._terms import Bounding, Noise
from ziggurat.queries.workloads._workload_answer import WorkloadAnswer
from ziggurat.release._paid import require_ready

if TYPE_CHECKING:
    from ziggurat.randomness import Source

Progress = Callable[[str], None]
Bound = int | float | date

MOST_NUMBERS = 20_000
"""The most numbers of one answer: what is more may not fit into one entry of the ledger, where answers are kept."""


class TermOptions(TypedDict, total=False):
    """The terms of a question besides epsilon and delta, as in `Terms`, and the bounds that the analyst states."""

    shares: Mapping[str, Amount]
    rows_per_unit: int | None
    groups_per_unit: int | None
    bounding: Bounding
    noise: Noise
    learn: Iterable[str]
    effects: Amount
    confidence: Amount
    bounds: Mapping[str, tuple[Bound, Bound]]


Given = TypeVar("Given", Answer, WorkloadAnswer)


class Asking(ABC, Generic[Given]):
    """A question on its terms: nothing has been read."""

    kind: str
    rule: str

    @property
    def event(self) -> Event:
        """What answering will cost: what it does to the data, or under the sum rule, which adds up epsilons and deltas
        and nothing finer, what that promises.
        """
        done = self._done()
        promised = self.guarantee() if self.rule == "sum" and _has_gaussian(done) else None
        if not isinstance(promised, ApproximateDP):
            return done
        return ApproximateEvent(done.neighbours, promised.epsilon, promised.delta)

    @abstractmethod
    def _done(self) -> Event:
        """What answering will do to the data."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The question for people."""

    @abstractmethod
    def guarantee(self) -> PureDP | ApproximateDP:
        """The tightest proven promise of the answer alone."""

    @abstractmethod
    def parts(self, group_size: int = GROUP_SIZE) -> tuple[Part, ...]:
        """What is measured, at what cost and how precisely; where that depends on it, for groups of this size."""

    @abstractmethod
    def run(self, source: Source, progress: Progress | None) -> Given:
        """Read the tables; the cost has been reserved."""

    @abstractmethod
    def read(self, stored: Mapping[str, Any]) -> Given:
        """Give an answer that was stored before."""

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """What tells the question and its terms from all others."""

    @abstractmethod
    def _tables(self) -> Mapping[str, Table]:
        """What it is asked of."""

    def ready(self) -> None:
        """Make sure that what it is asked of can be read, before it is paid for."""
        require_ready(self._tables().values())

    def identity(self) -> dict[str, Any]:
        """What tells it from every other question, the tables by name and schema included."""
        schemas = {name: table.declared.fingerprint() for name, table in self._tables().items()}
        return {"kind": self.kind, **self._identity(), "tables": schemas}


@dataclass(frozen=True)
class AskedQuestion(Asking[Answer]):
    """A question in SQL or from the builder."""

    plan: Plan
    tables: Mapping[str, Table]
    rule: str
    kind = "question"

    def __post_init__(self) -> None:
        require_room(_numbers(self.plan))

    def _done(self) -> Event:
        return self.plan.event

    @property
    def text(self) -> str:
        """Canonical SQL."""
        return self.plan.question.text

    def guarantee(self) -> PureDP | ApproximateDP:
        """The plan's."""
        return self.plan.guarantee()

    def parts(self, group_size: int = GROUP_SIZE) -> tuple[Part, ...]:
        """The plan's."""
        return tuple(self.plan.parts(group_size))

    def run(self, source: Source, progress: Progress | None) -> Answer:
        """Run the plan."""
        return self.plan.run(source, progress)

    def read(self, stored: Mapping[str, Any]) -> Answer:
        """The stored answer, marked as given before."""
        return Answer.from_dict(stored).again()

    def _identity(self) -> dict[str, Any]:
        return self.plan.identity()

    def _tables(self) -> Mapping[str, Table]:
        return self.tables


def _numbers(plan: Plan) -> int:
    """How many numbers an answer has, where that is known before anything is read."""
    if plan.selection is not None:
        return 0
    groups = prod(len(key.value.domain() or ()) for key in plan.question.keys)
    limit = plan.question.limit
    return (groups if limit is None else min(groups, limit)) * len(plan.question.aggregates)


def require_room(numbers: int) -> None:
    """Refuse a question whose answer could not be stored, before it is paid for."""
    if numbers > MOST_NUMBERS:
        raise QuestionError(
            f"The answer would have {numbers:,} numbers, and at most {MOST_NUMBERS:,} are kept for one question; "
            "group more coarsely, filter, or ask in several questions."
        )


def names_in(text: str) -> set[str]:
    """The names of the tables in canonical SQL, in lower case."""
    import sqlglot
    from sqlglot import exp

    return {table.name.lower() for table in sqlglot.parse_one(text).find_all(exp.Table)}


def _has_gaussian(event: Event) -> bool:
    parts = event.events if isinstance(event, ComposedEvent) else (event,)
    return any(isinstance(each, GaussianEvent) for each in parts)


def known_options(options: TermOptions) -> dict[str, Any]:
    """The options as a dictionary, or a sentence on one that nobody understands."""
    for name in options:
        if name not in TermOptions.__annotations__:
            raise ParameterError(f"There is no term {name!r}; {nearest(name, TermOptions.__annotations__)}")
    return dict(options)
