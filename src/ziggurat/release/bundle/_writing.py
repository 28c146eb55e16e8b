"""Write a bundle: whole or not at all, where nothing was before.

Everything is made in a private folder beside the target, flushed to the disk, and then renamed into its place. Whoever
is cut short leaves at most that folder, `.NAME.…`, which nobody else can read.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ziggurat.errors import DataError, ParameterError
from ziggurat.files import sync, sync_path
from ziggurat.ledger import PrivateKey, load_private_key, public_hex
from ziggurat.release.bundle._archive import write_archive
from ziggurat.release.bundle._contents import Contents
from ziggurat.release.bundle._found import find
from ziggurat.release.bundle._keys import release_key
from ziggurat.release.bundle._manifest import Manifest, Sealed, by_line, field_digests
from ziggurat.release.bundle._members import (
    CERTIFICATE,
    EVIDENCE,
    LARGEST_TEXT,
    MANIFEST,
    PAGE,
    PUBLIC,
    REPORT,
    STEWARD,
    Member,
)
from ziggurat.release.bundle._pages import public_page, stewards_page
from ziggurat.release.bundle._verifying import verify_bundle

_EVIDENCE = "ziggurat/evidence/1"
_BLOCK = 1 << 20


def bundle_files(contents: Contents) -> tuple[str, ...]:
    """Say which files a bundle will hold, before it is written."""
    public = [PAGE, CERTIFICATE, MANIFEST, *contents.artefacts]
    stewards = [REPORT, EVIDENCE, MANIFEST]
    return (*(f"{PUBLIC}/{name}" for name in sorted(public)), *(f"{STEWARD}/{name}" for name in sorted(stewards)))


def require_new(path: str | os.PathLike[str]) -> Path:
    """Refuse a place where something is, or where no bundle can be written; give it as a path."""
    target = Path(path)
    if not target.name or target.name in (".", ".."):
        raise ParameterError("A bundle is named by the folder or the .zip file to write.")
    if os.path.lexists(target):
        raise DataError(f"{str(target)!r} exists already and is not overwritten; choose another name.")
    if not target.parent.is_dir():
        raise DataError(f"The folder {str(target.parent)!r} for the bundle does not exist; make it first.")
    return target


def write_bundle(path: str | os.PathLike[str], contents: Contents, key: PrivateKey | None = None) -> Path:
    """Write a bundle as a folder, or as a zip in one canonical byte form where the name ends in `.zip`.

    The public part is made of the certificate and the artefacts alone: whatever was measured on private rows stands in
    the steward's part, which is for its owner only (mode 0700, and 0600 for a zip that holds it). A rehearsal is
    written too, but unsigned and marked on every page.

    Parameters
    ----------
    path
        Where to write; what exists is never overwritten.
    contents
        What goes into it.
    key
        Who signs; by default this user's release key, which is made where there is none.
    """
    contents.check()
    target = require_new(path)
    signer = None if contents.rehearsal else load_private_key(release_key(create=True).file if key is None else key)
    with _place_whole(target) as folder:
        public = _write_public(folder / PUBLIC, contents, signer)
        _write_stewards(folder / STEWARD, contents, signer, public)
    return target


def hand_out(bundle: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Write the public part of a bundle, and nothing else, as a folder or zip of its own; a broken one is refused."""
    target, checked = require_new(path), verify_bundle(bundle)
    if not checked.sound:
        raise DataError(f"This bundle is not handed out: {checked.problems[0]}")
    with _place_whole(target) as folder:
        for name, member in find(bundle).parts[PUBLIC].items():
            _write(folder / PUBLIC / name, member.blocks())
    again = verify_bundle(target)
    if not again.sound:
        raise DataError("The bundle was changed while it was handed out; what was written is not sound.")
    return target


