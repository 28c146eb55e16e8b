"""Write files so that a reader, or a kill at any moment, finds the old one or the new one, never half of it.

A draft is written beside the file, brought to the disk and renamed; then the folder is brought to the disk as well,
because a new name is durable only with it. Until then the draft is for its owner alone. A symbolic link is replaced
like a file: what it points at stays as it was, so that nobody sends a file elsewhere by laying out a link.
"""

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from ziggurat.errors import DataError

_OWNER_ONLY = 0o600
_NAMED_BY = 50  # characters of the file's name in that of its draft, which may not become too long


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
    with replacing(path, mode=mode) as draft:
        draft.write_bytes(content)


@contextmanager
def replacing(path: str | Path, *, mode: int | None = None) -> Iterator[Path]:
    """Give an empty file to fill, which then takes the place of the one at `path`; if anything fails, it goes away.

    An OSError on the way becomes a DataError in one sentence. Parameters are those of `write_text`.
    """
    target = Path(path)
    with _told(target):
        if target.exists() and not target.is_file():
            raise DataError(f"{str(target)!r} could not be written: it is no plain file; name another one.")
        draft, usual = _make_draft(target)
        try:
            yield draft
            sync_path(draft)
            draft.chmod(usual if mode is None else mode)
            draft.replace(target)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    _confirm(target)


@contextmanager
def filling(folder: str | Path, *, shared: bool = False) -> Iterator[Path]:
    """Give a new folder to fill, which then takes the place and name of `folder`; if anything fails, it goes away.

    Only its owner may enter it, until it is whole if it is `shared`: then whoever the user's mask allows. At its place
    nothing may be, or an empty folder.
    """
    target = Path(folder)
    with _told(target):
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name[:_NAMED_BY]}.", dir=target.absolute().parent))
    try:
        yield draft
        with _told(target):
            _sync_whole(draft)
            if shared:
                draft.chmod(_usual_mode(draft))
            draft.replace(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    _confirm(target)


def place(drafts: Mapping[Path, Path]) -> None:
    """Give whole drafts their names, in order; if one cannot have its name, those before it are taken back.

    Parameters
    ----------
    drafts
        For every draft, a file or a folder, the place it goes to, on the same disk. A file there is replaced, and is
        not taken back; a folder only takes the place of an empty one.
    """
    placed: list[Path] = []
    try:
        for draft in drafts:
            _sync_whole(draft)
        for draft, target in drafts.items():
            draft.replace(target)
            placed.append(target)
    except OSError as error:
        for target in placed:
            shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
        names = " and ".join(repr(str(target)) for target in drafts.values())
        raise DataError(
            f"Not all of {names} could be written ({_reason(error)}), and none was left; check the folder."
        ) from None
    for target in {target.absolute().parent: target for target in placed}.values():
        _confirm(target)


def move_within(draft: Path, place: Path) -> None:
    """Give a draft another name while nobody looks: both lie in a private folder, or the place is a draft, too."""
    draft.replace(place)


def create(path: str | Path, content: bytes, *, mode: int = _OWNER_ONLY) -> None:
    """Make a new file and bring it to the disk; an OSError says why not, FileExistsError that there is one.

    Half of it may be there after a kill: it is for drafts that are linked to their places, and for folders that are
    nothing until their last file is written.
    """
    handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            sync(handle)
    except BaseException:
        Path(path).unlink(missing_ok=True)
        raise


def claim(path: str | Path, content: bytes) -> bool:
    """Make a new private file whole and durable, or leave the one that is there; tells whether this call made it.

    Of many processes that try, one makes it, and the others find what that one wrote.
    """
    target = Path(path)
    with _told(target):
        draft = target.with_name(f".{target.name[:_NAMED_BY]}.{token_hex(6)}.new")
        create(draft, content)
        try:
            os.link(draft, target)
        except FileExistsError:
            return False
        finally:
            draft.unlink(missing_ok=True)
            _confirm(target)
    return True


def check_output(path: str | Path, *, force: bool = False) -> None:
    """Refuse in one sentence what cannot be written, before work is done or anything is paid for.

    Parameters
    ----------
    path
        The file to be written.
    force
        Whether one that is there may be replaced.
    """
    target = Path(path)
    if not target.absolute().parent.is_dir():
        raise DataError(f"The folder of {str(target)!r} does not exist; create it first.")
    if target.is_dir():
        raise DataError(f"{str(target)!r} is a folder; name a file.")
    if not force and os.path.lexists(target):
        raise DataError(f"{str(target)!r} is there already; name another file, or overwrite it with --force.")


def sync(handle: int) -> None:
    """Bring an open file to the disk; macOS does so truly only when asked in its own way."""
    full = getattr(fcntl, "F_FULLFSYNC", None)
    if full is None:
        os.fsync(handle)
    else:
        fcntl.fcntl(handle, full)


def sync_path(path: str | Path) -> None:
    """Bring a file to the disk, or the names in a folder, where the disk can do that for folders."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            os.fsync(handle)
        else:
            sync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network disks know no such thing
            raise
    finally:
        os.close(handle)


@contextmanager
def _told(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DataError(f"{str(target)!r} could not be written ({_reason(error)}); it was left as it was.") from None


def _sync_whole(draft: Path) -> None:
    """Bring a file to the disk, or a folder with all that is in it."""
    for each in (*(draft.rglob("*") if draft.is_dir() else ()), draft):
        sync_path(each)


def _usual_mode(folder: Path) -> int:
    """Which permissions the user's mask leaves a new folder."""
    probe = folder / f".{token_hex(6)}"
    probe.mkdir()
    try:
        return probe.stat().st_mode & 0o777
    finally:
        probe.rmdir()


def _confirm(target: Path) -> None:
    """Make the new name durable; what hangs on that, such as a count of steps taken, must not go on without."""
    try:
        sync_path(target.absolute().parent)
    except OSError as error:
        raise DataError(f"{str(target)!r} was written, but may not outlast a power cut ({_reason(error)}).") from None


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else "unknown reason"


def _make_draft(target: Path) -> tuple[Path, int]:
    """Make an empty file beside the target, and say which permissions it shall have unless others are wanted."""
    draft = target.with_name(f".{target.name[:_NAMED_BY]}.{token_hex(6)}.new")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o666)
    try:
        # What the user's mask left of 0o666; to ask for the mask itself would change it for all threads.
        usual = os.fstat(handle).st_mode
        os.fchmod(handle, _OWNER_ONLY)
    finally:
        os.close(handle)
    return draft, (target.stat().st_mode if target.exists() else usual) & 0o777
