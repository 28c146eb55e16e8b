"""How a text file is written: its encoding, what separates cells, what stands around them, where the table begins."""

import codecs
import csv
import io
import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from ziggurat.data.schema import FileLayout
from ziggurat.errors import DataError

DELIMITERS = ";\t|,"
"""What separates cells, if nothing else is told."""
_SAMPLE = 200_000
_BLOCK = 1 << 20
_BOMS = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE, "utf-16-be": codecs.BOM_UTF16_BE}
_LETTERS_OF_TWO_BYTES = re.compile(rb"\xc3[\x80-\xbf]")  # as UTF-8 has them; in Windows-1252 no word has these two
SAY_ENCODING = "say its encoding (--encoding, or file: {encoding: cp1252} in the schema)"
"""What to do about text of another encoding."""
_ENCODINGS = {"utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252"}


@dataclass(frozen=True)
class CellStyle:
    """What stands around cells, and how the same mark is written inside."""

    quote: str = '"'
    escape: str = ""

    @property
    def words(self) -> str:
        """It in words, for a sentence about the file."""
        if not self.quote:
            return "quotation marks are part of the cells"
        if self.escape:
            return "a backslash stands before quotation marks inside cells"
        return "cells stand in single quotation marks" if self.quote == "'" else "cells stand in quotation marks"

    def records(self, lines: Iterator[str], delimiter: str) -> Any:
        """Return a reader of the records in some lines; it takes no quotation mark that stands where none may."""
        # Without doubled marks Python's reader would be lenient, so marks behind a backslash are doubled for it.
        doubled = (re.sub(r"\\([\\\"])", _double, line) for line in lines) if self.escape else lines
        return csv.reader(
            doubled,
            delimiter=delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            quotechar=self.quote or None,
            skipinitialspace=bool(self.quote),
            strict=True,
        )


def _double(found: re.Match[str]) -> str:
    return '""' if found[1] == '"' else found[1]


USUAL = CellStyle()
"""Cells in double quotation marks, doubled inside."""
_STYLES = (USUAL, CellStyle(escape="\\"))


@dataclass(frozen=True)
class Dialect:
    """What is known of a text file before its records are read one by one."""

    encoding: str
    delimiter: str
    styles: tuple[CellStyle, ...]
    width: int
    blanks: bool = False

    @property
    def encoding_words(self) -> str:
        """The encoding in words, or nothing if it is the usual one."""
        return "" if self.encoding.startswith("utf-8") else name_encoding(self.encoding)


def find_dialect(open_bytes: BinaryIO, file: str, layout: FileLayout) -> Dialect:
    """Look at a file, whole for its encoding and at its first lines for the rest.

    Parameters
    ----------
    open_bytes
        The file, unpacked, at its beginning; it is read to its end.
    file
        Its name, for errors.
    layout
        What was told of it.
    """
    first = open_bytes.read(_SAMPLE)
    encoding = _told_encoding(layout) or _find_encoding(first, open_bytes, file)
    sample = _decode(first, encoding, file)
    told = CellStyle(layout.quote[-1:], layout.quote[:-1]) if layout.quote is not None else None
    lines = _skip(sample, layout.skip or 0)
    styles = (told,) if told else _STYLES
    if layout.is_settled:
        return Dialect(encoding, *_delimiter_of_header(lines, layout.delimiter, styles[0]))
    delimiter, width = _find_delimiter(
        lines, layout.delimiter, styles, ".tsv" in file.lower() or ".tab" in file.lower()
    )
    if told is None and _is_in_single_quotes(lines, delimiter):
        styles = (CellStyle("'"), *styles)
    blanks = re.search(rf'{re.escape(delimiter)} +"', lines) is not None and styles[0].quote == '"'
    return Dialect(encoding, delimiter, styles, width, blanks)


def open_text(open_bytes: BinaryIO, encoding: str) -> io.TextIOWrapper:
    """Return a file as text, its ends of lines as they are."""
    return io.TextIOWrapper(open_bytes, encoding=encoding, newline="")


def _delimiter_of_header(sample: str, told: str, style: CellStyle) -> tuple[str, tuple[CellStyle, ...], int]:
    """What separates the names in the first filled line, which is nobody's row."""
    header = next((line for line in io.StringIO(sample, newline="") if line.strip()), "")
    delimiter = told or max(DELIMITERS, key=header.count)
    widths = _widths(header, delimiter, style)
    return delimiter, (style,), widths[0] if widths else 1


