"""Signed receipts: proof, kept elsewhere, of what the newest entry was.

A hash chain alone cannot show that its end was cut off or that an old copy was put back. A receipt can: it holds the
number and hash of the newest entry, signed with Ed25519 (RFC 8032). A witness keeps one for every entry.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from ziggurat.errors import LedgerUseError
from ziggurat.ledger._chain import Head, canonical
from ziggurat.ledger._keys import PrivateKey, PublicKey, load_private_key, load_public_key, public_hex, signature_holds

_DOMAIN = b"ziggurat-ledger-head-1\n"


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
        message = _message(self.ledger, self.head(), self.time)
        good = signature_holds(self.public_key, self.signature, message)
        return None if good else "the signature of the receipt is not valid"

    def head(self) -> Head:
        """The entry that was signed."""
        return Head(self.seq, self.hash)


def sign(ledger: str, head: Head, time: str, private_key: PrivateKey) -> Receipt:
    """Sign the newest entry of a ledger."""
    key = load_private_key(private_key)
    signature = key.sign(_message(ledger, head, time)).hex()
    return Receipt(ledger, head.seq, head.hash, time, public_hex(key.public_key()), signature)


def _message(ledger: str, head: Head, time: str) -> bytes:
    return _DOMAIN + canonical([ledger, head.seq, head.hash, time], "A head").encode()
