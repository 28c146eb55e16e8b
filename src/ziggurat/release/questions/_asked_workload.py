"""A workload, asked of one table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ziggurat.data import Table
from ziggurat.errors import ParameterError
from ziggurat.privacy import ApproximateDP, Event, PureDP
from ziggurat.queries.answering import GROUP_SIZE, QuotedPart
from ziggurat.queries.workloads import Group, Ranges, Workload, WorkloadAnswer, WorkloadPlan
from ziggurat.release._plan import Progress
from ziggurat.release.questions._asking import AnswerPlan, TermOptions, require_room

if TYPE_CHECKING:
    from ziggurat.queries import Terms
    from ziggurat.randomness import Source

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
        require_room(len(self.plan.workload))

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


def asked_workload(
    workload: Workload, tables: Mapping[str, Table], terms: Terms, options: TermOptions
) -> AskedWorkload:
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
    text = json.dumps([cells, [_described(group) for group in workload.groups]], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _described(group: Group) -> list[Any]:
    return [group.name, group.weight, {name: _ranges(each) for name, each in group.factors.items()}]


def _ranges(ranges: Ranges | None) -> list[list[int]] | None:
    return None if ranges is None else [ranges.lows.tolist(), ranges.highs.tolist()]
