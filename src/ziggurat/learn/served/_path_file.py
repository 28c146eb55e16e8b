"""The file of a noise path: records of points, noise and answers that survive a crash, and take turns.

Records are synced to the disk and then counted, in a second sync, before any answer leaves: after a crash, records
that were not counted were never seen and are dropped; a counted one that does not verify is an error.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ziggurat.errors import ArtefactError, ParameterError
from ziggurat.files import create, sync, sync_path

Integers = npt.NDArray[np.int64]

_MAGIC = b"ziggurat noise path 1\n"
_COUNT_AT = len(_MAGIC)
_HEADER_AT = _COUNT_AT + 8
_LONGEST_HEADER = 4096
_CHECK = 8


class Records(NamedTuple):
    """For every point: its coordinates, the noise drawn there and the answer given, in whole steps."""

    points: npt.NDArray[np.float64]
    noise: Integers
    given: Integers


class PathFile:
    """A path's file, of which `identity` is the random name; `facts` say what the path is for."""

    def __init__(self, file: str | Path, identity: str) -> None:
        self.file, self.identity = Path(file), identity

    @classmethod
    def create(cls, file: str | Path, **facts: Any) -> Self:
        """Make a new file, which only its owner may read; a file that is there is refused."""
        if not isinstance(file, str | Path):
            raise ParameterError("The path must be the name of a new file, text or a Path.")
        identity = secrets.token_hex(16)
        try:
            create(file, _MAGIC + bytes(8) + json.dumps({"identity": identity, **facts}).encode() + b"\n")
            sync_path(Path(file).absolute().parent)
        except FileExistsError:
            raise ParameterError(f"The noise path {str(file)!r} belongs to another fit; name a new file.") from None
        except (OSError, ValueError):
            raise ParameterError(
                "The noise path cannot be written there; name a new file in a folder of yours."
            ) from None
        return cls(file, identity)

    @contextmanager
    def open(self) -> Iterator[OpenedPath]:
        """Wait for this program's turn with the file; whatever the system says of it is told in a sentence."""
        try:
            with self.file.open("r+b", buffering=0) as stream:
                fcntl.flock(stream, fcntl.LOCK_EX)
                yield OpenedPath(self, stream)
        except OSError:
            raise ArtefactError(
                f"The noise path {str(self.file)!r} is missing or cannot be read and written; without it the model "
                "must not answer."
            ) from None

    def check(self, place: int, record: bytes) -> bytes:
        """Give the check that a record at this place must carry."""
        return hashlib.sha256(f"{self.identity}/{place}/".encode() + record).digest()[:_CHECK]

    def damage_error(self) -> ArtefactError:
        """Say that what was counted is not there any more."""
        return ArtefactError(
            f"The noise path {str(self.file)!r} is damaged; restore it from a copy that is not older, or fit the model "
            "again with a new budget."
        )


class OpenedPath:
    """The file during one program's turn."""

    def __init__(self, path: PathFile, stream: Any) -> None:
        self._path, self._stream = path, stream
        self.facts, self._start = self._header()
        self.columns, self.outputs = int(self.facts["columns"]), int(self.facts["outputs"])
        self._size = 8 * (self.columns + 2 * self.outputs) + _CHECK

    def _header(self) -> tuple[dict[str, Any], int]:
        start = self._stream.read(_HEADER_AT + _LONGEST_HEADER)
        line = start[_HEADER_AT:].partition(b"\n")[0]
        try:
            facts = json.loads(line) if start.startswith(_MAGIC) else {}
        except ValueError:
            facts = {}
        if facts.get("identity") != self._path.identity:
            raise ArtefactError(
                f"{str(self._path.file)!r} is not the noise path of this model; name the file it was fitted with."
            )
        return facts, _HEADER_AT + len(line) + 1

    def after(self, known: int) -> Records:
        """Read the records that were counted after the first `known` ones."""
        self._stream.seek(_COUNT_AT)
        count = int.from_bytes(self._stream.read(8), "little")
        self._stream.seek(self._start + known * self._size)
        body = self._stream.read(max(0, count - known) * self._size)
        if count < known or len(body) != (count - known) * self._size:
            raise self._path.damage_error()
        self._verify(body, known)
        table = np.frombuffer(body, dtype=np.uint8).reshape(-1, self._size)
        cells = np.ascontiguousarray(table[:, :-_CHECK]).view("<i8")
        points, noise, given = np.split(cells, [self.columns, self.columns + self.outputs], axis=1)
        numbers = np.ascontiguousarray(points).view("<f8").astype(np.float64)
        return Records(numbers, noise.astype(np.int64), given.astype(np.int64))

    def _verify(self, body: bytes, first: int) -> None:
        for at in range(len(body) // self._size):
            record = body[at * self._size : (at + 1) * self._size]
            if record[-_CHECK:] != self._path.check(first + at, record[:-_CHECK]):
                raise self._path.damage_error()

    def add(self, known: int, records: Records) -> None:
        """Write records after the first `known` ones, over any that were never counted, and count them."""
        rows = zip(records.points.astype("<f8"), records.noise.astype("<i8"), records.given.astype("<i8"), strict=True)
        bodies = [point.tobytes() + noise.tobytes() + given.tobytes() for point, noise, given in rows]
        checked = b"".join(body + self._path.check(known + at, body) for at, body in enumerate(bodies))
        place = self._start + known * self._size
        os.ftruncate(self._stream.fileno(), place)
        _write_at(self._stream, place, checked)
        _write_at(self._stream, _COUNT_AT, (known + len(bodies)).to_bytes(8, "little"))


def _write_at(stream: BinaryIO, place: int, content: bytes) -> None:
    """Write all of the content and wait until the disk has it."""
    stream.seek(place)
    view = memoryview(content)
    while view:
        view = view[stream.write(view) :]
    sync(stream.fileno())
