"""Facts and arrays in one file, as JSON and NumPy arrays; whole or not at all, and nothing is run when it is opened."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ziggurat.errors import DataError
from ziggurat.files import replacing

_FACTS = "facts.json"
_OWNER_ONLY = 0o600  # what was learned may hold values of the table

Array = npt.NDArray[Any]


def write_archive(path: str | Path, form: str, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Replace a file by facts and arrays of a named form, readable by its owner only: the old file or the new one."""
    with (
        replacing(path, mode=_OWNER_ONLY) as draft,
        zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as to,
    ):
        to.writestr(_FACTS, json.dumps({"format": form, **facts}, allow_nan=False))
        for key, array in arrays.items():
            held = io.BytesIO()
            np.save(held, array, allow_pickle=False)
            to.writestr(f"{key}.npy", held.getvalue())


def read_archive(path: str | Path, form: str, what: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Return what `write_archive` wrote in this form; DataError if it is not `what` ("synthesiser") or damaged."""
    try:
        with zipfile.ZipFile(path) as file:
            facts = json.loads(file.read(_FACTS))
            if facts.get("format") != form:
                raise ValueError
            names = [name for name in file.namelist() if name.endswith(".npy")]
            arrays = {name[:-4]: np.load(io.BytesIO(file.read(name)), allow_pickle=False) for name in names}
    except FileNotFoundError:
        raise DataError(f"There is no file {str(path)!r}.") from None
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        raise DataError(f"{str(path)!r} is no {what} that this version wrote, or it is damaged.") from None
    return facts, arrays
