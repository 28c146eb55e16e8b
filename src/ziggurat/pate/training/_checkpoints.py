"""Tensors in files that hold no code and are either whole or not there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ziggurat import files
from ziggurat.errors import ArtefactError, DataError

if TYPE_CHECKING:
    import numpy.typing as npt
    from torch import Tensor


@dataclass(frozen=True)
class TensorFile:
    """What a file holds: tensors by name, and a few facts as text."""

    tensors: dict[str, Tensor]
    facts: dict[str, str]


def write(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, str]) -> None:
    """Replace the file at `path`, which only its owner may read: parameters remember rows."""
    write_bytes(path, pack(tensors, facts))


def pack(tensors: Mapping[str, Tensor], facts: Mapping[str, str]) -> bytes:
    """Give tensors and facts as safetensors."""
    from safetensors.torch import save

    plain = {name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}
    return save(plain, dict(facts))


def write_bytes(path: Path, content: bytes) -> None:
    """Replace a file that only its owner may read, and make its folder if need be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise DataError(f"{str(path)!r} could not be written ({reason}).") from None
    files.write_bytes(path, content, mode=0o600)


def load(path: Path) -> TensorFile:
    """Read a file that `write` wrote."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as file:
            return TensorFile({name: file.get_tensor(name) for name in file.keys()}, dict(file.metadata() or {}))  # noqa: SIM118 - not a mapping
    except (OSError, SafetensorError):
        raise ArtefactError(f"{str(path)!r} is missing or damaged; train again, or restore a copy.") from None


def read(path: Path, mark: str) -> TensorFile | None:
    """Read a checkpoint, or return None if there is none; refuse one of other rows or settings."""
    if not path.exists():
        return None
    found = load(path)
    if found.facts.get("mark") != mark:
        raise DataError(
            f"The checkpoints in {str(path.parent)!r} were made with other rows or settings; choose an empty folder."
        )
    return found


def fingerprint(facts: str, arrays: Iterable[npt.NDArray[Any]]) -> str:
    """Return a digest of a text and of arrays."""
    digest = hashlib.sha256(facts.encode())
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(array.reshape(-1).view("u1").data)
    return digest.hexdigest()
