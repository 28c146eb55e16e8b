"""Checkpoints of private training: steps that may have been taken are counted before they are taken.

A checkpoint holds what was learned after some step, and `counted`, up to which steps count as taken: the block of
steps that follows. If the process dies within that block, whoever goes on starts from what was learned, but at step
`counted`: the lost steps are paid for and never taken again, so that all processes together take no more than the
planned steps, whatever was seen of any of them.

What was learned from other rows must not go on from there, nor be given as learned from these: the file holds a salted
digest of the rows it was learned from. The promise covers the tensors in it, not that digest, which would confirm a
guess at all rows together: the file is for its owner alone, and not to be published.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ziggurat.errors import ArtefactError, DataError
from ziggurat.files import write_bytes


@dataclass(frozen=True)
class Checkpoint:
    """What was learned, by name, and up to which step training counts as done."""

    tensors: dict[str, Tensor]
    counted: int


class Checkpoints:
    """One file, replaced at every checkpoint; another process that trains from it at the same time is refused.

    Parameters
    ----------
    path
        Where the file is or will be.
    mark
        The public facts of the training, its event among them; a file with another mark is refused.
    rows
        The private arrays it learns from; a file that was learned from others is refused.
    """

    def __init__(self, path: str | Path, mark: str, rows: tuple[npt.NDArray[Any], ...]) -> None:
        self._path, self._mark, self._rows = Path(path), mark, rows
        self._seal = ""

    @contextlib.contextmanager
    def hold(self) -> Iterator[None]:
        """Keep other processes out for a while."""
        lock = self._path.with_name(f".{self._path.name}.lock")
        try:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise _unwritten(self._path, error) from None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise DataError(f"Another process trains from {str(self._path)!r}; wait until it has ended.") from None
        finally:
            os.close(descriptor)

    def write(self, tensors: Mapping[str, Tensor], counted: int) -> None:
        """Replace the file; only its owner may read it."""
        from safetensors.torch import save

        self._seal = self._seal or _seal(secrets.token_hex(32), self._rows)
        plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
        content = save(plain, {"mark": self._mark, "counted": str(counted), "rows": self._seal})
        write_bytes(self._path, content, mode=0o600)  # durable with its folder: no step is taken before it is counted

    def read(self) -> Checkpoint | None:
        """Return what there is, or None; refuse a file of another training, of other rows, and a damaged one."""
        from safetensors import SafetensorError, safe_open

        if not self._path.exists():
            return None
        try:
            with safe_open(self._path, "pt") as file:
                facts = dict(file.metadata() or {})
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
                counted = int(facts.get("counted", ""))
        except (OSError, SafetensorError, ValueError):
            raise ArtefactError(f"{str(self._path)!r} is damaged; what it counted is spent all the same.") from None
        if facts.get("mark") != self._mark:
            raise DataError(f"{str(self._path)!r} is of another training; choose another path for this one.")
        self._seal = facts.get("rows", "")
        if not hmac.compare_digest(self._seal, _seal(self._seal.partition(":")[0], self._rows)):
            raise DataError(f"{str(self._path)!r} was learned from other rows; choose another path for these.")
        return Checkpoint(tensors, counted)


def _seal(salt: str, rows: tuple[npt.NDArray[Any], ...]) -> str:
    """Digest arrays, with their shapes and types, under a salt, which comes first."""
    digest = hashlib.sha256(salt.encode())
    for values in rows:
        digest.update(f"/{values.dtype.str}{values.shape}/".encode())
        digest.update(np.ascontiguousarray(values).reshape(-1).view(np.uint8).data)
    return f"{salt}:{digest.hexdigest()}"


def _unwritten(path: Path, error: OSError) -> DataError:
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    return DataError(f"{str(path)!r} could not be written ({reason}).")
