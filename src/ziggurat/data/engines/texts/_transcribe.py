"""A text file of any common habit, written out again as the one kind of text file that is then checked whole.

What people and programs write differs in encoding, separators, quotation marks, ends of lines, titles above the header
and blank lines. Such a file is read record by record and written to a folder of this process, as UTF-8 with commas.
What was passed over or changed is said in notes with its count; a record that does not fit the header is refused by its
line. Nothing else is skipped.
"""

import array
import csv
import itertools
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ziggurat.data.engines._column_names import name_columns
from ziggurat.data.engines._private_folder import private_folder
from ziggurat.data.engines.texts._dialect import (
    SAY_ENCODING,
    USUAL,
    CellStyle,
    Dialect,
    find_dialect,
    name_encoding,
    open_text,
)
from ziggurat.data.engines.texts._header import BROKEN_GZIP, incomplete, open_unpacked
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError
from ziggurat.wording import count_noun

_LONGEST_CELL = 2_000_000
_LOOKED_AT = 1_000
_numbers = itertools.count(1)

Record = list[str]


@dataclass(frozen=True)
class Transcript:
    """A file written out again.

    Attributes
    ----------
    file
        Where it is.
    lines
        At which line of the original each record begins.
    notes
        How the original was read, in sentences.
    layout
        What was told or found out about the original.
    """

    file: str
    lines: Sequence[int]
    notes: tuple[str, ...]
    layout: FileLayout


class _MisfitError(Exception):
    """A record that does not fit; says at which line and why, without a cell."""


def transcribe(file: str, layout: FileLayout) -> Transcript:
    """Write a text file out again, or refuse it with a sentence that names the line and the remedy.

    Parameters
    ----------
    file
        A text file, which may be packed.
    layout
        What was told of it; the rest is found out.
    """
    csv.field_size_limit(_LONGEST_CELL)
    reason = ""
    try:
        with open_unpacked(file) as stream:
            dialect = find_dialect(stream, file, layout)
        for style in dialect.styles:
            try:
                return _write_out(file, layout, dialect, style)
            except _MisfitError as error:
                reason = reason or str(error)
    except BROKEN_GZIP:
        reason = f"it is {incomplete(file)}"
    except UnicodeDecodeError:
        reason = (
            f"line {_undecodable_line(file, dialect.encoding)} is not {name_encoding(dialect.encoding)}; {SAY_ENCODING}"
        )
    raise DataError(f"The file {file!r} cannot be read: {reason}.")


def _undecodable_line(file: str, encoding: str) -> int:
    """The first line that is not in an encoding, of those in which a line ends as in ASCII."""
    with open_unpacked(file) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return 1


def _write_out(file: str, layout: FileLayout, dialect: Dialect, style: CellStyle) -> Transcript:
    path = private_folder() / f"text-{os.getpid()}-{next_number()}.csv"
    with open_text(open_unpacked(file), dialect.encoding) as stream:
        records = _Records(stream, dialect, style, layout)
        plan = _find_table(records, layout)
        try:
            with path.open("w", encoding="utf-8", newline="") as draft:
                writer = csv.writer(draft, lineterminator="\n")
                writer.writerow(plan.names)
                lines = _copy(records, plan, writer, layout.skip_last)
        except _MisfitError:
            path.unlink(missing_ok=True)
            raise
    told = tell_layout(layout, dialect, style, plan.skipped)
    return Transcript(str(path), lines, (*note_habits(dialect, style), *plan.notes, *records.notes), told)


def next_number() -> int:
    """Return a number for a copy that no other of this process has."""
    return next(_numbers)


def tell_layout(layout: FileLayout, dialect: Dialect, style: CellStyle, skipped: int = 0) -> FileLayout:
    """Return what was told of a file together with what was found out."""
    return replace(
        layout,
        encoding=layout.encoding or ("" if dialect.encoding.startswith("utf-8") else dialect.encoding),
        delimiter=dialect.delimiter,
        quote=layout.quote if style == USUAL else style.escape + style.quote,
        skip=skipped or layout.skip,
    )


