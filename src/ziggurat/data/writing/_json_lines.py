"""Tables as JSON lines: an object for every row, dates as text, missing cells as null."""

import json
from datetime import date, datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from ziggurat.data.schema import Schema
from ziggurat.errors import DataError

_ROWS = 10_000


class JsonLinesWriter:
    """Writes tables to a file of JSON lines, piece by piece.

    Parameters
    ----------
    path
        The file.
    shape, schema
        Not needed: every line says its names.
    """

    def __init__(self, path: Path, shape: pa.Schema, schema: Schema | None = None) -> None:  # noqa: ARG002
        self._file = path.open("w", encoding="utf-8", newline="\n")

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        for batch in table.to_batches(_ROWS):
            self._file.writelines(_line(row) for row in batch.to_pylist())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _line(row: dict[str, Any]) -> str:
    plain = {name: _finite(cell) for name, cell in row.items()}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, default=_write) + "\n"


def _finite(cell: Any) -> Any:
    return None if isinstance(cell, float) and not isfinite(cell) else cell


def _write(cell: object) -> object:
    if isinstance(cell, datetime):
        return cell.isoformat(" ")
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return float(cell)
    raise DataError("JSON lines cannot hold bytes or lengths of time; write .parquet instead.")
