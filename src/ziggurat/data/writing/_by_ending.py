"""Write a table to one file; its ending says how."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self

import pyarrow as pa

from ziggurat.data.reading import CsvWriter
from ziggurat.data.schema import Schema
from ziggurat.data.writing._json_lines import JsonLinesWriter
from ziggurat.data.writing._statistics import SpssWriter, StataWriter, check_names
from ziggurat.data.writing._statistics_rules import SPSS, STATA
from ziggurat.data.writing._workbook import WorkbookWriter, check_size
from ziggurat.errors import DataError
from ziggurat.files import replacing


class _Writer(Protocol):
    def __enter__(self) -> Any: ...
    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any: ...


def _parquet(path: Path, shape: pa.Schema, _: Schema | None) -> _Writer:
    from pyarrow.parquet import ParquetWriter

    return ParquetWriter(path, shape)  # type: ignore[no-any-return]


def _arrow(path: Path, shape: pa.Schema, _: Schema | None) -> _Writer:
    return pa.ipc.new_file(str(path), shape)  # type: ignore[no-any-return]


def _csv(path: Path, shape: pa.Schema, _: Schema | None) -> _Writer:
    return CsvWriter(path, shape)


def _tsv(path: Path, shape: pa.Schema, _: Schema | None) -> _Writer:
    return CsvWriter(path, shape, delimiter="\t")


_WRITERS: dict[str, Callable[[Path, pa.Schema, Schema | None], _Writer]] = {
    ".parquet": _parquet,
    ".csv": _csv,
    ".tsv": _tsv,
    ".xlsx": WorkbookWriter,
    ".dta": StataWriter,
    ".sav": SpssWriter,
    ".jsonl": JsonLinesWriter,
    ".arrow": _arrow,
    ".feather": _arrow,
}

TABLE_ENDINGS = tuple(_WRITERS)
"""The endings of files to which a table can be written."""
STREAMED_ENDINGS = tuple(ending for ending in TABLE_ENDINGS if ending not in (".xlsx", ".dta", ".sav"))
"""Those that hold any names of columns and any number of rows."""


def check_table_file(path: str | Path, names: Sequence[str], rows: int | None = None) -> None:
    """Raise DataError unless a file of that name can hold a table, before the table is made or paid for.

    Parameters
    ----------
    path
        Where it would be written.
    names
        Of its columns.
    rows
        How many it would have, if that is known.
    """
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise DataError(f"The file {str(path)!r} has no known ending; use {', '.join(TABLE_ENDINGS)}.")
    if ending == ".xlsx":
        check_size(len(names), rows or 0)
    if ending in (".dta", ".sav"):
        check_names(names, STATA if ending == ".dta" else SPSS)


class TableWriter:
    """Writes pieces of one table to a file, one after another; a context manager.

    Text, Parquet, Arrow, JSON lines and Excel are written in flat memory; Stata and SPSS hold the table until the end.

    Parameters
    ----------
    path
        The file; it is written in place, so give a draft that takes its place when it is whole.
    shape
        The Arrow schema of every piece.
    schema
        What is known of the columns; its labels, missing codes and descriptions go into files that can hold them.
    ending
        Which format, if the name of the file does not say.
    """

    def __init__(self, path: str | Path, shape: pa.Schema, schema: Schema | None = None, *, ending: str = "") -> None:
        wanted = (ending or Path(path).suffix).lower()
        if wanted not in _WRITERS:
            raise DataError(f"The file {str(path)!r} has no known ending; use {', '.join(TABLE_ENDINGS)}.")
        self._writer = _WRITERS[wanted](Path(path), shape, schema)

    def write_table(self, table: pa.Table) -> None:
        """Write the rows of a table."""
        self._writer.write_table(table)  # type: ignore[attr-defined]

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch."""
        self.write_table(pa.Table.from_batches([batch]))

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.__exit__(kind, error, trace)


def write_table(table: pa.Table, path: str | Path, schema: Schema | None = None) -> None:
    """Write a table to a file, whole or not at all; one that is there is replaced.

    The ending says how: .parquet, .arrow, .feather, .csv, .tsv, .jsonl, .xlsx, .dta (Stata) or .sav (SPSS).

    Parameters
    ----------
    table
        Columns of numbers, truth values, dates, moments and text; Parquet, Arrow and JSON lines hold lists, too.
    path
        Where to write.
    schema
        What is known of the columns. Files of Stata and SPSS get its labels of values, missing codes and descriptions;
        a column that is held as text and declared as a number, as Stata's `.a` needs it, becomes numbers again.

    Raises
    ------
    DataError
        If the format cannot hold the table; the sentence says what to change.
    """
    target = Path(path)
    if target.suffix.lower() not in _WRITERS:
        raise DataError(f"The file {str(target)!r} has no known ending; use {', '.join(TABLE_ENDINGS)}.")
    reason = f"The columns do not fit into {str(target)!r}; write .parquet instead."
    with replacing(target) as draft:
        try:
            with TableWriter(draft, table.schema, schema, ending=target.suffix) as writer:
                writer.write_table(table)
            return
        except (pa.ArrowException, NotImplementedError, TypeError):
            failed = True
        if failed:
            raise DataError(reason)  # outside the handler, whose error may quote cells
