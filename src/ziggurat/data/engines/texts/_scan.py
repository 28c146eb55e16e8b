"""A CSV or TSV file checked whole, byte by byte, before any engine reads it.

A line that an engine cannot read must stop the steward who opens the file, not an analyst who has paid: whether a
question fails would otherwise hang on one person's row. Engines are lenient in different places (DuckDB drops a long
unterminated last line and skips blank ones, without a word), so the grammar is our own, that of RFC 4180 and nothing
more, and the count of records is held against the engine's.

The file is looked at some megabytes at a time, whole records only, with array operations: a byte is inside quotes if
an odd number of quotation marks stands before it, since doubling one leaves the parity as it is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ziggurat.data.engines.texts._header import BROKEN_GZIP, Header, header_of, incomplete, open_unpacked
from ziggurat.errors import DataError
from ziggurat.wording import count_noun

LONGEST_RECORD = 2_000_000
"""The most bytes of one line; DuckDB's own limit lies a little above."""

_CHUNK = 8_000_000
_LF, _CR, _QUOTE, _APOSTROPHE = b"\n", b"\r", b'"', b"'"
_BOM = b"\xef\xbb\xbf"

Places = npt.NDArray[np.intp]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Scanned:
    """What was seen of a file without a fault: how many records, whether there is an apostrophe, how many are empty."""

    records: int
    apostrophes: bool
    empty: int = 0


class _FaultError(Exception):
    """A fault at a line, in words without a cell; the caller adds the name of the file."""


def check_files(files: Sequence[str], named: Sequence[str] = ()) -> tuple[Header, list[Scanned]]:
    """Check text files that hold one table between them: every byte of each, and that their headers are the same.

    Parameters
    ----------
    files
        What to read.
    named
        What to call them in errors, if they are copies.
    """
    header, names = header_of(files[0]), list(named or files)
    for file, name in zip(files[1:], names[1:], strict=True):
        if header_of(file) != header:
            raise DataError(f"The header of {name!r} is not that of {names[0]!r}; give both the same columns in order.")
    return header, [scan(file, header, name) for file, name in zip(files, names, strict=True)]


def scan(file: str, header: Header, name: str = "") -> Scanned:
    """Check every byte of a text file; DataError names the file, the line and what is wrong, never a cell."""
    scan, fault = _Scan(header), ""
    try:
        for block in _blocks(file, scan):
            scan.look_at(block)
        return Scanned(scan.records - 1 - header.skipped, scan.apostrophes, scan.empty)
    except _FaultError as error:
        fault = str(error)
    except BROKEN_GZIP:
        fault = f"it is {incomplete(name or file)}"
    raise DataError(f"The file {name or file!r} cannot be read: {fault}.")  # outside the handlers, which hold bytes


def line_of(file: str, header: Header, record: int) -> int:
    """Return the line at which the record of this number begins (0 for the first below the header)."""
    scan, wanted = _Scan(header), record + 1 + header.skipped
    for block in _blocks(file, scan):
        before, line = scan.records, scan.line
        scan.look_at(block)
        if wanted < scan.records:
            starts = scan.starts(block)
            return line + block.count(_LF, 0, int(starts[wanted - before]))
    raise DataError(f"The file {file!r} changed while it was read; open it again.")


