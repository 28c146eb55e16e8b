"""From a question and its terms to something that can be priced, paid for, answered and replayed."""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ziggurat.cards import Card, Shown
from ziggurat.data import Table
from ziggurat.errors import ParameterError, QuestionError
from ziggurat.privacy import Amount, ApproximateDP, Event, PureDP
from ziggurat.queries import Answer, Bounding, Measure, Noise, Terms
from ziggurat.queries.answering import GROUP_SIZE, QuotedPart
from ziggurat.queries.answering import QuestionPlan as QuestionPlan
from ziggurat.queries.workloads import Group, Ranges, Workload, WorkloadAnswer, WorkloadPlan
from ziggurat.release._plan import Plan, Progress
from ziggurat.release._purse import require_ready
from ziggurat.signatures import take_options_of
from ziggurat.wording import nearest

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.randomness import Source

Bound = int | float | date

MOST_NUMBERS = 20_000
"""The most numbers of one answer: what is more may not fit into one entry of the ledger, where answers are kept."""

_MOST_OF_WORKLOAD = 200_000

_PUBLIC = "The question and its terms are public, and so are the names, bounds and categories of the columns."


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


tell_terms = take_options_of(Terms, leave_out=("epsilon", "delta"), bounds=None)
"""Shows the terms by name in what takes them."""

Given = TypeVar("Given", Answer, WorkloadAnswer)


class AnswerPlan(Shown, Plan[Given]):
    """A question on its terms: nothing has been read."""

    paid_by_promise = True

    def _card(self) -> Card:
        return Card(type(self).__name__, f"{self.text}: {self.guarantee()}; nothing has been read")

    @abstractmethod
    def guarantee(self) -> PureDP | ApproximateDP:
        """The tightest proven promise of the answer alone."""

    @abstractmethod
    def _identity(self) -> dict[str, Any]:
        """What tells the question and its terms from all others."""

    @abstractmethod
    def _tables(self) -> Mapping[str, Table]:
        """What it is asked of."""

    @property
    def drawable(self) -> bool:
        """Whether the answer will have a number, or a day, that can be drawn."""
        return True

    @property
    def reads(self) -> tuple[str, ...]:
        """The tables it is asked of, private and public."""
        return tuple(sorted(self._tables()))

    def ready(self) -> None:
        """Make sure that what it is asked of can be read, before it is paid for."""
        require_ready(self._tables().values())

    def identity(self) -> dict[str, Any]:
        """What tells it from every other question, the tables by name and schema included."""
        schemas = {name: table.declared.fingerprint() for name, table in self._tables().items()}
        return {"kind": self.kind, **self._identity(), "tables": schemas}

    def to_ledger(self, output: Given) -> dict[str, Any]:
        """The whole answer."""
        return output.to_dict()

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What was asked, and the schema."""
        return (_PUBLIC,)

    def artefacts(self, output: Given, folder: Path) -> list[Path]:
        """The answer as a table, and with all that is known of it as JSON."""
        from ziggurat.data import write_csv
        from ziggurat.files import write_text

        files = [folder / "answer.csv", folder / "answer.json"]
        write_csv(flatten_lists(output.to_arrow()), files[0])
        write_text(files[1], json.dumps(output.to_dict(), indent=1, ensure_ascii=False) + "\n")
        return files


@dataclass(frozen=True)
class AskedQuestion(AnswerPlan[Answer]):
    """A question in SQL or from the builder."""

    plan: QuestionPlan
    tables: Mapping[str, Table]
    kind = "question"

    def __post_init__(self) -> None:
        require_room(_numbers(self.plan))

    @property
    def drawable(self) -> bool:
        """Whether it asks for more than the most frequent values."""
        return any(each.measure not in (Measure.MODE, Measure.TOP) for each in self.plan.question.aggregates)

    @property
    def event(self) -> Event:
        """The plan's."""
        return self.plan.event

    @property
    def text(self) -> str:
        """Canonical SQL."""
        return self.plan.question.text

    def guarantee(self) -> PureDP | ApproximateDP:
        """The plan's."""
        return self.plan.guarantee()

    def parts(self, group_size: int = GROUP_SIZE) -> tuple[QuotedPart, ...]:
        """The plan's."""
        return tuple(self.plan.parts(group_size))

    def run(self, source: Source, progress: Progress | None) -> Answer:
        """Run the plan."""
        return self.plan.run(source, progress)

    def again(self, stored: Mapping[str, Any]) -> Answer:
        """The stored answer, marked as given before."""
        return Answer.from_dict(stored).again()

    def _identity(self) -> dict[str, Any]:
        return self.plan.identity()

    def _tables(self) -> Mapping[str, Table]:
        return self.tables


