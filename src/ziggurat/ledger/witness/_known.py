"""What this user's machine knows about witnesses, so that a ledger cannot make it forget.

A ledger names its witness, but a ledger rewritten whole may name none, or another. So the naming is also remembered
here: one file per ledger in the user's settings folder, beside the key that signs the receipts. The key lies neither
with the ledger nor with the witness, so that whoever can write both still cannot sign.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ziggurat.errors import LedgerUseError, WitnessError
from ziggurat.ledger._keys import generate_key, load_private_key, public_hex, settings
from ziggurat.ledger.witness._place import is_file_name

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True)
class Known:
    """A witness as it was named on this machine: for which ledger, where that lay, where it is, and its key."""

    ledger: str
    place: str
    where: str
    public_key: str


def place_in_environment() -> str:
    """Where the environment says that the witness is; empty if it says nothing."""
    return os.environ.get("ZIGGURAT_WITNESS", "")


def folder() -> Path:
    """Where this user's machine remembers witnesses and their keys."""
    return settings() / "witnesses"


def remember(known: Known) -> None:
    """Write down who watches a ledger; an older note about the same ledger, or the same place, is replaced."""
    from ziggurat.files import write_text

    for file in _files():
        other = _read(file)
        if other is not None and other.place == known.place and other.ledger != known.ledger:
            file.unlink(missing_ok=True)
    write_text(folder() / f"{known.ledger}.json", json.dumps(asdict(known), indent=1) + "\n")


def find_known(place: str, ledger: str) -> Known | None:
    """Find what is known of the ledger at a place, or else of one with that name."""
    notes = [note for note in map(_read, _files()) if note is not None]
    at_place = [note for note in notes if note.place == place]
    return next(iter(at_place + [note for note in notes if note.ledger == ledger]), None)


def key_file(ledger: str) -> Path:
    """Where the key lies that signs a ledger's receipts."""
    if not is_file_name(ledger):
        raise WitnessError("This ledger bears a name that no ledger gives itself")
    return folder() / f"{ledger}.pem"


def signing_key(ledger: str, public_key: str) -> Ed25519PrivateKey:
    """Give the key that signs a ledger's receipts; it must be the one that the ledger names."""
    file = key_file(ledger)
    if file.exists():
        key = load_private_key(file)
        if public_hex(key.public_key()) == public_key:
            return key
    raise WitnessError(
        f"The key that signs this ledger's receipts is not at {str(file)!r}; copy it from the account that named the "
        "witness"
    )


def own_key(ledger: str, anew: bool) -> str:
    """Give the public half of the key for a ledger's receipts; where there is none yet and `anew`, one is made."""
    file = key_file(ledger)
    if not file.exists():
        if not anew:
            raise LedgerUseError(
                f"The key of the present witness is not at {str(file)!r}; copy it there, or give that witness up."
            )
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            raise LedgerUseError(f"The folder {str(file.parent)!r} for keys cannot be made.") from None
        generate_key(file)
    return public_hex(load_private_key(file).public_key())


def _files() -> list[Path]:
    try:
        return sorted(folder().glob("*.json"))
    except OSError:
        return []


def _read(file: Path) -> Known | None:
    """Read a note; one that cannot be read must not pass for none."""
    try:
        return Known(**{name: str(text) for name, text in json.loads(file.read_text(encoding="utf-8")).items()})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, AttributeError):
        raise LedgerUseError(f"The note about a witness in {str(file)!r} cannot be read; mend or remove it.") from None
