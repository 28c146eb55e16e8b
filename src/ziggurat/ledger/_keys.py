"""Ed25519 keys (RFC 8032): made, read from their files, told apart by people, and whether a signature holds."""

from __future__ import annotations

import os
import re
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, TypeAlias

from ziggurat._lazy import deferred
from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.files import create, sync_path

# A ledger without a witness signs nothing.
if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = deferred("cryptography.exceptions")
    pem = deferred("cryptography.hazmat.primitives.serialization")
    ed25519 = deferred("cryptography.hazmat.primitives.asymmetric.ed25519")

_KEY, _SIGNATURE = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{128}")

PrivateKey: TypeAlias = "ed25519.Ed25519PrivateKey | str | os.PathLike[str]"
"""An Ed25519 key to sign with, or the PEM file that holds it."""
PublicKey: TypeAlias = "ed25519.Ed25519PublicKey | str | os.PathLike[str]"
"""The public half of a key, or the PEM file that holds it."""


def settings() -> Path:
    """Where this user's machine keeps what no ledger can make it forget: keys, and notes on witnesses."""
    named = os.environ.get("ZIGGURAT_SETTINGS")
    if named:
        return Path(named)
    from platformdirs import user_config_path

    return user_config_path("ziggurat", appauthor=False)


def signature_holds(public_key: str, signature: str, message: bytes) -> bool:
    """Tell whether a signature of a message is good; both texts must be in the one form that we write."""
    if not (_KEY.fullmatch(public_key) and _SIGNATURE.fullmatch(signature)):
        return False
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        key.verify(bytes.fromhex(signature), message)
    except (ValueError, exceptions.InvalidSignature, exceptions.UnsupportedAlgorithm):
        return False
    return True


def fingerprint(public_key: str) -> str:
    """Shorten a public key to what a person can compare."""
    digits = sha256(bytes.fromhex(public_key)).hexdigest()[:16]
    return " ".join(digits[i : i + 4] for i in range(0, 16, 4))


def generate_key(path: str | os.PathLike[str]) -> Path:
    """Make a signing key: the private half at `path`, for its owner only, and the public half beside it in `.pub`.

    Neither file is ever overwritten, and a failure leaves neither behind. Gives the path of the public key.
    """
    private = Path(_file_name(path))
    public, key = private.with_name(f"{private.name}.pub"), ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption())
    shown = public_text(key.public_key()).encode()
    try:
        # The public half comes first: alone it does no harm, while a private key without it looks whole.
        _write_new({public: (shown, 0o644), private: (secret, 0o600)})
    except FileExistsError as error:
        raise LedgerUseError(
            f"{error.filename2!r} exists already and is not overwritten; choose another name."
        ) from None
    except OSError:
        raise LedgerUseError(
            f"The key {str(private)!r} cannot be written; check its folder, its permissions and the space on the disk."
        ) from None
    return public


def load_private_key(key: PrivateKey) -> ed25519.Ed25519PrivateKey:
    """Read a private key from its PEM file, unless it is one already."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key
    try:
        loaded = pem.load_pem_private_key(_read(key), password=None)
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        raise LedgerUseError("The private key cannot be read; make one with 'ziggurat ledger keygen'.") from None
    if not isinstance(loaded, ed25519.Ed25519PrivateKey):
        raise LedgerUseError("The private key must be an Ed25519 key; make one with 'ziggurat ledger keygen'.")
    return loaded


def load_public_key(key: PublicKey) -> ed25519.Ed25519PublicKey:
    """Read a public key from its PEM file, unless it is one already."""
    if isinstance(key, ed25519.Ed25519PublicKey):
        return key
    try:
        loaded = pem.load_pem_public_key(_read(key))
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        raise LedgerUseError(
            "The public key cannot be read; give the '.pub' file that 'ziggurat ledger keygen' made."
        ) from None
    if not isinstance(loaded, ed25519.Ed25519PublicKey):
        raise LedgerUseError("The public key must be an Ed25519 key; make one with 'ziggurat ledger keygen'.")
    return loaded


def public_text(key: ed25519.Ed25519PublicKey) -> str:
    """Write a public key as its file."""
    return key.public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo).decode()


def public_hex(key: ed25519.Ed25519PublicKey) -> str:
    """Write a public key as receipts do."""
    return key.public_bytes(pem.Encoding.Raw, pem.PublicFormat.Raw).hex()


def _read(path: object) -> bytes:
    if not isinstance(path, (str, os.PathLike)):
        raise ParameterError("A key is given as its file or as an Ed25519 key object.")
    try:
        return Path(path).read_bytes()
    except OSError:
        raise LedgerUseError(f"The key {os.fspath(path)!r} cannot be read; check its name and permissions.") from None


def _file_name(path: object) -> str:
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    if not isinstance(name, str) or "\0" in name or not Path(name).name:
        raise ParameterError("A key is named by the file to put it in.")
    return name


def _write_new(files: dict[Path, tuple[bytes, int]]) -> None:
    """Write all of these files, with their modes, or none: whole ones beside their places, then linked there."""
    drafts = {path: path.with_name(f".{path.name}.{token_hex(4)}.new") for path in files}
    placed: list[Path] = []
    try:
        for path, draft in drafts.items():
            content, mode = files[path]
            create(draft, content, mode=mode)
        for path, draft in drafts.items():
            os.link(draft, path)
            placed.append(path)
        for folder in {path.absolute().parent for path in files}:
            sync_path(folder)
    except BaseException:
        for path in placed:
            path.unlink(missing_ok=True)
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