def _numbers(plan: QuestionPlan) -> int:
    """How many numbers an answer has, where that is known before anything is read."""
    if plan.selection is not None:
        return 0
    groups = prod(len(key.value.domain() or ()) for key in plan.question.keys)
    limit = plan.question.limit
    return (groups if limit is None else min(groups, limit)) * len(plan.question.aggregates)


def require_room(numbers: int, most: int = MOST_NUMBERS) -> None:
    """Refuse a question whose answer could not be stored, before it is paid for."""
    if numbers > most:
        raise QuestionError(
            f"The answer would have {numbers:,} numbers, and at most {most:,} are kept for one question; "
            "group more coarsely, filter, or ask in several questions."
        )


def flatten_lists(table: pa.Table) -> pa.Table:
    """A table as CSV can hold it: a list of values is written with semicolons."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            joined = [None if each is None else "; ".join(map(str, each)) for each in table.column(place).to_pylist()]
            table = table.set_column(place, field.name, pa.array(joined, pa.string()))
    return table


def check_options(options: TermOptions) -> dict[str, Any]:
    """The options as a dictionary, or a sentence on one that nobody understands."""
    for name in options:
        if name not in TermOptions.__annotations__:
            raise ParameterError(f"There is no term {name!r}; {nearest(name, TermOptions.__annotations__)}")
    return dict(options)


_UNDERSTOOD = ("rows_per_unit", "noise", "confidence")


@dataclass(frozen=True)
class AskedWorkload(AnswerPlan[WorkloadAnswer]):
    """Many counts, answered together."""

    plan: WorkloadPlan
    name: str
    table: Table
    terms: Terms
    kind = "workload"

    def __post_init__(self) -> None:
        require_room(len(self.plan.workload), _MOST_OF_WORKLOAD)

    @property
    def event(self) -> Event:
        """The plan's."""
        return self.plan.event

    @property
    def text(self) -> str:
        """The groups of counts by name."""
        groups = "; ".join(group.name for group in self.plan.workload.groups)
        return f"{len(self.plan.workload):,} counts of {self.name}: {groups}"

    def guarantee(self) -> PureDP | ApproximateDP:
        """The plan's, at the delta that was stated."""
        return self.plan.guarantee(self.terms.delta)

    def parts(self, group_size: int = GROUP_SIZE) -> tuple[QuotedPart, ...]:  # noqa: ARG002
        """All counts in one line; how far off they are depends on no size."""
        error, gain = self.plan.expected_error, self.plan.improvement
        how = f"{self.plan.strategy}; expected error {error:,.3g} (root mean square), {gain:,.3g} times less than alone"
        half = self.plan.half_width(self.terms.confidence)
        note = f"± {half:,.3g} at most"
        return (QuotedPart(f"{len(self.plan.workload):,} counts", how, self.terms.epsilon, half, note=note),)

    def run(self, source: Source, progress: Progress | None) -> WorkloadAnswer:
        """Run the plan."""
        if progress is not None:
            progress(f"counting for {len(self.plan.workload):,} answers")
        return self.plan.run(self.table, source, confidence=self.terms.confidence)

    def again(self, stored: Mapping[str, Any]) -> WorkloadAnswer:
        """The stored answer, marked as given before."""
        return WorkloadAnswer.from_dict(stored).again()

    def _identity(self) -> dict[str, Any]:
        return {"question": self.text[:200], "workload": _digest(self.plan.workload), "terms": self.terms.to_dict()}

    def _tables(self) -> Mapping[str, Table]:
        return {self.name: self.table}


def plan_workload(workload: Workload, tables: Mapping[str, Table], terms: Terms, options: TermOptions) -> AskedWorkload:
    """Plan a workload for the one table that has its schema."""
    for option in options:
        if option not in _UNDERSTOOD:
            raise ParameterError(f"A workload has no {option}=; it takes {', '.join(_UNDERSTOOD)}.")
    fitting = {name: table for name, table in tables.items() if table.schema == workload.schema}
    if len(fitting) != 1:
        raise ParameterError("Make the workload from the schema of one table of this session: Workload(table.schema).")
    ((name, table),) = fitting.items()
    plan = workload.plan(
        table.unit, terms.epsilon, terms.delta, noise=options.get("noise"), rows_per_unit=terms.rows_per_unit
    )
    return AskedWorkload(plan, name, table, terms)


def _digest(workload: Workload) -> str:
    """A workload in 64 characters: which cells, which groups, which weights."""
    cells = {name: [str(edge) for edge in each.edges or ()] for name, each in workload.cells.items()}
    text = json.dumps([cells, [_describe(group) for group in workload.groups]], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _describe(group: Group) -> list[Any]:
    return [group.name, group.weight, {name: _ranges(each) for name, each in group.factors.items()}]


def _ranges(ranges: Ranges | None) -> list[list[int]] | None:
    return None if ranges is None else [ranges.lows.tolist(), ranges.highs.tolist()]