def find_plain_names(file: str, layout: FileLayout, dialect: Dialect) -> tuple[str, ...]:
    """Return the names of the columns if they stand as they are in the first line; nothing otherwise."""
    with open_text(open_unpacked(file), dialect.encoding) as stream:
        records = _Records(stream, dialect, USUAL, layout)
        try:
            plan = _find_table(records, layout)
        except _MisfitError:
            return ()
    return () if plan.notes or plan.skipped or records.blank else plan.names


class _Records:
    """The records of a file with the lines at which they begin; blank ones are passed over and counted."""

    def __init__(self, stream: Any, dialect: Dialect, style: CellStyle, layout: FileLayout) -> None:
        self.width, self.blank, self.quotation, self.ends = dialect.width, 0, 0, set[str]()
        self.above = layout.skip or 0
        for _ in range(self.above):
            stream.readline()
        self._reader = style.records(self._watch(stream), dialect.delimiter)
        self._kept: list[tuple[int, Record]] = []
        self._blank_above: list[int] | None = []

    @property
    def notes(self) -> list[str]:
        """What was passed over, in sentences."""
        notes = []
        if self.blank:
            notes.append(f"{count_noun(self.blank, 'blank line is', 'blank lines are')} left out.")
        if len(self.ends) > 1 or self.ends == {"\r"}:
            ways = " and ".join(_ENDS[end] for end in sorted(self.ends, reverse=True))
            notes.append(f"Lines end in {ways}{', mixed' if len(self.ends) > 1 else ' alone'}; all are read.")
        if self.quotation:
            cells = count_noun(self.quotation, "cell holds", "cells hold")
            notes.append(f"{cells} quotation marks, which are part of them.")
        return notes

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        while True:
            found = self._kept.pop(0) if self._kept else self._read()
            if found is None:
                return
            yield found

    def look_ahead(self, count: int) -> list[tuple[int, Record]]:
        """Return the next records, which stay to be read."""
        while len(self._kept) < count and (found := self._read()) is not None:
            self._kept.append(found)
        return self._kept[:count]

    def drop(self, count: int) -> None:
        """Pass over records that were looked at."""
        del self._kept[:count]

    def begin(self, line: int) -> None:
        """Say at which line the table begins: blank lines above it are none of its own."""
        self.blank, self._blank_above = sum(each >= line for each in self._blank_above or ()), None

    def _read(self) -> tuple[int, Record] | None:
        while True:
            line = self._reader.line_num + 1 + self.above
            try:
                record = next(self._reader, None)
            except csv.Error as error:
                fault = (
                    _TOO_LONG if "larger" in str(error) else f"has quotation marks that do not match; {_QUOTE_CELLS}"
                )
                raise _MisfitError(f"line {line} {fault}") from None
            if record is None:
                return None
            if record or self.width == 1:
                return line, record or [""]
            self.blank += 1
            if self._blank_above is not None:
                self._blank_above.append(line)

    def _watch(self, stream: Any) -> Iterator[str]:
        for line in stream:
            if "\0" in line:
                where = self._reader.line_num + 1 + self.above
                raise _MisfitError(f"line {where} holds a zero byte (NUL); is the file text, saved as UTF-8?")
            end = "\r\n" if line.endswith("\r\n") else line[-1:]
            if end in ("\r\n", "\n", "\r"):
                self.ends.add(end)
            yield line


_ENDS = {"\n": "LF", "\r": "CR", "\r\n": "CR LF"}
_TOO_LONG = (
    f"is longer than {_LONGEST_CELL:,} bytes; is a quotation mark left open? Shorten its cells, or write Parquet"
)
_QUOTE_CELLS = (
    "quote the whole cell and double those inside, or say that they are part of the cells with quote='' "
    "(--quote-mark none)"
)


@dataclass(frozen=True)
class _TablePlan:
    """Where the table is in a file: the names of its columns, and what was passed over to find them."""

    names: tuple[str, ...]
    width: int
    skipped: int = 0
    notes: tuple[str, ...] = ()


