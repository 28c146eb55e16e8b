"""Write files so that a reader sees the old text or the new one, never half of it."""

import os
import tempfile
from pathlib import Path

from ziggurat.errors import DataError


def write_text(path: str | Path, text: str, *, mode: int | None = None) -> None:
    """Replace the file at `path` by `text`, or leave it as it was and raise DataError.

    Parameters
    ----------
    path
        Where to write; its folder must exist.
    text
        What to write, as UTF-8.
    mode
        The permissions of the file, such as 0o600 for what only its owner may read; by default those that it
        has, and for a new file those that the user's mask allows.
    """
    write_bytes(path, text.encode("utf-8"), mode=mode)


def write_bytes(path: str | Path, content: bytes, *, mode: int | None = None) -> None:
    """Replace the file at `path` by `content`, as `write_text` does."""
    target = Path(path)
    try:
        _replace(target, content, mode)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise DataError(f"{str(target)!r} could not be written ({reason}); it was left as it was.") from None


def _replace(target: Path, content: bytes, mode: int | None) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(_mode(target) if mode is None else mode)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """Keep the permissions of a file that is there; give a new one those that the user's mask allows."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
