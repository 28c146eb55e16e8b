"""The manifest of a part: the SHA-256 of every file and of every field of the certificate, signed with Ed25519.

JSON is written with one top-level field a line, each in canonical form. So a text has one form only, and where a text
was damaged so that it is no JSON any more, the line still tells which field it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from typing import Any, NamedTuple, Self

from ziggurat.errors import ParameterError
from ziggurat.ledger import PrivateKey, canonical, load_private_key, public_hex, signature_holds
from ziggurat.release.bundle._members import MANIFEST, PUBLIC, STEWARD, clash, name_problem

FORMAT = "ziggurat/bundle/1"
_DOMAIN = b"ziggurat-bundle-1\n"
_DIGEST = re.compile("[0-9a-f]{64}")


class Sealed(NamedTuple):
    """What a manifest says of a file."""

    sha256: str
    bytes: int


@dataclass(frozen=True)
class Manifest:
    """What one part of a bundle holds.

    Attributes
    ----------
    part
        Which one: public or steward.
    made
        The certificate's day; no clock is read.
    rehearsal
        Whether nothing of it may be published; such a manifest is never signed.
    files
        Every file of the part but the manifest itself.
    fields
        Of the public part: the SHA-256 of every top-level field of the certificate, in canonical form.
    public
        Of the steward's part: the SHA-256 of the public manifest, so that the two belong together. The public one says
        nothing about the steward's: even a hash of what was measured on private rows would tell something about them.
    public_key, signature
        Whose signature it bears, in hexadecimal; empty in a rehearsal.
    """

    part: str
    made: str
    rehearsal: bool
    files: Mapping[str, Sealed]
    fields: Mapping[str, str] = field(default_factory=dict)
    public: str = ""
    public_key: str = ""
    signature: str = ""

    def to_bytes(self) -> bytes:
        """Write it as its file."""
        return by_line({**self._body(), "signature": self.signature or None})

    def sign(self, key: PrivateKey) -> Manifest:
        """Sign it; a rehearsal stays unsigned, whoever asks."""
        if self.rehearsal:
            return self
        loaded = load_private_key(key)
        named = replace(self, public_key=public_hex(loaded.public_key()))
        return replace(named, signature=loaded.sign(named._message()).hex())

    @property
    def holds(self) -> bool:
        """Whether the signature is good for the key that the manifest names."""
        return signature_holds(self.public_key, self.signature, self._message())

    def _message(self) -> bytes:
        return _DOMAIN + canonical(self._body(), "A manifest").encode()

    def _body(self) -> dict[str, Any]:
        own = {"fields": dict(self.fields)} if self.part == PUBLIC else {"public": self.public}
        files = {name: sealed._asdict() for name, sealed in self.files.items()}
        return {
            "format": FORMAT,
            "part": self.part,
            "made": self.made,
            "rehearsal": self.rehearsal,
            "files": files,
            "public_key": self.public_key or None,
            **own,
        }

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a file; `ValueError` says what is wrong with it. The signature is not checked here."""
        found = read_by_line(data)
        if found.get("format") != FORMAT or found.get("part") not in (PUBLIC, STEWARD):
            raise ValueError("is not a manifest of a bundle that this version can read")
        key, signature = found.pop("public_key", 0), found.pop("signature", 0)
        files = {name: _read_seal(name, said) for name, said in _mapping(found.get("files")).items()}
        if clash([*files, MANIFEST]):
            raise ValueError("names a file that some systems do not tell from another")
        made = cls(
            found["part"],
            _day(found.get("made")),
            bool(found.get("rehearsal")),
            files,
            {name: _digest(said) for name, said in _mapping(found.get("fields", {})).items()},
            "" if found["part"] == PUBLIC else _digest(found.get("public")),
            "" if key is None else _text(key),
            "" if signature is None else _text(signature),
        )
        if made.to_bytes() != data:
            raise ValueError("says more or less than a manifest does")
        return made


def by_line(fields: Mapping[str, Any], what: str = "A manifest") -> bytes:
    """Write a JSON object in its one form: a field a line, sorted, each in canonical form."""
    lines = (f"{canonical(name, what)}:{canonical(fields[name], what)}" for name in sorted(fields))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def read_by_line(data: bytes) -> dict[str, Any]:
    """Read a JSON object in that form; `ValueError` says what is wrong with it."""
    found = read_object(data)
    try:
        written = by_line(found)
    except ParameterError:  # what JSON cannot hold and Python reads nevertheless, such as NaN
        written = b""
    if written != data:
        raise ValueError("is not written in canonical form")
    return found


def read_object(data: bytes) -> dict[str, Any]:
    """Read a JSON object in any form, without names that come twice; `ValueError` says what is wrong with it."""
    twice = False

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal twice
        found = dict(pairs)
        twice = twice or len(found) != len(pairs)
        return found

    try:
        found = json.loads(data.decode("ascii"), object_pairs_hook=once)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON any more") from None
    if twice:
        raise ValueError("holds a name twice, so that readers would not agree on what it says")
    if not isinstance(found, dict):
        raise ValueError("is not a JSON object")
    return found


def field_digests(certificate: Mapping[str, Any]) -> dict[str, str]:
    """The SHA-256 of every top-level field, in canonical form."""
    return {name: sha256(canonical(value, "A certificate").encode()).hexdigest() for name, value in certificate.items()}


def find_damaged_fields(data: bytes, digests: Mapping[str, str]) -> list[str]:
    """Say which fields of a text that is not the one that was signed are not as they were; none if all of them are."""
    try:
        found = field_digests(read_object(data))
    except ValueError:
        found = dict(_field_of_line(line) for line in data.split(b"\n") if line.startswith(b'"'))
    return sorted(name for name in {*digests, *found} if digests.get(name) != found.get(name))


def _field_of_line(line: bytes) -> tuple[str, str]:
    name, _, value = line.removesuffix(b",").partition(b'":')
    return name[1:].decode("ascii", "replace"), sha256(value).hexdigest()


def _read_seal(name: str, said: Any) -> Sealed:
    wrong = name_problem(name)
    if wrong or name == MANIFEST:
        raise ValueError(f"names a file that no bundle holds: it {wrong or 'is the manifest itself'}")
    size = _mapping(said).get("bytes")
    if type(size) is not int or size < 0:
        raise ValueError("does not say how long a file is")
    return Sealed(_digest(said.get("sha256")), size)


def _mapping(said: Any) -> dict[str, Any]:
    if not isinstance(said, dict):
        raise ValueError("does not say what it must")
    return said


def _digest(said: Any) -> str:
    if not _DIGEST.fullmatch(_text(said)):
        raise ValueError("holds something that is not a SHA-256")
    return str(said)


def _text(said: Any) -> str:
    if not isinstance(said, str):
        raise ValueError("does not say what it must")
    return said


def _day(said: Any) -> str:
    if not is_day(said):
        raise ValueError("does not say on which day it was made")
    return str(said)


def is_day(said: object) -> bool:
    """Tell whether this is a day in the one form that ISO 8601 has for people."""
    try:
        return isinstance(said, str) and date.fromisoformat(said).isoformat() == said
    except ValueError:
        return False