def _find_table(records: _Records, layout: FileLayout) -> _TablePlan:
    first = records.look_ahead(_LOOKED_AT)
    if not first:
        raise _MisfitError("it holds no record; is it the right file")
    above = 0 if layout.skip is not None else _lines_above(first, records.width)
    skipped = first[above][0] - 1 if above else layout.skip or 0
    notes = (
        [f"{count_noun(skipped, 'line')} above the header {'is' if skipped == 1 else 'are'} left out."] if above else []
    )
    records.drop(above)
    records.begin(first[above][0])
    rows = [record for _, record in first[above:]]
    if layout.header is False:
        width = len(rows[0])
        told = list(layout.names) or [f"column_{place}" for place in range(1, width + 1)]
        return _TablePlan(_check_count(told, width, skipped + 1), width, skipped, tuple(notes))
    records.drop(1)
    names, renamed = _name_columns(rows[0], rows[1:])
    if layout.names:
        names, renamed = _check_count(list(layout.names), len(names), skipped + 1), []
    return _TablePlan(names, len(names), skipped, (*notes, *renamed))


def _check_count(names: list[str], width: int, line: int) -> tuple[str, ...]:
    if len(names) == width:
        return tuple(names)
    given = count_noun(len(names), "name is", "names are")
    raise _MisfitError(f"{given} given (names, --names), but line {line} has {count_noun(width, 'field')}")


def _lines_above(first: Sequence[tuple[int, Record]], width: int) -> int:
    """How many records stand above the header: those with fewer filled cells than a header would have."""
    if width < 2:
        return 0
    for place, (_, record) in enumerate(first):
        filled = sum(bool(cell.strip()) for cell in record)
        if filled >= max(2, (width + 1) // 2) and len(record) >= width - 1:
            return place
    return 0


def _name_columns(header: Record, rows: Sequence[Record]) -> tuple[tuple[str, ...], list[str]]:
    """The names of the columns, and what was done to them, in sentences."""
    ends = len(header) > 1 and not header[-1].strip() and all(not any(row[len(header) - 1 :]) for row in rows)
    names, changes = name_columns(header[:-1] if ends else header)
    if ends or (rows and all(len(row) == len(header) + 1 and not row[-1].strip() for row in rows)):
        return names, ["Every line ends with a separator, which is left out.", *changes]
    return names, list(changes)


def _copy(records: _Records, plan: _TablePlan, writer: Any, skip_last: int) -> Sequence[int]:
    """Write the records, as many cells each as the header has; those at the end that are left out are held back."""
    lines = array.array("q")
    held: deque[tuple[int, Record]] = deque()
    for line, record in records:
        if plan.width > 1 and not any(map(str.strip, record)):
            records.blank += 1
            continue
        if '"' in "".join(record):
            records.quotation += sum('"' in cell for cell in record)
        held.append((line, record))
        if len(held) > skip_last:
            _write(held.popleft(), plan.width, writer, lines)
    return lines


def _write(found: tuple[int, Record], width: int, writer: Any, lines: "array.array[int]") -> None:
    line, record = found
    if len(record) > width and not any(map(str.strip, record[width:])):
        record = record[:width]
    if len(record) != width:
        raise _MisfitError(
            f"line {line} has {count_noun(len(record), 'field')}, but the header has {width}; quote cells that hold "
            "the separator, leave out lines below the data with skip_last=1 (--skip-last 1), or, if the header lacks a "
            "name, say all names with skip=1, header=False and names (--skip, --header none, --names)"
        )
    writer.writerow(record)
    lines.append(line)


def note_habits(dialect: Dialect, style: CellStyle) -> list[str]:
    """Return how a file is written where that is not the usual way, in sentences."""
    notes = []
    if dialect.encoding_words:
        notes.append(f"The text is {dialect.encoding_words}, not UTF-8.")
    if dialect.blanks:
        notes.append("Blanks before quotation marks are left out.")
    if style != USUAL:
        notes.append(f"In this file {style.words}.")
    return notes
