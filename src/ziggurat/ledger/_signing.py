"""Signed receipts: proof, kept elsewhere, of what the newest entry was.

A hash chain alone cannot show that its end was cut off or that an old copy was put back. A receipt can: it holds the
number and hash of the newest entry, signed with Ed25519 (RFC 8032). A witness keeps one for every entry.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, TypeAlias

from ziggurat._lazy import deferred
from ziggurat.errors import LedgerUseError, ParameterError
from ziggurat.ledger._chain import Head, canonical

# A ledger without a witness signs nothing.
if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives import serialization as pem
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:
    exceptions = deferred("cryptography.exceptions")
    pem = deferred("cryptography.hazmat.primitives.serialization")
    ed25519 = deferred("cryptography.hazmat.primitives.asymmetric.ed25519")

_DOMAIN = b"ziggurat-ledger-head-1\n"

PrivateKey: TypeAlias = "ed25519.Ed25519PrivateKey | str | os.PathLike[str]"
PublicKey: TypeAlias = "ed25519.Ed25519PublicKey | str | os.PathLike[str]"


@dataclass(frozen=True)
class Receipt:
    """The newest entry of a ledger at some time, signed; keep it where whoever writes the ledger cannot."""

    ledger: str
    seq: int
    hash: str
    time: str
    public_key: str
    signature: str

    def to_json(self) -> str:
        """Give the JSON text."""
        return canonical(asdict(self), "A receipt")

    @classmethod
    def from_json(cls, text: str | bytes) -> Receipt:
        """Read the JSON text; the signature is not checked here."""
        try:
            receipt = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            raise LedgerUseError("This is not a receipt of a ledger; give what 'ziggurat ledger sign' made.") from None
        texts = (receipt.ledger, receipt.hash, receipt.time, receipt.public_key, receipt.signature)
        if type(receipt.seq) is not int or not all(isinstance(item, str) for item in texts):
            raise LedgerUseError("This is not a receipt of a ledger; give what 'ziggurat ledger sign' made.")
        return receipt

    def problem(self, public_key: PublicKey | None = None) -> str | None:
        """Say what is wrong with the signature; None if it is good and made by `public_key`, where one is given."""
        if public_key is not None and public_hex(load_public_key(public_key)) != self.public_key:
            return "the receipt was signed with another key than the one given"
        try:
            key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public_key))
            key.verify(bytes.fromhex(self.signature), _message(self.ledger, self.head(), self.time))
        except (ValueError, exceptions.InvalidSignature, exceptions.UnsupportedAlgorithm):
            return "the signature of the receipt is not valid"
        return None

    def head(self) -> Head:
        """The entry that was signed."""
        return Head(self.seq, self.hash)


def sign(ledger: str, head: Head, time: str, private_key: PrivateKey) -> Receipt:
    """Sign the newest entry of a ledger."""
    key = load_private_key(private_key)
    signature = key.sign(_message(ledger, head, time)).hex()
    return Receipt(ledger, head.seq, head.hash, time, public_hex(key.public_key()), signature)


def generate_key(path: str | os.PathLike[str]) -> Path:
    """Make a signing key: the private half at `path`, for its owner only, and the public half beside it in `.pub`.

    Neither file is ever overwritten, and a failure leaves neither behind. Gives the path of the public key.
    """
    private = Path(_file_name(path))
    public, key = private.with_name(f"{private.name}.pub"), ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption())
    shown = key.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)
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


def load_private_key(source: PrivateKey) -> ed25519.Ed25519PrivateKey:
    """Read a private key from its PEM file, unless it is one already."""
    if isinstance(source, ed25519.Ed25519PrivateKey):
        return source
    try:
        key = pem.load_pem_private_key(_read(source), password=None)
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        raise LedgerUseError("The private key cannot be read; make one with 'ziggurat ledger keygen'.") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise LedgerUseError("The private key must be an Ed25519 key; make one with 'ziggurat ledger keygen'.")
    return key


def load_public_key(source: PublicKey) -> ed25519.Ed25519PublicKey:
    """Read a public key from its PEM file, unless it is one already."""
    if isinstance(source, ed25519.Ed25519PublicKey):
        return source
    try:
        key = pem.load_pem_public_key(_read(source))
    except (ValueError, TypeError, exceptions.UnsupportedAlgorithm):
        raise LedgerUseError(
            "The public key cannot be read; give the '.pub' file that 'ziggurat ledger keygen' made."
        ) from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise LedgerUseError("The public key must be an Ed25519 key; make one with 'ziggurat ledger keygen'.")
    return key


def _message(ledger: str, head: Head, time: str) -> bytes:
    return _DOMAIN + canonical([ledger, head.seq, head.hash, time], "A head").encode()


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
            _write_draft(draft, *files[path])
        for path, draft in drafts.items():
            os.link(draft, path)
            placed.append(path)
    except BaseException:
        for path in placed:
            path.unlink(missing_ok=True)
        raise
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)


def _write_draft(draft: Path, content: bytes, mode: int) -> None:
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(handle)