def _is_in_single_quotes(sample: str, delimiter: str) -> bool:
    """Whether cells stand in single quotation marks, and none in double ones."""
    edge = re.escape(delimiter)
    single = re.search(rf"(?:^|{edge})'[^'\r\n]*{edge}[^'\r\n]*'(?:{edge}|\r|$)", sample, re.MULTILINE)
    return single is not None and re.search(rf'(?:^|{edge}) *"', sample, re.MULTILINE) is None


def _told_encoding(layout: FileLayout) -> str:
    if not layout.encoding:
        return ""
    try:
        name = codecs.lookup(layout.encoding).name
    except LookupError:
        raise DataError(
            f"There is no encoding {layout.encoding!r}; write for instance utf-8, cp1252 or utf-16."
        ) from None
    return "utf-8-sig" if name == "utf-8" else name


def _find_encoding(first: bytes, rest: BinaryIO, file: str) -> str:
    for encoding, mark in _BOMS.items():
        if first.startswith(mark):
            return encoding
    if (zeros := first[:2000].count(0)) > len(first[:2000]) // 4 and b"\0\0" not in first[:2000]:
        return "utf-16-be" if first[:2000:2].count(0) > zeros // 2 else "utf-16-le"
    blocks = itertools.chain([first], iter(lambda: rest.read(_BLOCK), b""))
    tried = {name: codecs.getincrementaldecoder(name)() for name in ("utf-8-sig", "cp1252")}
    mixed = False
    for block in blocks:
        mixed = mixed or _LETTERS_OF_TWO_BYTES.search(block) is not None
        tried = {name: decoder for name, decoder in tried.items() if _takes(decoder, block)}
    tried = {name: decoder for name, decoder in tried.items() if _takes(decoder, b"", final=True)}
    if not tried:
        raise DataError(
            f"The file {file!r} is neither UTF-8 nor Windows-1252; say its encoding, such as encoding='cp850' "
            "(--encoding cp850)."
        )
    found = next(iter(tried))
    if mixed and found == "cp1252":
        raise DataError(
            f"The file {file!r} is in part UTF-8 and in part another encoding, as when exports are put one below the "
            "other; save its parts in one encoding, or say --encoding cp1252 (encoding='cp1252') to read it as it is."
        )
    return found


def _takes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True


def _decode(first: bytes, encoding: str, file: str) -> str:
    line = 0
    try:
        return codecs.getincrementaldecoder(encoding)().decode(first)
    except UnicodeDecodeError as error:
        line = 1 + first.count(b"\n", 0, error.start)
    raise DataError(f"The file {file!r} cannot be read: line {line} is not {name_encoding(encoding)}; {SAY_ENCODING}.")


def name_encoding(encoding: str) -> str:
    """Return an encoding as people write it."""
    return _ENCODINGS.get(encoding, encoding.removesuffix("-sig").upper())


def _skip(sample: str, lines: int) -> str:
    stream = io.StringIO(sample, newline="")
    return "".join(itertools.islice(stream, lines, None))


def _find_delimiter(sample: str, told: str, styles: Sequence[CellStyle], is_tabbed: bool) -> tuple[str, int]:
    """What splits most records into the same number of fields, more than one; and that number."""
    tried = told or ("\t" + DELIMITERS if is_tabbed else DELIMITERS)
    best: tuple[float, int, str] = (0.0, 1, tried[0])
    for delimiter in dict.fromkeys(tried):
        for style in styles:
            widths = _widths(sample, delimiter, style)
            if not widths:
                continue
            width, count = max(Counter(widths).items(), key=lambda item: (item[1] * min(item[0], 2), item[0]))
            share = count / len(widths) if width > 1 else 0.0
            if share > best[0] + 1e-9 or (share == best[0] and share and width > best[1]):
                best = (share, width, delimiter)
            break
    if best[0] == 0.0:
        return (told or tried[0]), 1
    return best[2], best[1]


def _widths(sample: str, delimiter: str, style: CellStyle) -> list[int]:
    """How many fields the records of a sample have; nothing if it cannot be read in this style."""
    records = style.records(iter(io.StringIO(sample, newline="")), delimiter)
    widths: list[int] = []
    try:
        widths.extend(len(record) for record in records)
    except csv.Error:
        # The sample may end inside quotes; what comes before is as good.
        return widths if len(widths) > 1 and records.line_num >= sample.count("\n") - 1 else []
    return [width for width in widths[:-1] or widths if width]
