"""A stretch of a file: a whole one of a folder, or one that lies uncompressed in a zip."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

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
