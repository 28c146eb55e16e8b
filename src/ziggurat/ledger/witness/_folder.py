"""A witness in a folder: one file of lines per ledger, `FOLDER/<name of the ledger>/receipts.jsonl`.

A line is whole once its end is written; what comes after the last whole line was left by a crash before the receipt was
taken, and the next writer removes it. The folder itself is never made here: an empty place where a disk should be
mounted must not be taken for a witness.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from ziggurat.errors import WitnessError
from ziggurat.files import create, sync, sync_path
from ziggurat.ledger._chain import Head
from ziggurat.ledger.witness._place import Seen, Witness, follows, is_file_name

_BLOCK = 1 << 16


class FolderWitness(Witness):
    """Receipts in a folder, readable for their owner only, because questions are in them."""

    def __init__(self, folder: str, ledger: str, timeout: float = 30.0) -> None:
        self._root, self._ledger, self._timeout = Path(folder), ledger, timeout
        self._folder = self._root / ledger
        self._log = self._folder / "receipts.jsonl"
        self._known: tuple[tuple[int, int], Head] | None = None

    @property
    def name(self) -> str:
        """The folder."""
        return f"The witness {str(self._root)!r}"

    def begin(self, first: Seen) -> bool:
        """Make the file with its first line whole beside its place, then link it there."""
        if not is_file_name(self._ledger):
            raise WitnessError(f"{self.name} cannot keep receipts of a ledger with such a name")
        with self._reach():
            self._folder.mkdir(mode=0o700, exist_ok=True)
            draft = self._folder / f".{token_hex(4)}.new"
            try:
                create(draft, _lines([first]))
                os.link(draft, self._log)
            except FileExistsError:
                return False
            finally:
                draft.unlink(missing_ok=True)
            sync_path(self._folder)
            sync_path(self._root)
        return True

    def last(self) -> Seen | None:
        """Read the newest line."""
        line = self.last_line()
        return None if line is None else self._parse(line)

    def last_line(self) -> bytes | None:
        """Give the newest whole line as it is; None if this witness knows no such ledger."""
        if not self._knows():
            return None
        with self._reach(), _open_anew(self._log, os.O_RDONLY) as handle:
            return _last_line(handle, os.fstat(handle).st_size)[0]

    def extend(self, seen: Sequence[Seen], durable: bool) -> bool:
        """Add lines; the file is locked meanwhile."""
        if not self._knows():
            return False
        with self._reach(), _open_anew(self._log, os.O_RDWR) as handle:
            self._lock(handle)
            head, end = self._newest(handle)
            if not follows(head, seen):
                return False
            _append(handle, _lines(seen), end, durable)
            status = os.fstat(handle)
            self._known = (status.st_ino, status.st_size), seen[-1].head()
        return True

    def all(self) -> Iterator[Seen | None]:
        """Read line after line, without what a crash left half-written at the end."""
        return map(Seen.from_json, self.lines())

    def lines(self) -> Iterator[bytes]:
        """Give the whole lines as they are, with their ends."""
        if not self._knows():
            return
        with self._reach(), self._log.open("rb") as file:
            end = _last_line(file.fileno(), os.fstat(file.fileno()).st_size)[1]
            while file.tell() < end:
                yield file.readline()

    def holds(self, seen: Sequence[Seen]) -> bool:
        """Tell whether exactly these receipts were taken already, and bring them to the disk if so.

        Whoever offers receipts a second time, because the first answer never arrived, is answered by this.
        """
        if not seen or not self._knows():
            return False
        wanted = [one.to_json().encode() for one in seen]
        with self._reach(), _open_anew(self._log, os.O_RDONLY) as handle:
            if _lines_since(handle, seen[0].seq)[: len(wanted)] != wanted:
                return False
            sync(handle)
            sync_path(self._folder)
            sync_path(self._root)
        return True

    def close(self) -> None:
        """Nothing is kept open."""

    def _knows(self) -> bool:
        """Tell whether there is a file for the ledger; a folder that is not there at all cannot say."""
        with self._reach():
            if not self._root.is_dir():
                raise FileNotFoundError(2, "No such folder")
            return is_file_name(self._ledger) and self._log.exists()

    def _newest(self, handle: int) -> tuple[Head, int]:
        """Give the newest entry seen and where whole lines end; read again only if somebody else has written."""
        status = os.fstat(handle)
        if self._known is not None and self._known[0] == (status.st_ino, status.st_size):
            return self._known[1], status.st_size
        line, end = _last_line(handle, status.st_size)
        return self._parse(line).head(), end

    def _parse(self, line: bytes) -> Seen:
        found = Seen.from_json(line)
        if found is None:
            raise WitnessError(f"{self.name} holds something at its end that is not a receipt; verify the ledger")
        return found

    def _lock(self, handle: int) -> None:
        until = time.monotonic() + self._timeout
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise WitnessError(f"{self.name} is in use by another writer that did not finish in time") from None
                time.sleep(0.002)
            else:
                return

    @contextmanager
    def _reach(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            reason = os.strerror(error.errno) if error.errno else type(error).__name__
            raise WitnessError(f"{self.name} cannot be reached or written ({reason})") from None


def list_watched(folder: str) -> list[str]:
    """Name the ledgers of which a folder keeps receipts."""
    try:
        found = [each.name for each in Path(folder).iterdir() if (each / "receipts.jsonl").is_file()]
    except OSError:
        raise WitnessError(f"The folder {folder!r} of a witness cannot be read") from None
    return sorted(name for name in found if is_file_name(name))


def _lines(seen: Sequence[Seen]) -> bytes:
    return b"".join(one.to_json().encode() + b"\n" for one in seen)


@contextmanager
def _open_anew(path: Path, flags: int) -> Iterator[int]:
    """Open anew at every use: a lock must not be shared with a child process."""
    handle = os.open(path, flags | os.O_CLOEXEC)
    try:
        yield handle
    finally:
        os.close(handle)


def _append(handle: int, data: bytes, end: int, durable: bool) -> None:
    """Write at the end of the whole lines; a failure takes back what it wrote, where the disk lets it."""
    try:
        os.ftruncate(handle, end)
        written = 0
        while written < len(data):
            written += os.pwrite(handle, data[written:], end + written)
        if durable:
            sync(handle)
    except OSError:
        with suppress(OSError):
            os.ftruncate(handle, end)
        raise


def _lines_since(handle: int, seq: int) -> list[bytes]:
    """Give the newest whole lines, from a number on, reading from the end."""
    found: list[bytes] = []
    line, end = _last_line(handle, os.fstat(handle).st_size)
    while end:
        one = Seen.from_json(line)
        if one is None or one.seq < seq:
            break
        found.append(line)
        line, end = _last_line(handle, end - len(line) - 1)
    return found[::-1]


def _last_line(handle: int, size: int) -> tuple[bytes, int]:
    """Give the last whole line and where it ends; a power cut may leave half a line, or zeros in place of one."""
    data, start = b"", size
    while True:
        end = data.rfind(b"\n")
        begin = data.rfind(b"\n", 0, max(end, 0))
        if end >= 0 and (begin >= 0 or start == 0):
            line = data[begin + 1 : end]
            if b"\0" not in line:
                return line, start + end + 1
            data = data[: begin + 1]
        elif start == 0:
            return b"", 0
        else:
            step = min(_BLOCK, start)
            start -= step
            data = os.pread(handle, step, start) + data
