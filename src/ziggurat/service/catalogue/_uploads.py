"""Files that stewards bring: written whole or not at all, under names of ours, in a folder for the service alone."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from starlette.concurrency import run_in_threadpool

from ziggurat.errors import DataError, TooLargeError, UnknownNameError
from ziggurat.files import sync_path
from ziggurat.service.access import Person
from ziggurat.service.catalogue._unpacking import require_harmless
from ziggurat.wording import nearest

ENDINGS = (
    "csv", "tsv", "txt", "parquet", "arrow", "feather", "jsonl", "ndjson", "xlsx", "xls", "ods", "dta", "sav",
    "sas7bdat", "xpt", "rds", "rdata", "yaml", "skops",
)  # fmt: skip
"""What may be brought. Packed files are not: unpack them first, so that their size is known when they come in."""

_NAME = re.compile(r"[0-9a-f]{32}\.[0-9a-z]{2,8}")


@dataclass(frozen=True)
class Upload:
    """A file that was brought: its name here, its size, and whose it is."""

    name: str
    size: int

    def to_dict(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {"upload": self.name, "bytes": self.size}


class UploadFolder:
    """Where uploads lie: a folder for each person, entered by nobody else.

    Parameters
    ----------
    folder
        Where the service keeps what no database keeps.
    longest
        How many bytes a file may have.
    """

    def __init__(self, folder: Path, longest: int) -> None:
        self._folder, self._longest = folder.absolute() / "uploads", longest

    @property
    def folder(self) -> Path:
        """The folder of all of them."""
        return self._folder

    async def take(self, person: Person, filename: str, parts: AsyncIterator[bytes]) -> Upload:
        """Write what is sent, and give it a name; more than is taken is refused, and nothing of it stays."""
        from secrets import token_hex

        ending = Path(filename).suffix.lower().removeprefix(".")
        if ending not in ENDINGS:
            raise DataError(f"Files of this kind are not read here; {nearest(ending, ENDINGS)}")
        place = self._of(person)
        for each in (self._folder, place):
            each.mkdir(parents=True, exist_ok=True, mode=0o700)
        name, size = f"{token_hex(16)}.{ending}", 0
        draft = place / f".{name}"
        try:
            with await run_in_threadpool(_open_draft, draft) as opened:
                async for part in parts:
                    size += len(part)
                    if size > self._longest:
                        raise TooLargeError(f"The file is longer than the {self._longest:,} bytes that are taken.")
                    await run_in_threadpool(opened.write, part)
            await run_in_threadpool(self._settle, draft, place / name, ending)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
        return Upload(name, size)

    def _settle(self, draft: Path, path: Path, ending: str) -> None:
        """Look at a file that has come in whole, and give it its name."""
        require_harmless(draft, ending, self._longest)
        sync_path(draft)
        draft.replace(path)
        with suppress(OSError):  # on systems that cannot, names are durable by themselves
            sync_path(path.parent)

    def find(self, person: Person, name: str) -> Path:
        """Find a file that somebody brought; names that were not given out do not exist."""
        path = self._of(person) / name
        if not _NAME.fullmatch(name) or not path.is_file():
            raise UnknownNameError("There is no such upload; send the file again.")
        return path

    def place(self, owner: str, name: str) -> Path:
        """Find the file of a table, by the id of who brought it."""
        if not _NAME.fullmatch(name) or not re.fullmatch(r"[0-9a-f]+", owner):
            raise UnknownNameError("There is no such upload; send the file again.")
        return self._folder / owner / name

    def _of(self, person: Person) -> Path:
        return self._folder / person.id


def _open_draft(path: Path) -> BinaryIO:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
