"""Several columns of one record, each protected by its own privatiser."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ziggurat.errors import DataError, ParameterError
from ziggurat.local._base import Privatizer, Reports
from ziggurat.local._estimates import LocalEstimate
from ziggurat.local._vectors import VectorNoise
from ziggurat.mechanisms import Mechanism
from ziggurat.privacy import Amount, Event, Neighbours, compose
from ziggurat.randomness import Source, choose_source

if TYPE_CHECKING:
    import pyarrow as pa


class WholeRecord(Mechanism):
    """A report for each of several columns of a record.

    Promise: the sum of the parts' epsilons for the whole record, replace-one: the parts are drawn independently, so
    their losses add. `event` is their composition, and at a delta above 0 `guarantee(delta)` may be better than the
    sum.

    Parameters
    ----------
    parts
        For each column its privatiser, all about the same neighbours. Vectors are not columns; protect them alone.
    """

    def __init__(self, parts: Mapping[str, Privatizer]) -> None:
        if not isinstance(parts, Mapping) or not parts:
            raise ParameterError("A record needs a privatiser for at least one column.")
        for name, part in parts.items():
            if not isinstance(name, str) or not isinstance(part, Privatizer) or isinstance(part, VectorNoise):
                raise ParameterError("Give for each column, by its name, one privatiser of single values.")
        self.parts = dict(parts)
        self.event: Event = compose(*(part.event for part in self.parts.values())).event

    @property
    def epsilon(self) -> Fraction:
        """The exact epsilon promised for one record."""
        return compose(self.event).pure().epsilon

    @property
    def neighbours(self) -> Neighbours:
        """Whom the promise protects."""
        return self.event.neighbours

    def privatize(self, frame: Any, source: Source | None = None) -> Reports:
        """Make a report of every row of a frame (Arrow, pandas, Polars or any other that narwhals knows).

        Every column is checked before anything is drawn. The reports are an Arrow table of the same columns; columns
        of the frame that have no privatiser stay behind.
        """
        drawn_from = choose_source(source)
        read = self._all_read(frame)
        drawn = {
            name: Reports(part._randomize(read[name], drawn_from), part.event, drawn_from.origin)
            for name, part in self.parts.items()
        }
        return Reports(_columns(self, drawn), self.event, drawn_from.origin)

    def check(self, frame: Any) -> None:
        """Raise `DataError` if some row cannot be reported; nothing is drawn."""
        self._all_read(frame)

    def estimate(
        self, reports: Any, confidence: Amount = "0.95", *, population: bool = False
    ) -> dict[str, LocalEstimate]:
        """Estimate every column from the reports; each interval holds its own truth with this confidence."""
        if isinstance(reports, Reports) and reports.event != self.event:
            raise DataError("These reports were made by another record; estimate with the one that made them.")
        table = _table(reports.value if isinstance(reports, Reports) else reports)
        made = {}
        for name, part in self.parts.items():
            if name not in table.column_names:
                raise DataError(f"The reports have no column {name!r}; they belong to another collection.")
            sent = part.from_arrow(table.column(name).combine_chunks(), "secure")
            made[name] = part.estimate(sent, confidence, population=population)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Give the public parameters of all parts in JSON."""
        return {"columns": {name: part.to_dict() for name, part in self.parts.items()}}

    @staticmethod
    def from_dict(data: Any) -> WholeRecord:
        """Make the record that `to_dict` described; anything else raises `ParameterError`."""
        if not isinstance(data, Mapping) or not isinstance(data.get("columns"), Mapping):
            raise ParameterError("A record needs 'columns', each with the parameters of its privatiser.")
        return WholeRecord({name: Privatizer.from_dict(part) for name, part in data["columns"].items()})

    def _all_read(self, frame: Any) -> dict[str, Any]:
        table = _table(frame)
        for name in self.parts:
            if name not in table.column_names:
                raise DataError(f"The frame has no column {name!r}; every column of the record must be there.")
        return {name: self._read(name, table.column(name)) for name in self.parts}

    def _read(self, name: str, column: pa.ChunkedArray) -> Any:
        try:
            return self.parts[name]._read(column)
        except DataError as error:
            raise DataError(f"Column {name!r}: {error}") from None

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}: {part!r}' for name, part in self.parts.items())})"


def _table(frame: Any) -> pa.Table:
    import pyarrow as pa

    from ziggurat.data.reading import arrow_table

    return frame if isinstance(frame, pa.Table) else arrow_table(frame)


def _columns(record: WholeRecord, drawn: Mapping[str, Reports]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: part.to_arrow(drawn[name]) for name, part in record.parts.items()})
