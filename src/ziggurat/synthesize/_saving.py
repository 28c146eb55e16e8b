"""Storing what was learned, whole or column by column, as arrays and JSON; nothing is executed when it is opened."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.data.coded import CodedColumn
from ziggurat.errors import DataError
from ziggurat.files import replacing
from ziggurat.synthesize._method import Fitted, Method

FORMAT = "ziggurat/synthesizer/1"
_FACTS = "facts.json"
_OWNER_ONLY = 0o600  # what was learned holds values of the table

Array = npt.NDArray[Any]


def write_archive(path: str | Path, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Replace a file by facts and arrays, readable by its owner only; it is the old file or the new one, never half."""
    with (
        replacing(path, mode=_OWNER_ONLY) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as to,
    ):
        to.writestr(_FACTS, json.dumps({"format": FORMAT, **facts}, allow_nan=False))
        for key, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            to.writestr(f"{key}.npy", held.getvalue())


def read_archive(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what `write_archive` wrote; DataError if it is another file or damaged."""
    try:
        with zipfile.ZipFile(path) as file:
            facts = json.loads(file.read(_FACTS))
            if facts.get("format") != FORMAT:
                raise ValueError
            names = [name for name in file.namelist() if name.endswith(".npy")]
            arrays = {name[:-4]: np.load(io.BytesIO(file.read(name)), allow_pickle=False) for name in names}
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise DataError(f"{str(path)!r} is no synthesiser that this version wrote, or it is damaged.") from None
    return facts, arrays


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
        facts, arrays = read_archive(path)
        return method.restored(arrays) if facts.get("print") == self._prints[name] else None

    def keep(self, name: str, part: str, fitted: Fitted) -> None:
        """Keep what was learned of a part of a column."""
        write_archive(self._path(name, part), {"print": self._prints[name]}, fitted.state())

    def _path(self, name: str, part: str) -> Path:
        short = hashlib.sha256(f"{part}/{name}".encode()).hexdigest()[:16]
        return self._folder / f"{short}.ziggurat"
