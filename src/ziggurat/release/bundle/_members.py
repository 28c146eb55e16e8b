"""A stretch of a file: a whole one of a folder, or one that lies uncompressed in a zip."""

from __future__ import annotations

import os
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

PUBLIC, STEWARD = "public", "steward"
MANIFEST = "manifest.json"
PAGE, CERTIFICATE = "index.html", "certificate.json"
REPORT, EVIDENCE = "report.html", "evidence.json"
OURS = (PAGE, CERTIFICATE, MANIFEST)

_FOREIGN = set('\\:*?"<>|')


def name_problem(name: object) -> str:
    """Say why a file of a bundle cannot be called so; empty if it can.

    A name that another system would read as another place, or as another file, is none: no absolute names, no way
    upwards, no letters that come in several forms.
    """
    if not isinstance(name, str) or not name or len(name.encode("utf-8", "replace")) > 1000:
        return "is no name for a file"
    if not name.isprintable() or _FOREIGN & set(name) or unicodedata.normalize("NFC", name) != name:
        return "holds a character that not every system takes for the same"
    if any(part.strip(" .") != part or not part for part in name.split("/")):
        return "leads to another place or is read differently by other systems"
    return ""


def clash(names: Iterable[str]) -> str:
    """Give a name that some system would not tell from another, or that is also a folder; empty if there is none."""
    seen: set[str] = set()
    folders: set[str] = set()
    for name in sorted(names):
        alike = fold_case(name)
        if alike in seen or alike in folders:
            return name
        seen.add(alike)
        above = alike.split("/")[:-1]
        within = {"/".join(above[: i + 1]) for i in range(len(above))}
        if within & seen:
            return name
        folders |= within
    return ""


def fold_case(name: str) -> str:
    """A name as systems see it that do not tell capitals from small letters."""
    return unicodedata.normalize("NFKC", name).casefold()


_BLOCK = 1 << 20
LARGEST_TEXT = 1 << 26


@dataclass(frozen=True)
class Member:
    """`size` bytes of the file at `path`, from `start` on; a link is never followed."""

    path: Path
    start: int
    size: int

    def blocks(self) -> Iterator[bytes]:
        """Read it piece by piece; what was cut off meanwhile is missing."""
        with os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            file.seek(self.start)
            left = self.size
            while left and (block := file.read(min(_BLOCK, left))):
                left -= len(block)
                yield block

    def read(self) -> bytes:
        """Read it whole; `ValueError` if nobody would write a text of that length."""
        if self.size > LARGEST_TEXT:
            raise ValueError("is too long to be read")
        return b"".join(self.blocks())

    def digest(self) -> str:
        """The SHA-256 of what it holds."""
        found = sha256()
        for block in self.blocks():
            found.update(block)
        return found.hexdigest()

    def checksum(self) -> int:
        """The CRC-32 of what it holds, which a zip keeps beside it."""
        found = 0
        for block in self.blocks():
            found = zlib.crc32(block, found)
        return found
