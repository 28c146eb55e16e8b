"""Tables as folders of parts, which engines write in parallel and every reader of folders takes for one table."""

import os
from pathlib import Path

from ziggurat.errors import DataError

PARTS_ENDINGS = (".parquet", ".csv")
"""The endings of folders to which a table can be written in parts."""


def names_folder(path: str | Path) -> bool:
    """Return whether a name asks for a folder of parts: it ends in a slash, which a `Path` never does."""
    return str(path).endswith(("/", os.sep))


def check_parts_folder(path: str | Path) -> Path:
    """Raise DataError unless a folder of parts can be made there; what is there already is never replaced.

    Parameters
    ----------
    path
        Of the folder; its ending says what the parts are.
    """
    folder = Path(path)
    if folder.suffix.lower() not in PARTS_ENDINGS:
        raise DataError(f"The folder {str(path)!r} of parts must end in {' or '.join(PARTS_ENDINGS)}.")
    if set("*?") & set(folder.name):
        raise DataError(f"The folder {str(path)!r} has a * or ? in its name, which readers take for a pattern.")
    if not folder.absolute().parent.is_dir():
        raise DataError(f"The folder of {str(path)!r} does not exist; create it first.")
    if os.path.lexists(folder) and not (folder.is_dir() and not any(folder.iterdir())):
        raise DataError(f"{str(path)!r} is there already; name another folder.")
    return folder
