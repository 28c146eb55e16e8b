"""Digests of who has which rows, and their verification."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError

FORMAT = "ziggurat/pate/partition/1"
Integers = npt.NDArray[np.int64]


def check_units(units: Sequence[Any] | npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the unit of every row as an array of whole numbers or of text."""
    names = np.asarray(units)
    if names.dtype.kind == "O" and all(isinstance(name, str) for name in names.ravel()):
        names = names.astype(str)
    if names.ndim != 1 or names.size == 0 or names.dtype.kind not in "iuU":
        raise DataError("Give the unit of every row as a whole number or as text, with none missing.")
    return names


def digest(rows: Integers, units: npt.NDArray[Any] | None, salt: str) -> str:
    """Return a salted digest of a teacher's units and row numbers, both in ascending order.

    Each part is preceded by its length, so that no two different splits share an encoding.
    """
    names = [] if units is None else [str(name) for name in np.unique(units[rows])]
    kind = "" if units is None else units.dtype.kind
    parts = [salt, kind, str(len(names)), *names, *(str(row) for row in np.sort(rows).tolist())]
    encoded = (part.encode() for part in parts)
    return hashlib.sha256(b"".join(len(part).to_bytes(8, "little") + part for part in encoded)).hexdigest()


def digest_of_body(body: Mapping[str, Any]) -> str:
    """Return the digest of a manifest without its own."""
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def verify(
    manifest: Mapping[str, Any],
    rows: Sequence[Integers],
    units: npt.NDArray[Any] | None,
    total: int,
    neighbours: Mapping[str, str],
) -> None:
    """Raise DataError unless the manifest was made of these rows and units."""
    body = {key: value for key, value in manifest.items() if key != "digest"}
    if manifest.get("format") != FORMAT or manifest.get("digest") != digest_of_body(body):
        raise DataError("The manifest is damaged or was edited; ask for the original.")
    listed = manifest["teachers"]
    if manifest["total"] != total or dict(manifest["neighbours"]) != dict(neighbours) or len(listed) != len(rows):
        raise DataError("The manifest is of another table, unit or number of teachers.")
    for teacher, (own, entry) in enumerate(zip(rows, listed, strict=True)):
        if digest(own, units, entry["salt"]) != entry["digest"]:
            raise DataError(f"Teacher {teacher} does not have the rows that the manifest was made of.")
