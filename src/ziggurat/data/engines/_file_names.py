"""The name of a file is that file and no other, whatever characters are in it.

DuckDB takes `*`, `?` and `[` in a name for a pattern, and `year=2020` in a path for a column. So an engine is never
handed a name with a character of a pattern: it is given a link without one, in a folder of this process.
"""

import itertools
import os
import re
from glob import escape, glob
from pathlib import Path

from ziggurat.data.engines._private_folder import private_folder

_PATTERN = re.compile(r"[*?\[\]{}\\]")
_numbers = itertools.count(1)

Mark = tuple[int, ...]


def files_named(name: str) -> list[str]:
    """Return the file of that name; if there is none, those that a pattern with `*` or `?` matches, in order."""
    if exists(name):
        return [name]
    if not ("*" in name or "?" in name) or "\0" in name:
        return []
    # A bracket is never part of a pattern: x[1].csv is a usual name for a second download of x.csv.
    pattern = re.sub(r"\[", escape("["), name)
    return sorted(glob(pattern))  # noqa: PTH207  (Path.glob takes no absolute pattern)


def exists(name: str) -> bool:
    """Return whether there is a file or folder of exactly that name."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a name longer than any file's, or one with a zero byte in it
        return False


def literal(path: str) -> str:
    """Return a name under which every engine of this machine finds the file `path`, and nothing else."""
    whole = str(Path(path).absolute())
    if not _PATTERN.search(whole):
        return whole
    link = private_folder() / f"file-{os.getpid()}-{next(_numbers)}{_ending(path)}"
    link.symlink_to(whole)
    return str(link)


def mark(path: str) -> Mark:
    """Return what changes when a file is written again or replaced: its number, size and times."""
    try:
        found = Path(path).stat()
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _ending(path: str) -> str:
    """The endings that say what is in a file, such as .csv.gz."""
    plain = [each for each in Path(path).suffixes[-2:] if re.fullmatch(r"\.[A-Za-z]+", each)]
    return "".join(plain)
