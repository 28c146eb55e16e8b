"""Payloads by content: small ones travel inside their description, larger ones are files named by their hash.

A file is written beside its place and renamed, so a reader sees all of it or nothing. Nothing is synced to disk: a
power cut may lose or truncate the newest files, which their hash reveals, and what is lost is only computed again.
"""

from __future__ import annotations

import base64
import binascii
import errno
import hashlib
import io
import os
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from ziggurat.errors import ArtefactError
from ziggurat.experiments._types import StoredOutput

INLINE_LIMIT = 4096
TEXT_KINDS = frozenset({"json", "scalar", "tree"})
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_STALE_SECONDS = 86_400.0


class DamagedError(ArtefactError):
    """A stored payload is missing or is not what its hash says; whoever made it must make it again."""

    def __init__(self, digest: str, sentence: str, *, missing: bool = False) -> None:
        super().__init__(sentence)
        self.digest, self.missing = digest, missing

    def __reduce__(self) -> tuple[Any, ...]:
        return _report_damage, (self.digest, str(self), self.missing)


def _report_damage(digest: str, sentence: str, missing: bool) -> DamagedError:
    return DamagedError(digest, sentence, missing=missing)


class StoreError(ArtefactError):
    """The folder cannot be written, mostly because the disk is full; a run cannot go on."""


class Objects:
    """A folder of payloads; any number of processes may share it."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)

    @contextmanager
    def writing(self, kind: str) -> Iterator[Sink]:
        """Give a file to write a payload to; afterwards its `stored` says where it went, and failure leaves nothing."""
        sink = Sink(self.folder, kind)
        try:
            yield sink
            sink.finish()
        except OSError as error:
            raise store_error(error) from None
        finally:
            sink.discard()

    def read(self, stored: StoredOutput) -> bytes:
        """Return a payload after its hash was checked.

        Raises
        ------
        DamagedError
            If it is missing or its hash differs; a file that differs has been removed.
        ArtefactError
            If it may not be read.
        """
        data = self._inline(stored) if stored.inline is not None else self._file(stored)
        if digest_of(stored.kind, data) != stored.digest:
            self.remove(stored.digest)
            raise DamagedError(stored.digest, f"A stored {stored.kind} value did not match its hash and was removed.")
        return data

    def present(self, stored: StoredOutput) -> bool:
        """Return whether a payload seems to be whole: it is here, or a file of its size is there."""
        if stored.inline is not None:
            return True
        try:
            return os.stat(self.path(stored.digest)).st_size == stored.size  # noqa: PTH116 - a Path costs far more
        except OSError:
            return False

    def remove(self, digest: str) -> None:
        """Remove a payload's file, if there is one."""
        with suppress(OSError):
            Path(self.path(digest)).unlink()

    def path(self, digest: str) -> str:
        """Return where the file of a payload lies."""
        return f"{self.folder}/{digest[:2]}/{digest[2:]}"

    def size(self) -> int:
        """Return the bytes of all files."""
        sizes = 0
        for file in self.folder.glob("*/*"):
            with suppress(OSError):
                sizes += file.stat().st_size
        return sizes

    def clean(self) -> None:
        """Remove what writers that were killed left behind: on this machine at once, elsewhere after a day."""
        for file in self.folder.glob("tmp/*"):
            with suppress(OSError):
                if _is_orphan(file.name) or time.time() - file.stat().st_mtime > _STALE_SECONDS:
                    file.unlink()

    def _file(self, stored: StoredOutput) -> bytes:
        try:
            with open(self.path(stored.digest), "rb") as file:  # noqa: PTH123
                return file.read()
        except FileNotFoundError:
            sentence = f"A stored {stored.kind} value is no longer in the cache."
            raise DamagedError(stored.digest, sentence, missing=True) from None
        except PermissionError:
            raise ArtefactError(f"The cache {str(self.folder)!r} may not be read; change its permissions.") from None
        except OSError:
            self.remove(stored.digest)
            raise DamagedError(stored.digest, f"A stored {stored.kind} value was unreadable and was removed.") from None

    def _inline(self, stored: StoredOutput) -> bytes:
        try:
            if stored.kind in TEXT_KINDS:
                return str(stored.inline).encode()
            return base64.b64decode(stored.inline, validate=True)
        except (TypeError, ValueError, binascii.Error):
            return b""


class Sink(io.RawIOBase):
    """What a payload is written to: memory while it is small, then a file; it is hashed on the way."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._folder, self._kind = folder, kind
        self._hash = _hash(kind)
        self._head = bytearray()
        self._file: BinaryIO | None = None
        self._draft: Path | None = None
        self._size = 0
        self.stored: StoredOutput

    def writable(self) -> bool:
        """Say that it may be written."""
        return True

    def write(self, data: Any) -> int:
        """Take the next bytes."""
        view = memoryview(data).cast("B")
        self._hash.update(view)
        self._size += len(view)
        if self._file is None and self._size > INLINE_LIMIT:
            self._open()
        if self._file is None:
            self._head += view
        else:
            self._file.write(view)
        return len(view)

    def tell(self) -> int:
        """Return how much was written."""
        return self._size

    def finish(self) -> None:
        """Move the file to its place; from here on `stored` describes the payload."""
        digest = self._hash.hexdigest()
        if self._file is None or self._draft is None:
            self.stored = StoredOutput(self._kind, digest, self._size, inline_text(self._kind, bytes(self._head)))
            return
        self._file.close()
        place = self._folder / digest[:2] / digest[2:]
        _rename(self._draft, place)
        self._draft = None
        self.stored = StoredOutput(self._kind, digest, self._size)

    def discard(self) -> None:
        """Remove a file that did not reach its place."""
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)

    def _open(self) -> None:
        self._draft = self._folder / "tmp" / f"{os.getpid()}.{secrets.token_hex(8)}.{socket.gethostname()}"
        try:
            self._file = self._draft.open("xb")
        except FileNotFoundError:
            self._draft.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._draft.open("xb")
        self._file.write(self._head)


def _is_orphan(name: str) -> bool:
    process, _, rest = name.partition(".")
    if rest.partition(".")[2] != socket.gethostname() or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    return False


def _rename(draft: Path, place: Path) -> None:
    try:
        draft.replace(place)
    except FileNotFoundError:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.replace(place)


def digest_of(kind: str, data: bytes) -> str:
    """Return the hash of a payload; its kind is part of it, because the same bytes may mean different values."""
    state = _hash(kind)
    state.update(data)
    digest: str = state.hexdigest()
    return digest


def inline_text(kind: str, data: bytes) -> str:
    """Write a small payload as text."""
    return data.decode() if kind in TEXT_KINDS else base64.b64encode(data).decode()


def store_error(error: OSError) -> StoreError:
    """Say in a sentence why something could not be written."""
    if error.errno in _FULL:
        return StoreError("The disk is full, so an output could not be stored; free some space and run again.")
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    return StoreError(f"The cache folder cannot be written ({reason}); make room or change its permissions.")


def _hash(kind: str) -> Any:
    return hashlib.sha256(kind.encode() + b"\0")
