"""The header of a CSV or TSV file, read without guessing.

DuckDB's sniffer may skip lines and take a data row for the header, whose cells would then appear as names of
columns in every error. So the dialect is fixed here: UTF-8, one header line, double quotes doubled.
"""

import csv
import gzip
import itertools
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import IO

from ziggurat.errors import DataError

TEXT_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_DELIMITERS = ",;|\t"
_LONGEST_HEADER = 1_000_000


@dataclass(frozen=True)
class Header:
    """The names of the columns and what separates them."""

    names: tuple[str, ...]
    delimiter: str


def is_text_file(path: str) -> bool:
    """Return whether the name of a file says that it is CSV or TSV."""
    return path.lower().endswith(TEXT_SUFFIXES)


def header_of(path: str) -> Header:
    """Return the header of a CSV or TSV file (of the first one, if `path` is a pattern)."""
    first = path if Path(path).exists() else sorted(glob(path))[0]  # noqa: PTH207
    try:
        with _opened(first) as file:
            line = file.readline(_LONGEST_HEADER)
            delimiter = "\t" if ".tsv" in Path(first).name.lower() else max(_DELIMITERS, key=line.count)
            names = next(csv.reader(itertools.chain([line], file), delimiter=delimiter, strict=True))
    except (OSError, EOFError, ValueError, csv.Error, StopIteration):
        names = []
    _check(path, names)
    return Header(tuple(names), delimiter)


def _opened(path: str) -> IO[str]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return Path(path).open(encoding="utf-8-sig", newline="")


def _check(path: str, names: list[str]) -> None:
    # The names are not shown: a file without a header has cells there.
    if not names:
        raise DataError(f"The file {path!r} does not begin with a header line in UTF-8.")
    if not all(name.strip() and name.isprintable() for name in names):
        raise DataError(f"The header of {path!r} leaves a column without a name; name every column.")
    if len({name.lower() for name in names}) != len(names):
        raise DataError(f"The header of {path!r} gives two columns the same name; rename one.")
