"""Storing what was learned, whole or column by column, as arrays and JSON; nothing is executed when it is opened."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ziggurat.archives import Array, read_archive, write_archive
from ziggurat.data.coded import CodedColumn
from ziggurat.errors import DataError
from ziggurat.synthesize._method import Fitted, Method

FORMAT = "ziggurat/synthesizer/1"


def write_learned(path: str | Path, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Replace a file by what was learned, as facts and arrays."""
    write_archive(path, FORMAT, facts, arrays)


def read_learned(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what `write_learned` wrote; DataError if it is another file or damaged."""
    return read_archive(path, FORMAT, "synthesiser")


class ColumnCheckpoint:
    """A folder in which every column is kept as soon as it has been learned.

    A column is taken up again only if settings and rows are the same as when it was kept.

    Parameters
    ----------
    folder
        Where to keep them; it is made if it is not there.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise DataError(f"The folder {str(folder)!r} cannot be made; name another one.") from None
        self._prints: dict[str, str] = {}

    def about(self, name: str, method: Mapping[str, Any], cells: Iterable[CodedColumn]) -> None:
        """Say what a column is learned from."""
        found = hashlib.sha256(json.dumps([name, method], sort_keys=True).encode())
        for each in cells:
            found.update(each.codes.tobytes())
            found.update(b"" if each.values is None else each.values.tobytes())
        self._prints[name] = found.hexdigest()

    def find(self, name: str, part: str, method: Method) -> Fitted | None:
        """Return what was kept of a part of a column, if it fits."""
        path = self._path(name, part)
        if not path.exists():
            return None
        facts, arrays = read_learned(path)
        return method.restored(arrays) if facts.get("print") == self._prints[name] else None

    def keep(self, name: str, part: str, fitted: Fitted) -> None:
        """Keep what was learned of a part of a column."""
        write_learned(self._path(name, part), {"print": self._prints[name]}, fitted.state())

    def _path(self, name: str, part: str) -> Path:
        short = hashlib.sha256(f"{part}/{name}".encode()).hexdigest()[:16]
        return self._folder / f"{short}.ziggurat"
