"""The one way in which tables become CSV files: text that a spreadsheet would run is marked, numbers are as they are.

`read` takes the marks off again, so that what is read is what was written. Parquet files carry no marks.
"""

from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as kinds

from ziggurat.data.engines import mark_column, mark_text, unmark_column
from ziggurat.errors import DataError


class CsvWriter:
    """Writes tables of one schema to a CSV file, piece by piece; a context manager, as `pyarrow.csv.CSVWriter` is.

    Parameters
    ----------
    path
        The file, or an open binary one.
    schema
        Of every piece.
    delimiter
        What separates the cells.
    """

    def __init__(self, path: str | Path | BinaryIO, schema: pa.Schema, *, delimiter: str = ",") -> None:
        from pyarrow import csv

        shown = [pa.field(mark_text(field.name), _shown_type(field.type)) for field in schema]
        self._schema = pa.schema(shown)
        where = path if hasattr(path, "write") else str(Path(path).absolute())
        self._writer: Any = csv.CSVWriter(where, self._schema, write_options=csv.WriteOptions(delimiter=delimiter))

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        columns = [_write_cells(column) for column in table.columns]
        self._writer.write_table(pa.Table.from_arrays(columns, schema=self._schema))

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        self.write_table(pa.Table.from_batches([batch]))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()


def write_csv(table: pa.Table, path: str | Path | BinaryIO) -> None:
    """Write a table as CSV.

    Parameters
    ----------
    table
        Columns of numbers, truth values, dates and text; CSV holds no others.
    path
        The file, or an open binary one.
    """
    with CsvWriter(path, table.schema) as writer:
        writer.write_table(table)


def unmark_table(table: pa.Table) -> pa.Table:
    """Return a table that another reader took from a CSV file of ours, its text as it was before it was written."""
    columns = [unmark_column(column) if _is_text(column.type) else column for column in table.columns]
    return pa.Table.from_arrays(columns, schema=table.schema)


def _is_text(given: pa.DataType) -> bool:
    return bool(kinds.is_string(given) or kinds.is_large_string(given) or kinds.is_string_view(given))


def _shown_type(given: pa.DataType) -> pa.DataType:
    given = given.value_type if kinds.is_dictionary(given) else given
    return pa.string() if _is_text(given) else given


def _write_cells(column: pa.ChunkedArray) -> pa.ChunkedArray:
    cells = column if column.type == _shown_type(column.type) else column.cast(_shown_type(column.type))
    if not _is_text(cells.type):
        return cells
    if pc.any(pc.match_substring(cells, "\0")).as_py():
        raise DataError("A text cell holds a zero byte (NUL), which CSV cannot; write .parquet instead.")
    return mark_column(cells)
