"""The header of a CSV or TSV file, read without guessing, and what is wrong with a file that cannot be read.

DuckDB's sniffer may skip lines and take a data row for the header, whose cells would then appear as names of
columns in every error. So the dialect is fixed here: UTF-8, one header line, double quotes doubled.
"""

import csv
import gzip
import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import IO

from ziggurat.errors import DataError

TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_DELIMITERS = ",;|\t"
_LONGEST_HEADER = 1_000_000
_LONGEST_LINE = 2_000_000  # DuckDB's own limit, about
_BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error)


@dataclass(frozen=True)
class Header:
    """The names of the columns, what separates them, and how many lines come before."""

    names: tuple[str, ...]
    delimiter: str
    skipped: int = 0


def is_text_file(path: str) -> bool:
    """Return whether the name of a file says that it is CSV or TSV."""
    return path.lower().endswith(TEXT_SUFFIXES)


def header_of(path: str) -> Header:
    """Return the header of a CSV or TSV file (of the first one, if `path` is a pattern).

    A first line such as "sep=;", by which Excel tells itself the separator, is obeyed and skipped.
    """
    header, reason = None, ""
    try:
        header = _read_header(_files(path)[0])
    except UnicodeDecodeError:
        reason = f"The file {path!r} cannot be read: {_bad_bytes(_files(path)[0])}"
    except _BROKEN_GZIP:
        reason = f"The file {path!r} is not a complete gzip file; compress it again."
    except OSError:
        reason = f"The file {path!r} cannot be opened; check its permissions."
    except (csv.Error, StopIteration):
        reason = f"The quotation marks in the header of {path!r} do not match; double those inside quotes."
    if header is None:  # outside the handlers, whose errors quote what they found
        raise DataError(reason)
    _check(path, list(header.names))
    return header


def trouble_in(path: str) -> str:
    """Return a sentence on why the lines of a text file cannot be read; it names a line, never a cell."""
    header = header_of(path)
    for file in _files(path):
        found = _bad_bytes(file) or _bad_record(file, header) or _bad_endings(file)
        if found:
            return f"The file {file!r} cannot be read: {found}"
    return (
        f"The file {path!r} cannot be read: it must be UTF-8, have as many fields on every line as in its header, "
        "and double every quotation mark inside quotes."
    )


def _files(path: str) -> list[str]:
    return [path] if Path(path).exists() else sorted(glob(path))  # noqa: PTH207


def _read_header(file: str) -> Header:
    with _opened(file) as stream:
        line = stream.readline(_LONGEST_HEADER)
        told = re.fullmatch(r'"?sep=(.)"?\r?\n?', line, re.IGNORECASE)
        first, line = line, stream.readline(_LONGEST_HEADER) if told else line
        if first.endswith("\r\n") != line.endswith("\r\n"):  # DuckDB 2.0 would find no row, without a word
            raise DataError(f"The lines of {file!r} end in different ways (LF and CR LF); use one of them.")
        usual = "\t" if ".tsv" in Path(file).name.lower() else max(_DELIMITERS, key=line.count)
        delimiter = told[1] if told else usual
        names = next(csv.reader(itertools.chain([line], stream), delimiter=delimiter, strict=True))
    return Header(tuple(names), delimiter, 1 if told else 0)


def _opened(path: str) -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return Path(path).open(encoding="utf-8-sig", newline="")


def _check(path: str, names: list[str]) -> None:
    # The names are not shown: a file without a header has cells there.
    if not names:
        raise DataError(f"The file {path!r} begins with a blank line; begin it with the header.")
    if len(names) > 1 and not names[-1].strip():
        raise DataError(f"The header of {path!r} ends with a separator, so its last column has no name.")
    if not all(name.strip() for name in names):
        raise DataError(f"The header of {path!r} leaves a column without a name; name every column.")
    if not all(name.isprintable() for name in names):
        raise DataError(f"The header of {path!r} has a line break or an unprintable character in a name.")
    if len({name.lower() for name in names}) != len(names):
        raise DataError(f"The header of {path!r} gives two columns the same name; rename one.")


def _bad_bytes(file: str) -> str:
    try:
        for number, line in enumerate(_raw_lines(file), start=1):
            line.decode("utf-8")
            if len(line) > _LONGEST_LINE:
                return f"line {number} is longer than {_LONGEST_LINE:,} bytes; shorten its cells, or write Parquet."
    except UnicodeDecodeError:
        return f"line {number} is not UTF-8; save the file as UTF-8."
    except _BROKEN_GZIP:
        return "it is not a complete gzip file; compress it again."
    return ""


def _bad_endings(file: str) -> str:
    windows = {line.endswith(b"\r\n") for line in _raw_lines(file) if line.endswith(b"\n")}
    return "its lines end in different ways (LF and CR LF); use one of them." if len(windows) > 1 else ""


def _raw_lines(file: str) -> Iterator[bytes]:
    with gzip.open(file) if file.lower().endswith(".gz") else Path(file).open("rb") as stream:
        yield from stream


def _bad_record(file: str, header: Header) -> str:
    with _opened(file) as stream:
        reader = csv.reader(stream, delimiter=header.delimiter, strict=True)
        try:
            for place, record in enumerate(reader):
                if place >= header.skipped and record and len(record) != len(header.names):
                    return (
                        f"line {reader.line_num} has {len(record)} fields, but the header has {len(header.names)}; "
                        "quote cells that hold the separator, and end no line with it."
                    )
        except csv.Error as error:
            if "larger than field limit" in str(error):
                return f"a cell at line {reader.line_num} is too long; is a quotation mark left open before it?"
            return f"the quotation marks at line {reader.line_num} do not match; double those inside quotes."
    return ""
