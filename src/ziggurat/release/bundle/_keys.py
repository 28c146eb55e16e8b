"""The key that signs releases: where it lies, how it is made, replaced and told apart.

It lies in the user's settings folder beside the keys of witnesses, readable for its owner only, and never in a bundle
or with a ledger. What a rotated key has signed stays verifiable: its public half is kept.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from ziggurat.cards import Shown
from ziggurat.errors import DataError
from ziggurat.files import sync_path, write_text
from ziggurat.ledger import (
    PublicKey,
    fingerprint,
    generate_key,
    load_private_key,
    load_public_key,
    public_hex,
    public_text,
    settings,
)


@dataclass(frozen=True)
class ReleaseKey(Shown):
    """A release key.

    Attributes
    ----------
    file, public_file
        Where its private and its public half lie.
    public_key, fingerprint
        The public half in hexadecimal, and what a person can compare of it.
    new
        Whether it was made just now, so that its fingerprint is to be shown.
    """

    file: Path
    public_file: Path
    public_key: str
    new: bool = False

    @property
    def fingerprint(self) -> str:
        """What a person can compare of the key."""
        return fingerprint(self.public_key)


def key_file() -> Path:
    """Where the release key lies: where `ZIGGURAT_KEY` says, or else in the user's settings folder."""
    named = os.environ.get("ZIGGURAT_KEY")
    return Path(named) if named else settings() / "release" / "release"


def release_key(path: str | os.PathLike[str] | None = None, *, create: bool = False) -> ReleaseKey:
    """Find the release key.

    Parameters
    ----------
    path
        Its private half, if it is not where `key_file` says.
    create
        Whether to make one where there is none.
    """
    file = key_file() if path is None else Path(path)
    made = create and not file.exists()
    if made:
        _make(file)
    if not file.exists():
        raise DataError(f"There is no release key at {str(file)!r}; make one with 'ziggurat release key'.")
    if stat.S_IMODE(file.stat().st_mode) & 0o077:
        raise DataError(f"The release key {str(file)!r} can be read by others; run 'chmod 600' on it first.")
    public, known = Path(f"{file}.pub"), public_hex(load_private_key(file).public_key())
    if not public.exists() or public_hex(load_public_key(public)) != known:
        # A rotation that was cut short leaves the old one here, which it has put aside before.
        write_text(public, public_text(load_private_key(file).public_key()), mode=0o644)
    return ReleaseKey(file, public, known, made)


def rotate_release_key(path: str | os.PathLike[str] | None = None) -> ReleaseKey:
    """Replace the release key by a new one.

    The old public half is kept beside it as `release-FINGERPRINT.pub`; the old private half is destroyed, so that
    nobody signs with it any more.
    """
    old = release_key(path)
    draft = old.file.with_name(f".{old.file.name}.{token_hex(4)}")
    kept = old.public_file.with_name(f"release-{old.fingerprint.replace(' ', '')}.pub")
    try:
        if not kept.exists():
            os.link(old.public_file, kept)
        public = generate_key(draft)
        # Not placed together: to take the first back would leave no key; `release_key` mends a pair cut short here.
        draft.replace(old.file)
        public.replace(old.public_file)
        sync_path(old.file.absolute().parent)
    except OSError as error:
        raise DataError(f"The release key could not be replaced ({os.strerror(error.errno or 0)}).") from None
    finally:
        for left in (draft, Path(f"{draft}.pub")):
            left.unlink(missing_ok=True)
    found = release_key(old.file)
    return ReleaseKey(found.file, found.public_file, found.public_key, new=True)


def accepted_keys(keys: PublicKey) -> frozenset[str]:
    """The public keys that a signature may be by: one, or all those in a folder."""
    if isinstance(keys, Ed25519PublicKey) or not Path(keys).is_dir():
        return frozenset([public_hex(load_public_key(keys))])
    found = frozenset(public_hex(load_public_key(file)) for file in _public_files(Path(keys)))
    if not found:
        raise DataError(f"The folder {os.fspath(keys)!r} holds no public key; these end in '.pub'.")
    return found


def _public_files(folder: Path) -> Iterator[Path]:
    try:
        yield from (file for file in sorted(folder.glob("*.pub")) if not file.name.startswith("."))
    except OSError:
        raise DataError(f"The folder {str(folder)!r} cannot be read.") from None


def _make(file: Path) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        raise DataError(f"The folder {str(file.parent)!r} for the release key cannot be made.") from None
    generate_key(file)
