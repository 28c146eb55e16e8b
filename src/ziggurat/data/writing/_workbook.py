"""Tables as Excel workbooks: one sheet, the header bold and frozen, text as text whatever it looks like."""

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from math import isfinite, isnan
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.types as kinds

from ziggurat.data.schema import Schema
from ziggurat.errors import DataError

_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384
_MOST_CHARACTERS = 32_767
_MOST_EXACT = 10**15  # Excel keeps 15 digits
_FIRST_DAY = date(1900, 3, 1)  # Excel counts days from 1900 and takes that year for a leap year
_TOO_LONG = f"A sheet of Excel has at most {_MOST_ROWS:,} rows, with the header; write .parquet or .csv, or fewer rows."


class WorkbookWriter:
    """Writes tables to the one sheet of a new .xlsx file, piece by piece, in flat memory.

    Parameters
    ----------
    path
        The file.
    shape
        The Arrow schema of every piece.
    schema
        Not needed.
    """

    def __init__(self, path: Path, shape: pa.Schema, schema: Schema | None = None) -> None:  # noqa: ARG002
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.styles import Font

        check_size(len(shape), 0)
        _check_columns(shape)
        self._path, self._rows = path, 1
        self._book: Any = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("table")
        self._sheet.freeze_panes = "A2"
        self._cell = WriteOnlyCell
        header = [self._text(name, name) for name in shape.names]
        for cell in header:
            cell.font = Font(bold=True)
        self._sheet.append(header)

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        self._rows += table.num_rows
        check_size(table.num_columns, self._rows - 1)
        for row in _rows_of(table):
            self._sheet.append(
                [self._text(cell, name) if isinstance(cell, str) else cell for name, cell in row.items()]
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._book.save(str(self._path))
            return
        self._sheet.close()
        self._sheet._writer.cleanup()  # a draft of the sheet, which holds cells

    def _text(self, text: str, name: str) -> Any:
        """A cell that is text, also if it begins with = or looks like a number."""
        from openpyxl.utils.exceptions import IllegalCharacterError

        if len(text) > _MOST_CHARACTERS:
            raise DataError(
                f"Column {name!r} holds text of more than {_MOST_CHARACTERS:,} characters, which a cell of Excel does "
                "not; write .parquet or .csv."
            )
        try:
            cell = self._cell(self._sheet, text)
        except IllegalCharacterError:
            cell = None
        if cell is None:
            raise DataError(f"Column {name!r} holds control characters, which Excel does not; write .parquet instead.")
        cell.data_type = "s"
        return cell


def check_size(columns: int, rows: int) -> None:
    """Raise DataError if a sheet is too small for that many columns and rows."""
    if columns > _MOST_COLUMNS:
        raise DataError(f"A sheet of Excel has at most {_MOST_COLUMNS:,} columns; write .parquet or .csv.")
    if rows + 1 > _MOST_ROWS:
        raise DataError(_TOO_LONG)


def _check_columns(shape: pa.Schema) -> None:
    for field in shape:
        if kinds.is_nested(field.type) or kinds.is_binary(field.type) or kinds.is_large_binary(field.type):
            raise DataError(f"Column {field.name!r} holds lists or bytes, which Excel does not; write .parquet.")


def _rows_of(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(10_000):
        for row in batch.to_pylist():
            yield {name: _plain(cell) for name, cell in row.items()}


def _plain(cell: Any) -> Any:
    """A cell that Excel keeps as it is; what it would round, or has no day for, as text."""
    if isinstance(cell, bool):
        return cell
    if isinstance(cell, int):
        return cell if abs(cell) <= _MOST_EXACT else str(cell)
    if isinstance(cell, float | Decimal):
        return None if isnan(cell) else cell if isfinite(cell) else str(cell)
    if isinstance(cell, datetime):
        moment = cell.replace(tzinfo=None)
        return moment if moment.date() >= _FIRST_DAY else moment.isoformat(" ")
    if isinstance(cell, date):
        return cell if cell >= _FIRST_DAY else cell.isoformat()
    return cell