class _Scan:
    """What is known of a file up to a place between two records."""

    def __init__(self, header: Header) -> None:
        self.fields, self.separator, self._skipped = len(header.names), header.delimiter.encode(), header.skipped
        self.records, self.line, self.empty = 0, 1, 0
        self.apostrophes = False
        self._windows: bool | None = None
        self._blank = 0

    def look_at(self, block: bytes) -> None:
        """Check some whole records."""
        array = np.frombuffer(block, np.uint8)
        self._check_characters(block)
        quotes = _places(array, block, _QUOTE)
        self._check_quotes(block, array, quotes)
        ends = _outside(_places(array, block, _LF), quotes)
        self._check_returns(block, array, ends, quotes)
        self.records += self._check_fields(block, array, ends, quotes)
        self.line += block.count(_LF)
        self.apostrophes = self.apostrophes or _APOSTROPHE in block

    def starts(self, block: bytes) -> Places:
        """Return where the records of a block begin."""
        array = np.frombuffer(block, np.uint8)
        return _starts(_outside(_places(array, block, _LF), _places(array, block, _QUOTE)))

    def fault(self, block: bytes, at: int, what: str) -> _FaultError:
        """Return a fault at a place of a block."""
        return _FaultError(f"line {self.line + block.count(_LF, 0, at)} {what}")

    def _check_characters(self, block: bytes) -> None:
        if b"\0" in block:
            raise self.fault(block, block.index(b"\0"), "holds a zero byte (NUL); is the file text, saved as UTF-8?")
        if block.isascii():
            return
        at = -1
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            at = error.start
        if at >= 0:
            raise self.fault(block, at, "is not UTF-8; save the file as UTF-8")

    def _check_returns(self, block: bytes, array: Bytes, ends: Places, quotes: Places) -> None:
        returns = _outside(_places(array, block, _CR), quotes)
        alone = returns[array[returns + 1] != _LF[0]]
        if alone.size:
            raise self.fault(block, int(alone[0]), "has a carriage return (CR) outside quotes; end lines with LF")
        if self._windows is None:
            self._windows = bool(returns.size and returns[0] + 1 == ends[0])
        if returns.size != (ends.size if self._windows else 0):
            is_odd = (array[ends - 1] == _CR[0]) != self._windows
            at = int(ends[int(np.argmax(is_odd))])
            raise self.fault(block, at, "ends in another way than the first (LF and CR LF); use one of them")

    def _check_quotes(self, block: bytes, array: Bytes, quotes: Places) -> None:
        if not quotes.size:
            return
        allowed = [self.separator[0], _LF[0], _QUOTE[0]]
        opening, closing = quotes[::2], quotes[1::2]
        before, after = array[opening - 1], array[closing + 1]  # at 0 the last byte stands before: a line feed
        stray = np.concatenate([opening[~np.isin(before, allowed)], closing[~np.isin(after, [*allowed, _CR[0]])]])
        if stray.size:
            raise self.fault(block, int(stray.min()), _UNMATCHED)

    def _check_fields(self, block: bytes, array: Bytes, ends: Places, quotes: Places) -> int:
        """How many records there are, if each has as many fields as the header."""
        separators = _outside(_places(array, block, self.separator), quotes)
        starts = _starts(ends)
        if not self._blank and _fits(starts, ends, separators, self.fields) and self.line > self._skipped:
            # A record of separators alone is as long as they are; the return at its end is part of it.
            self.empty += int(np.count_nonzero(ends - starts == self.fields - 1 + bool(self._windows)))
            return int(ends.size)
        if self.fields == 1:
            counts = np.diff(np.searchsorted(separators, ends), prepend=0) + 1
            return self._count(block, counts, starts)
        filled = self._without_blanks(block, array, starts, ends)
        counts = np.diff(np.searchsorted(separators, ends[filled]), prepend=0) + 1
        return self._count(block, counts, starts[filled])

    def _count(self, block: bytes, counts: Places, starts: Places) -> int:
        above = min(max(self._skipped - self.records, 0), len(counts))  # Excel's line on the separator
        wrong = np.flatnonzero(counts[above:] != self.fields)
        if wrong.size:
            place = int(wrong[0]) + above
            what = (
                f"has {count_noun(int(counts[place]), 'field')}, but the header has {self.fields}; "
                "quote cells that hold the separator, and end no line with it"
            )
            raise self.fault(block, int(starts[place]), what)
        return len(counts)

    def _without_blanks(self, block: bytes, array: Bytes, starts: Places, ends: Places) -> npt.NDArray[np.bool]:
        """Which records are not blank; blank lines may stand at the end of the file only."""
        blank: npt.NDArray[np.bool] = (starts == ends) | ((starts + 1 == ends) & (array[starts] == _CR[0]))
        last = int(np.flatnonzero(~blank)[-1]) if not blank.all() else -1
        if last >= 0 and (self._blank or blank[:last].any()):
            line = self._blank or self.line + block.count(_LF, 0, int(starts[np.argmax(blank)]))
            raise _FaultError(f"line {line} is blank; remove it")
        if blank.any() and not self._blank:
            self._blank = self.line + block.count(_LF, 0, int(starts[np.argmax(blank)]))
        return ~blank


def _blocks(file: str, scan: _Scan) -> Iterator[bytes]:
    """The bytes of a file, cut between records; at most one record more than a chunk is held at a time."""
    rest = b""
    with open_unpacked(file) as stream:
        rest = stream.read(len(_BOM)).removeprefix(_BOM)
        while chunk := stream.read(_CHUNK):
            held = rest + chunk
            cut = _last_end(held) + 1
            block, rest = held[:cut], held[cut:]
            if block:
                _check_lengths(block, scan)
                yield block
            if len(rest) > LONGEST_RECORD:
                raise scan.fault(b"", 0, _TOO_LONG)
    if rest:
        block = rest + (b"" if rest.endswith(_LF) else (_CR + _LF) if scan._windows else _LF)
        if _last_end(block) + 1 != len(block):
            raise scan.fault(block, block.index(_QUOTE), _UNMATCHED)
        _check_lengths(block, scan)
        yield block


_UNMATCHED = "has quotation marks that do not match; quote the whole cell and double those inside"
_TOO_LONG = (
    f"is longer than {LONGEST_RECORD:,} bytes; is a quotation mark left open? Shorten its cells, or write Parquet"
)


def _last_end(held: bytes) -> int:
    """Where the last record that ends in `held` ends; -1 if none does."""
    if _QUOTE not in held:
        return held.rfind(_LF)
    array = np.frombuffer(held, np.uint8)
    ends = _outside(_places(array, held, _LF), _places(array, held, _QUOTE))
    return int(ends[-1]) if ends.size else -1


def _check_lengths(block: bytes, scan: _Scan) -> None:
    if len(block) <= LONGEST_RECORD:
        return
    starts = scan.starts(block)
    lengths = np.diff(starts, append=len(block))
    if lengths.max() > LONGEST_RECORD:
        raise scan.fault(block, int(starts[np.argmax(lengths > LONGEST_RECORD)]), _TOO_LONG)


def _places(array: Bytes, block: bytes, byte: bytes) -> Places:
    return np.flatnonzero(array == byte[0]) if byte in block else np.empty(0, np.intp)


def _outside(places: Places, quotes: Places) -> Places:
    """Those of the places that are not inside quotes."""
    return places[np.searchsorted(quotes, places) % 2 == 0] if quotes.size and places.size else places


def _starts(ends: Places) -> Places:
    return np.concatenate([[0], ends[:-1] + 1]).astype(np.intp)


def _fits(starts: Places, ends: Places, separators: Places, fields: int) -> bool:
    """Whether every record has exactly its own share of the separators, seen without a search for each."""
    if separators.size != ends.size * (fields - 1):
        return False
    if fields == 1:
        return True
    rows = separators.reshape(-1, fields - 1)
    return bool((rows[:, 0] >= starts).all() and (rows[:, -1] < ends).all())
