"""The header of a CSV or TSV file, read without guessing.

DuckDB's sniffer may skip lines and take a data row for the header, whose cells would then appear as names of
columns in every error. So the dialect is fixed here: UTF-8, one header line, double quotes doubled.
"""

import csv
import gzip
import io
import itertools
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ziggurat.data.engines._spreadsheet_cells import unmark_text
from ziggurat.errors import DataError

_PLAIN_SUFFIXES = (".csv", ".tsv", ".txt", ".tab", ".psv", ".dat")
TEXT_SUFFIXES = tuple(plain + packed for packed in ("", ".gz", ".zip") for plain in _PLAIN_SUFFIXES)
_DELIMITERS = ",;|\t"
_LONGEST_HEADER = 1_000_000
BROKEN_GZIP = (gzip.BadGzipFile, EOFError, zlib.error, zipfile.BadZipFile)


@dataclass(frozen=True)
class Header:
    """The names of the columns, what separates them, how many lines come before, and whether names are in quotes."""

    names: tuple[str, ...]
    delimiter: str
    skipped: int = 0
    is_quoted: bool = False


def is_text_file(path: str) -> bool:
    """Return whether the name of a file says that it is CSV or TSV."""
    return path.lower().endswith(TEXT_SUFFIXES)


def header_of(file: str) -> Header:
    """Return the header of a CSV or TSV file.

    A first line such as "sep=;", by which Excel tells itself the separator, is obeyed and skipped.
    """
    header, reason = None, ""
    try:
        header = _read_header(file)
    except UnicodeEncodeError:
        reason = f"The file {file!r} cannot be read: line 1 is not UTF-8; save the file as UTF-8."
    except BROKEN_GZIP:
        reason = f"The file {file!r} is {incomplete(file)}."
    except OSError:
        reason = f"The file {file!r} cannot be opened; check its permissions."
    except (csv.Error, StopIteration):
        reason = f"The quotation marks in the header of {file!r} do not match; double those inside quotes."
    if header is None:  # outside the handlers, whose errors quote what they found
        raise DataError(reason)
    _check(file, list(header.names))
    return header


def header_in(line: str, file: str, delimiter: str = "") -> Header:
    """Return the header that the first line of a file is, where an engine has read that line.

    Parameters
    ----------
    line
        Without its end.
    file
        What to call it in errors.
    delimiter
        What separates names; by default what stands there most often.
    """
    usual = delimiter or max(_DELIMITERS, key=line.count)
    try:
        names = next(csv.reader([line], delimiter=usual, strict=True))
    except (csv.Error, StopIteration):
        names = None
    if names is None:
        raise DataError(f"The quotation marks in the header of {file!r} do not match; double those inside quotes.")
    _check(file, names)
    return Header(tuple(map(unmark_text, names)), usual, is_quoted=line.startswith('"'))


def incomplete(file: str) -> str:
    """Return in words that a packed file is damaged."""
    return f"not a complete {'zip' if file.lower().endswith('.zip') else 'gzip'} file; compress it again"


def open_unpacked(file: str) -> BinaryIO:
    """Open a file, unpacked if its name says that it is packed."""
    if file.lower().endswith(".zip"):
        return _open_member(file)
    return cast("BinaryIO", gzip.open(file)) if file.lower().endswith(".gz") else Path(file).open("rb")


def _open_member(file: str) -> BinaryIO:
    packed = zipfile.ZipFile(file)
    held = [each for each in packed.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX")]
    if len(held) != 1:
        raise DataError(f"The file {file!r} holds {len(held)} files; unpack it and name the one to read.")
    if held[0].flag_bits & 1:
        raise DataError(f"The file {file!r} is locked with a password; unpack it first.")
    return cast("BinaryIO", packed.open(held[0]))


def _read_header(file: str) -> Header:
    with io.TextIOWrapper(open_unpacked(file), encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        line = stream.readline(_LONGEST_HEADER)
        told = re.fullmatch(r'"?sep=([\t!#-~])"?\r?\n?', line, re.IGNORECASE)
        line = stream.readline(_LONGEST_HEADER) if told else line
        usual = "\t" if re.search("[.](tsv|tab)", Path(file).name.lower()) else max(_DELIMITERS, key=line.count)
        delimiter = told[1] if told else usual
        names = next(csv.reader(itertools.chain([line], stream), delimiter=delimiter, strict=True))
    "".join(names).encode()  # fails for bytes that are not UTF-8, whose lines are looked at later if they are not here
    return Header(tuple(map(unmark_text, names)), delimiter, 1 if told else 0, line.startswith('"'))


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
