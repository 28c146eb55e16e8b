"""What verifying a bundle found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ziggurat.cards import Shown
from ziggurat.ledger import fingerprint
from ziggurat.release.bundle._members import PUBLIC, STEWARD

REHEARSAL = "This is a rehearsal: its noise can be repeated, nobody signed it, and nothing of it may be published."
_UNCHECKED = (
    "Nobody checked whose key that is: whoever rewrites a bundle signs it anew with a key of their own. Compare the "
    "fingerprint with the one that the steward gives elsewhere, or verify with --key."
)


@dataclass(frozen=True)
class BundleProblem:
    """Something wrong with a file, or with one field of it; without a file, with the bundle as a whole."""

    file: str
    what: str
    field: str = ""

    def __str__(self) -> str:
        where = f"{self.file}, field {self.field!r}," if self.field else self.file or "The bundle"
        return f"{where} {self.what}."


@dataclass(frozen=True)
class BundleVerification(Shown):
    """The outcome of verifying a bundle.

    Attributes
    ----------
    problems
        What is wrong, by file and field; at most a hundred are listed.
    parts
        Which parts there were: public, steward, or both.
    rehearsal
        Whether it is a rehearsal, which is never sound.
    files, bytes
        How many files were compared with their hashes, and how long they are.
    public_key
        Who signed, in hexadecimal; empty where nobody did or the signature is not good.
    signer_checked
        Whether that is a key which the caller gave.
    certificate
        The certificate, word for word as it was signed (or as a rehearsal has it); empty where it is not there or was
        altered.
    """

    problems: list[BundleProblem] = field(default_factory=list)
    parts: tuple[str, ...] = ()
    rehearsal: bool = False
    files: int = 0
    bytes: int = 0
    public_key: str = ""
    signer_checked: bool = False
    certificate: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong: every file and every byte is as it was signed, and it is no rehearsal."""
        return not self.problems

    @property
    def signer(self) -> str:
        """The fingerprint of the key that signed; empty where nobody did."""
        return fingerprint(self.public_key) if self.public_key else ""

    def sentences(self) -> list[str]:
        """Say it in words: the verdict first, then what was checked, the promise and who signed."""
        if not self.sound:
            return [self._verdict(), *map(str, self.problems)]
        said = [f"Promise: {self.certificate['sentence']}"] if self.certificate else []
        return [self._verdict(), self._check(), *said, *self._signer()]

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form."""
        return {
            "what": "bundle",
            "sound": self.sound,
            "rehearsal": self.rehearsal,
            "problems": [vars(each) for each in self.problems],
            "parts": list(self.parts),
            "files": self.files,
            "bytes": self.bytes,
            "signer": self.signer or None,
            "public_key": self.public_key or None,
            "signer_checked": self.signer_checked,
            "certificate": dict(self.certificate) or None,
        }

    def _verdict(self) -> str:
        if self.rehearsal:
            return f"NOT A RELEASE. {REHEARSAL}"
        if not self.sound:
            return "BROKEN. This bundle is not what was signed."
        return "SOUND. This bundle is what was signed, to the last byte."

    def _check(self) -> str:
        alone = {PUBLIC: "the public part alone", STEWARD: "the steward's part alone, without the public one"}
        which = alone[self.parts[0]] if len(self.parts) == 1 else "the public and the steward's part"
        fields = f", {len(self.certificate)} fields of the certificate" if self.certificate else ""
        return f"Checked: {which}; {self.files} files of {self.bytes:,} bytes{fields}, and every signature."

    def _signer(self) -> list[str]:
        if self.signer_checked:
            return [f"Signed with the key {self.signer}, which is the one given."]
        return [f"Signed with the key {self.signer}.", _UNCHECKED]
