"""A text file that is odd in its encoding alone, written out as UTF-8 block by block and not record by record."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TextIO

from ziggurat.data.engines._private_folder import private_folder
from ziggurat.data.engines.texts._dialect import USUAL, Dialect, find_dialect, open_text
from ziggurat.data.engines.texts._header import BROKEN_GZIP, header_of, open_unpacked
from ziggurat.data.engines.texts._transcribe import Transcript, find_plain_names, next_number, note_habits, tell_layout
from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError

_BLOCK = 4_000_000


def transcode(file: str, layout: FileLayout) -> Transcript | None:
    """Write a text file out as UTF-8, its separators as they are; None if more than its encoding needs a change.

    What is said here must be what `transcribe` would say: no quotation mark, no blank behind a separator, no blank
    line, nothing above the header, names as they stand. The copy is checked by the caller, whole.

    Parameters
    ----------
    file
        A text file, which may be packed.
    layout
        What was told of it.
    """
    told = replace(layout, encoding="", delimiter="")
    if told not in (FileLayout(), replace(FileLayout().settle(), encoding="")):
        return None
    path = private_folder() / f"text-{os.getpid()}-{next_number()}.csv"
    try:
        with open_unpacked(file) as stream:
            dialect = find_dialect(stream, file, layout)
        names = find_plain_names(file, layout, dialect)
        lines = _copy(file, dialect, path) if names and dialect.encoding_words and dialect.styles[0] == USUAL else 0
        header = header_of(str(path)) if lines else None
    except (*BROKEN_GZIP, UnicodeDecodeError, DataError):
        header = None
    if header is None or header.skipped or (header.names, header.delimiter) != (names, dialect.delimiter):
        path.unlink(missing_ok=True)
        return None
    notes = tuple(note_habits(dialect, USUAL))
    return Transcript(str(path), range(2, lines + 2), notes, tell_layout(layout, dialect, USUAL))


def _copy(file: str, dialect: Dialect, path: Path) -> int:
    """Copy a file and return how many lines it has; 0 if a block needs more than a copy."""
    odd, count = _odd_pattern(dialect.delimiter), 0
    with open_text(open_unpacked(file), dialect.encoding) as stream, path.open("wb") as draft:
        for block in _blocks(stream):
            if '"' in block or dialect.delimiter + " " in block or odd.search(block):
                return 0
            count += block.count("\n")
            draft.write(block.encode())
    return count + 1


def _odd_pattern(delimiter: str) -> re.Pattern[str]:
    """A line that begins with a blank, or of blanks and separators alone."""
    return re.compile(rf"^(?:\s|{re.escape(delimiter)}[{re.escape(delimiter)}\s]*$)", re.MULTILINE)


def _blocks(stream: TextIO) -> Iterator[str]:
    """Some megabytes at a time, whole lines only."""
    while block := stream.read(_BLOCK):
        yield block + stream.readline()
