"""Where the clerk of a ledger is found: a socket in a folder of this user alone, and the lock of whoever listens there.

Only processes of one user on one machine meet here, and only if all that a decision may depend on is the same for
them: the ledger and the address by which it was opened, and the settings folder. Where a witness is, each goes alone.
Where sockets, locks or such a folder are not to be had, there is no place, and every process writes for itself.
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from ziggurat.ledger._chain import frame_texts
from ziggurat.ledger._keys import settings

_PROTOCOL = "ziggurat-clerk-1"
_LONGEST = 100  # a socket's name holds 107 bytes on Linux


def find_place(names: Sequence[str]) -> Path | None:
    """Find where whoever goes by the same names meets; None if nobody can."""
    # Elsewhere what was sent before the other side closed may be lost, and the argument for a clerk rests on it.
    if sys.platform != "linux" or not names or os.environ.get("ZIGGURAT_WITNESS"):
        return None
    named = (_PROTOCOL, str(settings().absolute()), *names)
    digits = sha256(frame_texts(named)).hexdigest()[:32]  # everybody may see it: no secret in it
    folder = _find_folder()
    place = None if folder is None else folder / digits
    return place if place is not None and len(os.fsencode(place)) < _LONGEST else None


def _find_folder() -> Path | None:
    """Make the folder, unless it is there; one that others could reach into is not used."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()) / f"ziggurat-{os.geteuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    return folder if own else None


def take_place(place: Path) -> int | None:
    """Become the one who listens at a place, until the handle is closed; None if somebody is that."""
    import fcntl

    file = place.with_suffix(".lock")
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Whoever listened before has removed the file: then this is the lock of nothing.
        if os.fstat(handle).st_ino == file.stat().st_ino:
            return handle
    except OSError:
        pass
    os.close(handle)
    return None


def listen(place: Path) -> socket.socket:
    """Listen where one has become the one who does."""
    place.unlink(missing_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listening.bind(str(place))
        listening.listen(128)
        listening.setblocking(False)
    except BaseException:
        listening.close()
        raise
    return listening


def leave_place(place: Path, handle: int) -> None:
    """Let somebody else listen."""
    with suppress(OSError):
        place.unlink(missing_ok=True)
        place.with_suffix(".lock").unlink(missing_ok=True)
    os.close(handle)


def reach(place: Path, patience: float) -> socket.socket | None:
    """Connect to whoever listens at a place; None if nobody does."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(patience)
        connection.connect(str(place))
        if peer(connection) is not None:
            return connection
    except OSError:
        pass
    connection.close()
    return None


def peer(connection: socket.socket) -> int | None:
    """Give the process at the other end; None if it is not this user's."""
    form = struct.Struct("3i")
    process, user, _ = form.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, form.size))
    return int(process) if user == os.geteuid() else None
