"""Reports of people, each protected on its own: paid for before a report is made."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat.data import Table, write_csv
from ziggurat.data.expressions import null_if_missing, reference
from ziggurat.errors import DataError
from ziggurat.local import Privatizer, Reports, Support, WholeRecord
from ziggurat.privacy import ApproximateDP, Event, PureDP
from ziggurat.queries.answering import QuotedPart
from ziggurat.release._plan import Plan, Progress, ShownPlan

if TYPE_CHECKING:
    import pyarrow as pa

    from ziggurat.randomness import Source

_REACH = 1.959964  # of the normal law, for 95 %
_NUMBER = (
    "How many people report is public, and so is that somebody does; who reports again pays again, because nobody can "
    "tell that it is the same person."
)


@dataclass(frozen=True, eq=False)
class CollectionPlan(ShownPlan, Plan[Reports]):
    """A report of every row, before one is made; unit: the schema's, relation: replace-one.

    It has no identity: nothing may tell whether the rows are the same, so that they are never given again.

    Attributes
    ----------
    record
        How each column is protected.
    rows
        One row for each unit, or what reads them when they are needed, before anything is paid.
    pieces
        Divides the rows, so that somebody can see how far it is; all at once unless told.
    name
        What the file of the reports will be called.
    """

    record: WholeRecord
    rows: pa.Table | Callable[[], pa.Table] = field(repr=False)
    pieces: Callable[[pa.Table], Iterable[pa.Table]] = field(default=lambda rows: (rows,), repr=False)
    name: str = ""
    kind = "reports"

    @property
    def event(self) -> Event:
        """What one report costs its sender."""
        return self.record.event

    @property
    def text(self) -> str:
        """Which columns."""
        return f"Reports of {', '.join(self.record.parts)}, one for each {self.record.neighbours.unit.name}"

    def guarantee(self) -> PureDP | ApproximateDP:
        """The record's."""
        return self.record.guarantee()

    def parts(self, group_size: int = 1_000) -> tuple[QuotedPart, ...]:
        """How far off a count or a mean of so many reports will be, with 95 % confidence, at worst.

        A count is estimated by (seen - n q) / (p - q) where a report speaks for a category with probability p if it is
        the sender's and q otherwise, so that its variance is at most n max(p(1 - p), q(1 - q)) / (p - q)^2.
        """
        return tuple(self._part(name, part, group_size) for name, part in self.record.parts.items())

    def _part(self, name: str, part: Privatizer, people: int) -> QuotedPart:
        law = getattr(part, "support", None)
        if not isinstance(law, Support):
            note = "how far off it is depends on the values; the interval of the estimate tells"
            return QuotedPart(name, repr(part), part.epsilon, None, note=note)
        half = _REACH * math.sqrt(people * max(law.spread(0.0), law.spread(1.0)))
        return QuotedPart(name, repr(part), part.epsilon, half, people, "people")

    @property
    def reads(self) -> tuple[str, ...]:
        """The columns that are reported."""
        return tuple(self.record.parts)

    def ready(self) -> None:
        """Have the record refuse a row that cannot be reported."""
        self.record.check(self._read)

    @cached_property
    def _read(self) -> pa.Table:
        return self.rows() if callable(self.rows) else self.rows

    def run(self, source: Source, progress: Progress | None) -> Reports:
        """Protect every row on its own."""
        import pyarrow as pa

        if progress is not None:
            progress(f"protecting {self._read.num_rows:,} rows")
        made = [self.record.privatize(part, source).value for part in self.pieces(self._read)]
        return Reports(pa.concat_tables(made), self.record.event, source.origin)

    def to_ledger(self, output: Reports) -> dict[str, Any]:
        """The columns, how many people, and the file."""
        return {"columns": list(self.record.parts), "people": output.people, "reports": self.name}

    def artefacts(self, output: Reports, folder: Path) -> list[Path]:
        """The reports as a table."""
        file = folder / "reports.csv"
        write_csv(output.value, file)
        return [file]

    @property
    def not_protected(self) -> tuple[str, ...]:
        """How many people there are."""
        return (_NUMBER,)

    def details(self, output: Reports) -> dict[str, Any]:
        """How the reports were made, by which anybody can estimate from them."""
        return {"people": output.people, "origin": output.origin, **self.record.to_dict()}


def read_rows(table: Table, names: list[str]) -> pa.Table:
    """The columns as they are, with NULL for what is missing, once it is clear that every unit has one row."""
    from sqlglot import exp

    table.ready()
    unit = table.unit.column
    if unit is not None:
        different = exp.Count(this=exp.Distinct(expressions=[reference(table.schema[unit])])).as_("units")
        seen = table.aggregate(different, exp.Count(this=exp.Star()).as_("rows")).to_pylist()[0]
        if seen["units"] != seen["rows"]:
            raise DataError(
                f"Some rows share their {table.unit.name}; collect one row for each, or the promise fails: "
                "'ziggurat table reshape' makes them (ziggurat.data.people.reshape_people)."
            )
    rows = table.query(table.select(*(null_if_missing(table.schema[name]) for name in names))).combine_chunks()
    if rows.num_rows == 0:
        raise DataError("The table has no rows; there is nothing to collect.")
    return rows
