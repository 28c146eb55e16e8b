"""The token of a served witness: 256 random bits, shown once, of which only the SHA-256 is kept."""

from __future__ import annotations

import re
from hashlib import sha256
from hmac import compare_digest
from pathlib import Path
from secrets import token_hex, token_urlsafe

from ziggurat.errors import LedgerUseError
from ziggurat.files import create, sync_path

_HASH = re.compile("[0-9a-f]{64}")


class TokenFile:
    """A file with the SHA-256 of every token that opens a witness, one a line; whoever reads it cannot get in by it."""

    def __init__(self, file: str | Path) -> None:
        self._file = Path(file)

    def make(self) -> str | None:
        """Draw the first token and keep its hash; None, and nothing is changed, if there is one already."""
        token = token_urlsafe(32)
        draft = self._file.with_name(f".{self._file.name}.{token_hex(4)}.new")
        try:
            create(draft, f"{_hash(token)}\n".encode())
            try:
                self._file.hardlink_to(draft)
            except FileExistsError:
                return None
            finally:
                draft.unlink(missing_ok=True)
            sync_path(self._file.absolute().parent)
        except OSError:
            raise LedgerUseError(
                f"The token's hash cannot be kept in {str(self._file)!r}; check the folder and its permissions."
            ) from None
        return token

    def read(self) -> tuple[str, ...]:
        """Give the hashes of all tokens that open the witness."""
        try:
            lines = self._file.read_text(encoding="ascii").split()
        except (OSError, ValueError):
            lines = []
        if not lines or not all(map(_HASH.fullmatch, lines)):
            raise LedgerUseError(
                f"{str(self._file)!r} holds no SHA-256 of a token in 64 digits on each line; mend it, or remove it and "
                "start again for a new token."
            )
        return tuple(lines)


def opens(token: str, hashes: tuple[str, ...]) -> bool:
    """Tell whether a token is one of those whose hashes are kept; how long that takes does not depend on which."""
    shown = _hash(token)
    return sum(compare_digest(shown, kept) for kept in hashes) > 0


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
