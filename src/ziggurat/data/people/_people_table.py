"""A table about people that was made of others: a query in their engine, and the schema of its answer."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ziggurat.data._table import Table
from ziggurat.data.engines import Engine
from ziggurat.data.reading import CsvWriter, read
from ziggurat.data.schema import Kind, Schema
from ziggurat.errors import DataError
from ziggurat.files import replacing

_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TEXT: pa.string(),
}
_ENDINGS = (".parquet", ".csv")


@dataclass(frozen=True)
class PeopleTable:
    """A table about people, made of one or two others; as private as they are.

    Attributes
    ----------
    engine, query
        Where it is computed, and how.
    schema
        What is publicly known of it, by declared facts alone.
    said
        What was done, in sentences that hold no fact about the rows.
    counting
        Queries of one exact number each, for the steward.
    """

    engine: Engine
    query: exp.Expr
    schema: Schema
    said: tuple[str, ...]
    counting: Mapping[str, exp.Expr]

    def __repr__(self) -> str:
        return f"<PeopleTable of {len(self.schema)} columns in {self.engine.title}, unit: {self.schema.unit}>"

    @cached_property
    def table(self) -> Table:
        """The rows, fetched once and held by DuckDB in this process."""
        return read(pa.Table.from_batches(self.batches(), self.arrow_schema), self.schema)

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns as Arrow holds them."""
        return pa.schema([pa.field(column.name, _TYPES[column.storage]) for column in self.schema.columns])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Compute the rows piece by piece; raw, for the steward."""
        for batch in self.engine.batches(self.query):
            columns = [column.cast(field.type) for column, field in zip(batch.columns, self.arrow_schema, strict=True)]
            yield pa.RecordBatch.from_arrays(columns, schema=self.arrow_schema)

    def count_exactly(self) -> dict[str, int]:
        """Return exact numbers of rows and people; private, for the steward only."""
        return {name: int(self.engine.query(query).column(0)[0].as_py()) for name, query in self.counting.items()}

    def write(self, path: str | Path, schema: str | Path | None = None) -> int:
        """Write the rows to a .parquet or .csv file and return their number; only its owner can read it.

        Parameters
        ----------
        path
            Where the rows go, piece by piece; whole or not at all.
        schema
            Where the schema goes, as YAML; for its owner's eyes too, because it may hold what was learned.
        """
        if Path(path).suffix.lower() not in _ENDINGS:
            raise DataError(f"The name of {str(path)!r} must end in {' or '.join(_ENDINGS)}.")
        with ExitStack() as drafts:
            if schema is not None:
                told = drafts.enter_context(replacing(schema, mode=0o600))
                told.write_text(self.schema.to_yaml(), encoding="utf-8")
            draft = drafts.enter_context(replacing(path, mode=0o600))
            return self._fill(draft, is_csv=Path(path).suffix.lower() == ".csv")

    def _fill(self, draft: Path, *, is_csv: bool) -> int:
        rows = 0
        with _open_writer(draft, self.arrow_schema, is_csv=is_csv) as writer:
            for batch in self.batches():
                writer.write_batch(batch)
                rows += batch.num_rows
        return rows


def _open_writer(draft: Path, schema: pa.Schema, *, is_csv: bool) -> Any:
    if is_csv:
        return CsvWriter(draft, schema)
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(draft, schema)