def _write_public(folder: Path, contents: Contents, key: Ed25519PrivateKey | None) -> str:
    """Write the public part; gives the SHA-256 of its manifest."""
    made, certified = contents.certificate, contents.certified
    files = {}
    for name, file in contents.artefacts.items():
        files[name] = _write(folder / name, _blocks(file))
        if files[name] != certified[name]:
            raise DataError(f"The artefact {name!r} is not the one that was certified; release it again.")
    text = by_line(made, "A certificate")
    if len(text) > LARGEST_TEXT:
        raise DataError("The certificate is longer than 64 MiB; put what makes it so long into an artefact.")
    files[CERTIFICATE] = _write(folder / CERTIFICATE, [text])
    signer = "" if key is None else public_hex(key.public_key())
    files[PAGE] = _write(folder / PAGE, [public_page(made, signer, contents.rehearsal).encode()])
    manifest = Manifest(PUBLIC, made["made"], contents.rehearsal, files, field_digests(made))
    return _write_manifest(folder, manifest, key)


def _write_stewards(folder: Path, contents: Contents, key: Ed25519PrivateKey | None, public: str) -> None:
    folder.mkdir(mode=0o700)
    evidence, verdict = _plain(contents.evidence), _plain(contents.verdict)
    text = by_line({"format": _EVIDENCE, "evidence": evidence, "verdict": verdict}, "Evidence")
    page = stewards_page(contents.certificate, evidence, verdict, contents.charts, contents.rehearsal)
    files = {
        EVIDENCE: _write(folder / EVIDENCE, [text], 0o600),
        REPORT: _write(folder / REPORT, [page.encode()], 0o600),
    }
    made = contents.certificate["made"]
    _write_manifest(folder, Manifest(STEWARD, made, contents.rehearsal, files, public=public), key, 0o600)


def _write_manifest(folder: Path, manifest: Manifest, key: Ed25519PrivateKey | None, mode: int = 0o666) -> str:
    data = (manifest if key is None else manifest.sign(key)).to_bytes()
    return _write(folder / MANIFEST, [data], mode).sha256


def _plain(value: Any) -> Any:
    """Evidence as JSON has it: figures that are no number, such as a ratio to nothing, become words."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and value - value != 0:
        return str(value)
    return value


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def _write(path: Path, blocks: Iterable[bytes], mode: int = 0o666) -> Sealed:
    """Write a new file and flush it; gives what the manifest says of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found, size = sha256(), 0
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode), "wb") as file:
        for block in blocks:
            found.update(block)
            size += file.write(block)
        file.flush()
        sync(file.fileno())
    return Sealed(found.hexdigest(), size)


@contextmanager
def _place_whole(target: Path) -> Iterator[Path]:
    """Give a folder to fill, and put it, or a zip of it, into place once it is full; on failure nothing is left."""
    draft: Path | None = None
    try:
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        whole = draft / "whole"
        whole.mkdir()
        yield whole
        _put(whole, target)
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else type(error).__name__
        raise DataError(
            f"The bundle {str(target)!r} could not be written ({reason}); nothing was left there."
        ) from None
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def _put(whole: Path, target: Path) -> None:
    if target.suffix.lower() == ".zip":
        archive = whole.parent / "archive"
        with os.fdopen(os.open(archive, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _zip_mode(whole)), "wb") as file:
            write_archive(file, dict(_members(whole)))
            file.flush()
            sync(file.fileno())
        os.link(archive, target)
    else:
        for folder in [*(each for each in whole.rglob("*") if each.is_dir()), whole]:
            sync_path(folder)
        require_new(target)
        whole.rename(target)  # over an empty folder at most: a file or a full folder makes it fail
    sync_path(target.parent)


def _zip_mode(whole: Path) -> int:
    return 0o600 if (whole / STEWARD).exists() else 0o666


def _members(whole: Path) -> Iterator[tuple[str, Member]]:
    for file in whole.rglob("*"):
        if file.is_file():
            yield file.relative_to(whole).as_posix(), Member(file, 0, file.stat().st_size)
